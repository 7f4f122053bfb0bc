"""Compares greedy answers of a server of ours, without drafts and with them, and those of transformers in fp32, token by token.

    PYTHON bench/peers/greedy_text.py build/torch/tools/slipstream/slipstream models/smollm2-135m-instruct -- --device torch-cpu --weights f32

PYTHON has torch and transformers. What follows `--` are flags of `serve`. Prompts are the first of each category of
bench/data/categories.jsonl and then the second, until there are enough; both get the same ids. Where two answers part, it is told how far
transformers has the logit of the less likely of their tokens below its highest: rounding may turn what is nearly nought, and nothing else.
Answers with drafts differ from those without on a server with --fast-rows alone. Such a flip is counted in each 1,000 tokens; behind the
first flip of an answer no token counts.
Exit status: 0 each plain answer is that of transformers or parts from it at a gap below --near-tie, and so does each with drafts from it,
1 one does not, or no draft was accepted.
"""

import argparse
import collections
import json
import pathlib
import tempfile
import urllib.request

import servers

PROMPTS = pathlib.Path(__file__).parent.parent / "data/categories.jsonl"
NEAR_TIE = 1e-3  # logits, of weights in f32 that are the folder's own


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


def our_answer(url, prompt, tokens, drafts):
    """Returns its ids, and how many of them were drafted."""
    body = {"prompt": prompt, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, "slipstream": {"tokens": True},
            "speculation": {"enabled": drafts}}
    answer = ask(url, "/v1/completions", body)
    return answer["slipstream"]["token_ids"], answer["usage"]["completion_tokens_details"]["accepted_prediction_tokens"]


class Transformers:
    def __init__(self, folder, threads):
        import torch
        import transformers

        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        torch.set_num_threads(threads)
        self.torch = torch
        self.model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        print(f"transformers {transformers.__version__}, torch {torch.__version__}, fp32", flush=True)

    def answer(self, prompt, tokens):
        ids = self.torch.tensor([prompt])
        output = self.model.generate(ids, attention_mask=self.torch.ones_like(ids), do_sample=False, min_new_tokens=tokens,
                                     max_new_tokens=tokens, pad_token_id=0, eos_token_id=None)
        return output[0, len(prompt):].tolist()

    def gap(self, ids, tokens):
        """From the highest logit behind these ids to the least of these tokens."""
        with self.torch.no_grad():
            logits = self.model(self.torch.tensor([ids])).logits[0, -1]
        return float(logits.max() - logits[tokens].min())


class Differences:
    """Of pairs of answers, where they differ first."""

    def __init__(self, what, peer, near_tie):
        self.what, self.peer, self.near_tie = what, peer, near_tie
        self.answers = self.equal = self.wrong = self.tokens = 0

    def add(self, category, prompt, one, other):
        if len(one) != len(other):
            raise SystemExit(f"{category}: {self.what}: {len(one)} and {len(other)} tokens, where as many were asked for")
        at = next((at for at, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), None)
        self.answers, self.equal, self.tokens = self.answers + 1, self.equal + (at is None), self.tokens + (len(one) if at is None else at + 1)
        if at is not None:
            gap = self.peer.gap(prompt + one[:at], [one[at], other[at]])
            self.wrong += gap >= self.near_tie
            print(f"{category}: {self.what} part at token {at + 1} of {len(one)}, at a gap of {gap:.2g}", flush=True)

    def __str__(self):
        flips = 1000 * (self.answers - self.equal) / max(self.tokens, 1)
        return (f"{self.what}: {self.equal} of {self.answers} answers are equal, {flips:.2f} flips in 1,000 tokens, "
                f"{self.wrong} of them where the gap is {self.near_tie} or more")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("folder", help="of the model")
    parser.add_argument("--prompts", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--near-tie", type=float, default=NEAR_TIE, help="gap of logits that rounding may turn")
    options, flags = servers.parse(parser)
    peer, accepted = Transformers(options.folder, options.threads), 0
    beside, drafted = (Differences(what, peer, options.near_tie) for what in ("ours and transformers'", "without drafts and with them"))
    with tempfile.TemporaryDirectory() as logs, servers.ours(options.slipstream, options.folder, logs + "/ours.log", options.threads, *flags) as ours:
        for category, words in chosen_prompts(options.prompts):
            messages = [{"role": "user", "content": words}]
            prompt = ask(ours.url, "/tokenize", {"messages": messages, "add_generation_prompt": True})["tokens"]
            (plain, _), (drafts, right) = (our_answer(ours.url, prompt, options.tokens, each) for each in (False, True))
            accepted += right
            beside.add(category, prompt, plain, peer.answer(prompt, options.tokens))
            drafted.add(category, prompt, plain, drafts)
    print(beside, f"{drafted}; {accepted} of {drafted.answers * options.tokens} tokens were drafts", sep="\n")
    raise SystemExit(beside.wrong + drafted.wrong > 0 or accepted == 0)


if __name__ == "__main__":
    main()
