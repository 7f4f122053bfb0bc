"""Lets a target write training data for a draft head: it answers prompts (training_prompts.py) through the running service.

    slipstream serve --port 8080 &
    python3 tools/train/target_documents.py documents.jsonl --tokens 1000000 --gsm8k train.jsonl --exclude mt_bench.jsonl human_eval.jsonl

Each line is a list with the chats of one task: {"task", "step", "source", "temperature", "token_ids", "answer"}. token_ids is the chat in the
target's chat template, its answer from index "answer" on, with the token that ends it if the target ended it. Even twenties of tasks are answered greedily, odd ones at temperature 1.
With --texts the tasks are about pieces of these texts alone.
The same command goes on with a file that was begun, and ends with the same file, however many answers it waits for at once. A prompt with 8 words in a row of a prompt in --exclude is left out: name the files
of all prompts that something is measured with. Beside the file it writes a data card (documents.card.md).
Exit status: 0 that many tokens are there, 1 failed, 2 wrong arguments.
"""

import argparse
import collections
import dataclasses
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
BUSY = 429                  # what a service answers that has too much to do
ENDS_TOKENS = 3             # of what follows the user's words, by which they are known to end in what the target wrote
TEXTS = ("Hello", "What for")  # two that share neither their first token nor their last


class Target:
    """One connection to the service. Not thread-safe."""

    def __init__(self, url):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=600)

    def ask(self, path, body):
        """Asks as late as a busy service says, and as often."""
        while True:
            self.connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            response = self.connection.getresponse()
            content = json.loads(response.read())
            if response.status == 200:
                return content
            if response.status != BUSY:
                raise RuntimeError(f"{path}: {content.get('error', content)}")
            time.sleep(int(response.getheader("Retry-After", "1")))

    def tokens_of_chat(self, prompt, answer=None):
        """Up to where the answer begins; or with it, and with what the template puts behind it."""
        messages = [{"role": "user", "content": prompt}]
        if answer is not None:
            messages.append({"role": "assistant", "content": answer})
        return self.ask("/tokenize", {"messages": messages, "add_generation_prompt": answer is None})["tokens"]

    def tokens_of_text(self, text):
        return self.ask("/tokenize", {"prompt": text, "add_special_tokens": False})["tokens"]

    def text_of(self, tokens):
        return self.ask("/detokenize", {"tokens": tokens})["prompt"]

    def answer(self, tokens, temperature, seed, tokens_max):
        """Returns the ids of the answer, and whether the target ended it."""
        body = {"prompt": tokens, "max_tokens": tokens_max, "temperature": temperature, "top_p": 1, "top_k": 0, "seed": seed,
                "slipstream": {"tokens": True}}
        choice = self.ask("/v1/completions", body)
        return choice["slipstream"]["token_ids"], choice["choices"][0]["finish_reason"] == "stop"


def shared_beginning(one, other):
    """The tokens with which both lists begin."""
    return one[:next((at for at, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))]


def shared_end(one, other):
    return shared_beginning(one[::-1], other[::-1])[::-1]


@dataclasses.dataclass
class Template:
    """What the chat template puts around the user's words, as token ids, and the token that ends an answer."""

    before: list
    after: list
    end_token: int

    @classmethod
    def of(cls, target):
        """What chats of two texts share."""
        chats = [target.tokens_of_chat(text) for text in TEXTS]
        behind_answer = shared_end(*(target.tokens_of_chat(TEXTS[0], answer) for answer in TEXTS))
        if not behind_answer:
            raise SystemExit("the chat template puts nothing behind an answer, so no token is known to end one")
        return cls(shared_beginning(*chats), shared_end(*chats), behind_answer[0])

    def users_words(self, written):
        """What the target wrote as the user: up to the token that ends it, or to what the template puts behind a user's words."""
        for at in range(len(written)):
            if written[at] == self.end_token or (self.after and written[at:at + ENDS_TOKENS] == self.after[:ENDS_TOKENS]):
                return written[:at]
        return written


def without_end(ids, end_token):
    return ids[:-1] if ids and ids[-1] == end_token else ids


