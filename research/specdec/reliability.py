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
import pathlib
import sys

import pareto

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import svg
from calibration import Reliability

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
            all_depths, by_depth = Reliability(), collections.defaultdict(Reliability)
            for depth, node in reached(chats):
                for each in (all_depths, by_depth[depth]):
                    each.count(node.chances[column], node.matched)
            for depth, each in [("all", all_depths), *sorted(by_depth.items())]:
                print(f"| {path.stem} | {name} | {depth} | {each.total():.0f} | {each.error():.3f} | {each.error_by_chance():.3f} | {each.bias():+.3f} |")
            panels[-1].series(f"{name}, error {all_depths.error():.3f}", [(predicted, seen) for predicted, seen, _ in all_depths.points()])
    if options.plot:
        svg.write(options.plot, panels)


if __name__ == "__main__":
    main()
