"""Makes the chats on which stop rules are compared: prompts of Alpaca, HumanEval and GSM8K in the target's chat template, as token ids.

    slipstream serve --port 8080 &
    python3 research/specdec/prompts.py ../shared/data OUT [--count 60]

Writes OUT/alpaca.jsonl, OUT/human_eval.jsonl and OUT/gsm8k.jsonl for `slipstream-train trace`, which answers them anew: a chat ends with one
token of an answer that is not kept. Alpaca's prompts are CC BY-NC 4.0: measure with them, and keep no file of them.
"""

import argparse
import http.client
import json
import pathlib
import urllib.parse

SETS = {"alpaca": ("alpaca/prompts.jsonl", "prompt", "{}"),
        "human_eval": ("human_eval/HumanEval.jsonl", "prompt", "Complete this Python function.\n\n```python\n{}```"),
        "gsm8k": ("gsm8k/test.jsonl", "question", "{}")}
ANY_TOKEN = 0  # of the answer, which the tracer does not read


def tokens_of(connection, prompt):
    body = json.dumps({"messages": [{"role": "user", "content": prompt}]})
    connection.request("POST", "/tokenize", body, {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    if "tokens" not in answer:
        raise SystemExit(f"/tokenize: {answer}")
    return answer["tokens"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, help="the folder with the three sets")
    parser.add_argument("out", type=pathlib.Path, help="the folder to write")
    parser.add_argument("--count", type=int, default=60, help="prompts of a set")
    parser.add_argument("--url", default="http://127.0.0.1:8080", help="the service")
    options = parser.parse_args()
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(options.url).netloc, timeout=60)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, (file, field, form) in SETS.items():
        lines = (options.data / file).read_text(encoding="utf-8").splitlines()[:options.count]
        chats = [tokens_of(connection, form.format(json.loads(line)[field])) for line in lines]
        text = "".join(json.dumps([{"token_ids": [*ids, ANY_TOKEN], "answer": len(ids)}]) + "\n" for ids in chats)
        (options.out / f"{name}.jsonl").write_text(text, encoding="utf-8")
        print(f"{name}: {len(chats)} prompts")


if __name__ == "__main__":
    main()
