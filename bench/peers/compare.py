"""Compares plain greedy decoding and prompt processing with peers, on the same machine, file and prompts, taking turns in one run.

    python bench/peers/compare.py build/release/bench/decode models/smollm2-135m-instruct.gguf models/smollm2-135m-instruct

This Python needs numpy and gguf. --llama, --openvino and --transformers name the Pythons that have these peers; the default is this one.
`make bench-peers` does all of it. Every engine is a process that stays, so that loading is not timed. Engines take turns prompt by prompt,
so that load on the machine affects all of them. For formats other than the file's, rewrite_gguf.py rewrites the file for both sides. A
ratio compares times summed over the prompts; the range is that of the single prompts' ratios.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import rewrite_gguf

HERE = pathlib.Path(__file__).parent
TEXTS = HERE.parent / "data/quality.jsonl"
PROMPT_LENGTHS = (128, 512, 2048)
CONTEXT = 8192  # tokens: as many as the demo's model takes
WARM_UP = 8  # tokens, so that pages and caches are there

# What is compared: our format, the peer, and the ratio that issue 6 asks for in plain decoding.
PAIRS = [
    ("bf16", ("llama.cpp", "bf16"), 1.3),
    ("bf16", ("transformers", "bf16"), None),
    ("q8_0", ("llama.cpp", "q8_0"), 1.8),
    ("q8_0", ("openvino", "q8_0"), None),
    ("file", ("llama.cpp", "file"), None),
    ("file", ("openvino", "file"), None),
    ("q4_0", ("llama.cpp", "q4_0"), 1.2),
]


class Engine:
    """An engine's process, which decodes prompts on request."""

    def __init__(self, command):
        self.command = command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.name = None
        said = []
        for line in self.process.stderr:
            said.append(line)
            if line.startswith("ready: "):
                self.name = line.removeprefix("ready: ").strip()
                break
        if self.name is None:
            raise OSError((said or ["it said nothing\n"])[-1].strip())

    def ask(self, wanted, prompt):
        self.process.stdin.write(" ".join(map(str, [wanted, *prompt])) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self.name} ended: {self.process.stderr.read()[-2000:]}")
        return json.loads(answer)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Engines:
    """Starts all engines with one number of threads. Keys: ("ours", format) and (peer, format)."""

    def __init__(self, arguments, files, threads):
        self.all = {}
        for ours, peer, _ in PAIRS:
            if arguments.weights and ours not in arguments.weights:
                continue
            weights, model = ["--weights", ours], arguments.gguf if ours != "bf16" else arguments.folder
            self.start(("ours", ours), [arguments.decode, "--context", str(CONTEXT), "--model", model, *weights], threads)
            python = {"llama.cpp": arguments.llama, "openvino": arguments.openvino, "transformers": arguments.transformers}[peer[0]]
            theirs = arguments.folder if peer[0] == "transformers" else files[peer[1]]
            self.start(peer, [python, str(HERE / "decode.py"), peer[0], theirs], threads)

    def start(self, key, command, threads):
        if key in self.all:
            return
        try:
            self.all[key] = Engine([*command, "--threads", str(threads)])
            self.all[key].ask(WARM_UP, range(1, 1 + WARM_UP))
            print(f"  {' '.join(key)}: {self.all[key].name}", flush=True)
        except OSError as error:
            print(f"  left out, {' '.join(key)}: {error}", flush=True)

    def pairs(self):
        for ours, peer, bar in PAIRS:
            if ("ours", ours) in self.all and peer in self.all:
                yield ("ours", ours), peer, bar

    def end(self):
        for engine in self.all.values():
            engine.end()


def in_turns(engines, jobs, field):
    """Returns {engine: [seconds of each job]}, and the tokens of each engine."""
    seconds, tokens = {key: [] for key in engines.all}, {key: [] for key in engines.all}
    for number, (wanted, prompt) in enumerate(jobs):
        for key, engine in engines.all.items():
            answer = engine.ask(wanted, prompt)
            seconds[key].append(answer[field])
            tokens[key].append(answer["tokens"])
        print(f"  {number + 1} of {len(jobs)}", end="\r", flush=True, file=sys.stderr)
    return seconds, tokens


