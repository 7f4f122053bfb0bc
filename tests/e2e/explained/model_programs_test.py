"""The programs that compute texts without a service, on which figures of quality and speed stand, say the same of a tiny model."""

import array
import json
import pathlib
import subprocess
import sys
import unittest

BENCH = pathlib.Path(sys.argv.pop(1))
MODEL = pathlib.Path(__file__).resolve().parents[2] / "data/tiny-llama"
VOCABULARY = 64
TEXTS = [[1], [1, 5, 9, 13], [40 - i % 30 for i in range(150)]]  # the last: more rows than a chunk of bench/logits


def said(program, lines):
    return subprocess.run([BENCH / program, "--model", MODEL, "--path", "portable"], input="\n".join(lines).encode(), check=True,
                          capture_output=True).stdout


class ModelPrograms(unittest.TestCase):
    def test_what_follows_a_text_is_the_likeliest_of_its_last_logits(self):
        logits = array.array("f", said("logits", [" ".join(map(str, text)) for text in TEXTS]))
        self.assertEqual(len(logits), VOCABULARY * sum(map(len, TEXTS)))
        answers = said("decode", [" ".join(map(str, [3, *text])) for text in TEXTS]).decode().splitlines()
        end = 0
        for text, answer in zip(TEXTS, answers, strict=True):
            end += VOCABULARY * len(text)
            last = logits[end - VOCABULARY : end]
            tokens = json.loads(answer)["tokens"]
            self.assertEqual(len(tokens), 3)
            self.assertEqual(tokens[0], last.index(max(last)))


if __name__ == "__main__":
    unittest.main()
