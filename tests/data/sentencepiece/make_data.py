"""Makes the SentencePiece models and the golden ids of this folder; see README.md."""

import json
import pathlib
import random
import sys
import tempfile

import sentencepiece

HERE = pathlib.Path(__file__).parent
SOURCE = HERE.parents[2]
sys.path.insert(0, str(SOURCE / "tests/unit/common/text/data"))

UNKNOWN, CONTROL, BYTE, NORMAL, UNUSED, USER_DEFINED = 2, 3, 6, 1, 5, 4  # tokenizer.ggml.token_type
# Gemma's tokens have such ids, and tokens for runs of spaces and newlines that are found before everything else.
GEMMA = {"pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3, "control_symbols": ["<start_of_turn>", "<end_of_turn>"],
         "user_defined_symbols": ["\n\n", "\n\n\n", "▁▁", "▁▁▁", "▁▁▁▁", "\t\t", "<table>"]}
PARTS = [" ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "▁", "ab", "aba", "the", " the", "The", "ing", ".", ", ", "00", "1", "--", "==",
         "#", "(", ")", "{\"a\": ", "😀", "🤷🏽\u200d♀️", "🇩🇪", "👩\u200d👩\u200d👧", "e\u0301", "é", "日本語", "Привет", "한국어",
         "\U00020000", "ا", "\u00a0", "\u3000", "\ufffd", "\ufeff", "\u0000", "<s>", "</s>", "<unk>", "<0x0A>"]
TEXTS = ["", " ", "  ", "\n", "\t", "▁", " ▁", "Hello, world!", " Hello", "the words of the answer never change", "a  b   c    d",
         "<s>a</s>", "<unk>", "<0x0A>", "naïve café", "日本語のテキスト", "🤷🏽\u200d♀️", "aaaaaaaaaaaaaaaa", "abababababab",
         " " * 37 + "x", "line\nline\n\n  line\tline", "12345 6.789 1e-9", "\u0000\u0007", "{\"name\": \"Ann\", \"old\": true}"]


def corpus():
    prompts = (SOURCE / "tests/e2e/data/prompts.jsonl").read_text(encoding="utf-8").splitlines()
    return "\n".join(json.loads(line)["prompt"] for line in prompts) + "\n" + " " * 16 + "x\n"


def train(pieces, dummy_prefix, has_bytes, **more):
    with tempfile.TemporaryDirectory() as folder:
        text = pathlib.Path(folder) / "corpus.txt"
        text.write_text(corpus(), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(text), model_prefix=f"{folder}/spm", vocab_size=pieces, model_type="bpe", byte_fallback=has_bytes,
            add_dummy_prefix=dummy_prefix, normalization_rule_name="identity", remove_extra_whitespaces=False,
            allow_whitespace_only_pieces=True, split_digits=True, character_coverage=0.999, num_threads=1, minloglevel=2, **more)
        return sentencepiece.SentencePieceProcessor(model_file=f"{folder}/spm.model")


def kind(model, i):
    if model.id_to_piece(i) in GEMMA["user_defined_symbols"]:
        return USER_DEFINED if model.unk_id() == GEMMA["unk_id"] else NORMAL
    return (UNKNOWN if model.is_unknown(i) else CONTROL if model.is_control(i) else BYTE if model.is_byte(i)
            else UNUSED if model.is_unused(i) else NORMAL)


def texts():
    rng = random.Random(7)
    return TEXTS + ["".join(rng.choice(PARTS) for _ in range(rng.randrange(1, 16))) for _ in range(40)]


def as_llama_cpp(piece, model, i):
    """Its converter writes a user-defined token's spaces as spaces."""
    return piece.replace("▁", " ") if kind(model, i) == USER_DEFINED else piece


def golden(model):
    return [{"text": text, "ids": model.encode(text), "decoded": model.decode(model.encode(text))} for text in texts()]


def main():
    lines = []
    for name, pieces, dummy_prefix, has_bytes, more in (
            ("with_bytes", 700, True, True, {}), ("no_prefix", 400, False, True, {}), ("without", 160, False, False, {}),
            ("gemma", 500, False, True, GEMMA)):
        model = train(pieces, dummy_prefix, has_bytes, **more)
        ids = range(model.get_piece_size())
        value = {"unknown": model.unk_id(), "begin": model.bos_id(), "end": model.eos_id()} if more else {}
        value |= {"prefix": dummy_prefix, "tokens": [as_llama_cpp(model.id_to_piece(i), model, i) for i in ids],
                 "scores": [model.get_score(i) for i in ids], "types": [kind(model, i) for i in ids], "texts": golden(model)}
        lines.append(json.dumps(name) + ": " + json.dumps(value, ensure_ascii=False, separators=(",", ":"))
                     .replace('},{"', '},\n{"'))
    (HERE / "golden.json").write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
