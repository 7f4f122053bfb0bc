"""Measures what the small formats cost in quality, compared with llama.cpp's: perplexity, KL to fp32, and greedy agreement with fp32.

    python bench/peers/quality.py build/release/bench/logits models/smollm2-135m-instruct.gguf --reference PYTHON --llama PYTHON

This Python needs numpy and gguf; --reference's needs torch, transformers, accelerate and gguf; --llama's needs llama-cpp-python, and
without it llama.cpp's rows are omitted. Each engine computes each text of bench/data/quality.jsonl in the same run. The reference is
transformers in fp32 on the file's own numbers. Perplexity uses the texts of kind "text"; KL (nats, reference to engine) and agreement
(the same likeliest token) use the answers of kind "chat"; KL also that of their first tokens alone. After +-: one standard error.

--forward build/release/bench/forward --plot FILE.svg also times steps of one and of eight rows in each of our formats, by turns, and draws
what quality costs.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

import rewrite_gguf

sys.path.append(str(pathlib.Path(__file__).parent.parent))
import svg

HERE = pathlib.Path(__file__).parent
INT8 = "int8, groups of 32"
OUTLIERS = f"{INT8}, outliers in f32"
FINE = "int8, two terms"
OURS = [  # what it is called, --weights and more flags, --path, how activations are multiplied
    ("the file's own", "file", "avx512_vnni", OUTLIERS),
    ("the file's own", "file --fine-rows", "avx512_vnni", FINE),
    ("the file's own", "file --fine-rows", "avx512_bf16", f"{FINE}; cache bf16"),
    ("the file's own", "file", "avx512_bf16", f"{OUTLIERS}; cache bf16"),
    ("the file's own", "file", "amx", f"{OUTLIERS}; cache bf16"),
    ("the file's own", "file", "amx_bf16", "bf16; cache bf16"),
    ("bf16", "bf16", "amx", "bf16; cache bf16"),
    ("bf16", "bf16", "avx512_bf16", "bf16; cache bf16"),
    ("bf16", "bf16", "avx512", "f32"),
    ("q8_0", "q8_0", "avx512_vnni", OUTLIERS),
    ("q6_k", "q6_k", "avx512_vnni", OUTLIERS),
    ("q4_1", "q4_1", "avx512_vnni", OUTLIERS),
    ("q4_0", "q4_0", "avx512_vnni", OUTLIERS),
]
REWRITTEN = ["f32", "bf16", "q8_0", "q4_1", "q4_0"]


class Engine:
    """An engine's process, which computes the logits of texts, and the figures of its texts so far."""

    def __init__(self, label, weights, activations, command, flags=None):
        """flags: those with which programs of ours compute on these weights by this path."""
        self.label, self.weights, self.activations, self.flags = label, weights, activations, flags
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.losses, self.divergences, self.agreements, self.first = [], [], [], []

    def ask(self, ids):
        self.process.stdin.write((" ".join(map(str, ids)) + "\n").encode())
        self.process.stdin.flush()

    def log_probabilities(self, text, vocabulary):
        """Returns the logits of the tokens from text["from"] on, each given all before it: [tokens, vocabulary]."""
        count = len(text["ids"])
        data = self.process.stdout.read(count * vocabulary * 4)
        if len(data) != count * vocabulary * 4:
            raise SystemExit(f"{self.label}, {self.weights}: {self.process.stderr.read().decode()}")
        logits = np.frombuffer(data, dtype=np.float32).reshape(count, vocabulary)[text["from"] - 1 : -1]
        logits = logits - logits.max(axis=1, keepdims=True)
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True, dtype=np.float64))

    def end(self):
        """Returns the name that the engine printed."""
        said = self.process.communicate()[1].decode()
        return next(line.removeprefix("ready: ") for line in said.splitlines() if line.startswith("ready: "))

    def learn(self, text, ours, reference):
        if text["kind"] == "text":
            self.losses.extend(-ours[np.arange(len(ours)), text["ids"][text["from"] :]])
        else:
            divergences = (np.exp(reference) * (reference - ours)).sum(axis=1)
            self.divergences.extend(divergences)
            self.first.append(divergences[0])
            self.agreements.extend(reference.argmax(axis=1) == ours.argmax(axis=1))

    def weights_and_path(self):
        """Of an engine of ours, as its flags have them."""
        _, _, _, path, _, *weights = self.flags
        return " ".join(weights), path

    def row(self):
        loss, loss_error = mean(self.losses)
        divergence, divergence_error = mean(self.divergences)
        first, first_error = mean(self.first)
        agreement, agreement_error = mean(self.agreements)
        return (f"| {self.label} | {self.weights} | {self.activations} | {math.exp(loss):.3f} | {divergence:.5f} +- {divergence_error:.5f} "
                f"| {first:.5f} +- {first_error:.5f} | {np.percentile(self.divergences, 99):.4f} | {100 * agreement:.1f} +- {100 * agreement_error:.1f} % |")


def mean(values):
    """Returns the mean and its standard error."""
    values = np.asarray(values, dtype=np.float64)
    return values.mean(), values.std(ddof=1) / math.sqrt(len(values))


