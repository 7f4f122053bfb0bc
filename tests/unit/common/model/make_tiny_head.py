#!/usr/bin/env python3
"""Makes tests/data/tiny-head: a draft head of random weights for tests/data/tiny-llama. Needs nothing but Python:

    python3 tests/unit/common/model/make_tiny_head.py
"""
import json
import random
import struct
from pathlib import Path

HIDDEN, INTERMEDIATE, HEADS, KV_HEADS, HEAD_SIZE, VOCABULARY, COLUMNS = 32, 64, 4, 2, 8, 64, 40
TAPS = [0, 1, 2]
FOLDER = Path(__file__).resolve().parents[4] / "tests/data/tiny-head"


def bf16(number):
    bits, = struct.unpack("<I", struct.pack("<f", number))
    return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)


def main():
    chance = random.Random(11)
    tensors = {}

    def matrix(name, rows, cols):
        tensors[name] = ("BF16", [rows, cols], b"".join(bf16(chance.gauss(0, cols ** -0.5)) for _ in range(rows * cols)))

    def gain(name):
        tensors[name] = ("BF16", [HIDDEN], b"".join(bf16(chance.uniform(0.5, 1.5)) for _ in range(HIDDEN)))

    matrix("fc.weight", HIDDEN, len(TAPS) * HIDDEN)
    for name in ("midlayer.input_layernorm.weight", "midlayer.hidden_norm.weight", "midlayer.post_attention_layernorm.weight", "norm.weight"):
        gain(name)
    for name, rows in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
        matrix(f"midlayer.self_attn.{name}_proj.weight", rows * HEAD_SIZE, 2 * HIDDEN)
    matrix("midlayer.self_attn.o_proj.weight", HIDDEN, HEADS * HEAD_SIZE)
    matrix("midlayer.mlp.gate_proj.weight", INTERMEDIATE, HIDDEN)
    matrix("midlayer.mlp.up_proj.weight", INTERMEDIATE, HIDDEN)
    matrix("midlayer.mlp.down_proj.weight", HIDDEN, INTERMEDIATE)
    matrix("lm_head.weight", COLUMNS, HIDDEN)
    tokens = sorted(chance.sample(range(VOCABULARY), COLUMNS))
    tensors["d2t"] = ("I64", [COLUMNS], b"".join(struct.pack("<q", token - column) for column, token in enumerate(tokens)))

    header, data = {}, b""
    for name, (dtype, shape, content) in sorted(tensors.items()):
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    config = {"architectures": ["LlamaForCausalLMEagle3"], "hidden_size": HIDDEN, "intermediate_size": INTERMEDIATE, "num_hidden_layers": 1,
              "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "head_dim": HEAD_SIZE, "rms_norm_eps": 1e-05,
              "rope_theta": 10000.0, "vocab_size": VOCABULARY, "draft_vocab_size": COLUMNS, "max_position_embeddings": 1024,
              "eagle_config": {"eagle_aux_hidden_state_layer_ids": TAPS}}
    (FOLDER / "config.json").write_text(json.dumps(config, indent=2) + "\n")


main()
