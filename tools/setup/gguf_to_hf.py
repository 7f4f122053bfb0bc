"""Converts a Llama-family GGUF file to a Hugging Face model folder, with only numpy and the `gguf` package (no torch).

    python tools/setup/gguf_to_hf.py MODEL.gguf OUTPUT_FOLDER

Weights are dequantised to float32 and rounded to bfloat16, nearest even. The folder appears whole or not at all: it is
written beside OUTPUT_FOLDER and renamed. SHA256SUMS in it lists every file; equal input gives equal bytes.
"""

import argparse
import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import gguf
import numpy as np

TOKEN_TYPE_NORMAL = 1
TOKEN_TYPE_CONTROL = 3

# Pre-tokenisers are code in each runtime; a GGUF file only names one. SmolLM splits off single digits, then uses GPT-2's pattern.
PRE_TOKENIZERS = {
    "smollm": {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Digits", "individual_digits": True},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        ],
    },
}

LAYER_TENSORS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
TOP_TENSORS = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


class Source:
    """The fields and tensors of one GGUF file."""

    def __init__(self, path):
        self.reader = gguf.GGUFReader(path)
        self.tensors = {tensor.name: tensor for tensor in self.reader.tensors}

    def field(self, name, default=None):
        found = self.reader.fields.get(name)
        if found is None and default is None:
            raise SystemExit(f"the GGUF file has no field {name}: it cannot be converted")
        return default if found is None else found.contents()

    def float_field(self, name):
        return float(str(np.float32(self.field(name))))  # the shortest decimal: 1e-05, not 9.999999747378752e-06

    def heads(self, name):
        """How many heads a q or k projection has; 0 for any other tensor."""
        if name.endswith("attn_q.weight"):
            return self.field("llama.attention.head_count")
        if name.endswith("attn_k.weight"):
            return self.field("llama.attention.head_count_kv")
        return 0


def model_config(source):
    if source.field("general.architecture") != "llama":
        raise SystemExit(f"architecture {source.field('general.architecture')!r} is not known here; only 'llama' is")
    hidden = source.field("llama.embedding_length")
    heads = source.field("llama.attention.head_count")
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": source.field("tokenizer.ggml.bos_token_id"),
        "eos_token_id": source.field("tokenizer.ggml.eos_token_id"),
        "pad_token_id": source.field("tokenizer.ggml.padding_token_id"),
        "head_dim": hidden // heads,
        "hidden_act": "silu",
        "hidden_size": hidden,
        "initializer_range": 0.041666666666666664,
        "intermediate_size": source.field("llama.feed_forward_length"),
        "max_position_embeddings": source.field("llama.context_length"),
        "mlp_bias": False,
        "num_attention_heads": heads,
        "num_hidden_layers": source.field("llama.block_count"),
        "num_key_value_heads": source.field("llama.attention.head_count_kv"),
        "rms_norm_eps": source.float_field("llama.attention.layer_norm_rms_epsilon"),
        "rope_scaling": None,
        "rope_theta": source.float_field("llama.rope.freq_base"),
        "tie_word_embeddings": "output.weight" not in source.tensors,
        "torch_dtype": "bfloat16",
        "use_cache": True,
        "vocab_size": source.field("llama.vocab_size"),
    }


def added_tokens(source):
    types = source.field("tokenizer.ggml.token_type")
    unknown = sorted(set(types) - {TOKEN_TYPE_NORMAL, TOKEN_TYPE_CONTROL})
    if unknown:
        raise SystemExit(f"token types {unknown} are not known here; only 1 (normal) and 3 (control) are")
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    tokens = source.field("tokenizer.ggml.tokens")
    return [{"id": i, "content": tokens[i], **flags} for i, kind in enumerate(types) if kind == TOKEN_TYPE_CONTROL]


def tokenizer(source):
    pre = source.field("tokenizer.ggml.pre")
    if source.field("tokenizer.ggml.model") != "gpt2" or pre not in PRE_TOKENIZERS:
        raise SystemExit(f"tokenizer {source.field('tokenizer.ggml.model')!r}/{pre!r} is not known here: add it to PRE_TOKENIZERS")
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added_tokens(source),
        "normalizer": None,
        "pre_tokenizer": PRE_TOKENIZERS[pre],
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {token: i for i, token in enumerate(source.field("tokenizer.ggml.tokens"))},
            "merges": source.field("tokenizer.ggml.merges"),
        },
    }


def tokenizer_config(source):
    tokens = source.field("tokenizer.ggml.tokens")
    added = added_tokens(source)

    def name(which):
        return tokens[source.field(f"tokenizer.ggml.{which}_token_id")]

    return {
        "add_prefix_space": False,
        "added_tokens_decoder": {str(t["id"]): {k: v for k, v in t.items() if k != "id"} for t in added},
        "bos_token": name("bos"),
        "eos_token": name("eos"),
        "unk_token": name("unknown"),
        "pad_token": name("padding"),
        "clean_up_tokenization_spaces": False,
        "model_max_length": source.field("llama.context_length"),
        "tokenizer_class": "GPT2Tokenizer",
    }


def hf_name(name):
    """blk.3.attn_q.weight -> model.layers.3.self_attn.q_proj.weight"""
    stem, kind = name.rsplit(".", 1)
    if stem in TOP_TENSORS:
        return f"{TOP_TENSORS[stem]}.{kind}"
    _, layer, part = stem.split(".")
    return f"model.layers.{layer}.{LAYER_TENSORS[part]}.{kind}"


def bfloat16(values):
    """float32 -> bfloat16 as uint16, rounded to nearest, ties to even."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + (0x7FFF + ((bits >> 16) & 1))) >> 16).astype(np.uint16)


def weights(source, tensor):
    """[rows, columns] or [columns], bfloat16 as uint16, in Hugging Face's row order."""
    values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
    heads = source.heads(tensor.name)
    if heads:  # GGUF interleaves the two halves of each rotary head; Hugging Face keeps them apart
        rows, columns = values.shape
        values = values.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)
    return bfloat16(values)


def write_safetensors(source, path):
    named = sorted((hf_name(name), tensor) for name, tensor in source.tensors.items())
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in named:
        shape = [int(n) for n in reversed(tensor.shape)]
        end = offset + 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for name, tensor in named:
            weights(source, tensor).tofile(out)


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_sums(folder):
    lines = []
    for path in sorted(folder.iterdir()):
        with open(path, "rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
    (folder / "SHA256SUMS").write_text("".join(lines))


def convert(source, folder):
    config = model_config(source)
    ids = {key: config[key] for key in ("bos_token_id", "eos_token_id", "pad_token_id")}
    write_json(folder / "config.json", config)
    write_json(folder / "generation_config.json", ids)
    write_json(folder / "tokenizer.json", tokenizer(source))
    write_json(folder / "tokenizer_config.json", tokenizer_config(source))
    (folder / "chat_template.jinja").write_text(source.field("tokenizer.chat_template"), encoding="utf-8")
    write_safetensors(source, folder / "model.safetensors")
    write_sums(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gguf", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    partial = arguments.folder.with_name(arguments.folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    convert(Source(arguments.gguf), partial)
    shutil.rmtree(arguments.folder, ignore_errors=True)
    os.rename(partial, arguments.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
