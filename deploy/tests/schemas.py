"""JSON schemas for kubeconform, made of what a Kubernetes API server says of its objects (/openapi/v2).

A server that knows a custom resource tells its fields, too. Fields that an object does not have are
faults, and not ignored.
"""
import json
import pathlib

PLACE = "{{ .ResourceKind }}{{ .KindSuffix }}.json"  # how kubeconform finds one in the folder
TYPES = "x-kubernetes-group-version-kind"
REFERENCE = "#/definitions/"
INT_OR_STRING = {"oneOf": [{"type": "string"}, {"type": "integer"}]}
QUANTITY = {"oneOf": [{"type": "string"}, {"type": "number"}]}  # 500m, or 2


def strict(schema):
    """The schema, without fields that it does not name. Those that may have any stay as they are."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("format") == "int-or-string" or schema.get("x-kubernetes-int-or-string"):
        return INT_OR_STRING
    made = {key: strict(value) for key, value in schema.items()}
    if isinstance(made.get("properties"), dict) and "additionalProperties" not in made and not made.get("x-kubernetes-preserve-unknown-fields"):
        made["additionalProperties"] = False
    return made


def named(schema):
    """Names of the definitions to which a schema refers."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix(REFERENCE)
        schema = list(schema.values())
    if isinstance(schema, list):
        for one in schema:
            yield from named(one)


def closure(definitions, name):
    """The definitions that `name` needs, itself among them."""
    found, left = {}, [name]
    while left:
        one = left.pop()
        if one not in found:
            found[one] = definitions[one]
            left += named(definitions[one])
    return found


def write(openapi, folder):
    """A file for each kind of object. Returns how many."""
    definitions = {name: strict(schema) for name, schema in openapi["definitions"].items()}
    definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"] = QUANTITY
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, schema in openapi["definitions"].items():
        for kind in schema.get(TYPES, []) if len(schema.get(TYPES, [])) == 1 else []:  # DeleteOptions and the like are of many groups
            suffix = "-".join(part for part in (kind["kind"].lower(), kind["group"].split(".")[0], kind["version"]) if part)
            whole = {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": REFERENCE + name, "definitions": closure(definitions, name)}
            pathlib.Path(folder, f"{suffix}.json").write_text(json.dumps(whole), encoding="utf-8")
            count += 1
    return count
