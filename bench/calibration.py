"""Measures how well a verifier predicts which draft nodes are accepted: on text of one kind, and when another kind follows it.

    python3 bench/calibration.py build/release/tools/slipstream/slipstream models/smollm2-135m-instruct.gguf [--plot FILE.svg] [-- options of serve]

Prompts of one category after the other (bench/data/categories.jsonl) are asked one by one, of the same server. The first --rounds rounds
of a category are text of another kind than the verifier has learnt from; the later ones are in distribution. For each draft method it
prints the expected calibration error of both: |predicted - seen| of each tenth of chance, weighted by nodes. `by chance` is the error
that a perfect prediction would show for so few nodes; `bias` is seen - predicted over all nodes. The plot has predicted beside seen, a point's area being its nodes.
"""

import argparse
import json
import math
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "peers"))
import scrape  # noqa: E402
import servers  # noqa: E402
import svg  # noqa: E402

BINS = tuple(f"{tenth / 10:.1f}" for tenth in range(1, 11))  # as the label `chance` names them
ROUNDS_LEAST = 200
SWITCHED, LATER = "first rounds of a kind", "later rounds"


class Reliability:
    """Of one method: nodes verified, the sum of their predicted chances, and nodes accepted, in each tenth of chance."""

    def __init__(self):
        self.nodes, self.expected, self.accepted = ([0.0] * len(BINS) for _ in range(3))

    def add(self, other, sign=1):
        for mine, theirs in ((self.nodes, other.nodes), (self.expected, other.expected), (self.accepted, other.accepted)):
            for at, value in enumerate(theirs):
                mine[at] += sign * value

    def count(self, chance, accepted):  # one node
        tenth = min(int(chance * len(BINS)), len(BINS) - 1)
        self.nodes[tenth] += 1
        self.expected[tenth] += chance
        self.accepted[tenth] += accepted

    def total(self):
        return sum(self.nodes)

    def error(self):
        return sum(abs(predicted - seen) for predicted, seen in zip(self.expected, self.accepted)) / self.total()

    def bias(self):
        """How much too often a node is accepted."""
        return (sum(self.accepted) - sum(self.expected)) / self.total()

    def error_by_chance(self):
        """The mean |error| of binomial counts whose chances are as predicted, by the normal distribution."""
        spread = (nodes * (predicted / nodes) * (1 - predicted / nodes) for nodes, predicted in zip(self.nodes, self.expected) if nodes > 0)
        return sum(math.sqrt(2 / math.pi * variance) for variance in spread) / self.total()

    def points(self):
        """(predicted, seen, nodes) of each tenth that has nodes."""
        return [(predicted / nodes, seen / nodes, nodes) for nodes, predicted, seen in zip(self.nodes, self.expected, self.accepted) if nodes > 0]


def reliabilities(page):
    """{method: Reliability} since the verifier began."""
    found = {}
    for what in ("nodes", "expected", "accepted"):
        metric = f"slipstream_verifier_draft_{'verified' if what == 'nodes' else what}_nodes_total"
        for (method, chance), value in page.by(metric, "method", "chance").items():
            getattr(found.setdefault(method, Reliability()), what)[BINS.index(f"{float(chance):.1f}")] = value
    return found


def by_depth(page):
    """{method: [(depth, nodes, predicted, seen)]}; nodes below depth 8 have depth 16, the deepest that is asked for."""
    found = {}
    metrics = [page.by(f"slipstream_verifier_draft_depth_{what}_nodes_total", "method", "depth") for what in ("verified", "expected", "accepted")]
    for (method, depth), nodes in metrics[0].items():
        if nodes > 0:
            expected, accepted = (metric[method, depth] for metric in metrics[1:])
            found.setdefault(method, []).append((16 if depth == "deeper" else int(depth), nodes, expected / nodes, accepted / nodes))
    return found


def print_depths(page):
    print("\n| method | depth | nodes | predicted | seen |\n|---|---|---|---|---|")
    for method, depths in by_depth(page).items():
        for depth, nodes, predicted, seen in depths:
            print(f"| {method} | {depth} | {nodes:.0f} | {predicted:.2f} | {seen:.2f} |")


def print_table(page):
    """Of each method with nodes: what was predicted in each tenth, and what was seen."""
    for method, of_method in reliabilities(page).items():
        if of_method.total() == 0:
            continue
        print(f"\n{method}: {of_method.total():.0f} nodes verified, expected calibration error {of_method.error():.3f}\n")
        print("| nodes | predicted | seen |\n|---|---|---|")
        for predicted, seen, nodes in of_method.points():
            print(f"| {nodes:.0f} | {predicted:.2f} | {seen:.2f} |")


