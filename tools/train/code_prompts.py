"""Prompts about Python code, for training_prompts.py: functions of the standard library of the Python that runs this (PSF licence), and
functions of our own whose examples are computed.

Another version of Python has other functions: the data card of what was asked stays right, its prompts cannot be made again to the letter.
"""

import ast
import functools
import pathlib
import sysconfig
import textwrap

SOURCE_CHARACTERS = 1800  # of a function that is shown whole
HEAD_CHARACTERS = 900     # of its signature and docstring

COMPLETE = ["Complete this function and write it out in full:\n\n{0}", "Complete this Python function.\n\n```python\n{0}\n```", "{0}",
            "Implement this function:\n\n{0}", "Write the code of this function:\n\n```python\n{0}\n```\n"]
DISCUSS = ["Explain what this code does:\n\n{0}", "{0}\n\nWhat does this function return?", "Write tests for this function:\n\n```python\n{0}\n```",
           "Rewrite this function so that it is easier to read:\n\n{0}", "Is there a mistake in this code?\n\n```python\n{0}\n```",
           "Translate this Python function to JavaScript:\n\n{0}", "Add a docstring and type hints:\n\n{0}", "How would you make this faster?\n\n{0}"]

# What a function of our own keeps of a list or of a text, and what it makes of that.
NUMBERS = {"even": lambda n: n % 2 == 0, "odd": lambda n: n % 2 == 1, "positive": lambda n: n > 0, "negative": lambda n: n < 0,
           "two-digit": lambda n: 10 <= abs(n) <= 99, "one-digit": lambda n: abs(n) <= 9, "": lambda n: True,
           "non-zero": lambda n: n != 0}
OF_NUMBERS = {"the sum of": sum, "the largest of": lambda each: max(each, default=None), "the smallest of": lambda each: min(each, default=None),
              "the number of": len, "a sorted list of": sorted, "the squares of": lambda each: [n * n for n in each],
              "the first two of": lambda each: each[:2], "the sum of the squares of": lambda each: sum(n * n for n in each),
              "a list, from last to first, of": lambda each: each[::-1], "the difference between the largest and the smallest of":
              lambda each: max(each) - min(each) if each else 0, "the distinct values of": lambda each: sorted(set(each)),
              "the running totals of": lambda each: [sum(each[:at + 1]) for at in range(len(each))]}
WORDS = {"that begin with a capital letter": lambda word: word[0].isupper(), "that have more than four letters": lambda word: len(word) > 4,
         "that end with a vowel": lambda word: word[-1] in "aeiou", "that have a letter twice": lambda word: len(set(word)) < len(word),
         "": lambda word: True, "without the letter e": lambda word: "e" not in word}
OF_WORDS = {"the number of": len, "a list of": list, "the longest of": lambda each: max(each, key=len, default=""),
            "the lengths of": lambda each: [len(word) for word in each], "in upper case": lambda each: [word.upper() for word in each],
            "a sorted list of": sorted, "the first letters of": lambda each: "".join(word[0] for word in each),
            "reversed, each of": lambda each: [word[::-1] for word in each]}
SOME_WORDS = "Anna river stone Berlin tree house window Oslo banana letter green paper moon Peter street apple garden summer Tokyo book".split()
NAMES = ["solve", "compute", "process", "find", "get_result", "select", "evaluate", "answer"]


def head_of(function):
    """Its signature and docstring, as they stand in a file, without decorators."""
    bare = ast.FunctionDef(function.name, function.args, [function.body[0]], [], function.returns, lineno=1)
    return ast.unparse(ast.fix_missing_locations(bare))


@functools.cache
def library():
    """(head, source) of the standard library's functions with docstrings, in the order of files and lines."""
    found = []
    for file in sorted(pathlib.Path(sysconfig.get_path("stdlib")).glob("*.py")):
        text = file.read_text(encoding="utf-8", errors="replace")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) and len(node.body) > 1:
                head, source = head_of(node), textwrap.dedent("\n".join(lines[node.lineno - 1:node.end_lineno]))
                if len(head) <= HEAD_CHARACTERS:
                    found.append((head, source))
    return found


def example(name, value, result):
    return f"    >>> {name}({value!r})\n    {result!r}\n"


def own_head(dice):
    """A function of ours: what it returns in words, with two examples."""
    name = dice.choice(NAMES)
    if dice.random() < 0.6:
        (kind, keeps), (what, makes) = dice.choice(list(NUMBERS.items())), dice.choice(list(OF_NUMBERS.items()))
        values = [[dice.randrange(-30, 120) for _ in range(dice.randrange(3, 8))] for _ in range(2)]
        described, argument = f"{what} the {kind} numbers of a list".replace("  ", " "), "numbers: list"
    else:
        (kind, keeps), (what, makes) = dice.choice(list(WORDS.items())), dice.choice(list(OF_WORDS.items()))
        values = [dice.sample(SOME_WORDS, dice.randrange(3, 7)) for _ in range(2)]
        described, argument = f"{what} the words {kind}".rstrip(), "words: list"
    examples = "".join(example(name, value, makes([each for each in value if keeps(each)])) for value in values)
    return f'def {name}({argument}):\n    """Return {described}.\n\n{examples}    """'


def prompt(dice):
    """One prompt: a third about a function of the library to complete, a third to discuss, a third a function of ours."""
    kind = dice.randrange(3)
    if kind == 0:
        return dice.choice(COMPLETE).format(own_head(dice))
    head, source = dice.choice(library())
    if kind == 1 or len(source) > SOURCE_CHARACTERS:
        return dice.choice(COMPLETE).format(head)
    return dice.choice(DISCUSS).format(source)
