"""Writes block_runs.json: for each type two blocks of random bytes, and what the gguf package (0.19.0) says they stand for.

    python tests/unit/common/checkpoint/make_block_runs.py

Bytes and the bits of the floats (little-endian) are in hexadecimal. A block's scales are random too, but finite.
"""

import json
from pathlib import Path

import gguf
import numpy as np

# Where the f16 scales of a block stand, in bytes.
HALVES = {"Q5_0": [0], "Q5_1": [0, 2], "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
          "IQ4_NL": [0], "IQ4_XS": [0]}
BLOCKS = 2


def main():
    random = np.random.default_rng(20)
    golden = {}
    for name, halves in HALVES.items():
        kind = gguf.GGMLQuantizationType[name]
        numbers, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = random.integers(0, 256, (BLOCKS, size), dtype=np.uint8)
        for at in halves:
            blocks[:, at:at + 2] = random.normal(0, 0.01, (BLOCKS, 1)).astype("<f2").view(np.uint8)
        stands_for = gguf.quants.dequantize(blocks.reshape(-1), kind).astype("<f4")
        assert stands_for.size == BLOCKS * numbers
        golden[name.lower()] = {"blocks": blocks.tobytes().hex(), "numbers": stands_for.tobytes().hex()}
    Path(__file__).with_name("block_runs.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