def our_engines(arguments):
    for label, weights, path, activations in OURS:
        flags = ["--model", arguments.model, "--path", path, "--weights", *weights.split()]
        command = [arguments.logits, *flags]
        if subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode != 0:
            print(f"left out, this CPU has no {path}: {weights}")
            continue
        yield Engine("ours", label, activations, command, flags)


def their_engines(arguments, folder):
    if arguments.llama is None:
        return
    peer = [arguments.llama, str(HERE / "logits.py"), "llama.cpp"]
    yield Engine("llama.cpp", "the file's own", INT8, [*peer, arguments.model])
    for form in REWRITTEN:
        rewritten = str(pathlib.Path(folder, form + ".gguf"))
        rewrite_gguf.rewrite(arguments.model, form, rewritten)
        yield Engine("llama.cpp", form, {"f32": "f32", "bf16": "bf16"}.get(form, INT8), [*peer, rewritten])


def measure(arguments, texts, folder):
    reference = Engine("transformers", "f32", "f32",
                       [arguments.reference, str(HERE / "logits.py"), "transformers", arguments.model])
    engines = [reference, *our_engines(arguments), *their_engines(arguments, folder)]
    for number, text in enumerate(texts):
        expected = None
        for engine in engines:  # one after the other: they would fight for the cores
            engine.ask(text["ids"])
            found = engine.log_probabilities(text, arguments.vocabulary)
            expected = found if expected is None else expected
            engine.learn(text, found, expected)
        print(f"{number + 1} of {len(texts)}: {text['id']}", flush=True)
    return engines


TIMED_ROWS = (1, 8)
STEP = re.compile(r"^step +\d+ +[0-9.]+ +[0-9.]+ +([0-9.]+)", re.MULTILINE)  # least ms


def step_times(forward, engines, turns=6):
    """Returns {engine: [least ms of a step of each number of rows]} behind 256 tokens on two threads."""
    found = {engine: [] for engine in engines}
    for _ in range(turns):
        for engine in engines:
            rows = ["--threads", "2", "--rows", *map(str, TIMED_ROWS)]
            said = subprocess.run([forward, *engine.flags, *rows], check=True, capture_output=True, text=True).stdout
            found[engine].append([float(ms) for ms in STEP.findall(said)])
    return {engine: [min(times) for times in zip(*of_turns)] for engine, of_turns in found.items()}


def draw(path, times):
    least, most = (math.log2(of(ms for each in times.values() for ms in each)) for of in (min, max))
    powers = [2**i for i in range(math.floor(least), math.ceil(most) + 1)]
    panel = svg.Panel("quality and speed of each format", ("ms of a step of 1 and of 8 rows", powers), ("log10 of mean KL to fp32, nats", range(-7, 1)),
                      log_x=True)
    for engine, each in times.items():
        quality = math.log10(mean(engine.divergences)[0])
        panel.series(" by ".join(engine.weights_and_path()), [(ms, quality) for ms in each])
    svg.write(path, [panel])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("logits", help="the bench/logits program")
    parser.add_argument("model", help="the GGUF file")
    parser.add_argument("--reference", required=True, help="a Python with torch, transformers, accelerate and gguf")
    parser.add_argument("--llama", help="a Python with llama-cpp-python")
    parser.add_argument("--texts", type=pathlib.Path, default=HERE.parent / "data/quality.jsonl")
    parser.add_argument("--first", type=int, help="of each kind, so many texts only")
    parser.add_argument("--vocabulary", type=int, default=49152)
    parser.add_argument("--forward", help="the bench/forward program: also time steps")
    parser.add_argument("--plot", type=pathlib.Path, help="with --forward: an SVG of quality and speed")
    arguments = parser.parse_args()
    if arguments.plot and not arguments.forward:
        parser.error("--plot needs the times of --forward")
    texts = [json.loads(line) for line in arguments.texts.read_text().splitlines()]
    texts = [text for kind in ("text", "chat") for text in [t for t in texts if t["kind"] == kind][: arguments.first]]
    with tempfile.TemporaryDirectory() as folder:
        engines = measure(arguments, texts, folder)
        names = [engine.end() for engine in engines]
    print(f"\n{len(engines[0].losses)} tokens of text, {len(engines[0].divergences)} of answers\n")
    print("| engine | weights | activations | perplexity | mean KL to fp32 | of first tokens | 99th percentile | same greedy token |\n|---|---|---|---|---|---|---|---|")
    for engine in engines:
        print(engine.row())
    print("\n" + "\n".join(f"- {engine.label}, {engine.weights}: {name}" for engine, name in zip(engines, names)))
    if arguments.forward:
        times = step_times(arguments.forward, [engine for engine in engines if engine.flags])
        print("\n| weights | path | mean KL to fp32 | t(1), ms | t(8), ms | t(8)/t(1) |\n|---|---|---|---|---|---|")
        for engine, (one, eight) in times.items():
            print(f"| {' | '.join(engine.weights_and_path())} | {mean(engine.divergences)[0]:.5f} | {one:.2f} | {eight:.2f} | {eight / one:.2f} |")
        if arguments.plot:
            draw(arguments.plot, times)


if __name__ == "__main__":
    main()
