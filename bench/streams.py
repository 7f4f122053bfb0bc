"""Measures what drafts bring under load: 1 to 64 streams, with drafts and without, by turns, in windows of 10 s.

    python3 bench/streams.py build/release/tools/slipstream/slipstream models/smollm2-135m-instruct.gguf [--plot FILE.svg] [-- options of serve]

Closed loop: each of n streams asks its next prompt when its last answer ends, so the server always has n. Open loop: requests arrive by a
Poisson process at the rate that plain decoding just serves with n streams, as the closed loop measured it, and at --beyond times the rate
of the most streams; at most 64 are in flight, the others wait. A window begins with n streams in the midst of their answers. The two
windows of a pair have the same prompts, lengths and times of arrival. Prompts are in the prefix cache (all are asked once before), so
that windows compare decoding.

For each load it prints the mean of plain windows, the ratio of drafted to plain ones (geometric mean, 95 % interval by Student's t of its
logarithm), the least ratio of a pair, and draft nodes verified a sequence and step. `per CPU second` divides tokens by the processor time
of the server's processes, which other work on the machine disturbs less. `two plain` is the least ratio of a plain window to the one
before it: how much of `least` is noise. `others` is how many CPUs all other processes used meanwhile, this one among them.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import random
import statistics
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "peers"))
import scrape  # noqa: E402
import servers  # noqa: E402
import svg  # noqa: E402

WINDOW_S = 10
SETTLED_S = 1  # between the first token of the last stream and the window
IN_FLIGHT_MAX = 64  # kCpuSequences
VERIFIED = ("accepted", "rejected", "unreached")
STUDENT_T = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26}  # 97.5 %, by degrees of freedom
NONE_REFUSED = ("--queue-wait-ms", "0")  # a closed loop of many streams waits as long as it takes


class Over(Exception):
    """The window has ended: the stream is cut."""


def busy_seconds():
    """Processor time of all processes since the machine started."""
    user, nice, system = map(int, pathlib.Path("/proc/stat").read_text().split(maxsplit=4)[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def processor_seconds(root):
    """User and system time of the processes that `root` started."""
    seconds = 0.0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):  # it ended between the two calls
            continue
        if int(fields[1]) == root:
            seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


class Look:
    """What the server has counted so far."""

    def __init__(self, server):
        verifier = scrape.Page(scrape.verifier_url(server))
        self.at = time.monotonic()
        self.tokens = scrape.Page(server.url + "/metrics").sum("slipstream_router_output_tokens_total")
        self.rounds = verifier.sum("slipstream_verifier_rounds_total")
        self.nodes = sum(verifier.sum("slipstream_verifier_draft_nodes_total", fate=fate) for fate in VERIFIED)
        self.price = verifier.sum("slipstream_verifier_node_price_tokens")
        self.cpu_s = processor_seconds(server.process.pid)
        self.others_s = busy_seconds() - self.cpu_s


class Window:
    """What happened between two looks. answers: those that were in flight then."""

    def __init__(self, before, after, answers):
        seconds = after.at - before.at
        tokens = after.tokens - before.tokens
        in_flight_s = sum(max(0.0, min(after.at, answer.pieces[-1]) - max(before.at, answer.pieces[0])) for answer in answers if answer.pieces)
        self.speed = tokens / seconds
        self.per_cpu_s = tokens / (after.cpu_s - before.cpu_s)
        self.streams = in_flight_s / seconds
        self.token_s = in_flight_s / tokens
        self.nodes = (after.nodes - before.nodes) / (after.rounds - before.rounds)
        self.price = after.price
        self.others = (after.others_s - before.others_s) / seconds


class Load:
    """n streams of a seed. gap_s: mean time between two arrivals; None: closed loop."""

    def __init__(self, streams, seed, gap_s=None):
        self.streams, self.seed, self.gap_s = streams, seed, gap_s


def run_window(server, load, options, drafts):
    dice = random.Random(load.seed)
    answers, over = [], threading.Event()
    running = threading.Semaphore(0)

    def ask(number, tokens, begun=lambda: None):
        if over.is_set():
            return
        first = True

        def on_piece(answer):
            nonlocal first
            if first:
                answers.append(answer)
                begun()
            first = False
            if over.is_set():
                raise Over

        try:
            prompt = options.texts[(load.seed * 31 + number) % len(options.texts)]
            servers.ask(server, prompt, tokens, on_piece, temperature=options.temperature, seed=number, speculation={"enabled": drafts})
        except Over:
            pass

    def stream(number):  # the first answer is short, so that the streams' answers do not end together
        ask(number, max(8, options.tokens * (number + 1) // load.streams), running.release)
        while load.gap_s is None and not over.is_set():
            number += load.streams
            ask(number, options.tokens)

    with concurrent.futures.ThreadPoolExecutor(IN_FLIGHT_MAX) as pool:
        asked = [pool.submit(stream, number) for number in range(load.streams)]
        for _ in range(load.streams):
            running.acquire()
        time.sleep(SETTLED_S)
        before = Look(server)
        ends, number, arrival = before.at + WINDOW_S, load.streams, before.at
        while load.gap_s is not None and (arrival := arrival + dice.expovariate(1 / load.gap_s)) < ends:
            time.sleep(max(0.0, arrival - time.monotonic()))
            asked.append(pool.submit(ask, number, options.tokens))
            number += 1
        time.sleep(max(0.0, ends - time.monotonic()))
        after = Look(server)
        over.set()
        for each in asked:
            each.result()
    return Window(before, after, answers)


def mean_ratio(plain, drafted):
    """(geometric mean, low, high, least) of the pairs' ratios."""
    logs = [math.log(theirs / ours) for ours, theirs in zip(plain, drafted)]
    mean = statistics.mean(logs)
    half = STUDENT_T[len(logs) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half), math.exp(min(logs))


