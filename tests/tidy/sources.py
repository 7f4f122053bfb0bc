"""The text files of the project that tidy reads: all files that git does not ignore."""

import os
import pathlib
import re

CPP = {".h", ".cpp", ".cu", ".cuh"}
TEXT = CPP | {".c", ".py", ".sh", ".rs", ".md", ".toml", ".capnp", ".cmake", ".yml", ".yaml", ".jinja"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


class Source:
    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.lines = text.splitlines()
        self.suffix = pathlib.PurePosixPath(path).suffix

    def includes(self):
        """Yields (line number, name, whether it is in quotes)."""
        for number, line in enumerate(self.lines, 1):
            if "include" in line and (match := INCLUDE.match(line)):
                yield number, match[2], match[1] == '"'


def ignored_names(root):
    """The plain names in .gitignore ("/build/", "target/"). Patterns are not supported, since none are used."""
    names = {".git"}
    ignore = root / ".gitignore"
    if ignore.exists():
        names |= {line.strip().strip("/") for line in ignore.read_text().splitlines() if line.strip() and line[0] != "#"}
    return names


def load(root):
    """{path: Source} of every text file below root."""
    root = pathlib.Path(root)
    skip = ignored_names(root)
    sources = {}
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in skip)
        for name in sorted(files):
            path = pathlib.Path(folder, name)
            if name in skip or not (path.suffix in TEXT or name in ("CMakeLists.txt", "Makefile")):
                continue
            relative = path.relative_to(root).as_posix()
            sources[relative] = Source(relative, path.read_text(encoding="utf-8", errors="replace"))
    return sources


def top_level(root):
    skip = ignored_names(pathlib.Path(root))
    return sorted(name for name in os.listdir(root) if name not in skip)