def equal_at_first(ours, theirs):
    """Returns the median number of tokens up to the first difference between two answers."""
    return statistics.median(next((i for i, (a, b) in enumerate(zip(x, y)) if a != b), len(x)) for x, y in zip(ours, theirs))


def ratio_columns(ours, theirs):
    ratios = [b / a for a, b in zip(ours, theirs)]
    return f"{sum(theirs) / sum(ours):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def decoding_rows(engines, prompts, tokens, threads):
    seconds, answers = in_turns(engines, [(tokens, prompt) for prompt in prompts], "decode_s")
    for ours, peer, bar in engines.pairs():
        speeds = [len(prompts) * (tokens - 1) / sum(seconds[key]) for key in (ours, peer)]
        yield (f"| {ours[1]} | {' '.join(peer)} | {threads} | {speeds[0]:.1f} | {speeds[1]:.1f} | {ratio_columns(seconds[ours], seconds[peer])} "
               f"| {bar or ''} | {equal_at_first(answers[ours], answers[peer]):.0f} |")


def prompt_rows(engines, text, lengths, repeats, threads):
    for length in lengths:
        again = text * (1 + (length + repeats) // len(text))
        seconds, _ = in_turns(engines, [(1, again[at : at + length]) for at in range(repeats)], "prompt_s")
        for ours, peer, _ in engines.pairs():
            speeds = [repeats * length / sum(seconds[key]) for key in (ours, peer)]
            yield f"| {ours[1]} | {' '.join(peer)} | {threads} | {length} | {speeds[0]:.0f} | {speeds[1]:.0f} | {ratio_columns(seconds[ours], seconds[peer])} |"


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.split(": ")[1] for line in lines if line.startswith("model name"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("decode", help="the bench/decode program")
    parser.add_argument("gguf", help="the model as a GGUF file")
    parser.add_argument("folder", help="the same as a Hugging Face folder, in bf16")
    for peer in ("llama", "openvino", "transformers"):
        parser.add_argument(f"--{peer}", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--prompts", type=int, default=6)
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--repeats", type=int, default=3, help="of each prompt length")
    parser.add_argument("--lengths", type=int, nargs="+", default=PROMPT_LENGTHS, help="of prompts, in tokens, below the model's context")
    parser.add_argument("--weights", nargs="+", choices=sorted({ours for ours, _, _ in PAIRS}), help="our formats to compare (default: all)")
    arguments = parser.parse_args()
    texts = [json.loads(line) for line in TEXTS.read_text().splitlines()]
    prompts = [text["ids"][: text["from"]] for text in texts if text["kind"] == "chat"][: arguments.prompts]
    long_text = [token for text in texts if text["kind"] == "text" for token in text["ids"]]
    decoding, prompting = [], []
    with tempfile.TemporaryDirectory() as folder:
        files = {"file": arguments.gguf}
        for form in {peer[1] for _, peer, _ in PAIRS if peer[0] != "transformers"} - {"file"}:
            files[form] = str(pathlib.Path(folder, form + ".gguf"))
            rewrite_gguf.rewrite(arguments.gguf, form, files[form])
        for threads in arguments.threads:
            print(f"{threads} thread{'s' * (threads > 1)}:", flush=True)
            engines = Engines(arguments, files, threads)
            decoding.extend(decoding_rows(engines, prompts, arguments.tokens, threads))
            prompting.extend(prompt_rows(engines, long_text, arguments.lengths, arguments.repeats, threads))
            engines.end()
    print(f"\n{processor()}\n\nPlain decoding, {len(prompts)} prompts, {arguments.tokens} tokens each, tokens/s\n")
    print("| ours | peer | threads | ours | peer | ratio | bar | first tokens equal |\n|---|---|---|---|---|---|---|---|")
    print("\n".join(decoding))
    print("\nPrompt processing, tokens/s\n\n| ours | peer | threads | tokens | ours | peer | ratio |\n|---|---|---|---|---|---|---|")
    print("\n".join(prompting))


if __name__ == "__main__":
    main()