def documents_of(task, target, template, overlap, tokens_max):
    """The chats of a task. A prompt that is too long, empty or excluded ends the task; the chats before it stay."""
    documents, text = [], ""
    for step, prompt in enumerate(task.prompts):
        seed = task.number * 8 + step
        if isinstance(prompt, training_prompts.Begun):
            begun = target.tokens_of_text(prompt.words) if prompt.words else []
            written, _ = target.answer(template.before + begun, prompt.temperature, seed + 4, SYNTHESIS_TOKENS_MAX)
            own = template.users_words(written)
            if not own:
                break
            words = begun + own
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
        self.write(self.read())

    def read(self):
        """[tasks] their documents, of whole lines alone."""
        lines = self.path.read_bytes().splitlines(keepends=True) if self.path.exists() else []
        return [json.loads(line) for line in lines if line.endswith(b"\n")]

    def write(self, tasks):
        """The file has the documents of these tasks, and goes on behind them."""
        self.done, self.tokens = set(), 0
        self.by_source, self.answers = collections.Counter(), collections.Counter()
        for documents in tasks:
            for document in documents:
                self.count(document)
        beside = self.path.with_name(self.path.name + ".new")
        beside.write_bytes(b"".join(self.line(documents) for documents in tasks))
        beside.replace(self.path)
        self.file = self.path.open("ab")

    @staticmethod
    def line(documents):
        return json.dumps(documents).encode() + b"\n"

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
                self.file.write(self.line(documents))
                self.file.flush()

    def put_in_order(self, tokens):
        """Task after task, up to the one by which there are so many tokens: who answered first leaves no trace in the file."""
        self.file.close()
        kept = []
        for documents in sorted(self.read(), key=lambda documents: documents[0]["task"]):
            if tokens <= 0:
                break
            kept.append(documents)
            tokens -= sum(len(document["token_ids"]) for document in documents)
        self.write(kept)

    def card(self):
        total = sum(self.answers.values()) or 1
        prompts = ["Prompts are about pieces of texts that --texts named, under the licences of those; answers come from the target."]
        if not self.by_source.keys().isdisjoint(training_prompts.TURNS):
            prompts = ["Prompts come from our own templates, from the target itself (synthesis, begun, texts), from the questions of GSM8K's training",
                       f"set (MIT) and from the standard library and the manual of Python {platform.python_version()} (PSF licence); answers come from",
                       "the target."]
        lines = ["# Data card", "", f"{sum(self.by_source.values())} chats, {self.tokens} tokens, of which the target wrote {total} as answers.",
                 *prompts,
                 "No prompt has 8 words in a row of an evaluation prompt.", "",
                 "| source | chats | answer tokens, greedy | at temperature 1 | share of answer tokens |", "|---|---|---|---|---|"]
        for source, chats in sorted(self.by_source.items()):
            greedy, sampled = self.answers[source, 0.0], self.answers[source, 1.0]
            lines.append(f"| {source} | {chats} | {greedy} | {sampled} | {(greedy + sampled) / total:.1%} |")
        return "\n".join(lines) + "\n"


def answer_tasks(options, template, tasks, documents, overlap):
    target = Target(options.url)
    while (task := tasks.get()) is not None:
        for attempt in range(ATTEMPTS):
            try:
                documents.add(task, documents_of(task, target, template, overlap, options.answer_tokens))
                break
            except (OSError, RuntimeError, http.client.HTTPException, ValueError) as error:
                target.connection.close()  # one that timed out is of no use
                target = Target(options.url)
                if attempt + 1 == ATTEMPTS:
                    raise RuntimeError(f"task {task.number}: {error}") from error
    target.connection.close()


def work(failures, *arguments):
    try:
        answer_tasks(*arguments)
    except Exception as error:  # whatever it is: the others end, too, and it is told
        failures.append(f"{type(error).__name__}: {error}")


def put(tasks, task, failures):
    """Waits for room while nothing has failed. Who takes tasks ends by a failure only."""
    while not failures:
        try:
            return tasks.put(task, timeout=1)
        except queue.Full:
            pass


def tasks_of(options):
    if options.texts:
        return training_prompts.tasks_about([file.read_text(encoding="utf-8") for file in options.texts], options.source)
    questions = [json.loads(line)["question"] for line in options.gsm8k.read_text(encoding="utf-8").splitlines()]
    random.Random(1).shuffle(questions)
    return training_prompts.tasks(questions)


def run(options, documents, overlap, template):
    failures, tasks = [], queue.Queue(maxsize=options.streams)
    threads = [threading.Thread(target=work, args=(failures, options, template, tasks, documents, overlap), daemon=True)
               for _ in range(options.streams)]
    for thread in threads:
        thread.start()
    began, before, shown = time.monotonic(), documents.tokens, time.monotonic()
    for task in tasks_of(options):
        if documents.tokens >= options.tokens or failures:
            break
        if task.number not in documents.done:
            put(tasks, task, failures)
        if time.monotonic() - shown > PROGRESS_SECONDS:
            shown = time.monotonic()
            speed = (documents.tokens - before) / (shown - began)
            left = (options.tokens - documents.tokens) / max(speed, 1e-9)
            print(f"{documents.tokens} of {options.tokens} tokens  {speed:.0f} tokens/s with prompts  {left / 60:.0f} min left", flush=True)
            options.documents.with_suffix(".card.md").write_text(documents.card())
    for _ in threads:
        put(tasks, None, failures)
    while not failures and any(thread.is_alive() for thread in threads):
        for thread in threads:
            thread.join(timeout=1 / len(threads))
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=pathlib.Path, help="the file to write: *.jsonl")
    parser.add_argument("--url", default="http://127.0.0.1:8080", help="the service")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="tokens of all chats together, prompts included")
    parser.add_argument("--answer-tokens", type=int, default=256, help="longest answer")
    parser.add_argument("--streams", type=int, default=32, help="requests at a time")
    prompts = parser.add_mutually_exclusive_group(required=True)
    prompts.add_argument("--gsm8k", type=pathlib.Path, help="train.jsonl of GSM8K: its questions, beside all other kinds")
    prompts.add_argument("--texts", type=pathlib.Path, nargs="+", help="files of prose, with blank lines between paragraphs")
    parser.add_argument("--source", default="texts", help="of --texts, as the card names it")
    parser.add_argument("--exclude", type=pathlib.Path, nargs="*", default=[], help="files of prompts that something is measured with")
    options = parser.parse_args()
    overlap = training_prompts.exclusions(options.exclude)
    target = Target(options.url)
    try:
        template = Template.of(target)
    except (OSError, RuntimeError, http.client.HTTPException) as error:
        sys.exit(f"{options.url} told nothing of its chat template: {error}")
    finally:
        target.connection.close()
    documents = DocumentFile(options.documents)
    failures = run(options, documents, overlap, template)
    if not failures:
        documents.put_in_order(options.tokens)
    options.documents.with_suffix(".card.md").write_text(documents.card())
    print(documents.card())
    if failures:
        sys.exit(failures[0])


if __name__ == "__main__":
    main()
