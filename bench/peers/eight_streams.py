"""Measures eight streams at once: their total tokens a second, and how a long prompt that arrives delays them. Compares with llama.cpp.

    python bench/peers/eight_streams.py build/release/tools/slipstream/slipstream LLAMA_SERVER models/smollm2-135m-instruct.gguf

Both servers run the same file on the same cores and take turns, round by round; the other one is idle. `make bench-peers` does it.
"""

import argparse
import concurrent.futures
import json
import pathlib
import statistics
import tempfile
import threading

import servers

HERE = pathlib.Path(__file__).parent
PROMPTS = HERE.parents[1] / "tests/e2e/data/prompts.jsonl"
LONG_WORDS = "the quick river of time carries every small boat toward an open sea where light and shadow trade places at noon".split()


def long_prompt(tokens, salt):
    """Returns a prompt of about this many tokens. Prompts of different salts have no common beginning."""
    words = [LONG_WORDS[(at * (salt + 1) + at // 7) % len(LONG_WORDS)] for at in range(tokens)]
    return f"{salt}. " + " ".join(words) + ". Summarise."


def tokens_per_s(server, prompts, tokens, **more):
    """Tokens a second from the first request to the last token, prompts included."""
    with concurrent.futures.ThreadPoolExecutor(len(prompts)) as pool:
        answers = list(pool.map(lambda prompt: servers.ask(server, prompt, tokens, **more), prompts))
    whole = max(answer.pieces[-1] for answer in answers) - min(answer.sent for answer in answers)
    return sum(answer.tokens for answer in answers) / whole


def gaps_beside_a_long_prompt(server, prompts, tokens, long, **more):
    """Returns (longest gap of the streams while the prompt is computed, longest gap before, seconds to its first token, its tokens)."""
    running, started = threading.Semaphore(0), 8  # pieces: a stream is running then
    def on_piece(answer):
        if len(answer.pieces) == started:
            running.release()
    with concurrent.futures.ThreadPoolExecutor(len(prompts) + 1) as pool:
        streams = [pool.submit(servers.ask, server, prompt, tokens, on_piece, **more) for prompt in prompts]
        for _ in prompts:
            running.acquire()
        late = pool.submit(servers.ask, server, long, 1, **more).result()
        answers = [stream.result() for stream in streams]
    computed = late.sent, late.pieces[0]
    inside, before = [], []
    for answer in answers:
        for begin, end in zip(answer.pieces[started:], answer.pieces[started + 1 :]):
            if end > computed[0] and begin < computed[1]:
                inside.append(end - begin)
            elif end <= computed[0]:
                before.append(end - begin)
    if not inside:
        raise SystemExit(f"{server.name}: the streams had ended before the long prompt came; ask for more --tokens")
    return max(inside), max(before, default=0), late.first_s(), late.prompt_tokens


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("llama_server")
    parser.add_argument("model", help="a GGUF file")
    parser.add_argument("--streams", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", type=int, default=2000, help="tokens of the long prompt, about")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    prompts = [json.loads(line)["prompt"] for line in PROMPTS.read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder, \
            servers.ours(options.slipstream, options.model, folder + "/ours.log", options.threads) as ours, \
            servers.llama_cpp(options.llama_server, options.model, folder + "/llama.log", options.threads, options.streams) as theirs:
        sides = [("slipstream, plain", ours, {"speculation": {"enabled": False}}), ("slipstream, look-up drafts", ours, {}), ("llama.cpp", theirs, {})]
        speeds = {name: [] for name, _, _ in sides}
        for at in range(options.rounds):
            some = [prompts[(at * options.streams + i) % len(prompts)] for i in range(options.streams)]
            for name, server, more in sides:
                speeds[name].append(tokens_per_s(server, some, options.tokens, **more))
                print(f"round {at + 1} of {options.rounds}: {name:<28} {speeds[name][-1]:7.1f} tokens/s", flush=True)
        base = speeds["llama.cpp"]
        print(f"\n{options.streams} streams, {options.tokens} tokens each, {options.threads} threads\n\n| server | tokens/s | to llama.cpp |\n|---|---|---|")
        for name, each in speeds.items():
            print(f"| {name} | {statistics.mean(each):.1f} | {sum(each) / sum(base):.2f} |")
        print("\n| server | long prompt, tokens | its first token after, s | longest gap of a stream meanwhile, ms | before, ms |\n|---|---|---|---|---|")
        for name, server, more in sides:
            salt = [name for name, _, _ in sides].index(name)
            some = prompts[salt :: len(sides)][: options.streams - 1]
            gap, before, first, count = gaps_beside_a_long_prompt(server, some, 4 * options.tokens, long_prompt(options.long, salt), **more)
            print(f"| {name} | {count} | {first:.2f} | {1e3 * gap:.0f} | {1e3 * before:.0f} |", flush=True)


if __name__ == "__main__":
    main()
