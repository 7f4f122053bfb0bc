"""Compares look-up with Arctic's suffix decoding (arctic-inference) on the same traces: tokens a step at equal draft nodes a step.

    PYTHON bench/peers/suffixes.py build/release/tools/slipstream/slipstream build/release/bench/lookup_trace models/smollm2-135m-instruct.gguf \\
        models/smollm2-135m-instruct

PYTHON has transformers (for the ids of prompts) and arctic_inference.suffix_decoding. The server answers all prompts greedily; both then
replay the ids offline, where a node is accepted if the answer has its token there. Nothing is timed. Each is run at many settings: ours
nodes down to a survival (of at most 16), Arctic's SuffixDecodingCache with chains and trees of at most 16 tokens and several
max_spec_factor and min_token_prob. Of a side's settings those count that no other one beats in both; between two of them the table is
linear. `earlier answers`: a request may find those before it in its file (of ours: of the same API key). Arctic then takes its draft from
either its own text or the earlier ones, we count both together. `make bench-peers` does it.
"""

import argparse
import itertools
import json
import pathlib
import subprocess
import tempfile
import urllib.request

import servers

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent / "data"
NODES = 16  # of a tree or chain, at most
BUDGETS = (0.5, 1, 2, 4, 8)  # nodes a step that the table compares at
FACTORS, PROBABILITIES = (1, 2, 4), (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)  # Arctic's defaults: 1 and 0.1


class Request:
    def __init__(self, category, prompt, answer):
        self.category, self.prompt, self.answer = category, prompt, answer


def answered(server, tokenizer, file, tokens):
    """The requests of a file with the ids of their greedy answers."""
    for line in file.read_text().splitlines():
        prompt = json.loads(line)
        messages = [{"role": "user", "content": prompt["prompt"]}]
        body = {"messages": messages, "max_tokens": tokens, "temperature": 0, "slipstream": {"tokens": True}}
        request = urllib.request.Request(server.url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
        reply = json.load(urllib.request.urlopen(request))
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        ids = tokenizer(text, add_special_tokens=False).input_ids
        if len(ids) != reply["usage"]["prompt_tokens"]:
            raise SystemExit(f"the prompt has {len(ids)} tokens here and {reply['usage']['prompt_tokens']} in the server: another tokenizer?")
        yield Request(prompt["category"], ids, reply["slipstream"]["token_ids"])


def ours(program, requests, earlier):
    """{setting: [(tokens, steps, nodes) of each request]}"""
    trace = "\n".join(" ".join(map(str, [len(request.prompt), *request.prompt, *request.answer])) for request in requests)
    command = [program, "--nodes", str(NODES), "--depth", str(NODES), *(["--earlier"] if earlier else [])]
    found = {}
    for line in subprocess.run(command, input=trace, capture_output=True, text=True, check=True).stdout.splitlines():
        _, survival, *counts = line.split()
        found.setdefault(survival, []).append(tuple(map(int, counts)))
    return found


def accepted(draft, follow):
    node, count = -1, 0
    for token in follow:
        node = next((i for i, parent in enumerate(draft.parents) if parent == node and draft.token_ids[i] == token), None)
        if node is None:
            break
        count += 1
    return count


def arctic(requests, earlier):
    from arctic_inference.suffix_decoding import SuffixDecodingCache

    found = {}
    for tree, factor, probability in itertools.product((False, True), FACTORS, PROBABILITIES):
        cache = SuffixDecodingCache(max_cached_requests=-1 if earlier else 0)
        for number, request in enumerate(requests):
            cache.start_request(number, request.prompt)
            text, length, steps, nodes = request.prompt + request.answer, len(request.prompt), 0, 0
            while length < len(text):
                draft = cache.speculate(number, text[max(0, length - cache.max_tree_depth) : length], max_spec_tokens=NODES,
                                        max_spec_factor=factor, min_token_prob=probability, use_tree_spec=tree)
                emitted = min(accepted(draft, text[length:]) + 1, len(text) - length)
                cache.add_active_response(number, text[length : length + emitted])
                length, steps, nodes = length + emitted, steps + 1, nodes + len(draft.token_ids)
            cache.stop_request(number)
            found.setdefault((tree, factor, probability), []).append((len(request.answer), steps, nodes))
    return found


def frontier(settings, chosen):
    """(nodes, tokens) a step of these requests, of the settings that none beats in both; it begins with plain decoding."""
    points = [(0.0, 1.0)]
    for counts in settings.values():
        tokens, steps, nodes = (sum(counts[i][what] for i in chosen) for what in range(3))
        points.append((nodes / steps, tokens / steps))
    best = []
    for point in sorted(points):
        if not best or point[1] > best[-1][1]:
            best.append(point)
    return best


def tokens_at(budget, points):
    """Linear between two points; beyond the last, that one's tokens: more nodes bring nothing there."""
    for (nodes, tokens), (more, most) in zip(points, points[1:]):
        if budget <= more:
            return tokens + (most - tokens) * (budget - nodes) / (more - nodes)
    return points[-1][1]


def print_table(title, requests, sides):
    print(f"\n{title}: tokens a step at so many nodes a step, look-up and Arctic's suffix decoding\n")
    print("| category | " + " | ".join(f"{budget:g}" for budget in BUDGETS) + " |\n|---" + "|---" * len(BUDGETS) + "|")
    for category in [*dict.fromkeys(request.category for request in requests), "all"]:
        chosen = [i for i, request in enumerate(requests) if category in (request.category, "all")]
        points = [frontier(settings, chosen) for settings in sides]
        print(f"| {category} | " + " | ".join(" and ".join(f"{tokens_at(budget, side):.2f}" for side in points) for budget in BUDGETS) + " |")


def main():
    import transformers

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("lookup_trace")
    parser.add_argument("gguf")
    parser.add_argument("folder", help="its tokenizer makes the ids of prompts")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    tokenizer = transformers.AutoTokenizer.from_pretrained(options.folder)
    with tempfile.TemporaryDirectory() as logs, servers.ours(options.slipstream, options.gguf, logs + "/log", options.threads) as server:
        files = [list(answered(server, tokenizer, DATA / name, options.tokens)) for name in ("categories.jsonl", "templates.jsonl")]
    for title, requests, earlier in (("Own text", files[0], False), ("Own text", files[1], False), ("Earlier answers", files[1], True)):
        print_table(title, requests, (ours(options.lookup_trace, requests, earlier), arctic(requests, earlier)))


if __name__ == "__main__":
    main()
