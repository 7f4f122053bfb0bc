"""Measures how long a verifier takes to be ready: from the start of the process to status 200 on /ready, while a router runs.

    python3 bench/load.py build/release models/smollm2-135m-instruct models/smollm2-135m-instruct.gguf [--shape-1b] [--threads 1 2]

The files are in the page cache: the first start of each model only brings them there. Prints for each model and number of threads the
median and the least time of --starts starts. For the median start it also prints the parts that the verifier's page reports; the rest is
the start of the process, the tokenizer's hash and the router's welcome. --shape-1b adds a folder of random bf16 weights in the shape of
Llama 3.2 1B (2.5 GB, written for the run) with the first model's tokenizer. Exits 1 if a median is above its bar: 1 s, or 10 s for 1B.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import scrape
import shapes

BAR_SECONDS, BAR_SECONDS_1B = 1.0, 10.0
GIVEN_UP_AFTER = 300  # seconds
LOOK_EVERY = 0.005


def wait_for(look, process):
    until = time.monotonic() + GIVEN_UP_AFTER
    while (seen := look()) is None:
        if process.poll() is not None or time.monotonic() > until:
            raise SystemExit(f"{process.args[0]} is not ready; run it by hand: {' '.join(process.args)}")
        time.sleep(LOOK_EVERY)
    return seen


def bound(path):
    """Returns the content of a port file, once the file exists."""
    try:
        return json.loads(path.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None


def page(address, name):
    try:
        return urllib.request.urlopen(f"http://{address}/{name}").read().decode()
    except urllib.error.HTTPError:  # 503: no router took it yet
        return None


def start(build, model, threads, router, folder):
    """Returns the seconds until ready, and the seconds of each part as the verifier's page reports them."""
    ports = folder / "verifier.json"
    ports.unlink(missing_ok=True)
    command = [str(build / "services/verifier/slipstream-verifier"), "--model", str(model), "--threads", str(threads)]
    began = time.monotonic()
    verifier = subprocess.Popen([*command, "--router", router, "--port-file", str(ports), "--log-level", "error"])
    try:
        address = wait_for(lambda: bound(ports), verifier)["metrics"]
        wait_for(lambda: page(address, "ready"), verifier)
        seconds = time.monotonic() - began
        parts = re.findall(r'^slipstream_verifier_load_seconds{part="(\w+)"} (\S+)', page(address, "metrics"), re.MULTILINE)
    finally:
        verifier.terminate()
        verifier.wait()
    return seconds, {part: float(value) for part, value in parts}


def rows_of(build, model, bar, options, folder):
    ports = folder / "router.json"
    ports.unlink(missing_ok=True)
    router = subprocess.Popen([str(build / "services/router/slipstream-router"), "--model", str(model), "--http", "127.0.0.1:0", "--bind",
                               "tcp://127.0.0.1:0", "--port-file", str(ports), "--log-level", "error"])
    met = True
    try:
        door = wait_for(lambda: bound(ports), router)["bind"]
        start(build, model, options.threads[0], door, folder)
        for threads in options.threads:
            starts = sorted((start(build, model, threads, door, folder) for _ in range(options.starts)), key=lambda each: each[0])
            median, parts = starts[len(starts) // 2]
            met = met and median <= bar
            print(f"{model.name:28} {threads:>7} {median:>8.2f} {starts[0][0]:>6.2f}", *(f"{parts[part]:>6.2f}" for part in ("read", "pack", "trial")), flush=True)
    finally:
        router.terminate()
        router.wait()
    return met


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path, nargs="+")
    parser.add_argument("--shape-1b", action="store_true")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--starts", type=int, default=5)
    options = parser.parse_args()
    print(f"{scrape.processor()}, {os.cpu_count()} CPUs, {options.starts} starts each; seconds")
    print(f"{'model':28} {'threads':>7} {'median':>8} {'least':>6} {'read':>6} {'pack':>6} {'trial':>6}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        met = [rows_of(options.build, model, BAR_SECONDS, options, folder) for model in options.models]
        if options.shape_1b:
            shape = folder / "1b-shape"
            shape.mkdir()
            shapes.write("1b", shape, options.models[0])
            met.append(rows_of(options.build, shape, BAR_SECONDS_1B, options, folder))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
