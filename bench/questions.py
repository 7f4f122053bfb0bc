"""Asks plain questions of one model in several formats, greedily: how many answers are right, and which begin as those of the first format.

    python3 bench/questions.py build/release/tools/slipstream/slipstream models/smollm2-135m-instruct.gguf [--weights bf16,file]

An answer of bench/data/questions.jsonl is right if it holds one of the words given there. A small model does not know all of them: the
bar is to know as many in the default format as in bf16.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "peers"))
import servers  # noqa: E402

TOKENS = 40
FIRST_WORDS = 5


def answers(options, weights, questions, folder):
    with servers.ours(options.slipstream, options.model, f"{folder}/{weights}", options.threads, "--weights", *weights.split()) as server:
        return [servers.ask(server, each["question"], TOKENS, ignore_eos=False).text for each in questions]


def is_right(answer, question):
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", answer) for word in question["right"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("model")
    parser.add_argument("--weights", default="bf16,file", help="formats and more flags, by commas: bf16,file --fine-rows; answers are compared with those of the first")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print the answers that differ")
    options = parser.parse_args()
    questions = [json.loads(line) for line in (HERE / "data/questions.jsonl").read_text().splitlines()]
    first = None
    print(f"| weights | right of {len(questions)} | same first {FIRST_WORDS} words | same answer |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for weights in options.weights.split(","):
            given = answers(options, weights, questions, folder)
            first = first or given
            right = sum(is_right(answer, question) for answer, question in zip(given, questions))
            begin = sum(ours.split()[:FIRST_WORDS] == theirs.split()[:FIRST_WORDS] for ours, theirs in zip(given, first))
            print(f"| {weights} | {right} | {begin} | {sum(ours == theirs for ours, theirs in zip(given, first))} |", flush=True)
            for question, ours, theirs in zip(questions, given, first):
                if options.show and ours != theirs:
                    print(f"  {question['question']}\n    {theirs!r}\n    {ours!r}")


if __name__ == "__main__":
    main()
