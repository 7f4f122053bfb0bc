"""Measures what drafts bring through the real service: the same requests with drafts and without, by turns, by category of prompts.

    python3 bench/drafts.py build/release/tools/slipstream/slipstream models/smollm2-135m-instruct.gguf [options] [-- options of serve]

Prompts: bench/data/categories.jsonl, or those of --file. With --key, requests have an API key, so look-up finds earlier answers:
--again asks all prompts once before, unmeasured; --warm N the first N of each category, which are then not measured. With --corpus, two
servers are compared, both with drafts: "drafts" is then the one that has the corpus, and "plain" the one that has none. --rule takes
another acceptance rule than the default one. A figure is the ratio of the times that a token after the first takes, over a category's
prompts; its 95 % interval comes from drawing the prompts anew (bootstrap). Two answers that differ are counted: with the default rule
there must be none. Other rules sample anew, so answers have other lengths there.
"""

import argparse
import contextlib
import json
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "peers"))
import calibration  # noqa: E402
import scrape  # noqa: E402
import servers  # noqa: E402

PROMPTS = pathlib.Path(__file__).parent / "data/categories.jsonl"
DRAWS = 2000


class Pair:
    """The decoding seconds of one prompt's answer, plain and drafted, and how many tokens a step of the drafted one emitted."""

    def __init__(self, plain, drafted):
        self.plain, self.drafted = plain.decode_s(), drafted.decode_s()
        self.plain_tokens, self.drafted_tokens = plain.tokens - 1, drafted.tokens - 1
        self.same = plain.text == drafted.text
        self.emitted, self.steps = drafted.tokens, drafted.tokens / drafted.tokens_per_step


def ratio(pairs):
    plain = sum(pair.plain for pair in pairs) / sum(pair.plain_tokens for pair in pairs)
    return plain / (sum(pair.drafted for pair in pairs) / sum(pair.drafted_tokens for pair in pairs))


def interval(pairs, dice):
    drawn = sorted(ratio(dice.choices(pairs, k=len(pairs))) for _ in range(DRAWS))
    return drawn[int(0.025 * DRAWS)], drawn[int(0.975 * DRAWS)]


def row(name, pairs, dice):
    low, high = interval(pairs, dice)
    plain = sum(pair.plain_tokens for pair in pairs) / sum(pair.plain for pair in pairs)
    steps = sum(pair.emitted for pair in pairs) / sum(pair.steps for pair in pairs)
    return f"| {name} | {len(pairs)} | {plain:.1f} | {steps:.2f} | {ratio(pairs):.2f} | {low:.2f} to {high:.2f} | {sum(pair.same for pair in pairs)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("model")
    parser.add_argument("--prompts", type=int, default=8, help="of each category")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--temperature", type=float, default=0)
    parser.add_argument("--rule", help="acceptance rule of the requests: ratio, block, ...; default: coupled")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--file", type=pathlib.Path, default=PROMPTS)
    parser.add_argument("--key", help="API key of all requests; none: look-up looks in each request's own text only")
    parser.add_argument("--again", action="store_true", help="measure the second time that each prompt is asked")
    parser.add_argument("--warm", type=int, default=0, help="prompts of each category that are asked first, and not measured")
    parser.add_argument("--corpus", help="measure what this corpus adds to drafts")
    parser.add_argument("--categories", help="these only, by commas")
    options, serve_flags = servers.parse(parser)
    prompts = [json.loads(line) for line in options.file.read_text().splitlines()]
    categories = options.categories.split(",") if options.categories else list(dict.fromkeys(prompt["category"] for prompt in prompts))
    dice, pairs = random.Random(7), {}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        def start(log, *more):
            flags = [*serve_flags, *more]
            return running.enter_context(servers.ours(options.slipstream, options.model, folder + log, options.threads, *flags))

        server = start("/log")
        drafting = start("/corpus-log", "--look-up-corpus", options.corpus) if options.corpus else server

        def answer(prompt, number, drafts):
            return servers.ask(drafting if drafts else server, prompt["prompt"], options.tokens, temperature=options.temperature, seed=number,
                               key=options.key, ignore_eos=False, speculation={"enabled": drafts or bool(options.corpus)} | ({"rule": options.rule} if options.rule and drafts else {}))

        for category in categories:
            of_category = [each for each in prompts if each["category"] == category]
            measured = of_category[options.warm:][: options.prompts]
            for number, prompt in enumerate(of_category[: options.warm] + (measured if options.again else [])):
                for drafts in (True, False) if options.corpus else (True,):
                    answer(prompt, number, drafts)
            for number, prompt in enumerate(measured):
                sides = {drafts: answer(prompt, number, drafts) for drafts in ((True, False) if number % 2 else (False, True))}
                if min(side.tokens for side in sides.values()) > 1:
                    pairs.setdefault(category, []).append(Pair(sides[False], sides[True]))
            print(f"{category}: {ratio(pairs[category]):.2f}", flush=True)
        calibration.print_table(scrape.Page(scrape.verifier_url(drafting)))
    print(f"\ntemperature {options.temperature:g}, at most {options.tokens} tokens\n")
    print("| prompts | of them | plain, tokens/s | tokens a step | drafts to plain | 95 % interval | same words |\n|---|---|---|---|---|---|---|")
    for category, of_category in pairs.items():
        print(row(category, of_category, dice))
    print(row("all", [pair for of_category in pairs.values() for pair in of_category], dice))


if __name__ == "__main__":
    main()
