"""The rules for the sources. Each rule yields (path, line, message); a message says what to do."""

import pathlib
import re

import layers
from sources import CPP

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60

# (rule, path): why it may stay. An exception that is no longer needed is an error, too.
EXCEPTIONS = {}


def cpp(sources):
    return [source for source in sources.values() if source.suffix in CPP]


def includes_follow_the_arrows(sources):
    for source in cpp(sources):
        layer = layers.layer_of(source.path)
        if layer is None:
            continue
        allowed = layers.allowed(layer)
        for line, name, quoted in source.includes():
            other = layers.layer_of(name) if quoted else None
            if quoted and name not in sources and not name.endswith((".capnp.h", ".pb.h")):
                yield source.path, line, f'"{name}" is not there: include from the repository root, generated files excepted'
            if other is None or other in allowed:
                if quoted and name.startswith(("tests/", "bench/")):
                    yield source.path, line, f"includes {name}: what ships never depends on tests"
                continue
            yield source.path, line, f"includes {name}: {layers.why_not(layer, other)}"


def libraries_stay_in_their_zone(sources):
    for source in cpp(sources):
        for line, name, _ in source.includes():
            library = re.split(r"[/._]", name)[0]
            zone = layers.ZONES.get(library)
            if zone is None:
                continue
            homes = zone + ["tests/unit/" + folder for folder in zone]
            if not any(source.path.startswith(home + "/") for home in homes):
                where = " or ".join(zone) or "nowhere yet"
                yield source.path, line, f"includes <{name}>: {library} is seen in {where} only; ask that layer for what you need"


def cmake_says_what_the_sources_say(sources):
    declared = {}
    for path, source in sources.items():
        if path.endswith("CMakeLists.txt"):
            for match in re.finditer(r"slipstream_layer\(\s*(\w+)([^)]*)\)", source.text):
                words = match[2].split()
                below = words[words.index("DEPS") + 1 :] if "DEPS" in words else []
                declared[match[1]] = (path, below[: below.index("PRIVATE")] if "PRIVATE" in below else below)
    arrows = {name: below for name, (_, below) in declared.items()}
    for name, (path, below) in declared.items():
        folder = str(pathlib.PurePosixPath(path).parent)
        layer = layers.layer_of(folder + "/")
        if layer is None:
            continue
        if name != layer and not name.startswith(layer + "_"):
            yield path, 1, f"target {name} is not the layer of {folder}: folder = target = layer (tests/tidy/layers.py)"
            continue
        part = name if name in layers.LAYERS else layer  # a target with some of a layer's files belongs to the layer
        for other in below:
            if layers.LAYERS.get(other) and other not in layers.reachable(part):
                yield path, 1, f"{name} links {other}: {layers.why_not(part, other)}"
        if name != layer:
            continue
        targets = re.findall(r"\bslipstream_(\w+)", sources[path].text)  # the layer's program may link more than the layer
        also = [part for part, (where, _) in declared.items() if where == path]
        linked = set().union(*(layers.reachable(target, arrows) for target in [name, *targets, *also]))
        used = {layers.layer_of(include) for source in cpp(sources) if layers.layer_of(source.path) in also
                for _, include, quoted in source.includes() if quoted}
        may = set().union(*map(layers.reachable, also))
        for other in sorted(used - {None} - linked):
            if other in may:
                yield path, 1, f"{name} includes headers of {other} but does not link it: add it to DEPS"


def every_file_is_used(sources):
    cmake = {path: source.text for path, source in sources.items() if path.endswith("CMakeLists.txt")}
    included = {name for source in cpp(sources) for _, name, quoted in source.includes() if quoted}
    for source in sources.values():
        if source.suffix in (".cpp", ".cu", ".c", ".capnp"):
            if not any(listed(source.path, path, text) for path, text in cmake.items()):
                yield source.path, 1, "is in no CMakeLists.txt: list it, or delete it"
        elif source.suffix == ".h" and source.path not in included:
            yield source.path, 1, "nobody includes it: use it, or delete it"


def listed(path, cmake_path, cmake_text):
    folder = str(pathlib.PurePosixPath(cmake_path).parent)
    relative = path if folder == "." else path.removeprefix(folder + "/")
    if relative == path and folder != "." or pathlib.PurePosixPath(path).name not in cmake_text:
        return False
    return re.search(rf"(?<![\w./-]){re.escape(relative)}(?![\w.-])", cmake_text) is not None or \
        f"${{PROJECT_SOURCE_DIR}}/{path}" in cmake_text


def headers_are_read_once(sources):
    for source in sources.values():
        if source.suffix in (".h", ".cuh") and "#pragma once" not in source.lines:
            yield source.path, 1, "a header begins with a comment that says what it is, then #pragma once"


