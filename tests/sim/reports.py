"""Runs a program that writes one JSON object for each policy, and prints a table and draws a plot of them."""
import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))


def show(doc, table, plot):
    """table(reports) gives rows; plot(path, reports) draws what --plot asks for. Returns the reports."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--plot", type=pathlib.Path)
    arguments, others = parser.parse_known_args()
    ran = subprocess.run([arguments.program, *others], stdout=subprocess.PIPE, text=True, check=True)
    reports = [json.loads(line) for line in ran.stdout.splitlines()]
    for row in table(reports):
        print("| " + " | ".join(map(str, row)) + " |")
    if arguments.plot:
        plot(arguments.plot, reports)
    return reports
