"""Measures what one core of a verifier carries: with the draft head inside it, and with the head in a drafter on another core.

    python3 bench/capacity.py build/release/tools/slipstream/slipstream models/smollm2-135m-instruct.gguf [options] [-- options of serve]

Every verifier computes on one thread, pinned to CPU 0; routers, drafters and this program are on CPU 1. Arms, in windows by turns, each
with the same prompts, which are in the prefix cache, in a closed loop of n streams (streams.py): `plain` without drafts; `inside`, the head between the verifier's steps;
`apart`, the head in a drafter (--drafter draft-head); `one core`, the same with the drafter on CPU 0 as well. Look-up is off.

The formula: a head inside delays each step by its g passes of c steps each, so apart a verifier carries 1 + g c times as much, if it is
never idle. g c is measured in the windows of `apart`: seconds that the drafter computed over seconds that the verifier did. `busy` is the
share of the window in which it computed.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "peers"))
import scrape  # noqa: E402
import servers  # noqa: E402
import streams  # noqa: E402

ARMS = {"plain": "inside", "inside": "inside", "apart": "apart", "one core": "one core"}  # the server that answers
PROMPT_CHARACTERS = 1000  # at most, so that all prompts stay in the prefix cache, and windows compare decoding
DRAFTERS = {"inside": "none", "apart": "draft-head", "one core": "draft-head"}


def pin(process, cpu):
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        os.sched_setaffinity(int(task.name), {cpu})


def pages(server):
    """{service: what its port file says}; a router's ports are its own."""
    return {service: json.loads(path.read_text()) for service in ("verifier", "drafter") for path in server.run_folder.glob(f"ports/*{service}*")}


def pin_all(server, drafter_cpu):
    children = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    for child in [str(server.process.pid), *children]:
        name = pathlib.Path(f"/proc/{child}/comm").read_text()
        pin(child, 0 if "verifier" in name else drafter_cpu if "drafter" in name else 1)


class Computed:
    """Seconds that verifier and drafter have computed."""

    def __init__(self, server):
        pages_of = {service: scrape.Page(f"http://{ports['metrics']}/metrics") for service, ports in pages(server).items()}
        self.steps = pages_of["verifier"].sum("slipstream_verifier_step_seconds_sum")
        self.drafts = pages_of["drafter"].sum("slipstream_drafter_draft_seconds_sum") if "drafter" in pages_of else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("model")
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--windows", type=int, default=3, help="of each arm and number of streams")
    parser.add_argument("--seconds", type=float, default=6, help="of a window")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--temperature", type=float, default=0)
    options, serve_flags = servers.parse(parser)
    streams.WINDOW_S = options.seconds
    texts = [json.loads(line)["prompt"] for line in (HERE / "data/categories.jsonl").read_text().splitlines()]
    options.texts = [text for text in texts if len(text) <= PROMPT_CHARACTERS]
    random.Random(7).shuffle(options.texts)
    os.sched_setaffinity(0, {1})
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        started = {}
        for name, drafter in DRAFTERS.items():
            flags = ["--drafter", drafter, "--resident", "none", *streams.NONE_REFUSED, *serve_flags]
            threads = 1 if drafter == "none" else 2  # the drafter has one of its own
            started[name] = running.enter_context(servers.ours(options.slipstream, options.model, f"{folder}/{name}.log", threads, *flags))
            pin_all(started[name], 0 if name == "one core" else 1)
        for server in started.values():  # the prefix caches; then worths and back-offs
            for text in options.texts:
                servers.ask(server, text, 1)
            streams.run_window(server, streams.Load(8, 0), options, True)
        print(f"{scrape.processor()}, temperature {options.temperature:g}, tokens a second, mean of {options.windows} windows of {options.seconds:g} s\n")
        print(f"| streams | {' | '.join(ARMS)} | inside to plain | apart to plain | apart to inside | 1 + g c | busy: inside | apart |")
        print("|" + "---|" * (len(ARMS) + 7), flush=True)
        dice = random.Random(7)
        for count in options.streams:
            speeds = {arm: [] for arm in ARMS}
            busy = {arm: [] for arm in ARMS}
            draft_share = []
            for window in range(options.windows):
                for arm in dice.sample(list(ARMS), len(ARMS)):
                    server = started[ARMS[arm]]
                    before = Computed(server)
                    seen = streams.run_window(server, streams.Load(count, window + 1), options, arm != "plain")
                    after = Computed(server)
                    speeds[arm].append(seen.speed)
                    busy[arm].append((after.steps - before.steps) / (options.seconds + streams.SETTLED_S))
                    if arm == "apart":
                        draft_share.append((after.drafts - before.drafts) / (after.steps - before.steps))
            mean = {arm: statistics.mean(each) for arm, each in speeds.items()}
            ratios = [mean["inside"] / mean["plain"], mean["apart"] / mean["plain"], mean["apart"] / mean["inside"], 1 + statistics.mean(draft_share)]
            cells = [f"{mean[arm]:.0f}" for arm in ARMS] + [f"{ratio:.2f}" for ratio in ratios]
            cells += [f"{statistics.mean(busy[arm]):.2f}" for arm in ("inside", "apart")]
            print(f"| {count} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
