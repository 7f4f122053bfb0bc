"""Tokens a second of our trainer and of PyTorch with transformers' Llama, by turns: the same shape, batch, optimiser and cores.

    make train
    PYTHON bench/peers/training.py build/torch/tools/train/slipstream-train MODEL-FOLDER [--rounds 4]

Each turn trains a few steps from random weights. The figure of a side is its best turn, since other work on the machine only takes away.
Every step of either: logits over the whole vocabulary, gradients clipped to 1, fused AdamW. PYTHON has torch and transformers
(bench/peers/setup.sh).
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

WARM = 2      # steps before the clock starts
POLL_S = 0.005
SHAPES = {    # layers, hidden, intermediate, heads, key-value heads, head size
    "30 M": (4, 512, 1536, 8, 4, 64),
    "135 M": (30, 576, 1536, 9, 3, 64),
}


def peer(options):
    """This process is the peer's turn: prints tokens a second."""
    import torch
    import transformers

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    layers, hidden, intermediate, heads, kv_heads, head_size = SHAPES[options.shape]
    config = json.loads((options.model / "config.json").read_text(encoding="utf-8"))
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        num_hidden_layers=layers, hidden_size=hidden, intermediate_size=intermediate, num_attention_heads=heads,
        num_key_value_heads=kv_heads, head_dim=head_size, vocab_size=config["vocab_size"], tie_word_embeddings=True,
        attn_implementation="sdpa", use_cache=False)).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    began = 0
    for step in range(WARM + options.steps):
        if step == WARM:
            began = time.perf_counter()
        for _ in range(options.batch // options.micro_batch):
            tokens = torch.randint(config["vocab_size"], (options.micro_batch, options.length + 1))
            with torch.autocast("cpu", torch.bfloat16, enabled=options.bf16):
                logits = model(input_ids=tokens[:, :-1]).logits
            loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten())
            (loss * options.micro_batch / options.batch).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    print(options.steps * options.batch * options.length / (time.perf_counter() - began))


def peer_turn(options, shape):
    command = [sys.executable, __file__, options.trainer, options.model, "--shape", shape, *flags(options)]
    if options.bf16:
        command.append("--bf16")
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


def flags(options):
    return [f"--{name.replace('_', '-')}={getattr(options, name)}" for name in ("threads", "steps", "batch", "micro_batch", "length")]


def our_turn(options, shape, shard, folder):
    layers, hidden, intermediate, heads, kv_heads, head_size = SHAPES[shape]
    command = [options.trainer, "run", "--out", folder, "--data", shard, "--model", options.model, "--new-weights", "--layers", layers,
               "--hidden", hidden, "--intermediate", intermediate, "--heads", heads, "--kv-heads", kv_heads, "--head-size", head_size,
               "--learning-rate", 1e-4, "--warmup-steps", 0, "--threads", options.threads, "--batch", options.batch,
               "--micro-batch", options.micro_batch, "--length", options.length, "--steps", WARM + options.steps,
               "--checkpoint-steps", 100_000, *(["--bf16"] if options.bf16 else [])]
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
    losses = folder / "losses.tsv"
    times = {}
    while process.poll() is None and WARM + options.steps not in times:
        if losses.exists():
            times.setdefault(losses.read_text(encoding="utf-8").count("\n") - 1, time.perf_counter())  # its first line has the columns
        time.sleep(POLL_S)
    if process.wait() != 0:
        raise SystemExit("the trainer failed: see above")
    shutil.rmtree(folder)
    return options.steps * options.batch * options.length / (times[WARM + options.steps] - times[WARM])


def shard_of(options, folder):
    """Text of random letters: what is learnt does not matter."""
    letters = random.Random(1)
    text = folder / "text"
    text.write_text("".join(letters.choice("etaoin shrdlu\n") for _ in range(400_000)), encoding="utf-8")
    subprocess.run([str(part) for part in (options.trainer, "shard", folder / "shard", "--model", options.model, "--text", text)],
                   stdout=subprocess.DEVNULL, check=True)
    return folder / "shard"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trainer", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path, help="a Hugging Face folder: its tokenizer and size of vocabulary are used")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=4, help="timed steps of a turn")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--micro-batch", type=int, default=2)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--shape", choices=SHAPES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS=str(options.threads), OMP_WAIT_POLICY="PASSIVE")  # of both
    if options.shape:
        peer(options)
        return
    with tempfile.TemporaryDirectory() as folder:
        shard = shard_of(options, pathlib.Path(folder))
        for shape in options.shapes:
            ours, theirs = [], []
            for _ in range(options.rounds):
                ours.append(our_turn(options, shape, shard, pathlib.Path(folder) / "run"))
                theirs.append(peer_turn(options, shape))
            turns = "; turns " + ", ".join(f"{a:.0f} : {b:.0f}" for a, b in zip(ours, theirs, strict=True))
            print(f"{shape}, {'bf16' if options.bf16 else 'f32'}: {max(ours):.0f} : {max(theirs):.0f} tokens/s, "
                  f"{max(ours) / max(theirs):.2f}x{turns}", flush=True)


if __name__ == "__main__":
    main()
