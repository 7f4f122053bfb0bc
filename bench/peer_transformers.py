"""Plain greedy decoding: our forward pass against transformers in bf16, taking turns in one run on the same cores.

    PYTHON bench/peer_transformers.py build/release/bench/forward models/smollm2-135m-instruct [--threads 2] [--turns 3]

PYTHON is any interpreter with torch and transformers. Prints each turn, then the ratio of the medians; exits 1 below --least.
Both sides count the tokens after the first, so that the prompt's own time is left out.
"""

import argparse
import json
import statistics
import subprocess
import time

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

QUESTION = "Tell me a long story about a lighthouse keeper who finds a map in a bottle."


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("forward")
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--least", type=float, default=1.0, help="ratio below which the exit status is 1")
    return parser.parse_args()


def theirs(model, prompt, tokens):
    """Tokens a second after the first, and the ids."""
    seconds = []
    for count in (1, tokens):
        start = time.perf_counter()
        with torch.no_grad():
            output = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, min_new_tokens=count,
                                    max_new_tokens=count, pad_token_id=0)
        seconds.append(time.perf_counter() - start)
    return (tokens - 1) / (seconds[1] - seconds[0]), output[0, prompt.shape[1]:].tolist()


def ours(args, prompt):
    ids = ",".join(str(token) for token in prompt[0].tolist())
    command = [args.forward, "--model", args.model, "--threads", str(args.threads), "--decode", str(args.tokens), "--prompt", ids]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return report["tokens_per_s"], report["tokens"], report["numerics"]


def main():
    args = arguments()
    torch.set_num_threads(args.threads)
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.bfloat16).eval()
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    chat = tokenizer.apply_chat_template([{"role": "user", "content": QUESTION}], tokenize=False, add_generation_prompt=True)
    prompt = tokenizer(chat, return_tensors="pt", add_special_tokens=False).input_ids
    theirs(model, prompt, 4)  # warms its caches
    speeds = {"ours": [], "transformers": []}
    for turn in range(args.turns):
        speed, our_ids, numerics = ours(args, prompt)
        speeds["ours"].append(speed)
        speed, their_ids = theirs(model, prompt, args.tokens)
        speeds["transformers"].append(speed)
        same = next((i for i, (a, b) in enumerate(zip(our_ids, their_ids)) if a != b), args.tokens)
        print(f"turn {turn + 1}: ours ({numerics}) {speeds['ours'][-1]:.1f} tokens/s, transformers bf16 {speed:.1f}; "
              f"first {same} tokens equal", flush=True)
    ratio = statistics.median(speeds["ours"]) / statistics.median(speeds["transformers"])
    print(f"ratio {ratio:.2f} with {args.threads} threads each")
    raise SystemExit(0 if ratio >= args.least else 1)


if __name__ == "__main__":
    main()
