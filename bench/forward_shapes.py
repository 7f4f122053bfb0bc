"""Measures what a whole step of n rows costs (matrices, attention, loops between, sampling), in three model sizes and every format.

    python3 bench/forward_shapes.py build/release/bench/forward models/smollm2-135m-instruct

The models are the given one (135M) and random weights in the shapes of 360M and 1B models (shapes.py; 3.2 GB, written for the run). Runs
bench/forward on each in turn and prints one table: the least ms of its repeats, and t(n)/t(1).
"""

import argparse
import pathlib
import re
import subprocess
import tempfile

import shapes

ROWS = (1, 2, 4, 8, 12, 16)
ROW = re.compile(r"^step +(\d+) +[0-9.]+ +[0-9.]+ +([0-9.]+) +[0-9.]+$", re.MULTILINE)  # rows, median, ratio, least, ratio
NUMERICS = re.compile(r"cpu/[^ ,]+")


def measured(command):
    """Returns the numerics id, and the least ms for each number of rows."""
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {int(rows): float(least) for rows, least in ROW.findall(said)}
    if set(found) != set(ROWS):
        raise SystemExit(f"{' '.join(command)} said something else than expected:\n{said}")
    return NUMERICS.search(said)[0], found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("forward")
    parser.add_argument("model", type=pathlib.Path, help="a Hugging Face folder")
    parser.add_argument("--shapes", nargs="*", default=list(shapes.SHAPES), choices=shapes.SHAPES)
    parser.add_argument("--weights", nargs="+", default=["bf16", "q8_0", "q4_0", "q4_1", "q5_1", "q6_k"])
    parser.add_argument("--threads", nargs="+", default=["1", "2"])
    parser.add_argument("--repeats", default="9")
    options = parser.parse_args()
    print("| shape | id | threads | " + " | ".join(f"n = {n}" for n in ROWS) + " | t(8)/t(1) | t(16)/t(1) |")
    print("|---" * (len(ROWS) + 5) + "|")
    with tempfile.TemporaryDirectory() as temporary:
        models = [("135m", options.model)]
        for shape in options.shapes:
            folder = pathlib.Path(temporary) / shape
            folder.mkdir()
            shapes.write(shape, folder, options.model)
            models.append((shape, folder))
        for name, folder in models:
            for weights in options.weights:
                for threads in options.threads:
                    numerics, least = measured([options.forward, "--model", str(folder), "--weights", weights, "--threads", threads,
                                                "--repeats", options.repeats])
                    times = " | ".join(f"{least[n]:.1f}" for n in ROWS)
                    print(f"| {name} | {numerics} | {threads} | {times} | {least[8] / least[1]:.2f} | {least[16] / least[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
