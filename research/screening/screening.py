"""How much of the output layer must be read to find the likeliest token? Counts, no times (docs/design/adr/0022-the-output-layer-is-screened.md).

    PYTHON research/screening/screening.py models/smollm2-135m-instruct        PYTHON has torch and transformers

A smaller copy c of the layer w (here: w in 8 bits) gives each token a logit x c that is off by at most |x| |w - c|, the sum of that over parts
of the columns being sharper. The panel of 32 tokens with the highest bound is computed, its highest logit is a floor, and panels whose bounds
reach the floor are computed, too. Parts are groups of 32 columns as they are, or 64 principal axes of the model's own hidden states, learnt from
half of the answers. Hidden states are those behind the last norm, of greedy answers to prompts of bench/data/categories.jsonl.
"""

import json
import pathlib
import sys

import torch
import transformers

PROMPTS = pathlib.Path(__file__).parents[2] / "bench/data/categories.jsonl"
EVERY, TOKENS, LETTERS_MOST = 2, 40, 1500  # prompts, tokens of an answer, letters of a prompt
PANEL, GROUP, BAND = 32, 32, 64  # tokens, columns, axes
AT_ONCE = 64  # tokens
CLIPS = (1, 0.9, 0.8, 0.7)  # of the largest weight: how far a scale reaches
LAYER_BITS = 8.5  # a weight of q8_0, with its share of the scale
BANDS = ((8, 5, 5, 4, 4, 4, 3, 3, 3), (7, 5, 5, 4, 4, 4, 4, 4, 4))


def hidden_states(folder):
    """[answers][tokens, columns] of the layer's input, and the layer [vocabulary, columns]."""
    transformers.utils.logging.disable_progress_bar()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    answers = []
    for line in PROMPTS.read_text().splitlines()[::EVERY]:
        chat = [{"role": "user", "content": json.loads(line)["prompt"][:LETTERS_MOST]}]
        ids = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_tensors="pt", return_dict=True)
        out = model.generate(
            **ids, max_new_tokens=TOKENS, do_sample=False, output_hidden_states=True, return_dict_in_generate=True,
            pad_token_id=tokenizer.eos_token_id,
        )
        answers.append(torch.stack([step[-1][0, -1] for step in out.hidden_states[1:]]))
    return answers, model.lm_head.weight


def between(weights, bits):
    """Rounded in groups to a scale times 0 .. 2^bits - 1, and a minimum, as q4_1 and q5_1 are."""
    groups = weights.view(len(weights), -1, GROUP)
    least = groups.amin(2, keepdim=True)
    scale = (groups.amax(2, keepdim=True) - least) / (2**bits - 1)
    return (((groups - least) / scale).round() * scale + least).view_as(weights)


def around_zero(weights, bits, parts):
    """Rounded in parts to a scale times -2^(bits-1) + 1/2 .. 2^(bits-1) - 1/2, by the clip that is nearest."""
    groups = weights.view(len(weights), parts, -1)
    most, best, error = 2 ** (bits - 1) - 0.5, None, None
    for clip in CLIPS:
        scale = groups.abs().amax(2, keepdim=True) * clip / most
        tried = ((groups / scale - 0.5).round() + 0.5).clamp(-most, most) * scale
        off = (groups - tried).norm(dim=2, keepdim=True)
        best, error = (tried, off) if best is None else (torch.where(off < error, tried, best), torch.minimum(off, error))
    return best.view_as(weights)


def report(name, states, layer, copy, bits, part):
    """bits: of a weight of the copy with all that goes with it; part: columns of a part."""
    vocabulary, columns = layer.shape
    off = (layer - copy).view(vocabulary, -1, part).norm(dim=2)
    bounds, panels = 0, []
    for some in states.split(AT_ONCE):
        bound = some.view(len(some), -1, part).norm(dim=2) @ off.T
        highest = (some @ copy.T + bound).view(len(some), -1, PANEL)
        logits = (some @ layer.T).view_as(highest)
        first = highest.amax(2).argmax(1)
        floor = logits[torch.arange(len(some)), first].amax(1)
        reached = (highest.amax(2) >= floor[:, None])
        assert reached[torch.arange(len(some)), logits.amax(2).argmax(1)].all(), "a bound that is too tight"
        panels.append(reached.sum(1).float())
        bounds += bound.mean(1).sum().item()
    panels = torch.cat(panels)
    first = bits / LAYER_BITS
    share = first + panels.mean().item() * PANEL / vocabulary
    print(f"| {name} | {bounds / len(states):.1f} | {first:.2f} | {panels.median():.0f}, {panels.mean():.0f} | {share:.2f} |", flush=True)


def main():
    torch.set_num_threads(1)
    with torch.inference_mode():
        answers, weights = hidden_states(sys.argv[1])
        learnt, states = torch.cat(answers[::2]), torch.cat(answers[1::2])
        layer = around_zero(weights, 8, weights.shape[1] // GROUP)
        columns = layer.shape[1]
        print(f"{len(states)} tokens, {len(layer)} rows of {columns} columns in panels of {PANEL}\n")
        print("| the copy | mean bound | its bytes, of the layer's | panels computed: median, mean | bytes read in all |\n|---|---|---|---|---|")
        for bits in (4, 5):
            copy = between(layer, bits)
            report(f"q{bits}_1, one norm a row", states, layer, copy, bits + 1, columns)
            report(f"q{bits}_1, a norm for each {GROUP} columns", states, layer, copy, bits + 1 + 16 / GROUP, GROUP)
        report("6 bits, one norm a row", states, layer, around_zero(layer, 6, columns // GROUP), 6.5, columns)
        _, axes = torch.linalg.eigh(learnt.T @ learnt)
        turned, seen = layer @ axes.flip(1), states @ axes.flip(1)
        for bands in BANDS:
            parts = zip(turned.split(BAND, 1), bands)
            copy = torch.cat([around_zero(part.contiguous(), bits, 1) for part, bits in parts], 1)
            each = sum(bands) / len(bands) + 32 / BAND  # a scale and a norm for each band
            report(f"principal axes, {', '.join(map(str, bands))} bits for {BAND} each", seen, turned, copy, each, BAND)


if __name__ == "__main__":
    main()
