"""Compares what `slipstream load` says of a server with what other load generators say of the same one, by turns.

    python3 bench/load_clients.py build/release/tools/slipstream/slipstream models/smollm2-135m-instruct.gguf models/smollm2-135m-instruct build/clients

TOKENIZER is the model's folder, by which the others count tokens. CLIENTS is the folder that `make clients` fills: guidellm and aiperf, each with a Python
of its own; --vllm names vLLM's program, which `make clients` does not install, since it needs torch. A server without drafts gets one core, each client the other: a client that shares its server's core would slow what it
measures. Each asks the same prompts of bench/data/categories.jsonl, --streams at a time, for answers of --tokens tokens. A turn is one run of
each, the first one unmeasured. Prints the median of each figure over the turns, and theirs over ours; the last two columns are
what a client's mean has beyond that of the router's own histograms for the same requests, in ms: what the client itself added.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import urllib.request

HERE = pathlib.Path(__file__).parent
sys.path += [str(HERE), str(HERE / "peers")]
import scrape  # noqa: E402
import servers  # noqa: E402

SERVER_CORE, CLIENT_CORE = 0, 1
FIGURES = ("requests/s", "tokens/s", "TTFT mean (ms)", "TTFT p50", "TPOT mean", "TPOT p50", "E2E mean", "E2E p50", "TTFT mean - router's", "E2E mean - router's")


def served_model(url):
    return json.load(urllib.request.urlopen(url + "/v1/models"))["data"][0]["id"]


class RouterTimes:
    """The mean TTFT and E2E, in ms, of the requests since it was made, as the router counts them."""

    NAMES = ("slipstream_router_time_to_first_token_seconds", "slipstream_router_request_seconds")

    def __init__(self, url):
        self.url, self.before = url, scrape.Page(url + "/metrics")

    def means(self):
        now = scrape.Page(self.url + "/metrics")
        since = lambda name: now.sum(name) - self.before.sum(name)  # noqa: E731
        return [1000 * since(name + "_sum") / since(name + "_count") for name in self.NAMES]


class Place:
    """What every client is told: the server, the prompts, and how many of them."""

    def __init__(self, options, url, folder):
        self.options, self.url, self.folder, self.clients = options, url, pathlib.Path(folder), pathlib.Path(options.clients).resolve()
        self.tokenizer, self.model = str(pathlib.Path(options.tokenizer).resolve()), served_model(url)
        texts = [json.loads(line)["prompt"] for line in (HERE / "data/categories.jsonl").read_text().splitlines()]
        self.prompts = sorted(texts, key=len)[: options.requests]

    def prompt_file(self, field):
        path = self.folder / f"{field}.jsonl"
        path.write_text("".join(json.dumps({field: prompt}) + "\n" for prompt in self.prompts))
        return path

    def run(self, *command, **environment):
        ran = subprocess.run(
            ["taskset", "-c", str(CLIENT_CORE), *map(str, command)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
            cwd=self.folder, env={**os.environ, "HOME": str(self.folder), "HF_DATASETS_OFFLINE": "1", **environment},
        )
        if ran.returncode != 0:
            raise SystemExit(f"{command[0]} ended with {ran.returncode}: {(ran.stdout + ran.stderr)[-2000:]}")


def ours(place):
    report = place.folder / "ours.json"
    place.run(
        pathlib.Path(place.options.slipstream).resolve(), "load", "--url", place.url, "--prompts", place.prompt_file("prompt"), "--streams",
        place.options.streams, "--requests", place.options.requests, "--max-tokens", place.options.tokens, "--temperature", 0, "--fields",
        '{"ignore_eos": true}', "--standard", "--json", report,
    )
    run = json.loads(report.read_text())["runs"][0]
    ttft, tpot, e2e = (run["ms"][name] for name in ("ttft", "tpot", "e2e"))
    return run["requests"]["complete"], [
        run["requests_per_s"], run["tokens_out_per_s"], ttft["mean"], ttft["p50"], tpot["mean"], tpot["p50"], e2e["mean"], e2e["p50"]
    ]


def guidellm(place):
    report = place.folder / "guidellm.json"
    backend = {"max_output_tokens": place.options.tokens, "extra_body": {"chat_completions": {"ignore_eos": True, "temperature": 0}}}
    place.run(
        place.clients / "guidellm/bin/guidellm", "benchmark", "run", "--target", place.url, "--processor", place.tokenizer, "--data",
        place.prompt_file("prompt"), "--rate-type", "concurrent", "--rate", place.options.streams, "--max-requests", place.options.requests,
        "--output-path", report, "--disable-progress", "--backend-args", json.dumps(backend), GUIDELLM__PREFERRED_ROUTE="chat_completions",
    )
    run = json.loads(report.read_text())["benchmarks"][0]
    figures = {name: of["successful"] for name, of in run["metrics"].items()}
    # Its TPOT is e2e / n, and its ITL (e2e - ttft) / (n - 1) of an answer: what others call TPOT.
    ttft, tpot, e2e = (figures[name] for name in ("time_to_first_token_ms", "inter_token_latency_ms", "request_latency"))
    return run["request_totals"]["successful"], [
        figures["requests_per_second"]["mean"], figures["output_tokens_per_second"]["mean"], ttft["mean"], ttft["median"],
        tpot["mean"], tpot["median"], 1000 * e2e["mean"], 1000 * e2e["median"],
    ]


def aiperf(place):
    with tempfile.TemporaryDirectory() as folder:
        fields = {"ignore_eos": True, "temperature": 0, "max_tokens": place.options.tokens}
        place.run(
            place.clients / "load/bin/aiperf", "profile", "-m", place.model, "--url", place.url, "--endpoint-type", "chat",
            "--streaming", "--tokenizer", place.tokenizer, "--concurrency", place.options.streams, "--request-count", place.options.requests,
            "--input-file", place.prompt_file("text"), "--custom-dataset-type", "single_turn", "--extra-inputs", json.dumps(fields),
            "--artifact-dir", folder, "--ui", "none", "--use-server-token-count",
        )
        run = json.loads(pathlib.Path(folder, "profile_export_aiperf.json").read_text())
    ttft, tpot, e2e = (run[name] for name in ("time_to_first_token", "inter_token_latency", "request_latency"))
    return run["request_count"]["avg"], [
        run["request_throughput"]["avg"], run["output_token_throughput"]["avg"], ttft["avg"], ttft["p50"], tpot["avg"], tpot["p50"],
        e2e["avg"], e2e["p50"],
    ]


def vllm(place):
    report = place.folder / "vllm.json"
    place.run(
        pathlib.Path(place.options.vllm).resolve(), "bench", "serve", "--backend", "openai-chat", "--base-url", place.url, "--endpoint",
        "/v1/chat/completions", "--model", place.model, "--tokenizer", place.tokenizer, "--dataset-name", "custom", "--dataset-path",
        place.prompt_file("prompt"), "--custom-output-len", place.options.tokens, "--num-prompts", place.options.requests, "--max-concurrency",
        place.options.streams, "--ignore-eos", "--temperature", 0, "--ready-check-timeout-sec", 0, "--percentile-metrics", "ttft,tpot,e2el",
        "--save-result", "--result-filename", report,
    )
    run = json.loads(report.read_text())
    figures = ["request_throughput", "output_throughput"] + [f"{which}_{time}_ms" for time in ("ttft", "tpot", "e2el") for which in ("mean", "median")]
    return run["completed"], [run[name] for name in figures]


CLIENTS = {"slipstream load": ours, "guidellm": guidellm, "aiperf": aiperf}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slipstream")
    parser.add_argument("model")
    parser.add_argument("tokenizer")
    parser.add_argument("clients")
    parser.add_argument("--vllm", help="a `vllm` program, whose `vllm bench serve` is compared as well")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--streams", type=int, default=2)
    parser.add_argument("--requests", type=int, default=40)
    parser.add_argument("--tokens", type=int, default=64)
    options, serve_flags = servers.parse(parser)
    print(f"{options.streams} streams, {options.requests} requests of {options.tokens} tokens, {options.turns} turns")
    clients = CLIENTS | ({"vllm bench serve": vllm} if options.vllm else {})
    seen = {name: [] for name in clients}
    with tempfile.TemporaryDirectory() as folder:
        os.sched_setaffinity(0, {SERVER_CORE})  # children inherit it
        flags = ("--resident", "none", "--head", "none", "--drafter", "none", *serve_flags)
        with servers.ours(options.slipstream, options.model, folder + "/log", 1, *flags) as server:
            place = Place(options, server.url, folder)
            for turn in range(options.turns + 1):
                for name, client in clients.items():
                    router = RouterTimes(server.url)
                    complete, figures = client(place)
                    ttft, e2e = router.means()
                    figures += [figures[FIGURES.index("TTFT mean (ms)")] - ttft, figures[FIGURES.index("E2E mean")] - e2e]
                    if complete != options.requests:
                        raise SystemExit(f"{name} got {complete} whole answers of {options.requests}")
                    print(f"turn {turn}: {name}: {figures[0]:.2f} requests/s", file=sys.stderr)
                    if turn > 0:
                        seen[name].append(figures)
    medians = {name: [statistics.median(column) for column in zip(*turns)] for name, turns in seen.items()}
    mine = medians["slipstream load"]
    print("\n| | " + " | ".join(FIGURES) + " |\n|---|" + "---|" * len(FIGURES))
    for name, figures in medians.items():
        print(f"| {name} | " + " | ".join(f"{figure:.4g}" for figure in figures) + " |")
        if name != "slipstream load":
            print("| over ours | " + " | ".join(f"{theirs / our:.3f}" for theirs, our in zip(figures[:-2], mine)) + " | | |")


if __name__ == "__main__":
    main()
