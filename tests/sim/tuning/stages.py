#!/usr/bin/env python3
"""Fixed thresholds and the tuner while load, prompts, drafters and distance change: stages.py STAGES [--plot FILE] [its options].

Runs the program STAGES (tests/sim/tuning/stages_main.cpp), prints the table of docs/lab/PERFORMANCE.md, and draws its plot.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import reports as runs  # noqa: E402  (its folder is known only now)
import svg  # noqa: E402  (reports.py knows its folder)

STAGE, SECONDS_A_STAGE = 10, 9  # seconds; the last one of a stage is not counted


def table(reports):
    stages = len(reports[0]["settled"])
    yield ("threshold", *(str(stage + 1) for stage in range(stages)), "all")
    yield ["---"] * (stages + 2)
    for report in reports:
        yield (report["policy"], *(f"{tokens:.0f}" for tokens in report["settled"]), f"{sum(report['settled']):.0f}")


def by_second(report):
    for at, tokens in enumerate(report["tokens"]):
        yield at // SECONDS_A_STAGE * STAGE + at % SECONDS_A_STAGE + 0.5, tokens


def plot(path, reports):
    plain, tuned = reports[0], reports[-1]
    fixed = max(reports[1:-2], key=lambda report: sum(report["settled"]))
    seconds = list(range(0, STAGE * len(plain["settled"]) + 1, STAGE))
    most = max(tuned["tokens"])
    speed = svg.Panel("Tokens a second", ("second", seconds), ("tokens/s", [round(most * part / 4, -1) for part in range(5)]))
    for report, name in ((plain, "no drafts"), (fixed, f"h = {fixed['policy']}, the best that stays"), (tuned, "tuned")):
        speed.series(name, list(by_second(report)), lambda at: 0)
    within = [setting for setting in tuned["settings"] if 0 <= setting[0] <= seconds[-1]]
    h = svg.Panel("Threshold", ("second", seconds), ("h", [0, 0.25, 0.5, 0.75, 1]))
    h.series("set by the tuner", [(setting[0], setting[1]) for setting in within], lambda at: 0)
    price = svg.Panel("What a node must gain", ("second", seconds), ("tokens", [0, 0.1, 0.2, 0.3, 0.4, 0.5]))
    price.series("to be verified", [(setting[0], setting[4]) for setting in within], lambda at: 0)
    price.series("to be drafted", [(setting[0], setting[5]) for setting in within], lambda at: 0)
    svg.write(path, [speed, h, price])


def main():
    runs.show(__doc__, table, plot)


if __name__ == "__main__":
    main()
