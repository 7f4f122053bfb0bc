"""Measures a GPU in one run and writes one report: are the kernels right, what a step of n rows costs, where its time goes, and what drafts
bring through the service.

    make bench-gpu                                     (cuda:0, and the report in gpu-report.md)
    python3 bench/gpu.py build/cuda MODEL.gguf [options]

Needs a GPU, its driver, and an installed torch 2.11 for CUDA 13, which is looked for in this Python. compute-sanitizer, ncu and transformers
are used if they are there. Each part is bounded in time; a part that fails is reported, and the others go on.
"""

import argparse
import csv
import collections
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import shapes

HERE = pathlib.Path(__file__).resolve().parent
ROWS = "1 2 4 8 16 32 64".split()
PART_SECONDS = 240  # the longest that one command may run
SHOWN = 12  # kernels of a timeline


def environment():
    """With torch's libraries for GPUs where the loader looks."""
    found = dict(os.environ)
    asked = subprocess.run([sys.executable, "-c", "import os, torch; print(os.path.join(os.path.dirname(torch.__file__), 'lib'))"], text=True,
                           capture_output=True)
    if asked.returncode == 0:
        found["LD_LIBRARY_PATH"] = ":".join(filter(None, [asked.stdout.strip(), found.get("LD_LIBRARY_PATH")]))
    return found


class Report:
    def __init__(self, path, env):
        self.path, self.env, self.text = path, env, []

    def add(self, *lines):
        self.text += lines
        print(*lines, sep="\n", flush=True)
        self.path.write_text("\n".join(self.text) + "\n")

    def run(self, *command):
        """What a command printed, or None after telling how it failed."""
        began = time.monotonic()
        try:
            ran = subprocess.run(list(map(str, command)), text=True, capture_output=True, timeout=PART_SECONDS, env=self.env)
        except subprocess.TimeoutExpired:
            self.add(f"**{pathlib.Path(command[0]).name} did not end within {PART_SECONDS} s.**")
            return None
        print(f"({pathlib.Path(command[0]).name}: {time.monotonic() - began:.0f} s)", file=sys.stderr)
        if ran.returncode != 0:
            self.add(f"**{' '.join(map(str, command))}** ended with status {ran.returncode}:", "```", (ran.stdout + ran.stderr)[-1500:], "```")
            return None
        return ran.stdout


def tests(report, build):
    report.add("\n## Are the kernels right?")
    device = (build / "tests/unit/common/model/torch/cuda_device_test", "--gtest_filter=*ernels*:*Small*")
    programs = {"each kernel beside its CPU twin": (build / "tests/cuda/cuda_gpu_test",),
                "the device: golden logits, ops, row invariance": device}
    for name, command in programs.items():
        if said := report.run(*command):
            report.add(f"- {name}: {re.search(r'PASSED +] ([0-9]+)', said)[1]} tests passed")
    if not shutil.which("compute-sanitizer"):
        report.add("- compute-sanitizer is not here")
        return
    for tool in ("memcheck", "initcheck", "racecheck"):
        few = ["--gtest_filter=-*Filter*:*Rank*:*Ties*"] if tool == "racecheck" else []
        if said := report.run("compute-sanitizer", "--tool", tool, "--error-exitcode", "9", build / "tests/cuda/cuda_gpu_test", *few):
            report.add(f"- compute-sanitizer, {tool}: {said.strip().splitlines()[-1].strip('= ')}")


def steps(report, build, device, name, model, contexts, weights="file"):
    report.add(f"\n### {name}, --weights {weights}")
    said = report.run(build / "bench/forward", "--model", model, "--device", device, "--threads", os.cpu_count(), "--rows", *ROWS, "--context",
                      *contexts, "--weights", weights)
    if said:
        report.add("```", said.rstrip(), "```")


def timeline(report, build, device, model):
    """Where the time of a step of one row goes, by kernel, as ncu measures each on its own."""
    report.add("\n## A step's timeline")
    if not shutil.which("ncu"):
        report.add("ncu is not here.")
        return
    said = report.run("ncu", "--clock-control", "none", "--graph-profiling", "node", "--metrics", "gpu__time_duration.sum", "--csv",
                      build / "bench/forward", "--model", model, "--device", device, "--threads", "8", "--rows", "1", "--repeats", "1")
    if not said:
        return
    kernels = [row for row in csv.DictReader(io.StringIO(said[said.index('"ID"'):])) if row["Metric Value"]]
    ends = [i for i, row in enumerate(kernels) if "sample_kernel" in row["Kernel Name"]]
    step = kernels[ends[-2] + 1: ends[-1] + 1] if len(ends) > 1 else kernels
    spent = collections.defaultdict(list)
    for row in step:
        called = re.sub(r"\(.*|void |slipstream::|cuda::|<unnamed>::", "", row["Kernel Name"])
        spent[called].append(float(row["Metric Value"].replace(",", "")) / 1000)
    total = sum(map(sum, spent.values()))
    report.add(f"{len(step)} kernels, {total:.0f} us one after the other.", "", "| kernel | times | us each | share |", "|---|---|---|---|")
    for called, times in sorted(spent.items(), key=lambda item: -sum(item[1]))[:SHOWN]:
        report.add(f"| {called[:60]} | {len(times)} | {sum(times) / len(times):.1f} | {sum(times) / total:.0%} |")


def service(report, build, device, model, prompts):
    report.add("\n## Through the service")
    slipstream = build / "tools/slipstream/slipstream"
    for temperature in ("0", "1"):
        said = report.run(sys.executable, HERE / "drafts.py", slipstream, model, "--threads", "8", "--prompts", prompts, "--temperature", temperature,
                          "--", "--device", device)
        if said:
            report.add(f"\nTemperature {temperature}:", "", said[said.index("| prompts"):].rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path, help="a Hugging Face folder or a GGUF file, for the service")
    parser.add_argument("--like", type=pathlib.Path, default=HERE.parent / "models/smollm2-135m-instruct",
                        help="folder with a configuration and a tokenizer")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--shapes", nargs="*", default=["1b", "8b"], choices=shapes.SHAPES)
    parser.add_argument("--weights", nargs="+", default=["bf16", "q8_0", "q4_0"], help="formats of the shapes' matrices")
    parser.add_argument("--contexts", nargs="+", default=["256", "2048"])
    parser.add_argument("--prompts", default="8", help="of each category")
    parser.add_argument("--report", type=pathlib.Path, default=pathlib.Path("gpu-report.md"))
    options = parser.parse_args()
    report = Report(options.report, environment())
    smi = shutil.which("nvidia-smi")
    gpu = subprocess.run([smi, "--query-gpu=name,driver_version", "--format=csv,noheader"], text=True, capture_output=True).stdout if smi else ""
    report.add(f"# {gpu.strip().splitlines()[0] if gpu.strip() else 'A GPU that nvidia-smi does not name'}")
    tests(report, options.build)
    report.add("\n## What a step costs")
    steps(report, options.build, options.device, options.model.name, options.model, options.contexts)
    for shape in options.shapes:
        with tempfile.TemporaryDirectory() as folder:
            shapes.write(shape, pathlib.Path(folder), options.like)
            for weights in options.weights:
                steps(report, options.build, options.device, f"{shape}, random weights", folder, options.contexts, weights)
            if shape == options.shapes[0]:
                timeline(report, options.build, options.device, folder)
    service(report, options.build, options.device, options.model, options.prompts)
    print(f"the report is in {options.report}", file=sys.stderr)


if __name__ == "__main__":
    main()
