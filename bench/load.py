"""How long a verifier takes to be ready, as its user sees it: from the start of the process to 200 on /ready, a router being up.

    python3 bench/load.py build/release models/smollm2-135m-instruct models/smollm2-135m-instruct.gguf [--shape-1b] [--threads 1 2]

The files are in the page cache: the first start of each model only brings them there. Prints for each model and number of threads the
median and the least time of --starts starts, and of the median one what its own page says of it; the rest is the process's start,
the tokenizer's hash and the router's welcome. --shape-1b adds a folder of random bf16 weights in the shape of Llama 3.2 1B (2.5 GB,
written for the run) with the first model's tokenizer. Exits 1 where a median is above its bar: 1 s, and 10 s for the 1B shape.
"""

import argparse
import array
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HIDDEN, INTERMEDIATE, LAYERS, KEY_VALUE, VOCABULARY = 2048, 8192, 16, 512, 128256
BAR_SECONDS, BAR_SECONDS_1B = 1.0, 10.0
GIVEN_UP_AFTER = 300  # seconds
LOOK_EVERY = 0.005


def shapes_1b():
    yield "model.embed_tokens.weight", [VOCABULARY, HIDDEN]
    yield "model.norm.weight", [HIDDEN]
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        yield at + "input_layernorm.weight", [HIDDEN]
        yield at + "post_attention_layernorm.weight", [HIDDEN]
        for name, rows in (("q", HIDDEN), ("k", KEY_VALUE), ("v", KEY_VALUE), ("o", HIDDEN)):
            yield at + f"self_attn.{name}_proj.weight", [rows, HIDDEN]
        for name in ("gate", "up"):
            yield at + f"mlp.{name}_proj.weight", [INTERMEDIATE, HIDDEN]
        yield at + "mlp.down_proj.weight", [HIDDEN, INTERMEDIATE]


def write_1b(folder, like):
    """Small numbers of both signs; what is in a weight changes no time, so one megabyte of them is written again and again."""
    header, size = {}, 0
    for name, shape in shapes_1b():
        numbers = shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [size, size + 2 * numbers]}
        size += 2 * numbers
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # so that numbers stand at even bytes
    draw = random.Random(1)
    some = array.array("H", (draw.getrandbits(1) << 15 | 0x3C00 | draw.getrandbits(8) for _ in range(1 << 19))).tobytes()
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for at in range(0, size, len(some)):
            file.write(some[: size - at])
    config = json.loads((like / "config.json").read_text())
    config.update(hidden_size=HIDDEN, intermediate_size=INTERMEDIATE, num_hidden_layers=LAYERS, num_attention_heads=HIDDEN // 64,
                  num_key_value_heads=KEY_VALUE // 64, head_dim=64, vocab_size=VOCABULARY)
    (folder / "config.json").write_text(json.dumps(config))
    for path in like.iterdir():
        if path.name.startswith("tokenizer") or path.suffix == ".jinja":
            shutil.copy(path, folder)


def wait_for(look, process):
    until = time.monotonic() + GIVEN_UP_AFTER
    while (seen := look()) is None:
        if process.poll() is not None or time.monotonic() > until:
            raise SystemExit(f"{process.args[0]} is not ready; run it by hand: {' '.join(process.args)}")
        time.sleep(LOOK_EVERY)
    return seen


def bound(path):
    """What a port file says, once it is there."""
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
    """Seconds until ready, and those of each part by the verifier's own page."""
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


def processor():
    return re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path, nargs="+")
    parser.add_argument("--shape-1b", action="store_true")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--starts", type=int, default=5)
    options = parser.parse_args()
    print(f"{processor()}, {os.cpu_count()} CPUs, {options.starts} starts each; seconds")
    print(f"{'model':28} {'threads':>7} {'median':>8} {'least':>6} {'read':>6} {'pack':>6} {'trial':>6}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        met = [rows_of(options.build, model, BAR_SECONDS, options, folder) for model in options.models]
        if options.shape_1b:
            shape = folder / "1b-shape"
            shape.mkdir()
            write_1b(shape, options.models[0])
            met.append(rows_of(options.build, shape, BAR_SECONDS_1B, options, folder))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
