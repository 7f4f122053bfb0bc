"""Compares look-up with Arctic's suffix decoding (arctic-inference) on the same traces: tokens a step at equal draft nodes a step.

    PYTHON bench/peers/suffixes.py build/release/tools/slipstream/slipstream build/release/bench/lookup_trace models/smollm2-135m-instruct.gguf \\
        models/smollm2-135m-instruct

PYTHON has transformers (for the ids of prompts) and arctic_inference.suffix_decoding. The server answers all prompts greedily; both then
replay the ids offline, where a node is accepted if the answer has its token there. Nothing is timed. Each is run at many settings: ours
nodes down to a survival (of at most 16), Arctic's SuffixDecodingCache with chains and trees of at most 16 tokens and several
max_spec_factor and min_token_prob. Of a side's settings those count that no other one beats in both; between two of them the table is
linear. `earlier answers`: a request may find those before it in its file (of ours: of the same API key). Arctic then takes its draft from
either its own text or the earlier ones, we count both together. `as served` is what the server itself did for these answers, with its
calibration and its price of a node, beside Arctic at as many nodes a step. `make bench-peers` does it.
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
    """ids of prompt and answer; served: the server's own (tokens, steps, nodes)."""

    def __init__(self, category, prompt, answer, served):
        self.category, self.prompt, self.answer, self.served = category, prompt, answer, served


class Prompts:
    """Makes the ids of chat prompts. transformers' own class splits "    5" otherwise than the model's file says, so the file splits."""

    def __init__(self, folder):
        import tokenizers
        import transformers

        self.chat = transformers.AutoTokenizer.from_pretrained(folder)
        self.tokenizer = tokenizers.Tokenizer.from_file(folder + "/tokenizer.json")

    def ids(self, messages):
        text = self.chat.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return self.tokenizer.encode(text, add_special_tokens=False).ids


def answered(server, prompts, file, tokens, key):
    """The requests of a file with the ids of their greedy answers. key: an API key, so that the server finds earlier answers; or None."""
    for line in file.read_text().splitlines():
        prompt = json.loads(line)
        messages = [{"role": "user", "content": prompt["prompt"]}]
        body = {"messages": messages, "max_tokens": tokens, "temperature": 0, "slipstream": {"tokens": True}}
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        request = urllib.request.Request(server.url + "/v1/chat/completions", json.dumps(body).encode(), headers)
        reply = json.load(urllib.request.urlopen(request))
        ids = prompts.ids(messages)
        if len(ids) != reply["usage"]["prompt_tokens"]:
            raise SystemExit(f"the prompt has {len(ids)} tokens here and {reply['usage']['prompt_tokens']} in the server: another tokenizer?")
        drafts = reply["metrics"]["speculative_decoding"]
        steps, nodes = drafts["num_spec_steps"], drafts["num_draft_tokens"]
        served = steps * drafts["mean_acceptance_length"], steps, nodes
        yield Request(prompt["category"], ids, reply["slipstream"]["token_ids"], served)


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


def a_step(counts):
    """(nodes, tokens) a step of these (tokens, steps, nodes)."""
    tokens, steps, nodes = map(sum, zip(*counts))
    return nodes / steps, tokens / steps


def frontier(settings, chosen):
    """(nodes, tokens) a step of these requests, of the settings that none beats in both; it begins with plain decoding."""
    points = [(0.0, 1.0), *(a_step([counts[i] for i in chosen]) for counts in settings.values())]
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
    print("| category | " + " | ".join(f"{budget:g}" for budget in BUDGETS) + " | as served: nodes | look-up and Arctic |\n|---" + "|---" * len(BUDGETS) + "|---|---|")
    for category in [*dict.fromkeys(request.category for request in requests), "all"]:
        chosen = [i for i, request in enumerate(requests) if category in (request.category, "all")]
        points = [frontier(settings, chosen) for settings in sides]
        nodes, tokens = a_step([requests[i].served for i in chosen])
        cells = [" and ".join(f"{tokens_at(budget, side):.2f}" for side in points) for budget in BUDGETS]
        print(f"| {category} | {' | '.join(cells)} | {nodes:.2f} | {tokens:.2f} and {tokens_at(nodes, points[1]):.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("lookup_trace")
    parser.add_argument("gguf")
    parser.add_argument("folder", help="its tokenizer makes the ids of prompts")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    prompts = Prompts(options.folder)
    sets = [("Own text", "categories.jsonl", None), ("Own text", "templates.jsonl", None), ("Earlier answers", "templates.jsonl", "any")]
    with tempfile.TemporaryDirectory() as logs, servers.ours(options.slipstream, options.gguf, logs + "/log", options.threads) as server:
        sets = [(title, list(answered(server, prompts, DATA / file, options.tokens, key)), key is not None) for title, file, key in sets]
    for title, requests, earlier in sets:
        print_table(title, requests, (ours(options.lookup_trace, requests, earlier), arctic(requests, earlier)))


if __name__ == "__main__":
    main()
