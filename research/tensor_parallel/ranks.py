#!/usr/bin/env python3
"""Tries tensor parallelism on a small Llama: ranks are processes on one CPU, which add up by gloo (docs/design/adr/0027).

    PYTHON research/tensor_parallel/ranks.py tests/data/tiny-llama --ranks 2
    PYTHON research/tensor_parallel/ranks.py models/smollm2-135m-instruct --ranks 3

PYTHON has torch and safetensors. Each rank has its share of the heads and of the MLP's columns (Megatron, arXiv 1909.08053, section 3);
what its share gives of a block's output is added to the others'. It prints how far the logits are from one rank's, whether all ranks have
the same bits, and whether a row has the same bits in whatever chunk it is computed: with all_reduce, and with all_gather and a sum in the
order of the ranks. Everything but the sums over ranks is computed row by row, so that nothing else can differ.
Exit status: 1 if the ranks are further from one rank than rounding, or the ordered sum is not the same in all chunks.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import time

import torch
import torch.distributed as distributed
import torch.multiprocessing as processes
from safetensors.torch import load_file

CHUNKS = [1, 3, 8, 38]  # rows of a step
LOGITS_APART = 1e-3     # at most, of logits of about 1 to 20 in f32


class Sum:
    """Adds up what the ranks have of [rows, hidden], by one of two ways, and counts it."""

    def __init__(self, ordered):
        self.ordered, self.calls, self.bytes, self.seconds = ordered, 0, 0, 0.0

    def __call__(self, part):
        if not distributed.is_initialized():
            return part
        begin = time.perf_counter()
        if self.ordered:
            parts = [torch.empty_like(part) for _ in range(distributed.get_world_size())]
            distributed.all_gather(parts, part)
            total = parts[0]
            for each in parts[1:]:
                total = total + each
        else:
            total = part.clone()
            distributed.all_reduce(total)
        self.calls, self.bytes, self.seconds = self.calls + 1, self.bytes + part.nbytes, self.seconds + time.perf_counter() - begin
        return total


class Shard:
    """One rank's share of a model, in f32."""

    def __init__(self, folder, rank, ranks):
        self.config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        tensors = {name: tensor.float() for name, tensor in load_file(folder / "model.safetensors").items()}
        self.heads, self.kv_heads = self.config["num_attention_heads"] // ranks, self.config["num_key_value_heads"] // ranks
        self.head_size = self.config.get("head_dim") or self.config["hidden_size"] // self.config["num_attention_heads"]

        def rows(name):
            return tensors[name].chunk(ranks, 0)[rank]

        def columns(name):
            return tensors[name].chunk(ranks, 1)[rank]

        self.layers = []
        for i in range(self.config["num_hidden_layers"]):
            at = f"model.layers.{i}."
            self.layers.append({
                "qkv": torch.cat([rows(f"{at}self_attn.{each}_proj.weight") for each in "qkv"]),
                "out": columns(f"{at}self_attn.o_proj.weight"),
                "gate_up": torch.cat([rows(f"{at}mlp.{each}_proj.weight") for each in ("gate", "up")]),
                "down": columns(f"{at}mlp.down_proj.weight"),
                "input_norm": tensors[f"{at}input_layernorm.weight"], "mlp_norm": tensors[f"{at}post_attention_layernorm.weight"]})
        self.embedding, self.norm = tensors["model.embed_tokens.weight"], tensors["model.norm.weight"]
        self.head = tensors.get("lm_head.weight", self.embedding)
        theta = self.config.get("rope_theta") or self.config["rope_parameters"]["rope_theta"]
        self.frequencies = theta ** (-torch.arange(0, self.head_size, 2) / self.head_size)

    def normed(self, row, gain):
        return row * torch.rsqrt(row.square().mean() + self.config["rms_norm_eps"]) * gain

    def rotated(self, heads, position):
        angle = position * self.frequencies
        left, right = heads.chunk(2, -1)
        return torch.cat([left * angle.cos() - right * angle.sin(), right * angle.cos() + left * angle.sin()], -1)

    def attended(self, layer, row, position, cache):
        heads = (layer["qkv"] @ self.normed(row, layer["input_norm"])).view(-1, self.head_size)
        queries, keys, values = heads.split([self.heads, self.kv_heads, self.kv_heads])
        cache.append((self.rotated(keys, position), values))
        group = self.heads // self.kv_heads
        all_keys, all_values = (torch.stack(each, 1).repeat_interleave(group, 0) for each in zip(*cache))
        scores = (all_keys @ self.rotated(queries, position)[:, :, None]).squeeze(2) / self.head_size ** 0.5
        return layer["out"] @ (scores.softmax(-1)[:, None] @ all_values).flatten()

    def gated(self, layer, row):
        gate, up = (layer["gate_up"] @ self.normed(row, layer["mlp_norm"])).chunk(2)
        return layer["down"] @ (torch.nn.functional.silu(gate) * up)

    def logits(self, tokens, chunk, add):
        """[tokens, vocabulary], computed `chunk` rows a step."""
        caches = [[] for _ in self.layers]
        logits = []
        for first in range(0, len(tokens), chunk):
            rows = self.embedding[tokens[first:first + chunk]]
            for layer, cache in zip(self.layers, caches):
                rows = rows + add(torch.stack([self.attended(layer, row, first + i, cache) for i, row in enumerate(rows)]))
                rows = rows + add(torch.stack([self.gated(layer, row) for row in rows]))
            logits += [self.head @ self.normed(row, self.norm) for row in rows]
        return torch.stack(logits)


