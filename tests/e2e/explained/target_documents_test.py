"""A target writes training data for a draft head, as TRAIN tells it: on a random model whose chat template is its own."""

import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/train"))
import make_head  # noqa: E402
import target_documents  # noqa: E402

SLIPSTREAM = pathlib.Path(sys.argv.pop(1))
MODEL = ROOT / "tests/data/tiny-llama-long"
QUESTIONS = ["How many apples are left?", "How much is a dozen?", "When do the trains meet?"]
TOKENS = 15_000


class TargetDocuments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.folder / "gsm8k.jsonl").write_text("".join(json.dumps({"question": each}) + "\n" for each in QUESTIONS), encoding="utf-8")
        port = make_head.free_port()
        cls.url = f"http://127.0.0.1:{port}"
        service = make_head.serve(types.SimpleNamespace(slipstream=SLIPSTREAM, model=MODEL, device="cpu", path="auto"), port)
        cls.addClassCleanup(make_head.stop, service)

    def write(self, name, *flags, url=None):
        command = [sys.executable, ROOT / "tools/train/target_documents.py", self.folder / name, "--url", url or self.url, "--gsm8k",
                   self.folder / "gsm8k.jsonl", "--answer-tokens", "60", *flags]
        return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=240, check=False)

    def test_the_template_is_what_chats_share(self):
        target = target_documents.Target(self.url)
        self.addCleanup(target.connection.close)
        template = target_documents.Template.of(target)
        self.assertEqual(target.text_of(template.before), "<|turn|>user\n")
        self.assertEqual(target.text_of(template.after), "</s><|turn|>assistant\n")
        self.assertEqual(target.text_of([template.end_token]), "</s>")
        words = template.users_words(target.tokens_of_chat("and so on")[len(template.before):])
        self.assertEqual(target.text_of(words), "and so on")

    def test_the_same_command_writes_the_same_file(self):
        for name, streams in (("one.jsonl", 1), ("many.jsonl", 8)):
            wrote = self.write(name, "--tokens", TOKENS, "--streams", streams)
            self.assertEqual(wrote.returncode, 0, wrote.stderr)
        self.assertEqual(self.write("broken.jsonl", "--tokens", TOKENS // 3, "--streams", 8).returncode, 0)
        with (self.folder / "broken.jsonl").open("ab") as file:
            file.write(b'[{"task": 7, "st')  # where a line was cut
        self.assertEqual(self.write("broken.jsonl", "--tokens", TOKENS, "--streams", 8).returncode, 0)
        one = (self.folder / "one.jsonl").read_bytes()
        self.assertGreater(len(one.splitlines()), 20)
        self.assertEqual((self.folder / "many.jsonl").read_bytes(), one)
        self.assertEqual((self.folder / "broken.jsonl").read_bytes(), one)

    def test_a_service_that_is_not_there_is_told(self):
        wrote = self.write("none.jsonl", url=f"http://127.0.0.1:{make_head.free_port()}")
        self.assertEqual(wrote.returncode, 1)
        self.assertIn("told nothing of its chat template", wrote.stderr)

    def test_a_task_that_fails_ends_all(self):
        wrote = self.write("refused.jsonl", "--answer-tokens", "-1")
        self.assertEqual(wrote.returncode, 1)
        self.assertIn("max_tokens", wrote.stderr)


if __name__ == "__main__":
    unittest.main()
