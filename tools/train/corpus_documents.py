"""Makes training chats for a draft head of the answers in a corpus (`slipstream corpus`), which the target wrote greedily.

    python3 tools/train/corpus_documents.py models/smollm2-135m-instruct.corpus corpus.jsonl

A corpus has no prompts, so each answer comes behind a chat without the user's words. What the target says next is computed for just these
tokens (`slipstream-train collect`), so a head learns what is true of them. The service must run, for the chat template's tokens.
"""

import argparse
import json
import pathlib
import struct

import target_documents

SEAL_BYTES = 40  # common/corpus/sealed_file.h
TEXT_END = -1    # behind each answer


def answers(corpus):
    """The answers of a corpus file, as lists of token ids (common/corpus/corpus.h)."""
    data = corpus.read_bytes()
    if data[:8] != b"SLIPCORP":
        raise SystemExit(f"{corpus} is no corpus")
    count, _ = struct.unpack_from("<QQ", data, SEAL_BYTES)
    answer = []
    for token in struct.unpack_from(f"<{count}i", data, SEAL_BYTES + 16):
        if token != TEXT_END:
            answer.append(token)
            continue
        if answer:
            yield answer
        answer = []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("documents", type=pathlib.Path, help="the file to write: *.jsonl")
    parser.add_argument("--url", default="http://127.0.0.1:8080", help="the service")
    options = parser.parse_args()
    template = target_documents.Template(target_documents.Target(options.url))
    prompt = template.before + template.after
    with options.documents.open("w", encoding="utf-8") as file:
        for number, answer in enumerate(answers(options.corpus)):
            chat = {"task": number, "step": 0, "source": "corpus", "temperature": 0.0, "token_ids": prompt + answer, "answer": len(prompt)}
            file.write(json.dumps([chat]) + "\n")


if __name__ == "__main__":
    main()
