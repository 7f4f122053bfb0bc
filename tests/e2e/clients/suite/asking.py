"""One question under a schema, and what came of it."""

import json
import urllib.error
import urllib.request
from typing import NamedTuple

WAIT_SECONDS = 300  # for one answer, on a busy machine
QUESTION = [{"role": "user", "content": "Write a short JSON document."}]


class Answer(NamedTuple):
    status: int  # of HTTP
    text: str  # the answer's, or the error's sentence
    reason: str  # "stop": it is whole; "length": cut at max_tokens; else the error's code


def ask(url, schema, seed, drafts, max_tokens):
    body = {"messages": QUESTION, "max_tokens": max_tokens, "temperature": 1, "seed": seed, "speculation": {"enabled": drafts}}
    if schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "it", "schema": schema}}
    request = urllib.request.Request(f"{url}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        choice = json.load(urllib.request.urlopen(request, timeout=WAIT_SECONDS))["choices"][0]
        return Answer(200, choice["message"]["content"], choice["finish_reason"])
    except urllib.error.HTTPError as error:
        said = json.load(error)["error"]
        return Answer(error.code, said["message"], said["code"] or said["type"])
