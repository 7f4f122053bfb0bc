"""Plants a bug into the sources. If that is impossible, says what to edit in bugs.py."""

import fnmatch
import functools
import pathlib
import re

import anchor

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRODUCT = ("common", "kernels", "research", "services", "tools")
PREFIX_LEAST = 3  # this many tokens must agree before a place is suggested


@functools.cache
def read(path):
    text = path.read_text()
    return text, anchor.tokens_of(text)


def files_in(where):
    """Returns all C++ files below a folder, or the one file."""
    if where.is_file():
        return [where]
    return sorted(path for path in where.rglob("*") if path.suffix in (".h", ".cpp", ".cu", ".cuh"))


def places(pattern, files, function=""):
    """Returns [(file, first character, character after the last, {$name: its tokens})]."""
    return [(file, *place) for file in files for place in anchor.places(pattern, read(file)[1], function)]


def spoken(found, root):
    """Formats places as `a.cpp:3, b.cpp:7`."""
    return ", ".join(f"{file.relative_to(root)}:{read(file)[0].count(chr(10), 0, begin) + 1}" for file, begin, *_ in found[:4])


def hint(pattern, bug, root):
    """Suggests where the text of a bug that was not found may be now."""
    every = [path for folder in PRODUCT for path in files_in(root / folder)]
    if found := places(pattern, every):
        return f"it is in {spoken(found, root)}: change the bug's folder" + (" or function" if bug.function else "")
    for length in range(len(pattern) - 1, PREFIX_LEAST - 1, -1):
        if found := places(pattern[:length], files_in(root / bug.where)):
            return f"its first {length} of {len(pattern)} tokens are in {spoken(found, root)}, and then comes something other than " \
                   f"`{pattern[length].text}`: change its old text"
    return "nothing like it is in this folder: change its old text, or delete the bug if what it breaks is gone"


def planted(bug, root=ROOT):
    """Returns (the file, its text with the bug). The old text must occur exactly once."""
    where, pattern = root / bug.where, anchor.tokens_of(bug.old)
    scope = bug.where + (f" in {bug.function}()" if bug.function else "")
    cannot = f"tests/mutants/bugs.py: '{bug.name}' cannot be planted: "
    if not where.exists():
        raise ValueError(f"{cannot}there is no {bug.where}; {hint(pattern, bug, root)}")
    found = places(pattern, files_in(where), bug.function)
    if not found:
        raise ValueError(f"{cannot}its old text is nowhere in {scope}; {hint(pattern, bug, root)}")
    if len(found) > 1:
        raise ValueError(f"{cannot}its old text is {len(found)} times in {scope} ({spoken(found, root)}); lengthen it, or name its function")
    file, begin, end, names = found[0]
    text = read(file)[0]
    return file.relative_to(root), text[:begin] + anchor.with_names(bug.new, names) + text[end:]


TEST = re.compile(r"^TEST(_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
INSTANCE = re.compile(r"\bINSTANTIATE_TEST_SUITE_P\(\s*(\w*),\s*(\w+)")
SHARED = re.compile(r'^#include "(tests/[\w/]+\.h)"', re.MULTILINE)  # a suite that several programs instantiate
PROGRAM = re.compile(r"\b(slipstream_test|add_executable)\(\s*(\w+)(.*?)\)", re.DOTALL)


@functools.cache
def tests(root=ROOT):
    """Returns {test program: the names of its tests}, read from the sources. A parametrised test is `Instance/Suite.Test/0`."""
    found = {}
    for listing in (root / "tests").rglob("CMakeLists.txt"):
        for kind, name, words in PROGRAM.findall(listing.read_text()):
            texts = [(listing.parent / word).read_text() for word in words.split() if re.fullmatch(r"[\w/]+\.cpp", word)]
            texts += [(root / suite).read_text() for text in texts for suite in SHARED.findall(text)]
            instances = [instance for text in texts for instance in INSTANCE.findall(text)]
            names = found.setdefault(name + ("_test" if kind == "slipstream_test" else ""), [])
            for parameters, suite, test in (test for text in texts for test in TEST.findall(text)):
                prefixes = [prefix + "/" if prefix else "" for prefix, of in instances if of == suite] if parameters == "_P" else [""]
                names += [f"{prefix}{suite}.{test}" + ("/0" if parameters == "_P" else "") for prefix in prefixes]
    return found


def check_catcher(bug, root=ROOT):
    """Checks that the bug's test exists. Otherwise only a whole run (half an hour) would notice a renamed test."""
    program, _, test = bug.catcher.partition(" ")
    if program == "simulate":
        return
    if program not in tests(root):
        raise ValueError(f"tests/mutants/bugs.py: '{bug.name}' is to be caught by {program}, and no such test program exists")
    if not any(fnmatch.fnmatchcase(name, test) for name in tests(root)[program]):
        elsewhere = [other for other, names in tests(root).items() if any(fnmatch.fnmatchcase(name, test) for name in names)]
        raise ValueError(f"tests/mutants/bugs.py: '{bug.name}' is to be caught by {test}, and {program} has no such test"
                         + (f"; {elsewhere[0]} has" if elsewhere else ""))
