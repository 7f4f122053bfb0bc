"""Makes bench/data/quality.jsonl, the texts on which bench/peers/quality.py measures, as token ids of the demo's model.

    PYTHON bench/make_quality_texts.py models/smollm2-135m-instruct.gguf models/smollm2-135m-instruct SHARED_DATA > bench/data/quality.jsonl

PYTHON has torch, transformers and gguf. Kind "text", for perplexity: questions with their answers of GSM8K's test set, functions
of HumanEval. Kind "chat", for KL and greedy agreement: the prompts of tests/e2e/data behind the chat template, each with the greedy
answer of transformers in fp32; "from" is the answer's first token. Licences: tests/e2e/data/LICENSE.*
"""

import json
import os
import pathlib
import sys

import torch
import transformers

QUESTIONS, FUNCTIONS, ANSWER_TOKENS = 24, 12, 64
PROMPTS = pathlib.Path(__file__).parent.parent / "tests/e2e/data/prompts.jsonl"


def items(path, count=None):
    return [json.loads(line) for line in path.read_text().splitlines()][:count]


def main():
    gguf, folder, shared = sys.argv[1:]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    home, file = os.path.split(os.path.abspath(gguf))
    model = transformers.AutoModelForCausalLM.from_pretrained(home, gguf_file=file, dtype=torch.float32).eval()
    texts = [(f"gsm8k/{at}", item["question"] + "\n" + item["answer"])
             for at, item in enumerate(items(pathlib.Path(shared, "gsm8k/test.jsonl"), QUESTIONS))]
    texts += [(item["task_id"], item["prompt"] + item["canonical_solution"])
              for item in items(pathlib.Path(shared, "human_eval/HumanEval.jsonl"), FUNCTIONS)]
    for name, text in texts:
        ids = tokenizer(text, add_special_tokens=False).input_ids
        print(json.dumps({"kind": "text", "id": name, "from": 1, "ids": ids}), flush=True)
    for item in items(PROMPTS):
        chat = tokenizer.apply_chat_template([{"role": "user", "content": item["prompt"]}], tokenize=False, add_generation_prompt=True)
        prompt = tokenizer(chat, return_tensors="pt", add_special_tokens=False).input_ids
        with torch.no_grad():
            whole = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=ANSWER_TOKENS,
                                   pad_token_id=0)
        print(json.dumps({"kind": "chat", "id": item["id"], "from": prompt.shape[1], "ids": whole[0].tolist()}), flush=True)


if __name__ == "__main__":
    main()
