"""Users for locust: some ask by locust's own user of OpenAI's client, some stream over plain HTTP."""

import json

from locust import HttpUser, task
from locust.contrib.oai import OpenAIUser

MODEL = "smollm2-135m-instruct"
QUESTION = "Why is the sky blue?"


class Asks(OpenAIUser):
    @task
    def ask(self):
        answer = self.client.responses.create(model=MODEL, input=QUESTION, max_output_tokens=16)
        assert answer.output_text, answer


class Streams(HttpUser):
    @task
    def stream(self):
        body = {"messages": [{"role": "user", "content": QUESTION}], "max_tokens": 16, "stream": True}
        with self.client.post("/v1/chat/completions", json=body, name="stream", stream=True, catch_response=True) as answer:
            events = [line[len(b"data: "):] for line in answer.iter_lines() if line.startswith(b"data: ")]
            if events[-1] == b"[DONE]" and all("error" not in json.loads(event) for event in events[:-1]):
                answer.success()
            else:
                answer.failure(f"it ended with {events[-1]!r}")
