"""What training chats are made of, and that no prompt of an evaluation gets among them."""

import http.server
import json
import pathlib
import random
import re
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tools/train"))
import target_documents  # noqa: E402
import training_prompts  # noqa: E402

QUESTION = "A robe takes 2 bolts of blue fiber and half that much white fiber. How many bolts in total does it take?"


class OverlapTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        file = pathlib.Path(self.folder.name) / "evaluation.jsonl"
        lines = [{"question_id": 1, "category": "math", "turns": ["Name two whales.", QUESTION]}, {"prompt": "def add(a, b):"}]
        file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
        self.overlap = training_prompts.exclusions([file])

    def test_a_planted_evaluation_prompt_is_caught(self):
        self.assertTrue(self.overlap.meets(QUESTION))
        self.assertTrue(self.overlap.meets("Please solve: a ROBE takes 2 bolts, of blue fiber, and half that! Thanks."))
        self.assertTrue(self.overlap.meets("name two whales"))
        self.assertTrue(self.overlap.meets("def add(a, b):\n"))

    def test_seven_words_in_a_row_are_no_overlap(self):
        self.assertFalse(self.overlap.meets("A robe takes 2 bolts of blue cloth and some buttons."))
        self.assertFalse(self.overlap.meets("Name two whales and two sharks."))
        self.assertFalse(self.overlap.meets(""))

    def test_a_planted_prompt_of_the_training_file_is_not_asked(self):
        questions = [QUESTION, "How many legs have five spiders and three ants together, if none of them lost one?"]
        asked = []

        class Target:
            def tokens_of_chat(self, prompt):
                asked.append(prompt)
                return [1, 2, 3]

            def tokens_of_text(self, text):
                return [9]

            def answer(self, tokens, temperature, seed, tokens_max):
                return [5, 6], True

            def text_of(self, tokens):
                return " ".join(f"word{number}" for number in range(300))

        template, documents = target_documents.Template(before=[1], after=[2], end_token=2), []
        for task in training_prompts.tasks(questions):
            if task.number == 80:
                break
            documents += target_documents.documents_of(task, Target(), template, self.overlap, 16)
        self.assertIn(questions[1], asked)
        self.assertEqual({each["token_ids"][-1] for each in documents}, {2})  # all end with the token that ends an answer
        kept = [each for each in documents if each["source"] == "gsm8k"]
        self.assertEqual(len(kept), 6)  # of twelve tasks, every other one has the planted question
        begun = [each for each in documents if each["source"] == "begun"]
        self.assertTrue(begun)
        self.assertEqual({tuple(each["token_ids"][:3]) for each in begun}, {(1, 9, 5)})  # our words, then the target's
        # What is asked about a text holds the text, or words from its middle.
        self.assertTrue(any("word0 word1 " in prompt for prompt in asked))
        self.assertTrue(any("word150 " in prompt and "word0 " not in prompt for prompt in asked))
        self.assertFalse(any("{text}" in prompt or "{part}" in prompt for prompt in asked))