class Phases:
    """{(category, phase): {method: Reliability}}: what each phase of each category added to the verifier's counts."""

    def __init__(self, server):
        self.url = scrape.verifier_url(server)
        self.found = {}
        self.before = scrape.Page(self.url)
        self.rounds = 0  # of this category so far

    def ended(self, category, rounds_least):
        """An answer of this category has ended."""
        page = scrape.Page(self.url)
        phase = LATER if self.rounds >= rounds_least else SWITCHED
        methods, until_now = reliabilities(page), reliabilities(self.before)
        for method, of_method in methods.items():
            if method in until_now:
                of_method.add(until_now[method], sign=-1)
            self.found.setdefault((category, phase), {}).setdefault(method, Reliability()).add(of_method)
        name = "slipstream_verifier_rounds_total"
        self.rounds += page.sum(name) - self.before.sum(name)
        self.before = page

    def of(self, method, phase, categories):
        whole = Reliability()
        for category in categories:
            of_phase = self.found.get((category, phase), {})
            if method in of_phase:
                whole.add(of_phase[method])
        return whole


def print_errors(phases, methods, categories, rounds):
    print(f"\nExpected calibration error; first: the first {rounds} rounds of a category, and the answer that they end in\n")
    print("| method | category | first: nodes | error | by chance | bias | later: nodes | error | by chance | bias |\n" + "|---" * 10 + "|")
    for method in methods:
        for name, of in [*((category, [category]) for category in categories), ("all", categories)]:
            cells = []
            for phase in (SWITCHED, LATER):
                seen = phases.of(method, phase, of)
                cells.append(f"{seen.total():.0f} | {seen.error():.3f} | {seen.error_by_chance():.3f} | {seen.bias():+.3f}" if seen.total() else "0 | | | ")
            print(f"| {method} | {name} | {' | '.join(cells)} |")


def plot(path, phases, methods, categories):
    ticks = [0, 0.2, 0.4, 0.6, 0.8, 1]
    panels = []
    for phase, title in ((SWITCHED, "Text of another kind"), (LATER, "In distribution")):
        panel = svg.Panel(title, ("predicted chance", ticks), ("accepted", ticks))
        panel.reference([(0, 0), (1, 1)])
        for method in methods:
            seen = phases.of(method, phase, categories)
            if seen.total() == 0:
                continue
            most = max(seen.nodes)
            areas = [nodes / most for _, _, nodes in seen.points()]
            panel.series(f"{method}, error {seen.error():.3f}", [(x, y) for x, y, _ in seen.points()], lambda at: 2 + 6 * math.sqrt(areas[at]))
        panels.append(panel)
    panel = svg.Panel("By depth, all text", ("depth", [1, 2, 3, 4, 8, 16]), ("accepted", ticks), log_x=True)
    for method, depths in by_depth(phases.before).items():
        if method in methods:
            panel.series(f"{method}, predicted", [(depth, predicted) for depth, _, predicted, _ in depths])
            panel.series(f"{method}, seen", [(depth, seen) for depth, _, _, seen in depths])
    svg.write(path, [*panels, panel])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("model")
    parser.add_argument("--categories", default="code,chat,summarisation,translation,mathematics,rag", help="in this order, by commas")
    parser.add_argument("--rounds", type=int, default=ROUNDS_LEAST, help="after which a category is one that the verifier has learnt from")
    parser.add_argument("--tokens", type=int, default=300)
    parser.add_argument("--temperature", type=float, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--file", type=pathlib.Path, default=HERE / "data/categories.jsonl")
    parser.add_argument("--plot", type=pathlib.Path)
    options, serve_flags = servers.parse(parser)
    categories = options.categories.split(",")
    prompts = [json.loads(line) for line in options.file.read_text().splitlines()]
    print(f"{scrape.processor()}, {os.cpu_count()} CPUs, answers of {options.tokens} tokens at most, temperature {options.temperature:g}", flush=True)
    with tempfile.TemporaryDirectory() as folder, \
            servers.ours(options.slipstream, options.model, folder + "/log", options.threads, *serve_flags) as server:
        phases = Phases(server)
        for category in categories:
            phases.rounds = 0
            for number, prompt in enumerate(each["prompt"] for each in prompts if each["category"] == category):
                servers.ask(server, prompt, options.tokens, temperature=options.temperature, seed=number, ignore_eos=False)
                phases.ended(category, options.rounds)
            print(f"{category}: {phases.rounds:.0f} rounds", flush=True)
        methods = [method for method, seen in reliabilities(phases.before).items() if seen.total() > 0]
        print_errors(phases, methods, categories, options.rounds)
        print_depths(phases.before)
        if options.plot:
            plot(options.plot, phases, methods, categories)


if __name__ == "__main__":
    main()
