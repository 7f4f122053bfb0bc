"""Tasks that clients do, and the table of what came of them: client, version, task, result."""

import importlib.metadata
import sys

# The package that a client's word in the name of a task stands for, where it is not that word.
PACKAGES = {"aider": "aider-chat", "lmeval": "lm-eval", "langchain": "langchain-openai", "pydanticai": "pydantic-ai-slim"}


def row(client, version, task, result):
    print(f"{client:25} {version:8} {task:66} {result}", flush=True)


def told(error):
    """An exception on one line."""
    return f"FAILED: {type(error).__name__}: {' '.join(str(error).split())[:600]}"


class Tasks:
    """Functions named CLIENT_does_something. Each does one task, and raises if what came of it is wrong."""

    def __init__(self, version=None):  # of a package; None: it is not installed, so its tasks are left out
        self._functions = []
        self._version = version or (lambda package: importlib.metadata.version(package))

    def __call__(self, function):
        self._functions.append(function)
        return function

    def run(self, *arguments, where=""):
        """How many tasks failed. Each is tried, whatever came of those before it."""
        failed = 0
        for function in self._functions:
            client, *words = function.__name__.split("_")
            package = PACKAGES.get(client, client)
            version = self._version(package)
            if version is None:
                row(package, "-", " ".join(words) + where, "not installed")
                continue
            try:
                function(*arguments)
                result = "passed"
            except Exception as error:  # any: the next task is tried, too
                result, failed = told(error), failed + 1
            row(package, version, " ".join(words) + where, result)
        return failed


def ended(failed):
    sys.exit(1 if failed else 0)