class Point:
    """The pairs of windows at one load."""

    def __init__(self, name, streams, pairs):
        self.name, self.streams = name, streams
        self.plain, self.drafted = zip(*pairs)
        self.speed = mean_ratio(*self.of("speed"))
        self.per_cpu_s = mean_ratio(*self.of("per_cpu_s"))
        self.token_s = mean_ratio(*self.of("token_s"))
        self.nodes = self.means("nodes")[1]
        self.price = self.means("price")[1]

    def of(self, what):
        return [getattr(window, what) for window in self.plain], [getattr(window, what) for window in self.drafted]

    def means(self, what):
        return [statistics.mean(side) for side in self.of(what)]

    def row(self):
        plain, _ = self.of("speed")
        noise = min(math.exp(-abs(math.log(one / other))) for one, other in zip(plain, plain[1:]))
        cells = ["{:.1f} and {:.1f}".format(*self.means("streams")), f"{statistics.mean(plain):.0f}", f"{self.speed[0]:.2f}",
                 "{1:.2f} to {2:.2f}".format(*self.speed), f"{self.speed[3]:.2f}", f"{noise:.2f}",
                 "{:.2f} ({:.2f} to {:.2f})".format(*self.per_cpu_s), f"{self.token_s[0]:.2f}", f"{self.nodes:.2f}", f"{self.price:.2f}",
                 "{:.1f} and {:.1f}".format(*self.means("others"))]
        return f"| {self.name} | " + " | ".join(cells) + " |"


def measure(server, name, options, load_of):
    """Pairs of windows; each pair begins with the side that the pair before ended with."""
    pairs = []
    for pair in range(options.pairs):
        load = load_of(pair)
        sides = {drafts: run_window(server, load, options, drafts) for drafts in ((True, False) if pair % 2 else (False, True))}
        pairs.append((sides[False], sides[True]))
        plain, drafted = pairs[-1]
        print(f"{name}, pair {pair + 1}: {plain.speed:.0f} and {drafted.speed:.0f} tokens/s, {drafted.nodes:.2f} nodes, "
              f"per CPU second {drafted.per_cpu_s / plain.per_cpu_s:.2f}, others {plain.others:.1f} and {drafted.others:.1f}", flush=True)
    return Point(name, load.streams, pairs)


def print_table(title, points):
    print(f"\n{title}\n\n| load | in flight, plain and drafted | plain, tokens/s | drafts to plain | 95 % interval | least | two plain "
          "| per CPU second | time a token | nodes a sequence and step | price of a node | others |\n" + "|---" * 12 + "|")
    for point in points:
        print(point.row(), flush=True)


def plot(path, closed, opened):
    ticks = [2**power for power in range(7)]
    nodes = svg.Panel("Draft nodes against load", ("streams", ticks), ("nodes a sequence and step", [0, 1, 2, 3, 4]), log_x=True)
    speed = svg.Panel("Drafts beside plain", ("streams", ticks), ("tokens/s, ratio", [0.8, 1, 1.2, 1.4, 1.6, 1.8, 2]), log_x=True)
    speed.reference([(1, 1), (64, 1)])
    for name, points in (("closed loop", closed), ("open loop", opened)):
        points = [point for point in points if "beyond" not in point.name]
        nodes.series(name, [(point.streams, point.nodes) for point in points])
        speed.series(name, [(point.streams, *point.speed[:3]) for point in points])
    svg.write(path, [nodes, speed])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("model")
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--pairs", type=int, default=4, help="of windows, at each load; 2 to 10")
    parser.add_argument("--tokens", type=int, default=128, help="of an answer")
    parser.add_argument("--beyond", type=float, default=1.5, help="times the plain capacity: the last rate of the open loop")
    parser.add_argument("--temperature", type=float, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--file", type=pathlib.Path, default=HERE / "data/categories.jsonl")
    parser.add_argument("--plot", type=pathlib.Path)
    options, serve_flags = servers.parse(parser)
    options.texts = [json.loads(line)["prompt"] for line in options.file.read_text().splitlines()]
    random.Random(7).shuffle(options.texts)
    print(f"{scrape.processor()}, {os.cpu_count()} CPUs, answers of {options.tokens} tokens, temperature {options.temperature:g}", flush=True)
    with tempfile.TemporaryDirectory() as folder, \
            servers.ours(options.slipstream, options.model, folder + "/log", options.threads, *NONE_REFUSED, *serve_flags) as server:
        for text in options.texts:
            servers.ask(server, text, 1)
        closed = [measure(server, f"{streams} closed", options, lambda pair: Load(streams, pair)) for streams in options.streams]
        print_table("Closed loop", closed)
        gaps = [(point.name.replace("closed", "open"), point.streams, options.tokens / statistics.mean(window.speed for window in point.plain))
                for point in closed]
        gaps.append((f"beyond {options.beyond:g}x", gaps[-1][1], gaps[-1][2] / options.beyond))
        opened = [measure(server, name, options, lambda pair: Load(streams, pair, gap_s)) for name, streams, gap_s in gaps]
        print_table("Open loop", opened)
    if options.plot:
        plot(options.plot, closed, opened)


if __name__ == "__main__":
    main()
