#!/usr/bin/env python3
"""Checks the sources against the arrows between layers and the habits of docs/design/HACKING.md. Usage: tidy.py ROOT"""

import sys

import layers
import prose
import rules
import sources


def problems(root):
    tree = sources.load(root)
    for name in sources.top_level(root):
        if name not in layers.TOP_LEVEL:
            yield "top_level", name, 1, "is no top-level entry that we know: put it below one, or add it to tests/tidy/layers.py"
    for rule in rules.RULES + prose.RULES:
        for path, line, message in rule(tree):
            yield rule.__name__, path, line, message


def main():
    excused, found = set(), 0
    for rule, path, line, message in problems(sys.argv[1]):
        if (rule, path) in rules.EXCEPTIONS:
            excused.add((rule, path))
            continue
        found += 1
        print(f"{path}:{line}: {message}")
    for rule, path in sorted(set(rules.EXCEPTIONS) - excused):
        found += 1
        print(f"tests/tidy/rules.py: the exception ({rule}, {path}) excuses nothing any more: delete it")
    if found:
        print(f"\ntidy: {found} to fix. The rules are in tests/tidy/rules.py and prose.py, the layers in tests/tidy/layers.py.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
