"""Lets a target write training data for a draft head: it answers prompts (training_prompts.py) through the running service.

    slipstream serve --port 8080 &
    python3 tools/train/target_documents.py documents.jsonl --tokens 1000000 --gsm8k train.jsonl --exclude mt_bench.jsonl human_eval.jsonl

Each line is a list with the chats of one task: {"task", "step", "source", "temperature", "token_ids", "answer"}. token_ids is the chat in the
target's chat template, its answer from index "answer" on, with the token that ends it if the target ended it. Even twenties of tasks are answered greedily, odd ones at temperature 1.
The same command goes on with a file that was begun. A prompt with 8 words in a row of a prompt in --exclude is left out: name the files
of all prompts that something is measured with. Beside the file it writes a data card (documents.card.md).
Exit status: 0 that many tokens are there, 1 failed, 2 wrong arguments.
"""

import argparse
import collections
import http.client
import json
import pathlib
import platform
import queue
import random
import sys
import threading
import time
import urllib.parse

import training_prompts

PROMPT_TOKENS_MAX = 1400
SYNTHESIS_TOKENS_MAX = 120  # of a prompt that the target writes
TEXT_TOKENS = 512           # of a text that a task is about
PROGRESS_SECONDS = 10
ATTEMPTS = 3                # of a task, before all is given up
USER = "<|im_start|>user\n"  # where the user's words begin in ChatML, the template of models that write their own prompts here
USER_ENDS = "<|im_end|>\n"


class Target:
    """One connection to the service. Not thread-safe."""

    def __init__(self, url):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=600)

    def ask(self, path, body):
        self.connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = self.connection.getresponse()
        content = json.loads(response.read())
        if response.status != 200:
            raise RuntimeError(f"{path}: {content.get('error', content)}")
        return content

    def tokens_of_chat(self, prompt):
        return self.ask("/tokenize", {"messages": [{"role": "user", "content": prompt}]})["tokens"]

    def text_tokens(self, text):
        return self.ask("/tokenize", {"prompt": text})["tokens"]

    def text_of(self, tokens):
        return self.ask("/detokenize", {"tokens": tokens})["prompt"]

    def answer(self, tokens, temperature, seed, tokens_max):
        """Returns the ids of the answer, and whether the target ended it."""
        body = {"prompt": tokens, "max_tokens": tokens_max, "temperature": temperature, "top_p": 1, "top_k": 0, "seed": seed,
                "slipstream": {"tokens": True}}
        choice = self.ask("/v1/completions", body)
        return choice["slipstream"]["token_ids"], choice["choices"][0]["finish_reason"] == "stop"


class Template:
    """What the chat template puts around the user's words, as token ids."""

    def __init__(self, target):
        chat = target.tokens_of_chat("Hello")
        user, ends = target.text_tokens(USER), target.text_tokens(USER_ENDS)
        starts = [at for at in range(len(chat)) if chat[at:at + len(user)] == user]
        if not starts:
            raise SystemExit(f"the chat template has no {USER!r}: only models with ChatML write prompts of their own")
        self.before = chat[:starts[0] + len(user)]
        at = len(self.before) + len(target.text_tokens("Hello"))
        self.after = chat[at:]
        if self.after[:len(ends)] != ends:
            raise SystemExit("the chat template does not end the user's words as ChatML does")
        self.end_token = ends[0]


def without_end(ids, end_token):
    return ids[:-1] if ids and ids[-1] == end_token else ids


def documents_of(task, target, template, overlap, tokens_max):
    """The chats of a task. A prompt that is too long, empty or excluded ends the task; the chats before it stay."""
    documents, text = [], ""
    for step, prompt in enumerate(task.prompts):
        seed = task.number * 8 + step
        if prompt is None:
            words, _ = target.answer(template.before, 1.0, seed + 4, SYNTHESIS_TOKENS_MAX)
            words = without_end(words, template.end_token)
            prompt_ids, prompt = template.before + words + template.after, target.text_of(words)
        else:
            if step > 0:
                prompt = prompt.replace("{text}", text).replace("{part}", training_prompts.part_of(text, random.Random(seed)))
            prompt_ids = target.tokens_of_chat(prompt)
        if not prompt.strip() or overlap.meets(prompt) or len(prompt_ids) > PROMPT_TOKENS_MAX:
            break
        last = step + 1 == len(task.prompts)
        # A text shall be one that people would ask about, so it is not sampled at temperature 1 alone.
        ids, ended = target.answer(prompt_ids, task.temperature, seed, tokens_max if last else TEXT_TOKENS)
        text = target.text_of(without_end(ids, template.end_token))
        if ended and (not ids or ids[-1] != template.end_token):
            ids = ids + [template.end_token]
        if ids:
            documents.append({"task": task.number, "step": step, "source": task.source, "temperature": task.temperature,
                              "token_ids": prompt_ids + ids, "answer": len(prompt_ids)})
    return documents


