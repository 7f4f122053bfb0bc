"""Makes logits_processor_golden.json: rows of logits before and after Hugging Face's logits processors, in the order of logits_processor.h.

    python tests/unit/common/sampling/make_logits_processor_golden.py tests/unit/common/sampling/logits_processor_golden.json

Needs torch and transformers (made with torch 2.11.0, transformers 5.23.0). Presence and frequency penalties are not among those that
it has. Its bad words look at the prompt as well, so prompts here share no token with them. null: masked.
"""

import json
import math
import random
import sys

import torch
from transformers import (LogitsProcessorList, MinNewTokensLengthLogitsProcessor, NoBadWordsLogitsProcessor,
                          PrefixConstrainedLogitsProcessor, RepetitionPenaltyLogitsProcessor, SequenceBiasLogitsProcessor)

CASES, VOCABULARY, PROMPT_FROM = 24, 32, 24  # prompts are of the tokens from there on


def case(dice):
    word = lambda: [dice.randrange(PROMPT_FROM) for _ in range(dice.randint(1, 3))]
    output = [dice.randrange(PROMPT_FROM) for _ in range(dice.randint(0, 12))]
    bad_words = [word() for _ in range(dice.randint(1, 3))]
    if output:
        bad_words.append(output[-2:] + [dice.randrange(PROMPT_FROM)])
    bias = sorted(dice.sample(range(VOCABULARY), 4))
    return {
        "prompt": [dice.randrange(PROMPT_FROM, VOCABULARY) for _ in range(dice.randint(1, 8))],
        "output": output,
        "logits": torch.tensor([dice.gauss(0, 4) for _ in range(VOCABULARY)], dtype=torch.float32).tolist(),
        "repetition_penalty": round(dice.uniform(0.6, 1.9), 2),
        "bias": [[id, round(dice.uniform(-100, 100), 2)] for id in bias],
        "min_tokens": dice.randint(0, 12),
        "stop_ids": dice.sample(range(VOCABULARY), 2),
        "bad_words": bad_words,
        "allowed": sorted(dice.sample(range(VOCABULARY), 20)),
    }


def processed(c):
    end = c["stop_ids"]
    processors = LogitsProcessorList([
        RepetitionPenaltyLogitsProcessor(c["repetition_penalty"]),
        SequenceBiasLogitsProcessor([[[id], bias] for id, bias in c["bias"]]),
        MinNewTokensLengthLogitsProcessor(len(c["prompt"]), c["min_tokens"], end, device="cpu"),
        NoBadWordsLogitsProcessor(c["bad_words"]),
        PrefixConstrainedLogitsProcessor(lambda _batch, _ids: c["allowed"], 1),
    ])
    row = processors(torch.tensor([c["prompt"] + c["output"]]), torch.tensor([c["logits"]], dtype=torch.float32))[0].tolist()
    return [None if math.isinf(logit) else logit for logit in row]


def main():
    dice = random.Random(5)
    cases = [case(dice) for _ in range(CASES)]
    for c in cases:
        c["expected"] = processed(c)
    with open(sys.argv[1], "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


main()
