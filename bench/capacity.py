"""Measures what one core of a verifier carries: with drafts made on that core, and with a drafter on another one.

    python3 bench/capacity.py build/release/tools/slipstream/slipstream models/smollm2-135m-instruct.gguf [options] [-- options of serve]

Every verifier computes on one thread, pinned to CPU 0; routers, drafters and this program are on CPU 1. Arms, in windows by turns, each
with the same prompts, which are in the prefix cache, in a closed loop of n streams (streams.py): `plain` without drafts; `apart`, with a
drafter; `one core`, the same with the drafter on CPU 0 as well; and of --drafter draft-head `inside`, the head between the verifier's
steps. Look-up is off.

The formula: drafts on the verifier's core delay each step by g passes of c steps each, so apart it carries 1 + g c times as much, if it is
never idle. g c is measured in the windows of `apart`: seconds that the drafter computed over seconds that the verifier did. `busy` is the
share of the window in which the verifier computed steps.
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

PROMPT_CHARACTERS = 1000  # at most, so that all prompts stay in the prefix cache, and windows compare decoding
HEAD = "draft-head"
PLAIN, INSIDE, APART, ONE_CORE = "plain", "inside", "apart", "one core"


def tasks(process):
    return list(pathlib.Path(f"/proc/{process}/task").iterdir())


def pin(process, cpu):
    for task in tasks(process):
        os.sched_setaffinity(int(task.name), {cpu})


def pin_all(server, drafter_cpu):
    """The services are children of any thread of `serve`, and begin on the CPU of this program."""
    pinned = {}
    for child in [child for task in tasks(server.process.pid) for child in (task / "children").read_text().split()]:
        name = pathlib.Path(f"/proc/{child}/comm").read_text()
        pinned[name] = 0 if name.startswith("slipstream-veri") else drafter_cpu if name.startswith("slipstream-draf") else 1
        pin(child, pinned[name])
    if 0 not in pinned.values():
        raise SystemExit(f"found no verifier to pin among {sorted(pinned)}")


class Computed:
    """Seconds that verifier and drafter have computed."""

    def __init__(self, server):
        def seconds(service, name):
            ports = [json.loads(path.read_text()) for path in server.run_folder.glob(f"ports/*{service}*")]
            return sum(scrape.Page(f"http://{each['metrics']}/metrics").sum(name) for each in ports)

        self.steps = seconds("verifier", "slipstream_verifier_step_seconds_sum")
        self.drafts = seconds("drafter", "slipstream_drafter_draft_seconds_sum")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("model")
    parser.add_argument("--drafter", default=HEAD)
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
    arms = [PLAIN, *([INSIDE] if options.drafter == HEAD else []), APART, ONE_CORE]
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        started = {}
        for arm in arms[1:]:
            drafter, threads = ("none", 1) if arm == INSIDE else (options.drafter, 2)  # the drafter has a thread of its own
            inside = [] if options.drafter == HEAD else ["--head", "none"]
            flags = ["--drafter", drafter, "--resident", "none", *inside, *streams.NONE_REFUSED, *([] if arm == INSIDE else serve_flags)]
            started[arm] = running.enter_context(servers.ours(options.slipstream, options.model, f"{folder}/{arm}.log", threads, *flags))
            pin_all(started[arm], 0 if arm == ONE_CORE else 1)
        for server in started.values():  # the prefix caches; then worths and back-offs
            for text in options.texts:
                servers.ask(server, text, 1)
            streams.run_window(server, streams.Load(8, 0), options, True)
        started[PLAIN] = started[arms[1]]
        against = [(APART, other) for other in arms if other != APART]
        print(f"{scrape.processor()}, temperature {options.temperature:g}, tokens a second, mean of {options.windows} windows of {options.seconds:g} s\n")
        print(f"| streams | {' | '.join(arms)} | {' | '.join(f'{one} to {other}' for one, other in against)} | 1 + g c | busy |")
        print("|" + "---|" * (len(arms) + len(against) + 3), flush=True)
        dice = random.Random(7)
        for count in options.streams:
            speeds, drafts, busy = {arm: [] for arm in arms}, [], []
            for window in range(options.windows):
                for arm in dice.sample(arms, len(arms)):
                    before = Computed(started[arm])
                    seen = streams.run_window(started[arm], streams.Load(count, window + 1), options, arm != PLAIN)
                    after = Computed(started[arm])
                    speeds[arm].append(seen.speed)
                    if arm == APART:
                        drafts.append((after.drafts - before.drafts) / (after.steps - before.steps))
                        busy.append((after.steps - before.steps) / (options.seconds + streams.SETTLED_S))
            mean = {arm: statistics.mean(each) for arm, each in speeds.items()}
            ratios = [mean[one] / mean[other] for one, other in against] + [1 + statistics.mean(drafts), statistics.mean(busy)]
            print(f"| {count} | {' | '.join(f'{mean[arm]:.0f}' for arm in arms)} | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |", flush=True)


if __name__ == "__main__":
    main()
