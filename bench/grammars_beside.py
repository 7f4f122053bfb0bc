"""Measures what plain requests wait while another client sends grammars that take long to compile, of one build or of several in turns.

    python3 bench/grammars_beside.py build/release [OTHER_BUILD ...] --model models/smollm2-135m-instruct.gguf

For each build a router and a verifier run. A client asks plain streams of four tokens, one after the other, and takes the time to the
first token; in every other turn, a second one with another key sends a new regular expression in a loop, as fast as they are answered.
The table has the quantiles of both kinds of turns, and how many regular expressions were answered, by status. The builds take turns, so
that a machine that is busy slows down all of them.
"""

import argparse
import collections
import contextlib
import http.client
import json
import multiprocessing
import pathlib
import signal
import subprocess
import tempfile
import time

from load import bound, page, wait_for

PATH = "/v1/chat/completions"
# Each takes long to compile; the last one is refused.
HEAVY = [r"a{200}{200}%d", r"([a-z]{1,100}){1,100}%d", r"([a-z]{1,40}[0-9]?){1,40}%d", r"a{250}{250}%d"]


def request(connection, key, body):
    connection.request("POST", PATH, json.dumps(body), {"content-type": "application/json", "authorization": f"Bearer {key}"})
    return connection.getresponse()


def plain(port):
    """Returns the seconds to the first token of one stream."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        began = time.perf_counter()
        reply = request(connection, "plain", {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 4, "temperature": 0,
                                              "stream": True})
        assert reply.status == 200, reply.read()
        while not reply.readline().startswith(b"data: "):
            pass
        seconds = time.perf_counter() - began
        reply.read()
    return seconds


def send_grammars(port, stop, counts):
    """Sends new regular expressions until `stop`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    statuses = collections.Counter()
    number = int(time.time() * 1000) % 1_000_000
    while not stop.is_set():
        number += 1
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            reply = request(connection, "grammars", {"messages": [{"role": "user", "content": "Go."}], "max_tokens": 1, "temperature": 0,
                                                     "guided_regex": HEAVY[number % len(HEAVY)] % number})
            reply.read()
            statuses[reply.status] += 1
    counts.put(statuses)


@contextlib.contextmanager
def service(build, model, folder):
    """Runs a router and a verifier; gives the router's port."""
    (folder / "router.json").unlink(missing_ok=True)
    router = subprocess.Popen([build / "services/router/slipstream-router", "--model", model, "--http", "127.0.0.1:0", "--bind",
                               "tcp://127.0.0.1:0", "--port-file", folder / "router.json", "--log-level", "error"])
    verifier = None
    try:
        ports = wait_for(lambda: bound(folder / "router.json"), router)
        verifier = subprocess.Popen([build / "services/verifier/slipstream-verifier", "--model", model, "--router", ports["bind"],
                                     "--log-level", "error"])
        wait_for(lambda: page(ports["http"], "ready"), verifier)
        yield int(ports["http"].rsplit(":", 1)[1])
    finally:
        for process in filter(None, [verifier, router]):
            process.terminate()
            process.wait()


def turn(port, seconds, beside):
    """Returns the seconds of each plain request of one turn, and the statuses of the grammars."""
    stop, counts = multiprocessing.Event(), multiprocessing.Queue()
    sender = multiprocessing.Process(target=send_grammars, args=(port, stop, counts))
    if beside:
        sender.start()
    times, ends = [], time.monotonic() + seconds
    while time.monotonic() < ends:
        times.append(plain(port))
        time.sleep(0.005)  # so that requests do not fall in step with the other client's
    stop.set()
    if not beside:
        return times, collections.Counter()
    statuses = counts.get()
    sender.join()
    return times, statuses


def quantile(times, share):
    return sorted(times)[min(int(share * len(times)), len(times) - 1)] * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="+", type=pathlib.Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=8, help="of a turn")
    options = parser.parse_args()
    times, statuses = collections.defaultdict(list), collections.defaultdict(collections.Counter)
    with contextlib.ExitStack() as stack:
        ports = []
        for build in options.builds:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
            ports.append(stack.enter_context(service(build, options.model, folder)))
            for _ in range(20):
                plain(ports[-1])
        for _ in range(options.turns):
            for beside in (False, True):
                for build, port in zip(options.builds, ports):
                    seconds, answered = turn(port, options.seconds, beside)
                    times[build, beside] += seconds
                    statuses[build, beside] += answered
    print(f"{'ms to the first token of a plain request':56} {'n':>6} {'p50':>7} {'p90':>7} {'p99':>7} {'most':>7}  grammars by status")
    for (build, beside), each in times.items():
        name = f"{build}, {'grammars beside' if beside else 'alone'}"
        row = " ".join(f"{quantile(each, share):7.1f}" for share in (0.5, 0.9, 0.99, 1))
        print(f"{name[-56:]:56} {len(each):6} {row}  {dict(statuses[build, beside])}")


if __name__ == "__main__":
    main()