def same_everywhere(logits):
    parts = [torch.empty_like(logits) for _ in range(distributed.get_world_size())]
    distributed.all_gather(parts, logits)
    return all(torch.equal(each, logits) for each in parts)


def run_rank(rank, options, store):
    torch.set_num_threads(1)
    tokens = torch.arange(max(CHUNKS)) * 7 % 50
    alone = Shard(options.model, 0, 1).logits(tokens, 1, Sum(True)) if rank == 0 else None
    distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=options.ranks)
    shard = Shard(options.model, rank, options.ranks)
    wrong = False
    if rank == 0:
        print(f"{options.model.name}, {options.ranks} ranks, {len(tokens)} tokens, torch {torch.__version__}")
        print("sum over ranks       rows a step   from one rank   ranks alike   rows alike   sums a step   bytes each   ms each")
    for ordered in (False, True):
        first = None
        for chunk in CHUNKS:
            add = Sum(ordered)
            logits = shard.logits(tokens, chunk, add)
            first = logits if first is None else first
            alike = same_everywhere(logits)
            if rank != 0:
                continue
            apart, rows_alike = (logits - alone).abs().max().item(), torch.equal(logits, first)
            wrong |= apart > LOGITS_APART or (ordered and not (alike and rows_alike))
            steps = -(-len(tokens) // chunk)
            print(f"{'in order of ranks' if ordered else 'all_reduce':20} {chunk:11} {apart:15.1e} {'yes' if alike else 'no':>13} "
                  f"{'yes' if rows_alike else 'no':>12} {add.calls / steps:13.0f} {add.bytes / add.calls:12.0f} "
                  f"{1e3 * add.seconds / add.calls:9.3f}")
    distributed.destroy_process_group()
    sys.exit(1 if wrong else 0)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("model", type=pathlib.Path, help="folder of a Llama in one safetensors file")
    arguments.add_argument("--ranks", type=int, default=2)
    options = arguments.parse_args()
    config = json.loads((options.model / "config.json").read_text(encoding="utf-8"))
    for name in ("num_attention_heads", "num_key_value_heads", "intermediate_size"):
        if config[name] % options.ranks != 0:
            sys.exit(f"{name} is {config[name]}, which {options.ranks} ranks cannot share alike: choose another --ranks")
    with tempfile.TemporaryDirectory() as folder:
        processes.spawn(run_rank, (options, f"{folder}/store"), options.ranks)


if __name__ == "__main__":
    main()
