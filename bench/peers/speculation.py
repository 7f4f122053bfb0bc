"""Measures what look-up drafts bring, by category of prompts: ours on against off, and those of llama.cpp's server and transformers.

    PYTHON bench/peers/speculation.py build/release/tools/slipstream/slipstream LLAMA_SERVER models/smollm2-135m-instruct.gguf \\
        models/smollm2-135m-instruct

PYTHON has torch and transformers; without them transformers is omitted. Prompts: bench/data/categories.jsonl (summarisation and RAG of
Spec-Bench, Apache-2.0; code of HumanEval, MIT). Decoding is greedy; figures are tokens a second after the first token. All take turns,
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


def of_transformers(folder, tokens, threads, **more):
    import torch
    import transformers

    torch.set_num_threads(threads)
    transformers.utils.logging.set_verbosity_error()
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).eval()
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
        yield ("transformers", of_transformers(options.folder, options.tokens, options.threads),
               of_transformers(options.folder, options.tokens, options.threads, prompt_lookup_num_tokens=LOOKED_UP))
    except ImportError as error:
        print(f"left out, transformers: {error}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("llama_server")
    parser.add_argument("gguf")
    parser.add_argument("folder")
    parser.add_argument("--llama-drafts", default="ngram-simple", help="llama-server's --spec-type")
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
        rows = []
        for category in categories:
            asked = [prompt for prompt in prompts if prompt["category"] == category][: options.prompts]
            seconds = {name: [0.0, 0.0] for name, _, _ in sides}  # a token, plain and drafting, summed over prompts
            same = dict.fromkeys(seconds, 0)
            for number, prompt in enumerate(asked):
                for name, *both in sides:
                    (slow, expected), (fast, found) = (decode(prompt["prompt"]) for decode in both)
                    seconds[name] = [seconds[name][0] + 1 / slow, seconds[name][1] + 1 / fast]
                    same[name] += expected == found
                print(f"{category}: {number + 1} of {len(asked)}", flush=True)
            for name, (slow, fast) in seconds.items():
                rows.append(f"| {category} | {name} | {len(asked) / slow:.1f} | {len(asked) / fast:.1f} | {slow / fast:.2f} "
                            f"| {seconds['llama.cpp'][1] / fast:.2f} | {same[name]} of {len(asked)} |")
    print(f"\n{options.tokens} tokens each, {options.threads} threads, llama.cpp's drafts: {options.llama_drafts}\n")
    print("| category | server | plain, tokens/s | with drafts | drafts to plain | to llama.cpp's drafts | same words |\n|---|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
