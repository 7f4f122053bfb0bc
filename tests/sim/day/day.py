#!/usr/bin/env python3
"""A day's requests under fixed pools and under the chart's scaling policy: day.py DAY [--plot FILE] [its options].

Runs the program DAY (tests/sim/day/day_main.cpp), prints the table of docs/use/SCALE.md, and draws its plot.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import reports as runs  # noqa: E402  (its folder is known only now)
import svg  # noqa: E402  (reports.py knows its folder)

HOURS = list(range(0, 25, 4))
EVERY = 3  # moments a point


def table(reports):
    head = ("policy", "verifier-hours", "drafter-hours", "changes of each", "tokens drafted",
            "TTFT p50 / p95 / p99, ms", "a token p50 / p95 / p99, ms", "refused", "failed")
    yield head
    yield ["---"] * len(head)
    for r in reports:
        yield (r["policy"], f"{r['verifier_hours']:.0f}", f"{r['drafter_hours']:.1f}", f"{r['verifier_changes']}, {r['drafter_changes']}",
               f"{100 * r['drafted']:.0f}%", " / ".join(f"{1000 * x:.0f}" for x in r["first"]),
               " / ".join(f"{1000 * x:.0f}" for x in r["each"]), r["refused"], r["not_whole"])


def points(report, column):
    moments = [m for m in report["moments"] if m[0] <= 24]
    for at in range(0, len(moments) - EVERY + 1, EVERY):
        some = moments[at:at + EVERY]
        yield some[0][0], sum(m[column] for m in some) / len(some)


def plot(path, reports):
    scaled = reports[-1]
    load = svg.Panel("What is asked", ("hour", HOURS), ("requests a second", [0, 2, 4, 6, 8, 10, 12]))
    load.series("requests a second", list(points(scaled, 1)), lambda at: 0)
    verifiers = svg.Panel("Verifiers", ("hour", HOURS), ("pods", list(range(0, 9, 2))))
    verifiers.series("scaled", list(points(scaled, 4)), lambda at: 0)
    drafters = svg.Panel("Drafters", ("hour", HOURS), ("pods", [0, 1, 2, 3, 4]))
    drafters.series("scaled", list(points(scaled, 5)), lambda at: 0)
    live = svg.Panel("Live requests", ("hour", HOURS), ("live", list(range(0, 101, 20))))
    for report in reports:
        live.series(report["policy"], list(points(report, 3)), lambda at: 0)
    svg.write(path, [load, verifiers, drafters, live])


def main():
    reports = runs.show(__doc__, table, plot)
    took = ", ".join(f"{report['took']:.0f}" for report in reports)
    print(f"{reports[-1]['requests']} requests; the runs took {took} s")


if __name__ == "__main__":
    main()