def metrics_are_documented(sources):
    names, page = sources.get("common/metrics/names.h"), sources.get("docs/use/METRICS.md")
    if names is None or page is None:
        yield "docs/use/METRICS.md", 1, "common/metrics/names.h and docs/use/METRICS.md belong together; one is missing"
        return
    declared = dict(re.findall(r'MetricName (k\w+)\{\s*"(slipstream_\w+)"', names.text))
    documented = set(re.findall(r"^\|\s*`(slipstream_\w+)", page.text, re.MULTILINE))
    for name in sorted(set(declared.values()) - documented):
        yield "docs/use/METRICS.md", 1, f"{name} has no row: say what it counts and when to worry"
    for name in sorted(documented - set(declared.values())):
        yield "docs/use/METRICS.md", 1, f"{name} is in no names.h: the page promises a metric that nobody exports"
    used = {word for source in cpp(sources) if source.path != names.path for word in re.findall(r"\bk\w+", source.text)}
    for constant, name in declared.items():
        if constant not in used:
            yield names.path, 1, f"{name} ({constant}) is exported by nobody: export it, or delete it"


def files_and_functions_are_short(sources):
    for source in cpp(sources):
        if len(source.lines) > FILE_LINES_MAX:
            yield source.path, 1, f"has {len(source.lines)} lines, over {FILE_LINES_MAX}: a file holds one noun; which second one is in here?"
        for first, last, name in functions(source):
            if last - first + 1 > FUNCTION_LINES_MAX:
                yield source.path, first, (f"{name} has {last - first + 1} lines, over {FUNCTION_LINES_MAX}: "
                                           "name its steps and make them functions")


NOT_A_FUNCTION = re.compile(r"^\s*(namespace|struct|class|enum|union|extern|if|for|while|switch|do|else|try|catch|case|return)\b")


def functions(source):
    """Yields (first line, last line, name). Relies on clang-format's indentation: a body ends at the first "}" as deep as its head."""
    lines = source.lines
    start = None  # index of the first line of the current statement
    index = 0
    while index < len(lines):
        line = lines[index].rstrip()
        text = line.strip()
        if not text or text.startswith(("//", "#", "public:", "private:", "protected:")):
            start = None
        elif start is None:
            start = index
        if start is not None and text.endswith("{"):
            head = " ".join(part.strip() for part in lines[start : index + 1])
            indent = len(lines[start]) - len(lines[start].lstrip())
            whole = head.count("(") == head.count(")") > 0 and head.count("{") == head.count("}") + 1  # no call, no initializer
            if whole and not NOT_A_FUNCTION.match(head) and not re.search(r"=\s*\{$", head):
                end = next((at for at in range(index + 1, len(lines)) if lines[at].startswith(" " * indent + "}")), index)
                name = re.search(r"([~\w:]+|operator\S+)\s*\(", head)
                yield start + 1, end + 1, name[1] if name else head[:40]
                index = end
            start = None
        elif text.endswith((";", "}", "};")):
            start = None
        index += 1


def types_have_one_definition(sources):
    """One program may link any two layers: two types of one name in one namespace would share their inline functions."""
    homes = {}
    for source in cpp(sources):
        if source.suffix != ".h" or not source.path.startswith(("common/", "kernels/", "services/", "tools/")):
            continue
        namespace = ""
        for number, line in enumerate(source.lines, 1):
            if match := re.match(r"namespace ([\w:]+) \{", line):
                namespace = match[1]
            elif match := re.match(r"(?:struct|class) (\w+)(?: final)?(?: : [^;]*)? \{", line):
                first = homes.setdefault((namespace, match[1]), source.path)
                if first != source.path:
                    yield source.path, number, f"defines {namespace}::{match[1]}, as {first} does: give one of them another name"


# Written in pieces so that this file does not break its own rule.
MACHINE = re.compile("(?<![\\w.])/(wo" + "rk|t" + "mp|ro" + "ot|ho" + "me)/")
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")


def nothing_of_this_machine_and_nothing_unfinished(sources):
    for source in sources.values():
        if not MACHINE.search(source.text) and not UNFINISHED.search(source.text):
            continue
        for number, line in enumerate(source.lines, 1):
            if MACHINE.search(line):
                yield source.path, number, "names a folder of one machine: take it as a flag, or make a temporary one"
            if UNFINISHED.search(line):
                yield source.path, number, "is marked unfinished: finish it, or open an issue and delete the mark"


RULES = [
    includes_follow_the_arrows,
    libraries_stay_in_their_zone,
    cmake_says_what_the_sources_say,
    every_file_is_used,
    headers_are_read_once,
    metrics_are_documented,
    files_and_functions_are_short,
    types_have_one_definition,
    nothing_of_this_machine_and_nothing_unfinished,
]
