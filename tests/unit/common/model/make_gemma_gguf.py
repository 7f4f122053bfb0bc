"""Makes the GGUF files of the tiny Gemmas by llama.cpp's own converter, which tests hold to the logits of their folders.

    python tests/unit/common/model/make_gemma_gguf.py LLAMA_CPP tests/data

LLAMA_CPP: a checkout of llama.cpp (made with that of llama-cpp-python 0.3.36); it needs torch, transformers and sentencepiece. The
folders have no tokenizer, so the files get one of names ("t0", "t1", ...).
"""

import importlib
import json
import pathlib
import shutil
import sys
import tempfile

MODELS = {"tiny-gemma2": "Gemma2Model", "tiny-gemma3": "Gemma3Model"}


def set_vocab(model):
    writer = model.gguf_writer
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([f"t{index}" for index in range(model.hparams["vocab_size"])])
    writer.add_eos_token_id(model.hparams["eos_token_id"])


def convert(data, name, converter, gguf):
    converter.set_vocab = set_vocab
    converter._create_vocab_sentencepiece = lambda model: ([None] * model.hparams["vocab_size"],)  # it counts them
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / name
        source.mkdir()
        shutil.copy(data / name / "model.safetensors", source)
        config = json.loads((data / name / "config.json").read_text())
        config["query_pre_attn_scalar"] = config["head_dim"]  # GGUF has no field for another
        (source / "config.json").write_text(json.dumps(config))
        (source / "tokenizer.model").touch()
        converter(source, gguf.LlamaFileType.MOSTLY_BF16, data / name / "converted.gguf").write()


def main():
    llama_cpp, data = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    sys.path[:0] = [str(llama_cpp), str(llama_cpp / "gguf-py")]
    gguf, conversion = importlib.import_module("gguf"), importlib.import_module("conversion.gemma")
    for name, converter in MODELS.items():
        convert(data, name, getattr(conversion, converter), gguf)


if __name__ == "__main__":
    main()
