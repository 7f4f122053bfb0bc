"""Compares rules that stop drafts, as SpecDec++ does (2405.19715, Section 4.3): discard rate against verification rate.

    slipstream-train trace ... --depth 20 --out alpaca.trace
    slipstream-train acceptance ... --replay alpaca.trace --predictions FOLDER
    python3 research/specdec/pareto.py FOLDER/*.tsv [--plot FILE.svg] [--draft-cost 0.12] [--row-cost 0.3]

A trace has what the draft head would have drafted behind each token of the answers, and drafts change no word, so every rule is replayed on
the same answers:

    fixed K      drafts K tokens
    confidence   a pass tells a token and its confidence; the next pass is made while the product of the confidences is at least 1 - h
    entropy      AdaEDL's (2410.18351): the next pass is made while 1 - sqrt(0.2 H) is at least 1 - h, where H is the entropy of what the pass
                 that told the newest token gave all tokens
    SpecDec++    Algorithm 2: the next pass is made while the product of the acceptance head's probabilities is at least 1 - h. The head
                 judges a token by the pass that reads it, which drafts one more token: a rejected token has cost two passes
    as served    as confidence, but each token that was read counts with the acceptance head's probability in place of its confidence
    oracle       drafts what will be accepted, and no more (Lemma 2.1)

A pass of the head drafts one token, so drafted tokens count its passes.

    discard rate = drafted and not accepted / tokens;  verification rate = passes of the target / tokens

The time of a token, in plain steps, is the paper's equation 2.3 plus what a drafted token's row costs the target:
(1 - c) passes + c (1 + discarded) + r drafted, per token, where c is --draft-cost and r --row-cost.
Exit status: 0 no frontier lies above a fixed K's point, 1 one does, 2 wrong arguments.
"""

import argparse
import collections
import csv
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import svg  # noqa: E402

CONFIDENCE = 0  # column of a node's chances
GAMMA = 0.2  # AdaEDL's weight of the entropy
LONGEST = 20  # of a draft, as the paper has it
FIXED = (1, 2, 3, 4, 6, 8, 10, 12, 14)
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)

DISCARDED, PASSES = (0, 0.5, 1, 1.5, 2), (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)  # ticks of the plot
ALIKE = 5e-4  # passes a token: where all that is accepted is drafted anyway, the rules meet

Node = collections.namedtuple("Node", "matched chances entropy")
Rates = collections.namedtuple("Rates", "discard verification drafted")


def read(path):
    """The names of the predictions, and of each chat its drafts: a list of nodes."""
    chats = []
    with path.open() as file:
        rows = csv.reader(file, delimiter="\t")
        names = next(rows)[5:]
        for chat, start, depth, matched, entropy, *chances in rows:
            if int(chat) == len(chats):
                chats.append([])
            if int(start) == len(chats[-1]):
                chats[-1].append([])
            assert int(depth) == len(chats[-1][-1]) + 1
            chats[-1][-1].append(Node(matched == "1", [float(chance) for chance in chances], float(entropy)))
    return names, chats


def accepted(draft):
    for count, node in enumerate(draft):
        if not node.matched:
            return count
    return len(draft)


def confidence_rule(threshold):
    return served_rule(CONFIDENCE, threshold)


def entropy_rule(threshold):
    def drafted(draft):
        for count, node in enumerate(draft[:LONGEST]):
            if not 1 - math.sqrt(GAMMA * node.entropy) >= 1 - threshold:
                return count + 1
        return min(LONGEST, len(draft))
    return drafted


def specdec_rule(column, threshold):
    def drafted(draft):
        reached = 1.0
        for count, node in enumerate(draft[:LONGEST]):
            reached *= node.chances[column]
            if not reached >= 1 - threshold:  # a chance that is no number ends the draft, too
                return min(count + 2, LONGEST, len(draft))
        return min(LONGEST, len(draft))
    return drafted


def served_rule(column, threshold):
    """column: of the chance that a token has once it was read."""
    def drafted(draft):
        reached = 1.0
        for count, node in enumerate(draft[:LONGEST]):
            if not reached * node.chances[CONFIDENCE] >= 1 - threshold:
                return count + 1
            reached *= node.chances[column]
        return min(LONGEST, len(draft))
    return drafted


def replay(chats, rule):
    tokens = passes = drafted = discarded = 0
    for drafts in chats:
        at = 0
        while at < len(drafts):
            count = min(rule(drafts[at]), len(drafts[at]))
            right = min(accepted(drafts[at]), count)
            drafted, discarded, passes = drafted + count, discarded + count - right, passes + 1
            at += right + 1
        tokens += len(drafts)
    return Rates(discarded / tokens, passes / tokens, drafted / tokens)


