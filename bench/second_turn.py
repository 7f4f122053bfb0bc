"""Measures how much sooner a chat's second turn begins than its first, thanks to the verifier's prefix cache. Needs a running server.

    build/release/tools/slipstream/slipstream serve --port 8080 &
    python3 bench/second_turn.py http://127.0.0.1:8080 [--words 400 1200] [--chats 5]

Each chat has its own prompt. For each size, prints the chat whose ratio of times to the first token is the median. Exits 1 if that ratio
is above --most.
"""

import argparse
import json
import random
import sys
import time
import urllib.request

WORDS = "the quick river of time carries every small boat toward an open sea where light and shadow trade places at noon".split()


def ask(server, messages):
    """Returns the seconds to the first text, the text, and `usage`."""
    body = {"messages": messages, "max_tokens": 40, "temperature": 0, "stream": True, "stream_options": {"include_usage": True}}
    request = urllib.request.Request(server + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    sent, first, text, usage = time.monotonic(), None, "", None
    for line in urllib.request.urlopen(request):
        if not line.startswith(b"data: {"):
            continue
        chunk = json.loads(line[6:])
        for choice in chunk["choices"]:
            piece = choice["delta"].get("content")
            if piece and first is None:
                first = time.monotonic() - sent
            text += piece or ""
        usage = chunk.get("usage") or usage
    return first, text, usage


def chat(server, words, seed):
    draw = random.Random(seed)
    messages = [{"role": "user", "content": " ".join(draw.choice(WORDS) for _ in range(words)) + " Summarise."}]
    first, text, usage = ask(server, messages)
    messages += [{"role": "assistant", "content": text}, {"role": "user", "content": "Shorter, please."}]
    second, _, later = ask(server, messages)
    cached = later["prompt_tokens_details"]["cached_tokens"]
    return second / first, usage["prompt_tokens"], first, later["prompt_tokens"], cached, second


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("server")
    parser.add_argument("--words", type=int, nargs="+", default=[400, 1200])
    parser.add_argument("--chats", type=int, default=5)
    parser.add_argument("--most", type=float, default=0.2)
    options = parser.parse_args()
    met = True
    print(f"{'first turn':>18}  {'second turn':>30}  ratio")
    for words in options.words:
        chats = sorted(chat(options.server, words, words + seed) for seed in range(options.chats))
        ratio, prompt, first, longer, cached, second = chats[len(chats) // 2]
        met = met and ratio <= options.most
        print(f"{prompt:>5} tokens {first * 1e3:>5.0f} ms  {longer:>5} tokens, {cached:>5} cached {second * 1e3:>5.0f} ms  {ratio:.3f}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
