"""Finds the place in the sources where a bug is planted. Formatting and moved lines do not hide it.

Pattern and source are compared token by token. White space, line breaks and comments do not count, nor
does it matter how a long string is split. In a pattern, `$name` stands for any one name, including the
objects through which it is reached (`length`, `draft.length`, `sequence->draft.length`). Equal `$name`s
stand for equal tokens.
"""

import re

# `>>` is two tokens, because it may close two lists of template arguments.
TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)"
    r'|(?P<raw>R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)")'
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)"
    r"|(?P<character>'(?:\\.|[^'\\\n])+')"
    r"|(?P<name>\$?[A-Za-z_]\w*)"
    r"|(?P<sign><=>|<<=|\.\.\.|::|->|\+\+|--|<<|[-<>=!+*/%&|^]=|&&|\|\||.)", re.DOTALL)
REACHES = (".", "->", "::")
OPENS, CLOSES = ("(", "{", "["), (")", "}", "]")


class Token:
    """`text` stands at the characters [begin, end) of its source."""

    def __init__(self, kind, text, begin, end):
        self.kind, self.text, self.begin, self.end = kind, text, begin, end


def tokens_of(text):
    tokens = []
    for found in TOKEN.finditer(text):
        token = Token(found.lastgroup, found[0], found.start(), found.end())
        if token.kind == "string" and tokens and tokens[-1].kind == "string":  # "a" "b" is the same as "ab"
            tokens[-1] = Token("string", tokens[-1].text[:-1] + token.text[1:], tokens[-1].begin, token.end)
        elif token.kind != "space":
            tokens.append(token)
    return tokens


def stops(source, at):
    """Yields where a name that begins at `at` may end. `a.b->c` may end after `a`, after `b` and after `c`."""
    while at < len(source) and source[at].kind == "name":
        yield at + 1
        if at + 1 == len(source) or source[at + 1].text not in REACHES:
            return
        at += 2


def match(pattern, source, at, names):
    """If `pattern` matches at `at`: (where it ends, {$name: its tokens}). Else None."""
    while pattern and not pattern[0].text.startswith("$"):
        if at == len(source) or source[at].text != pattern[0].text:
            return None
        pattern, at = pattern[1:], at + 1
    if not pattern:
        return at, names
    name, rest = pattern[0].text, pattern[1:]
    for stop in stops(source, at):
        spelt = "".join(token.text for token in source[at:stop])
        cut_short = not rest and stop < len(source) and source[stop].text in REACHES
        if names.get(name, spelt) == spelt and not cut_short:
            if found := match(rest, source, stop, {**names, name: spelt}):
                return found
    return None


def behind_bracket(source, at):
    """Returns the index after the bracket that closes the one at `at`."""
    depth = 0
    for index in range(at, len(source)):
        depth += (source[index].text in OPENS) - (source[index].text in CLOSES)
        if depth == 0:
            return index + 1
    return len(source)


def bodies(source, function):
    """Yields [first, end), as token indices, of each body of a function with this name (`name` or `Class::name`)."""
    name = [token.text for token in tokens_of(function)]
    for first in range(len(source) - len(name)):
        at = first + len(name)
        if [token.text for token in source[first:at]] != name or source[at].text != "(":
            continue
        at = behind_bracket(source, at)
        while at < len(source) and source[at].text not in (";", "=", "{", *CLOSES):  # const, -> Type, : member_(value)
            at = behind_bracket(source, at) if source[at].text in OPENS else at + 1
        if at < len(source) and source[at].text == "{":
            yield at, behind_bracket(source, at)


def places(pattern, source, function=""):
    """Yields each place of `pattern` in `source`; both are lists of tokens.

    A place is (its first character, the character after its last, {$name: its tokens}).
    """
    head = pattern[0].text
    begins_with_a_name = head.startswith("$")
    for first, end in bodies(source, function) if function else [(0, len(source))]:
        for at in range(first, end):
            if not begins_with_a_name and source[at].text != head:
                continue
            inside_a_name = begins_with_a_name and at > 0 and source[at - 1].text in REACHES
            if not inside_a_name and (found := match(pattern, source, at, {})) and found[0] <= end:
                yield source[at].begin, source[found[0] - 1].end, found[1]


def with_names(text, names):
    """`text`, with each `$name` replaced by what it stands for."""
    return re.sub(r"\$\w+", lambda name: names[name[0]], text)