class DocumentFile:
    """Grows by the documents of one task at a time. A last line without its end, or the documents of a task that was cut, are removed."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        self.done, self.tokens = set(), 0
        self.by_source = collections.Counter()
        self.answers = collections.Counter()
        whole = 0
        data = path.read_bytes() if path.exists() else b""
        for line in data.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            for document in json.loads(line):
                self.count(document)
        if whole < len(data):
            with path.open("r+b") as file:
                file.truncate(whole)
        self.file = path.open("ab")

    def count(self, document):
        self.done.add(document["task"])
        self.tokens += len(document["token_ids"])
        self.by_source[document["source"]] += 1
        self.answers[document["source"], document["temperature"]] += len(document["token_ids"]) - document["answer"]

    def add(self, task, documents):
        with self.lock:
            self.done.add(task.number)
            for document in documents:
                self.count(document)
            if documents:
                self.file.write(json.dumps(documents).encode() + b"\n")
                self.file.flush()

    def card(self):
        total = sum(self.answers.values()) or 1
        lines = ["# Data card", "", f"{sum(self.by_source.values())} chats, {self.tokens} tokens, of which the target wrote {total} as answers.",
                 "Prompts come from our own templates, from the target itself (synthesis, texts), from the questions of GSM8K's training",
                 f"set (MIT) and from the standard library of Python {platform.python_version()} (PSF licence); answers come from the target.",
                 "No prompt has 8 words in a row of an evaluation prompt.", "",
                 "| source | chats | answer tokens, greedy | at temperature 1 | share of answer tokens |", "|---|---|---|---|---|"]
        for source, chats in sorted(self.by_source.items()):
            greedy, sampled = self.answers[source, 0.0], self.answers[source, 1.0]
            lines.append(f"| {source} | {chats} | {greedy} | {sampled} | {(greedy + sampled) / total:.1%} |")
        return "\n".join(lines) + "\n"


def work(options, tasks, documents, overlap, failures):
    target = Target(options.url)
    template = Template(target)
    while not failures and (task := tasks.get()) is not None:
        for attempt in range(ATTEMPTS):
            try:
                documents.add(task, documents_of(task, target, template, overlap, options.answer_tokens))
                break
            except (OSError, RuntimeError, http.client.HTTPException, ValueError) as error:
                if attempt + 1 == ATTEMPTS:
                    failures.append(f"task {task.number}: {error}")
                target = Target(options.url)  # a connection that timed out is of no use


def run(options, documents, overlap):
    questions = [json.loads(line)["question"] for line in options.gsm8k.read_text(encoding="utf-8").splitlines()]
    random.Random(1).shuffle(questions)
    failures, tasks = [], queue.Queue(maxsize=options.streams)
    threads = [threading.Thread(target=work, args=(options, tasks, documents, overlap, failures)) for _ in range(options.streams)]
    for thread in threads:
        thread.start()
    began, before, shown = time.monotonic(), documents.tokens, time.monotonic()
    for task in training_prompts.tasks(questions):
        if documents.tokens >= options.tokens or failures or not any(thread.is_alive() for thread in threads):
            break
        while task.number not in documents.done and not failures:
            try:
                tasks.put(task, timeout=1)
                break
            except queue.Full:
                pass
        if time.monotonic() - shown > PROGRESS_SECONDS:
            shown = time.monotonic()
            speed = (documents.tokens - before) / (shown - began)
            left = (options.tokens - documents.tokens) / max(speed, 1e-9)
            print(f"{documents.tokens} of {options.tokens} tokens  {speed:.0f} tokens/s with prompts  {left / 60:.0f} min left", flush=True)
            options.documents.with_suffix(".card.md").write_text(documents.card())
    for _ in threads:
        while any(thread.is_alive() for thread in threads):
            try:
                tasks.put(None, timeout=1)
                break
            except queue.Full:
                pass
    for thread in threads:
        thread.join()
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=pathlib.Path, help="the file to write: *.jsonl")
    parser.add_argument("--url", default="http://127.0.0.1:8080", help="the service")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="tokens of all chats together, prompts included")
    parser.add_argument("--answer-tokens", type=int, default=256, help="longest answer")
    parser.add_argument("--streams", type=int, default=32, help="requests at a time")
    parser.add_argument("--gsm8k", type=pathlib.Path, required=True, help="train.jsonl of GSM8K")
    parser.add_argument("--exclude", type=pathlib.Path, nargs="*", default=[], help="files of prompts that something is measured with")
    options = parser.parse_args()
    overlap = training_prompts.exclusions(options.exclude)
    documents = DocumentFile(options.documents)
    failures = run(options, documents, overlap)
    options.documents.with_suffix(".card.md").write_text(documents.card())
    print(documents.card())
    if failures:
        sys.exit(failures[0])


if __name__ == "__main__":
    main()
