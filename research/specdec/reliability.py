"""Says how well an acceptance head predicts what is accepted: the expected calibration error by depth, beside the stated confidence.

    slipstream-train acceptance ... --replay gsm8k.trace --predictions FOLDER
    python3 research/specdec/reliability.py FOLDER/*.tsv [--plot FILE.svg]

A head that was trained on other texts than those of the trace is out of distribution there. Counted are the tokens that a verifier would
have reached: all before them were accepted. The error is |predicted - accepted| of each tenth of chance, weighted by tokens; `by chance` is
what a perfect prediction would show for so few. These are the head's own chances, before the verifier's calibration learns from what is
accepted (bench/calibration.py measures that).
"""

import argparse
import collections
import math
import pathlib
import sys

import pareto

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import svg

TENTHS = 10


class Tenths:
    def __init__(self):
        self.sums = collections.defaultdict(lambda: [0, 0.0, 0])  # of each tenth: tokens, predicted, accepted

    def add(self, chance, matched):
        of = self.sums[min(int(chance * TENTHS), TENTHS - 1)]
        of[0], of[1], of[2] = of[0] + 1, of[1] + chance, of[2] + matched

    def tokens(self):
        return sum(count for count, _, _ in self.sums.values())

    def error(self):
        return sum(abs(predicted - seen) for _, predicted, seen in self.sums.values()) / self.tokens()

    def by_chance(self):
        """The mean of |error| of a tenth of n tokens of chance p is sqrt(2 p (1 - p) / (pi n))."""
        return sum(count * math.sqrt(2 * (predicted / count) * max(1 - predicted / count, 0) / (math.pi * count))
                   for count, predicted, _ in self.sums.values()) / self.tokens()

    def bias(self):
        return sum(seen - predicted for _, predicted, seen in self.sums.values()) / self.tokens()


def reached(chats):
    for chat in chats:
        for draft in chat:
            for depth, node in enumerate(draft[: pareto.accepted(draft) + 1]):
                yield depth + 1, node


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("predictions", nargs="+", type=pathlib.Path)
    parser.add_argument("--plot", type=pathlib.Path)
    options = parser.parse_args()
    panels = []
    print("| trace | chance | depth | tokens | error | by chance | bias |\n|---|---|---|---|---|---|---|")
    for path in options.predictions:
        names, chats = pareto.read(path)
        panels.append(svg.Panel(path.stem, ("predicted chance", [0, 0.2, 0.4, 0.6, 0.8, 1]), ("accepted", [0, 0.2, 0.4, 0.6, 0.8, 1])))
        for column, name in enumerate(names):
            all_depths, by_depth = Tenths(), collections.defaultdict(Tenths)
            for depth, node in reached(chats):
                for each in (all_depths, by_depth[depth]):
                    each.add(node.chances[column], node.matched)
            for depth, each in [("all", all_depths), *sorted(by_depth.items())]:
                print(f"| {path.stem} | {name} | {depth} | {each.tokens()} | {each.error():.3f} | {each.by_chance():.3f} | {each.bias():+.3f} |")
            points = [(predicted / count, seen / count) for _, (count, predicted, seen) in sorted(all_depths.sums.items())]
            panels[-1].series(f"{name}, error {all_depths.error():.3f}", points)
    if options.plot:
        svg.write(options.plot, panels)


if __name__ == "__main__":
    main()
