"""Makes models of random bf16 weights in the shapes of known models. Only times can be measured with them.

    python3 bench/shapes.py 360m models/smollm2-135m-instruct OUT      (or 1b, 3b, 8b; tokenizer and configuration come from the folder)
"""

import argparse
import array
import json
import pathlib
import random
import shutil
import struct

# hidden, intermediate, layers, columns of all key heads, vocabulary, columns of a head
SHAPES = {"360m": (960, 2560, 32, 320, 49152, 64), "1b": (2048, 8192, 16, 512, 128256, 64),
          "3b": (3072, 8192, 28, 1024, 128256, 128), "8b": (4096, 14336, 32, 1024, 128256, 128)}


def tensors(shape):
    hidden, intermediate, layers, key_value, vocabulary, _ = SHAPES[shape]
    yield "model.embed_tokens.weight", [vocabulary, hidden]
    yield "model.norm.weight", [hidden]
    for layer in range(layers):
        at = f"model.layers.{layer}."
        yield at + "input_layernorm.weight", [hidden]
        yield at + "post_attention_layernorm.weight", [hidden]
        for name, rows in (("q", hidden), ("k", key_value), ("v", key_value), ("o", hidden)):
            yield at + f"self_attn.{name}_proj.weight", [rows, hidden]
        for name in ("gate", "up"):
            yield at + f"mlp.{name}_proj.weight", [intermediate, hidden]
        yield at + "mlp.down_proj.weight", [hidden, intermediate]


def write(shape, folder, like):
    """Small numbers of both signs. Values do not change times, so one megabyte of them is written again and again."""
    hidden, intermediate, layers, key_value, vocabulary, head = SHAPES[shape]
    header, size = {}, 0
    for name, dimensions in tensors(shape):
        numbers = dimensions[0] * (dimensions[1] if len(dimensions) > 1 else 1)
        header[name] = {"dtype": "BF16", "shape": dimensions, "data_offsets": [size, size + 2 * numbers]}
        size += 2 * numbers
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # so that numbers stand at even bytes
    draw = random.Random(1)
    some = array.array("H", (draw.getrandbits(1) << 15 | 0x3C00 | draw.getrandbits(8) for _ in range(1 << 19))).tobytes()
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for at in range(0, size, len(some)):
            file.write(some[: size - at])
    config = json.loads((like / "config.json").read_text())
    config.update(hidden_size=hidden, intermediate_size=intermediate, num_hidden_layers=layers, num_attention_heads=hidden // head,
                  num_key_value_heads=key_value // head, head_dim=head, vocab_size=vocabulary)
    (folder / "config.json").write_text(json.dumps(config))
    for path in like.iterdir():
        if path.name.startswith("tokenizer") or path.suffix == ".jinja":
            shutil.copy(path, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("like", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True)
    write(options.shape, options.out, options.like)


if __name__ == "__main__":
    main()
