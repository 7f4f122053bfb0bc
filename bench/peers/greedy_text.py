"""Compares greedy answers of a server of ours with those of transformers in fp32, token by token.

    PYTHON bench/peers/greedy_text.py build/torch/tools/slipstream/slipstream models/smollm2-135m-instruct -- --device torch-cpu --weights f32

PYTHON has torch and transformers. What follows `--` are flags of `serve`. Prompts are the first of each category of bench/data/categories.jsonl
and then the second, until there are enough. Where an answer differs, the gap between transformers' two likeliest logits is told at the first
token that does: rounding may turn one that is nearly nought, and no other.
Exit status: 0 each answer is equal, or differs first at a gap below NEAR_TIE, 1 one does not.
"""

import argparse
import collections
import json
import pathlib
import tempfile
import urllib.request

import servers

PROMPTS = pathlib.Path(__file__).parent.parent / "data/categories.jsonl"
NEAR_TIE = 1e-3  # logits


def chosen_prompts(count):
    by_category = collections.defaultdict(list)
    for line in PROMPTS.read_text(encoding="utf-8").splitlines():
        prompt = json.loads(line)
        by_category[prompt["category"]].append(prompt)
    turns = max(map(len, by_category.values()))
    return [(name, each["prompt"]) for at in range(turns) for name, prompts in by_category.items() for each in prompts[at:at + 1]][:count]


def ask(url, path, body):
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    return json.loads(urllib.request.urlopen(request).read())


def our_answer(url, messages, tokens):
    """Returns the ids of the prompt and of the answer."""
    prompt = ask(url, "/tokenize", {"messages": messages, "add_generation_prompt": True})["tokens"]
    body = {"prompt": prompt, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, "slipstream": {"tokens": True}}
    return prompt, ask(url, "/v1/completions", body)["slipstream"]["token_ids"]


def transformers_in_fp32(folder, threads):
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    torch.set_num_threads(threads)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    print(f"transformers {transformers.__version__}, torch {torch.__version__}", flush=True)

    def answer(prompt, tokens):
        """Returns the ids, and at each the gap between the two likeliest logits."""
        ids = torch.tensor([prompt])
        output = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, min_new_tokens=tokens, max_new_tokens=tokens,
                                pad_token_id=0, eos_token_id=None, output_logits=True, return_dict_in_generate=True)
        best = [logits[0].topk(2).values for logits in output.logits]
        return output.sequences[0, len(prompt):].tolist(), [float(two[0] - two[1]) for two in best]

    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("folder", help="of the model")
    parser.add_argument("--prompts", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    options, flags = servers.parse(parser)
    peer, equal, wrong = transformers_in_fp32(options.folder, options.threads), 0, 0
    with tempfile.TemporaryDirectory() as logs, servers.ours(options.slipstream, options.folder, logs + "/ours.log", options.threads, *flags) as ours:
        for category, words in chosen_prompts(options.prompts):
            prompt, ids = our_answer(ours.url, [{"role": "user", "content": words}], options.tokens)
            theirs, gaps = peer(prompt, options.tokens)
            at = next((at for at, (one, other) in enumerate(zip(ids, theirs)) if one != other), None)
            equal += at is None
            if at is not None:
                wrong += gaps[at] >= NEAR_TIE
                print(f"{category}: differs at token {at + 1} of {options.tokens}, where transformers' two likeliest are {gaps[at]:.2g} apart", flush=True)
    print(f"{equal} of {options.prompts} answers of {options.tokens} tokens are equal; {wrong} differ where the gap is {NEAR_TIE} or more")
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
