"""The rules for comments and pages: headers say what they are for, references exist, and lines are narrow enough to read side by side."""

import pathlib
import posixpath
import re

COLUMNS_MAX = 100  # of a comment on a line of its own, and of a page's text; tables and code may be wider
CODE = {".h", ".cpp", ".cu", ".cuh", ".py", ".sh", ".capnp"}

# Files of other projects that our comments cite: sources of libzmq and of the papers' authors.
CITED = {"fq.cpp", "stream_engine_base.cpp"}

FILE_NAME = re.compile(r"(?<![\w./<*{-])((?:[\w.-]+/)*[\w-]+\.(?:h|cpp|cu|py|md|capnp))\b(?![/{*])")
DECISION = re.compile(r"\badr/(\d{4})")
SECTION = re.compile(r"\b([\w/]+\.md), (?:section )?(\d+)\b")
UNKNOWN_PAGE = re.compile(r"\bDESIGN\b")


def comments(source):
    """(line number, text) of each comment of a source file."""
    mark = "//" if source.suffix in (".h", ".cpp", ".cu", ".cuh") else "#"
    comment = re.compile(rf"(?<![:\"'\w]){mark}\s(.*)")
    for number, line in enumerate(source.lines, 1):
        if mark in line and (match := comment.search(line)):
            yield number, match[1]


def outside_of_code(page):
    """(line number, text) of each line of a page that is not in a block of code."""
    code = False
    for number, line in enumerate(page.lines, 1):
        if line.strip().startswith("```"):
            code = not code
        elif not code:
            yield number, line


def in_backquotes(page):
    """(line number, text) of each `span` of a page, but for those that are patterns (with * { } < >)."""
    for number, line in outside_of_code(page):
        yield from ((number, span) for span in re.findall(r"`([^`]+)`", line) if not re.search(r"[*{}<>]", span))


def headers_open_with_a_comment(sources):
    for source in sources.values():
        if source.suffix in (".h", ".cuh") and not source.text.startswith("//"):
            yield source.path, 1, "a header opens with a comment: say in one sentence what it is for"


def is_there(name, near, sources):
    """Whether a file named in a comment exists: from the root, from the folder of the file that names it, or as the end of a path."""
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(near), name))
    return name in sources or beside in sources or any(path.endswith("/" + name) for path in sources)


def references_lead_somewhere(sources):
    headings = {path: set(re.findall(r"^#+ (\d+)", page.text, re.MULTILINE)) for path, page in sources.items()
                if path.endswith(".md")}
    decisions = {pathlib.PurePosixPath(path).name[:4] for path in sources if "/adr/" in path}
    for source in sources.values():
        page = source.suffix == ".md"
        if not page and (source.suffix not in CODE or source.path.startswith("tests/tidy/")):
            continue
        for number, text in in_backquotes(source) if page else comments(source):
            for name in FILE_NAME.findall(text):
                if name not in CITED and not is_there(name, source.path, sources):
                    yield source.path, number, f"names {name}, which is not there: name the file that holds it now"
            for decision in DECISION.findall(text):
                if decision not in decisions:
                    yield source.path, number, f"names adr/{decision}, and there is no such decision"
            for page, section in SECTION.findall(text):
                for path in (path for path in headings if path.endswith(page)):
                    if section not in headings[path]:
                        yield source.path, number, f"names section {section} of {path}, which has none of that number"
            if UNKNOWN_PAGE.search(text):
                yield source.path, number, "names DESIGN, which is no page of this repository: name the page or the decision"


def comments_are_narrow(sources):
    for source in sources.values():
        if source.suffix not in (".h", ".cpp", ".cu", ".cuh"):
            continue
        for number, line in enumerate(source.lines, 1):
            text = re.match(r"\s*// ?(.*)", line) if len(line) > COLUMNS_MAX else None
            if text and not text[1].startswith("  "):  # indented lines are tables or commands
                yield source.path, number, f"this comment has {len(line)} columns, over {COLUMNS_MAX}: wrap it"


def pages_are_narrow(sources):
    for source in sources.values():
        if source.suffix != ".md":
            continue
        for number, line in outside_of_code(source):
            if len(line) > COLUMNS_MAX and not line.lstrip().startswith(("|", "#")) and " " in line.strip()[:COLUMNS_MAX]:
                words = line.strip().split(" ")
                if max(map(len, words)) < COLUMNS_MAX - 8:  # else it is one long link
                    yield source.path, number, f"this line has {len(line)} columns, over {COLUMNS_MAX}: wrap it"


def rows_are_whole(sources):
    for source in sources.values():
        if source.suffix != ".md":
            continue
        for number, line in outside_of_code(source):
            if line.lstrip().startswith("|") and not line.rstrip().endswith("|"):
                yield source.path, number, "this row of a table goes on in the next line, where Markdown shows a row of its own: join them"


RULES = [headers_open_with_a_comment, references_lead_somewhere, comments_are_narrow, pages_are_narrow, rows_are_whole]
