#!/usr/bin/env python3
"""Samples answers under JSON schemas and validates each with the package jsonschema.

Usage: schemas.py URL [--samples N]
Half of the answers are sampled without drafts, and must be the same to the byte. Those of JSON-Schema-Test-Suite: suite/suite.py.
"""

import argparse
import itertools
import json
import sys
import urllib.error
import urllib.request

import jsonschema

SCHEMAS = [
    {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"]},
    {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "boolean"}}, "additionalProperties": False},
    {"type": "array", "items": {"type": "integer", "minimum": -5, "maximum": 20}, "minItems": 1, "maxItems": 4},
    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "null"}], "items": False},
    {"enum": ["red", "green", 3, None, {"a": [1]}]},
    {"const": {"deep": ["é", "\n", {"x": 1.5}]}},
    {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3,5}$"},
    {"type": "string", "minLength": 3, "maxLength": 9},
    {"type": "string", "format": "date-time"},
    {"type": "string", "format": "uuid"},
    {"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 4}, {"type": "null"}]},
    {"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 40}]},
    {"type": "integer", "multipleOf": 7, "minimum": 0, "maximum": 700},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": ["string", "null"]},
    {
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"value": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
                "required": ["value", "next"],
                "additionalProperties": False,
            }
        },
        "$ref": "#/$defs/node",
    },
    {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 0},
    {"type": "object", "patternProperties": {"^x_": {"type": "boolean"}}, "additionalProperties": False},
    {"type": "object", "properties": {"tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "maxItems": 3}}, "required": ["tags"]},
    {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"], "additionalProperties": False},
]


def ask(url, schema, seed, drafts):
    body = {
        "messages": [{"role": "user", "content": "Write a short JSON document."}],
        "max_tokens": 300,
        "temperature": 1,
        "seed": seed,
        "speculation": {"enabled": drafts},
        "response_format": {"type": "json_schema", "json_schema": {"name": "it", "schema": schema}},
    }
    request = urllib.request.Request(f"{url}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
    choice = json.load(urllib.request.urlopen(request))["choices"][0]
    return choice["message"]["content"], choice["finish_reason"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--samples", type=int, default=200)
    args = parser.parse_args()
    validators = [(schema, jsonschema.Draft202012Validator(schema)) for schema in SCHEMAS]
    refused, valid, unfinished, bad, differ = set(), 0, 0, [], []
    for seed, (at, (schema, validator)) in zip(itertools.count(), itertools.cycle(enumerate(validators))):
        if valid + unfinished + len(bad) >= args.samples or len(refused) == len(validators):
            break
        if at in refused:
            continue
        try:
            text, reason = ask(args.url, schema, seed, True)
            plain = ask(args.url, schema, seed, False)
        except urllib.error.HTTPError as error:
            if error.code != 400:
                raise
            refused.add(at)
            continue
        if plain != (text, reason):
            differ.append((schema, text, plain))
        if reason != "stop":
            unfinished += 1
        elif validator.is_valid(json.loads(text)):
            valid += 1
        else:
            bad.append((schema, text))
        if sys.stderr.isatty():
            print(f"\r{valid} valid, {unfinished} cut at max_tokens, {len(bad)} invalid", end="", file=sys.stderr)
    print(
        f"{len(SCHEMAS)} schemas, {len(refused)} refused by name; {valid} answers valid, {len(bad)} invalid, "
        f"{unfinished} cut at max_tokens, {len(differ)} differ without drafts"
    )
    for one in bad + differ:
        print(json.dumps(one))
    sys.exit(1 if bad or differ else 0)


if __name__ == "__main__":
    main()
