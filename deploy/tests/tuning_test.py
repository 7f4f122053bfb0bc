#!/usr/bin/env python3
"""The router tunes how far drafters guess by a real Prometheus: it decides, holds what it decided while Prometheus is gone, and goes on.

    tuning_test.py BUILD [--out FOLDER]

Real services with a random model on loopback; the drafter drafts by the target itself. Needs prometheus.
"""
import argparse
import json
import pathlib
import sys
import tempfile
import time
import urllib.request

import fleet
from prometheus import Prometheus
from waiting import Failed

FIRST_THRESHOLD = 0.1  # set by hand, and no price is so high
PATIENCE_S = 120


def setting_of(one):
    """The setting of the only kind of drafter as the router's page tells it; none: None."""
    with urllib.request.urlopen(f"http://{one.ports('router')['http']}/tuning", timeout=10) as answer:
        kinds = json.load(answer)["kinds"]
    return kinds[0] if kinds else None


def seconds_until(what, condition):
    began = time.monotonic()
    fleet.wait_for(what, condition, seconds=PATIENCE_S)
    return f"{time.monotonic() - began:.0f}"


def tuned(one):
    setting = setting_of(one)
    return setting is not None and setting["version"] > 0 and setting["reason"] in ("price", "every_node_pays", "no_node_pays")


def run(arguments):
    prometheus, rows = Prometheus(arguments.out / "prometheus"), []
    try:
        with fleet.Fleet(arguments.build, arguments.out / "fleet") as one:
            one.router("--tune", "on", "--prometheus", prometheus.url, "--threshold", str(FIRST_THRESHOLD), "--deadline-us", "1000000")
            one.verifier("--step-cost-us", "1000", "--wait-percent", "100000")
            one.drafter("--method", "small-lm")
            workers = {address: labels for address, labels in one.targets("tuning").items() if labels["pod"] != "router"}
            prometheus.watch(workers)
            fleet.wait_for("the workers are scraped", lambda: prometheus.scraped("tuning", len(workers)))
            one.ask(streams=2, tokens=500)
            rows.append(("two clients ask", "decides", seconds_until("a decision", lambda: tuned(one)), setting_of(one)))
            prometheus.stop()
            waited = seconds_until("it says that statistics stopped", lambda: setting_of(one)["reason"] == "stopped")
            held = setting_of(one)
            rows.append(("Prometheus is stopped", "says so, and holds h", waited, held))
            if held["threshold"] == FIRST_THRESHOLD:
                raise Failed("with Prometheus gone it went back to the first threshold")
            prometheus.start()
            rows.append(("Prometheus is there again", "decides again", seconds_until("another decision", lambda: tuned(one)), setting_of(one)))
    finally:
        prometheus.stop()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(tempfile.mkdtemp()))
    arguments = parser.parse_args()
    arguments.out = arguments.out.resolve()
    try:
        rows = run(arguments)
    except Failed as fault:
        print(fault, file=sys.stderr)
        return 1
    print("| what happens | the router | after, s | h | reason |\n|---|---|---|---|---|")
    for happens, does, seconds, setting in rows:
        print(f"| {happens} | {does} | {seconds} | {setting['threshold']:.3f} | {setting['reason']} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
