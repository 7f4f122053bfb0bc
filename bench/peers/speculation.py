"""Measures what drafts bring, by category of prompts: ours on against off, and those of llama.cpp's server and transformers.

    PYTHON bench/peers/speculation.py build/release/tools/slipstream/slipstream LLAMA_SERVER models/smollm2-135m-instruct.gguf \\
        models/smollm2-135m-instruct

PYTHON has torch and transformers; without them transformers is omitted. Ours drafts as `serve` does by default, llama.cpp and transformers
by look-up; with --assistant, transformers also by that small model (assisted generation). Prompts: bench/data/categories.jsonl
(summarisation and RAG of Spec-Bench, Apache-2.0; code of HumanEval, MIT). Decoding is greedy; figures are tokens a second after the first token. All take turns,
prompt by prompt. Ours and llama.cpp run the GGUF file, transformers the folder in bf16. `make bench-peers` does it.
"""

import argparse
import json
import pathlib
import tempfile
import time

import servers

PROMPTS = pathlib.Path(__file__).parent.parent / "data/categories.jsonl"
LOOKED_UP = 10  # tokens: prompt_lookup_num_tokens, as transformers' documentation has it


def of_server(server, tokens, **more):
    def decode(prompt):
        answer = servers.ask(server, prompt, tokens, **more)
        return (answer.tokens - 1) / answer.decode_s(), answer.text

    return decode


def of_transformers(folder, tokens, threads, assistant=None, **more):
    import torch
    import transformers

    torch.set_num_threads(threads)
    transformers.utils.logging.set_verbosity_error()
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).eval()
    if assistant:
        more["assistant_model"] = transformers.AutoModelForCausalLM.from_pretrained(assistant, dtype=torch.bfloat16).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    def decode(prompt):
        chat = tokenizer.apply_chat_template([{"role": "user", "content": prompt}], tokenize=False, add_generation_prompt=True)
        ids = tokenizer(chat, return_tensors="pt", add_special_tokens=False).input_ids
        seconds = []
        for count in (1, tokens):  # the first token belongs to the prompt
            began = time.perf_counter()
            output = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, min_new_tokens=count, max_new_tokens=count,
                                    pad_token_id=0, **more)
            seconds.append(time.perf_counter() - began)
        return (tokens - 1) / (seconds[1] - seconds[0]), tokenizer.decode(output[0, ids.shape[1] :])

    return decode


def engines(options, started):
    yield "slipstream", of_server(started["ours"], options.tokens, speculation={"enabled": False}), of_server(started["ours"], options.tokens)
    yield "llama.cpp", of_server(started["plain"], options.tokens), of_server(started["drafting"], options.tokens)
    try:
        plain = of_transformers(options.folder, options.tokens, options.threads)
        yield "transformers", plain, of_transformers(options.folder, options.tokens, options.threads, prompt_lookup_num_tokens=LOOKED_UP)
        if options.assistant:
            yield "transformers, small LM", plain, of_transformers(options.folder, options.tokens, options.threads, options.assistant)
    except ImportError as error:
        print(f"left out, transformers: {error}", flush=True)


class Sum:
    """Seconds a token, plain and with drafts, summed over prompts."""

    def __init__(self):
        self.prompts, self.plain, self.drafting, self.same = 0, 0.0, 0.0, 0

    def add(self, plain, drafting, same):  # plain, drafting: tokens a second
        self.prompts, self.same = self.prompts + 1, self.same + same
        self.plain, self.drafting = self.plain + 1 / plain, self.drafting + 1 / drafting


def rows_of(category, sums):
    theirs = sums["llama.cpp"].drafting
    return [f"| {category} | {name} | {each.prompts / each.plain:.1f} | {each.prompts / each.drafting:.1f} | {each.plain / each.drafting:.2f} "
            f"| {theirs / each.drafting:.2f} | {each.same} of {each.prompts} |" for name, each in sums.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("llama_server")
    parser.add_argument("gguf")
    parser.add_argument("folder")
    parser.add_argument("--llama-drafts", default="ngram-simple", help="llama-server's --spec-type")
    parser.add_argument("--assistant", help="folder of a small model with the same tokenizer, which drafts for transformers")
    parser.add_argument("--prompts", type=int, default=8, help="of each category")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    prompts = [json.loads(line) for line in PROMPTS.read_text().splitlines()]
    categories = list(dict.fromkeys(prompt["category"] for prompt in prompts))
    with tempfile.TemporaryDirectory() as logs, \
            servers.ours(options.slipstream, options.gguf, logs + "/ours.log", options.threads) as ours, \
            servers.llama_cpp(options.llama_server, options.gguf, logs + "/plain.log", options.threads, 1) as plain, \
            servers.llama_cpp(options.llama_server, options.gguf, logs + "/drafting.log", options.threads, 1,
                              "--spec-type", options.llama_drafts) as drafting:
        sides = list(engines(options, {"ours": ours, "plain": plain, "drafting": drafting}))
        rows, totals = [], {name: Sum() for name, _, _ in sides}
        for category in categories:
            asked = [prompt for prompt in prompts if prompt["category"] == category][: options.prompts]
            sums = {name: Sum() for name in totals}
            for number, prompt in enumerate(asked):
                for name, *both in sides:
                    (slow, expected), (fast, found) = (decode(prompt["prompt"]) for decode in both)
                    for each in (sums[name], totals[name]):
                        each.add(slow, fast, expected == found)
                print(f"{category}: {number + 1} of {len(asked)}", flush=True)
            rows += rows_of(category, sums)
        rows += rows_of("all", totals)
    print(f"\n{options.tokens} tokens each, {options.threads} threads, llama.cpp's drafts: {options.llama_drafts}\n")
    print("| category | server | plain, tokens/s | with drafts | drafts to plain | to llama.cpp's drafts | same words |\n|---|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