def frontier(points):
    """Those that no other point beats in both rates, by rising discard rate."""
    best = []
    for point in sorted(points, key=lambda each: (each.discard, each.verification)):
        if not best or point.verification < best[-1].verification:
            best.append(point)
    return best


def below(line, point):
    """The verification rate of a frontier at a point's discard rate, between its neighbours; nothing beyond its ends."""
    for left, right in zip(line, line[1:]):
        if left.discard <= point.discard <= right.discard:
            share = (point.discard - left.discard) / max(right.discard - left.discard, 1e-12)
            return left.verification + share * (right.verification - left.verification)
    return line[-1].verification if line and point.discard > line[-1].discard else None


def speed_up(rates, options):
    cost, row = options.draft_cost, options.row_cost
    return 1 / ((1 - cost) * rates.verification + cost * (1 + rates.discard) + row * rates.drafted)


def compared(path, options):
    names, chats = read(path)
    rules = {"fixed K": {f"K = {k}": replay(chats, lambda draft, k=k: k) for k in FIXED},
             "confidence": {f"h = {h}": replay(chats, confidence_rule(h)) for h in THRESHOLDS},
             "entropy": {f"h = {h}": replay(chats, entropy_rule(h)) for h in THRESHOLDS},
             "SpecDec++": {f"{name}, h = {h}": replay(chats, specdec_rule(at, h)) for at, name in enumerate(names) if at > CONFIDENCE
                           for h in THRESHOLDS},
             "as served": {f"{name}, h = {h}": replay(chats, served_rule(at, h)) for at, name in enumerate(names) if at > CONFIDENCE
                           for h in THRESHOLDS}}
    oracle = replay(chats, accepted)
    print(f"\n{path.stem}: {sum(map(len, chats))} tokens of {len(chats)} answers")
    print(f"{'rule':<12} {'best setting':<20} {'discard':>8} {'verification':>13} {'speed-up':>9}")
    for rule, points in rules.items():
        setting = max(points, key=lambda each: speed_up(points[each], options))
        print(f"{rule:<12} {setting:<20} {points[setting].discard:>8.3f} {points[setting].verification:>13.3f} "
              f"{speed_up(points[setting], options):>9.3f}")
    print(f"{'oracle':<12} {'':<20} {oracle.discard:>8.3f} {oracle.verification:>13.3f} {speed_up(oracle, options):>9.3f}")
    whole = True
    for rule in ("SpecDec++", "as served"):
        line = frontier(rules[rule].values())
        worse = above(line, rules["fixed K"])
        print(f"{rule}: the frontier lies below all fixed K, or meets them" if not worse else f"{rule}: the frontier lies above " + ", ".join(worse))
        whole = whole and not worse
    return rules, oracle, whole


def above(line, points):
    """The settings of a rule that lie below a frontier, and by how much."""
    worse = []
    for setting, point in points.items():
        bound = below(line, point)
        if bound is not None and bound > point.verification + ALIKE:
            worse.append(f"{setting} (by {bound - point.verification:.4f})")
    return worse


def panel(name, rules, oracle):
    """Where the rules differ: beyond, all drafts are long, and only more is discarded."""
    drawn = svg.Panel(name, ("discarded / token", DISCARDED), ("target passes / token", PASSES))
    lines = {rule: sorted((point.discard, point.verification) for point in rules[rule].values()) for rule in ("fixed K", "confidence", "entropy")}
    lines |= {f"{rule}, frontier": [(point.discard, point.verification) for point in frontier(rules[rule].values())]
              for rule in ("SpecDec++", "as served")}
    for rule, line in lines.items():
        drawn.series(rule, [point for point in line if point[0] <= DISCARDED[-1]])
    drawn.series("oracle", [(oracle.discard, oracle.verification)])
    return drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("predictions", type=pathlib.Path, nargs="+", help="files that slipstream-train acceptance wrote")
    parser.add_argument("--plot", type=pathlib.Path, help="an SVG to draw")
    parser.add_argument("--draft-cost", type=float, default=0.12, help="a pass of the head, in plain steps of the target")
    parser.add_argument("--row-cost", type=float, default=0.0, help="one more row in the target's pass, in plain steps")
    options = parser.parse_args()
    results = {path.stem: compared(path, options) for path in options.predictions}
    if options.plot:
        svg.write(options.plot, [panel(name, *result[:2]) for name, result in results.items()])
    sys.exit(0 if all(result[2] for result in results.values()) else 1)


if __name__ == "__main__":
    main()
