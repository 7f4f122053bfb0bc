"""Compares accepting and sampling at one node with the logits warpers of transformers: the same rows of logits, one thread, in turns.

    PYTHON research/rules/warpers.py build/research/research/rules/accept_cost [--rows 4] [--turns 3]

PYTHON is any interpreter with torch and transformers. Our figure is the most expensive of three: accepting, rejecting and sampling from
the residual, and sampling the bonus token. Theirs is temperature, top-k and top-p over the row ("warpers"), or that with softmax and one
sampled token ("sampled"); transformers' assisted decoding does more for each node. Exits 1 if the ratio warpers : ours is below --least.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time

import torch
import transformers
from transformers import LogitsProcessorList, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

TEMPERATURE, TOP_K, TOP_P = 0.7, 40, 0.95
FILTERS = {"top-k": (TOP_K, 1.0), "top-p": (0, TOP_P), "top-k, top-p": (TOP_K, TOP_P)}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("accept_cost")
    parser.add_argument("--rows", type=int, default=4)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=100, help="of each row in a turn")
    parser.add_argument("--least", type=float, default=20.0, help="ratio below which the exit status is 1")
    return parser.parse_args()


def rows_of(count, vocabulary):
    """Makes rows like a chat model's logits, as bench/logit_row.h does."""
    random = torch.Generator().manual_seed(1)
    rows = 3.6 * torch.randn(count, vocabulary, generator=random)
    likely = torch.randint(vocabulary, (count, 8), generator=random)
    return rows.scatter(1, likely, 17 + 3.6 * torch.randn(count, 8, generator=random))


def median_us(work, repeats):
    times = []
    for _ in range(repeats):
        start = time.thread_time_ns()
        work()
        times.append((time.thread_time_ns() - start) / 1e3)
    return statistics.median(times)


def theirs(rows, top_k, top_p, repeats):
    warpers = LogitsProcessorList([TemperatureLogitsWarper(TEMPERATURE)])
    if top_k:
        warpers.append(TopKLogitsWarper(top_k))
    if top_p < 1:
        warpers.append(TopPLogitsWarper(top_p))
    sampled = lambda row: torch.multinomial(torch.softmax(warpers(None, row), -1), 1)
    each = [(median_us(lambda: warpers(None, row), repeats), median_us(lambda: sampled(row), repeats)) for row in rows.split(1)]
    return [statistics.mean(column) for column in zip(*each)]


def ours(accept_cost, file, vocabulary, top_k, top_p, repeats):
    command = [accept_cost, "--rows", file, "--vocabulary", str(vocabulary), "--temperature", str(TEMPERATURE), "--top-k", str(top_k),
               "--top-p", str(top_p), "--repeats", str(repeats)]
    costs = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return max(costs[kind] for kind in ("accepted", "refused", "bonus"))


def main():
    args = arguments()
    torch.set_num_threads(1)
    print(f"transformers {transformers.__version__}, torch {torch.__version__}; one thread each, CPU microseconds a node, "
          f"temperature {TEMPERATURE}, top-k {TOP_K}, top-p {TOP_P}")
    print(f"{'vocabulary':>10} {'filters':<14} {'ours':>8} {'warpers':>9} {'sampled':>9} {'warpers:ours':>13} {'sampled:ours':>13}")
    worst = float("inf")
    for vocabulary in (49152, 128256):
        rows = rows_of(args.rows, vocabulary)
        with tempfile.NamedTemporaryFile() as file, torch.no_grad():
            rows.numpy().tofile(file.name)
            for name, (top_k, top_p) in FILTERS.items():
                turns = [(ours(args.accept_cost, file.name, vocabulary, top_k, top_p, args.repeats),
                          *theirs(rows, top_k, top_p, args.repeats)) for _ in range(args.turns)]
                mine, warpers, sampled = (statistics.median(column) for column in zip(*turns))
                print(f"{vocabulary:>10} {name:<14} {mine:>8.1f} {warpers:>9.1f} {sampled:>9.1f} {warpers / mine:>12.1f}x "
                      f"{sampled / mine:>12.1f}x", flush=True)
                worst = min(worst, warpers / mine)
    print(f"least ratio {worst:.1f} (warpers : ours)")
    raise SystemExit(0 if worst >= args.least else 1)


if __name__ == "__main__":
    main()
