"""Compares the rules by which a draft head stops, through the real service: the same requests to a server of each rule, by turns.

    python3 bench/stop_rules.py build/release/tools/slipstream/slipstream models/smollm2-135m-instruct.gguf [options] [-- options of serve]

`price` is what serves by default: trees, of which levels and rows are drafted and verified where they pay. The others are chains, all of
whose tokens are verified (the verifier's --head-rule): of fixed length, up to the first token that is stated to be less likely, up to the
first pass of whose distribution AdaEDL's bound is lower, or up to SpecDec++'s h; none is longer than the router's --nodes-max (8). The head
alone drafts, and every server decides in the same way whether to ask it at all. Prompts: bench/data/categories.jsonl. A figure is the ratio
of the times that the tokens after the first take, summed over prompts; its 95 % interval comes from drawing the prompts anew (bootstrap).
Two answers that differ are counted: there must be none.
"""

import argparse
import contextlib
import json
import pathlib
import random
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "peers"))
import drafts  # noqa: E402
import servers  # noqa: E402

PLAIN, PRICE = "plain", "price"
RULES = f"{PRICE},fixed:1,fixed:2,fixed:3,fixed:4,fixed:6,confidence:0.4,entropy:0.5,threshold:0.5,threshold:0.7,{PRICE}@last"


def gain(of_rule, of_other, dice):
    pairs = [drafts.Pair(other, rule) for rule, other in zip(of_rule, of_other)]
    low, high = drafts.interval(pairs, dice)
    return f"{drafts.ratio(pairs):.3f} ({low:.3f} to {high:.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("model")
    parser.add_argument("--rules", default=RULES, help=f"by commas, {PRICE} first; of servers with one rule, what follows @ tells them apart")
    parser.add_argument("--prompts", type=int, default=8, help="of each category")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--temperature", type=float, default=0)
    parser.add_argument("--threads", type=int, default=0)
    options, serve_flags = servers.parse(parser)
    rules = options.rules.split(",")
    texts = [json.loads(line) for line in (HERE / "data/categories.jsonl").read_text().splitlines()]
    categories = list(dict.fromkeys(text["category"] for text in texts))
    prompts = [text for category in categories for text in [each for each in texts if each["category"] == category][: options.prompts]]
    given = {name: [] for name in (PLAIN, *rules)}  # answers to the prompts
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        def start(rule):
            config, kind = pathlib.Path(folder) / f"{rule.replace(':', '-')}.toml", rule.split("@")[0]
            config.write_text("" if kind == PRICE else f'[verifier]\nhead-rule = "{kind}"\n')
            flags = ["--drafter", "none", "--resident", "none", "--config", str(config), *serve_flags]
            return running.enter_context(servers.ours(options.slipstream, options.model, f"{config}.log", options.threads, *flags))

        started = {rule: start(rule) for rule in rules}
        dice = random.Random(7)
        for number, prompt in enumerate(prompts):
            def answer(name):
                return servers.ask(started[PRICE if name == PLAIN else name], prompt["prompt"], options.tokens, ignore_eos=False, seed=number,
                                   temperature=options.temperature, speculation={"enabled": name != PLAIN})

            answers = {name: answer(name) for name in dice.sample(list(given), len(given))}
            for name, each in answers.items():
                given[name].append(each)
            print(f"{number + 1} of {len(prompts)}", end="\n" if number + 1 == len(prompts) else "  ", flush=True)
    fixed = [rule for rule in rules if rule.startswith("fixed")]
    seconds = {name: [each.decode_s() for each in answers] for name, answers in given.items()}
    best = min(fixed, key=lambda rule: sum(seconds[rule])) if fixed else PLAIN
    print(f"\ntemperature {options.temperature:g}, at most {options.tokens} tokens, {len(prompts)} prompts\n")
    print(f"| rule | tokens/s | tokens a step | to plain | to {best} | answers that differ |\n|---|---|---|---|---|---|")
    dice = random.Random(7)
    for name, answers in given.items():
        tokens, steps = sum(each.tokens for each in answers), sum(each.tokens / each.tokens_per_step for each in answers)
        differ = sum(each.text != plain.text for each, plain in zip(answers, given[PLAIN]))
        print(f"| {name} | {tokens / sum(seconds[name]):.1f} | {tokens / steps:.2f} | {gain(answers, given[PLAIN], dice)} "
              f"| {gain(answers, given[best], dice)} | {differ} |")
    print(f"\n| to {best} | {' | '.join(rules)} |\n|---|{'---|' * len(rules)}")
    for category in categories:
        of = [i for i, prompt in enumerate(prompts) if prompt["category"] == category]
        gains = [sum(seconds[best][i] for i in of) / sum(seconds[rule][i] for i in of) for rule in rules]
        print(f"| {category} | {' | '.join(f'{gain:.2f}' for gain in gains)} |")


if __name__ == "__main__":
    main()