class TasksTest(unittest.TestCase):
    def test_the_same_number_gives_the_same_task(self):
        first = [task for task, _ in zip(training_prompts.tasks(["a", "b", "c"]), range(200))]
        again = [task for task, _ in zip(training_prompts.tasks(["a", "b", "c"]), range(200))]
        self.assertEqual(first, again)
        self.assertEqual({task.source for task in first}, {"gsm8k", "german", "synthesis", "begun", "template", "text", "manual", "code",
                                                             "question"})
        self.assertEqual(sum(task.temperature for task in first), 100)

    def test_no_prompt_has_a_field_left(self):
        for task, _ in zip(training_prompts.tasks(["a"]), range(2000)):
            for prompt in task.prompts if task.source not in ("code", "manual") else []:  # these have braces of their own
                self.assertNotRegex(prompt.words if isinstance(prompt, training_prompts.Begun) else prompt, r"\{(?!(text|part)\})")

    def test_a_piece_of_the_manual_is_prose_of_some_length(self):
        asked = [task.prompts[0] for task, _ in zip(training_prompts.tasks(["a"]), range(2000)) if task.source == "manual"]
        self.assertGreater(len(set(asked)), 150)
        for prompt in asked:
            self.assertNotIn("{text}", prompt)
            self.assertGreaterEqual(len(prompt.split()), training_prompts.PIECE_WORDS_MIN)
            self.assertLess(len(prompt.split()), 2 * training_prompts.PIECE_WORDS_MAX)

    def test_tasks_about_texts_hold_paragraphs_of_one_text_in_a_row(self):
        texts = ["\n\n".join(["A heading"] + [f"{name}{number} " + "word " * 40 for number in range(30)]) for name in "ab"]
        seen = set()
        for task, _ in zip(training_prompts.tasks_about(texts, "ours"), range(300)):
            self.assertEqual((task.source, task.temperature), ("ours", task.number % 2))
            found = re.findall(r"\b([ab])(\d+)\b", task.prompts[0])
            first = int(found[0][1])
            self.assertEqual(found, [(found[0][0], str(first + at)) for at in range(len(found))])
            self.assertNotIn("heading", task.prompts[0])
            seen.add((found[0], len(found)))
        self.assertGreater(len(seen), 100)
        self.assertGreaterEqual(min(length for _, length in seen), 2)  # 60 words
        self.assertLessEqual(max(length for _, length in seen), 12)    # 500 words

    def test_texts_without_prose_are_refused(self):
        with self.assertRaisesRegex(SystemExit, "no 60 words of prose in a row"):
            next(training_prompts.tasks_about(["Title\n\n* a\n\n* b"], "ours"))

    def test_a_part_is_words_in_a_row(self):
        words = [f"word{number}" for number in range(300)]
        for seed in range(200):
            part = training_prompts.part_of(" ".join(words), random.Random(seed)).split(" ")
            first = words.index(part[0])
            self.assertEqual(part, words[first:first + len(part)])
            self.assertGreaterEqual(len(part), training_prompts.PART_WORDS_MIN)
        self.assertEqual(training_prompts.part_of("a short text", random.Random(1)), "a short text")
        self.assertEqual(training_prompts.part_of("", random.Random(1)), "")


class DocumentFileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "documents.jsonl"

    @staticmethod
    def chat(task):
        return {"task": task, "step": 0, "source": "gsm8k", "temperature": 0.0, "token_ids": [1, 2, 3, 4], "answer": 2}

    def test_goes_on_behind_the_last_whole_line(self):
        file = target_documents.DocumentFile(self.path)
        for number in range(2):
            file.add(training_prompts.Task(number, "gsm8k", ["a"], 0.0), [self.chat(number)])
        file.file.close()
        whole = self.path.read_bytes()
        self.path.write_bytes(whole + b'[{"task": 2, "st')
        again = target_documents.DocumentFile(self.path)
        again.file.close()
        self.assertEqual((again.done, again.tokens), ({0, 1}, 8))
        self.assertEqual(self.path.read_bytes(), whole)

    def test_the_card_has_the_share_of_each_source(self):
        file = target_documents.DocumentFile(self.path)
        file.add(training_prompts.Task(0, "gsm8k", ["a"], 0.0), [self.chat(0)])
        file.file.close()
        self.assertIn("| gsm8k | 1 | 2 | 0 | 100.0% |", file.card())
        self.assertIn("GSM8K's training", file.card())

    def test_the_card_of_chats_about_texts_names_no_other_prompts(self):
        file = target_documents.DocumentFile(self.path)
        file.add(training_prompts.Task(0, "wikipedia", ["a"], 0.0), [self.chat(0) | {"source": "wikipedia"}])
        file.file.close()
        self.assertIn("pieces of texts that --texts named", file.card())
        self.assertNotIn("GSM8K", file.card())


class BusyAtFirst(http.server.BaseHTTPRequestHandler):
    """A service that is busy for the first two requests."""

    asked = 0

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        type(self).asked += 1
        status, said = (429, {"error": {"code": "overloaded"}}) if self.asked < 3 else (200, {"tokens": [7]})
        content = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        if status == 429:
            self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class TargetTest(unittest.TestCase):
    def test_a_busy_service_is_asked_again(self):
        with http.server.HTTPServer(("127.0.0.1", 0), BusyAtFirst) as server:
            threading.Thread(target=server.serve_forever).start()
            target = target_documents.Target(f"http://127.0.0.1:{server.server_port}")
            self.assertEqual(target.ask("/tokenize", {}), {"tokens": [7]})
            self.assertEqual(BusyAtFirst.asked, 3)
            server.shutdown()


if __name__ == "__main__":
    unittest.main()
