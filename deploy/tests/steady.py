#!/usr/bin/env python3
"""Asks the same questions again and again, several at once, and writes a line of JSON for each answer.

    steady.py URL STREAMS OUT [KIND]   until SIGTERM: the answers under way are then finished
    steady.py URL --once               each question once, without drafts: the words to compare with

KIND is one of KINDS below; without it the questions are mixed, and answered at temperature 0.

Each answer has a connection of its own, as behind a load balancer, and is streamed: `pause_ms` is
the longest time without a token, the wait for the first one included. A line is
{"began": s, "ended": s, "question": index, "words": text, "pause_ms": ms, "error": null or text}.
"""
import http.client
import itertools
import json
import signal
import sys
import threading
import time
import urllib.parse

TOKENS = 64
TIMEOUT_S = 30  # without a byte; a router that lives sends a comment each 5 s
QUESTIONS = [
    "Write a long list of towns by the sea, and say why each is worth a visit.",
    "Tell a story about a lighthouse keeper and a whale.",
    "Explain step by step how bread is baked.",
    "Repeat this line five times: the quick brown fox jumps over the lazy dog.",
    "List the months of the year with the number of days of each.",
    "Describe how a bicycle works to somebody who has never seen one.",
]
# Kinds of requests: the questions, and how they are sampled. Drafts of look-up are accepted where a
# text repeats itself, and hardly ever where each token is drawn from the whole vocabulary.
KINDS = {
    "mixed": (QUESTIONS, {"temperature": 0}),
    "repeating": (QUESTIONS[3:4], {"temperature": 0}),
    "noise": (QUESTIONS[:1], {"temperature": 2, "top_p": 1, "top_k": 0, "min_p": 0}),
}


def body(question, drafts, kind):
    questions, sampling = KINDS[kind]
    request = {"messages": [{"role": "user", "content": questions[question]}], **sampling, "max_tokens": TOKENS,
               "ignore_eos": True, "stream": True}
    return json.dumps(request if drafts else {**request, "speculation": {"enabled": False}})


def read_stream(response, began):
    """The words of a streamed answer and its longest pause in seconds. Raises if it does not end as it should."""
    words, last, pause = [], began, 0.0
    for line in response:
        if not line.startswith(b"data: "):
            continue
        data = line[6:].strip()
        now = time.monotonic()
        pause, last = max(pause, now - last), now
        if data == b"[DONE]":
            return "".join(words), pause
        event = json.loads(data)
        if "error" in event:
            raise OSError(event["error"]["message"])
        words += [choice["delta"].get("content") or "" for choice in event["choices"]]
    raise OSError("the stream was cut off")


def ask(url, question, drafts=True, kind="mixed"):
    began = time.monotonic()
    line = {"began": time.time(), "question": question, "words": None, "pause_ms": None, "error": None}
    connection = http.client.HTTPConnection(url.hostname, url.port or 80, timeout=TIMEOUT_S)
    try:
        connection.request("POST", "/v1/chat/completions", body(question, drafts, kind), {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            raise OSError(f"status {response.status}: {response.read(300).decode(errors='replace')}")
        line["words"], pause = read_stream(response, began)
        line["pause_ms"] = round(pause * 1000)
    except (OSError, http.client.HTTPException, ValueError) as fault:
        line["error"] = f"{type(fault).__name__}: {fault}"
    finally:
        connection.close()
    return {**line, "ended": time.time()}


def keep_asking(url, streams, out, kind):
    ending, writing, numbers = threading.Event(), threading.Lock(), itertools.count()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())

    def stream():
        while not ending.is_set():
            line = ask(url, next(numbers) % len(KINDS[kind][0]), kind=kind)
            with writing:
                print(json.dumps(line), file=out, flush=True)
            if line["error"]:
                ending.wait(0.2)  # a client that fails does not spin

    threads = [threading.Thread(target=stream) for _ in range(streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    url = urllib.parse.urlsplit(sys.argv[1])
    if sys.argv[2] == "--once":
        for question in range(len(QUESTIONS)):
            print(json.dumps(ask(url, question, drafts=False)))
        return
    with open(sys.argv[3], "a", encoding="utf-8") as out:
        keep_asking(url, int(sys.argv[2]), out, sys.argv[4] if len(sys.argv) > 4 else "mixed")


if __name__ == "__main__":
    main()
