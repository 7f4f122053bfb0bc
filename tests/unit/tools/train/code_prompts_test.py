"""Prompts about code: functions to complete have no body, and the examples of our own functions are right."""

import ast
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tools/train"))
import code_prompts  # noqa: E402


class LibraryTest(unittest.TestCase):
    def test_a_head_is_signature_and_docstring_alone(self):
        source = 'class C:\n    @property\n    def each(self, *, by: int = 2) -> list:\n        """What it does."""\n        return [by]\n'
        head = code_prompts.head_of(ast.parse(source).body[0].body[0])
        self.assertEqual(head, 'def each(self, *, by: int=2) -> list:\n    """What it does."""')

    def test_the_library_has_many_functions_with_docstrings(self):
        found = code_prompts.library()
        self.assertGreater(len(found), 1000)
        for head, source in found:
            # It stands alone, though it may be a method. One whose docstring begins further left stays where it is.
            first = ast.parse("if True:\n" + source if source.startswith(" ") else source).body[0]
            function = first.body[0] if isinstance(first, ast.If) else first
            self.assertEqual(ast.parse(head).body[0].name, function.name)
            self.assertLessEqual(len(head), code_prompts.HEAD_CHARACTERS)


class OwnFunctionTest(unittest.TestCase):
    def test_its_examples_are_those_of_its_words(self):
        heads = [code_prompts.own_head(random.Random(seed)) for seed in range(3000)]
        sums = [head for head in heads if "Return the sum of the even numbers of a list." in head]
        self.assertGreater(len(sums), 2)
        for head in sums:
            lines = [line.strip() for line in head.splitlines()]
            for at, line in enumerate(lines):
                if line.startswith(">>>"):
                    numbers = ast.literal_eval(line[line.index("["):-1])
                    self.assertEqual(int(lines[at + 1]), sum(n for n in numbers if n % 2 == 0))
        self.assertTrue(any("Return the longest of the words that end with a vowel." in head for head in heads))

    def test_each_is_python(self):
        for seed in range(1000):
            function = ast.parse(code_prompts.own_head(random.Random(seed))).body[0]
            self.assertEqual(ast.get_docstring(function).count(">>>"), 2)


class PromptTest(unittest.TestCase):
    def test_the_same_dice_give_the_same_prompt(self):
        prompts = [code_prompts.prompt(random.Random(seed)) for seed in range(300)]
        self.assertEqual(prompts, [code_prompts.prompt(random.Random(seed)) for seed in range(300)])
        self.assertGreater(len(set(prompts)), 280)
        self.assertTrue(any("to JavaScript" in prompt for prompt in prompts))
        self.assertTrue(any(prompt.startswith("def ") for prompt in prompts))


if __name__ == "__main__":
    unittest.main()
