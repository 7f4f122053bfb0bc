"""Makes sentence_piece.json: two small SentencePiece models and the tokens that the sentencepiece package gives texts.

    pip install sentencepiece==0.2.3; python tests/unit/common/text/data/make_sentence_piece.py

Of each model it has what a GGUF file has of it: pieces, scores, types (GGUF's numbers) and whether a space stands before a text.
"""

import io
import json
from pathlib import Path

import sentencepiece

from make_data import CORPUS, TEXTS

SPACES = ["  two  spaces  ", " ", "   ", "a \n b", "\u2581 is a space", "<0x0A> is no byte", "a" * 100]


def trained(**options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS.strip().split("\n")), model_writer=model, model_type="bpe", normalization_rule_name="identity",
        remove_extra_whitespaces=False, minloglevel=2, **options)
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def type_of(model, i):
    return (2 if model.is_unknown(i) else 3 if model.is_control(i) else 6 if model.is_byte(i) else 1)


def described(model, prefix):
    size = range(model.vocab_size())
    texts = [text for text in TEXTS + SPACES if "\0" not in text]
    return {"prefix": prefix,
            "tokens": [model.id_to_piece(i) for i in size],
            "scores": [model.get_score(i) for i in size],
            "types": [type_of(model, i) for i in size],
            "texts": [{"text": text, "ids": model.encode(text)} for text in texts]}


def main():
    models = {"with_bytes": described(trained(vocab_size=460, byte_fallback=True), True),
              "without": described(trained(vocab_size=200, byte_fallback=False, add_dummy_prefix=False), False)}
    Path(__file__).with_name("sentence_piece.json").write_text(json.dumps(models, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
