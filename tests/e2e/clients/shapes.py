#!/usr/bin/env python3
"""Replies and events have the shapes of OpenAI's and Anthropic's published schemas.
Usage: shapes.py SLIPSTREAM MODEL_FOLDER

The types of openai-python and anthropic-python are made from those schemas. The clients themselves read replies
leniently; here every byte of a body is validated strictly: a field that must be there is, and each has its type and
one of its values. The folder's template is replaced by one that has a place for tools.
"""

import json
import pathlib
import sys
import tempfile
import urllib.error
import urllib.request

from anthropic.types import ErrorResponse, Message, MessageTokensCount, RawMessageStreamEvent
from openai.types import Completion, ErrorObject, Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from serving import server
from tool_calls import FLAT_WEATHER, HERMES, PARAMETERS, WEATHER, with_template

CHAT = {"messages": [{"role": "user", "content": "What is the capital of France?"}], "temperature": 0, "max_tokens": 12}
TEXT = {"prompt": "The capital of France is", "temperature": 0, "max_tokens": 6}
RESPONSE = {"input": "What is the capital of France?", "temperature": 0, "max_output_tokens": 12}
MESSAGE = {**CHAT, "max_tokens": 12}
CALLS = {"tools": [WEATHER], "tool_choice": "required", "max_tokens": 200}
FLAT_CALLS = {"tools": [FLAT_WEATHER], "tool_choice": "required", "max_output_tokens": 200}
USES = {
    "tools": [{"name": "get_weather", "input_schema": PARAMETERS}],
    "tool_choice": {"type": "any"},
    "max_tokens": 200,
}
FORMAT = {"response_format": {"type": "json_object"}, "max_tokens": 60}
LOGPROBS = {"logprobs": True, "top_logprobs": 2}
INCLUDE = {"include": ["message.output_text.logprobs"], "top_logprobs": 2}
SCHEMA = {"type": "json_schema", "name": "x", "schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}
STREAM = {"stream": True}
USAGE = {**STREAM, "stream_options": {"include_usage": True}}

REPLIES = [
    ("/v1/chat/completions", ChatCompletion, [CHAT, CHAT | LOGPROBS, CHAT | {"n": 2, "temperature": 1}, CHAT | CALLS, CHAT | FORMAT]),
    ("/v1/completions", Completion, [TEXT, {**TEXT, "logprobs": 2, "n": 2}, {**TEXT, "echo": True, "logprobs": 0}]),
    ("/v1/responses", Response, [RESPONSE, RESPONSE | INCLUDE, RESPONSE | {"text": {"format": SCHEMA}}, RESPONSE | FLAT_CALLS]),
    ("/v1/messages", Message, [MESSAGE, MESSAGE | USES]),
    ("/v1/messages/count_tokens", MessageTokensCount, [MESSAGE]),
]
EVENTS = [
    ("/v1/chat/completions", ChatCompletionChunk, [CHAT | STREAM, CHAT | USAGE | LOGPROBS, CHAT | USAGE | {"n": 2}, CHAT | STREAM | CALLS]),
    ("/v1/completions", Completion, [TEXT | STREAM, TEXT | USAGE | {"logprobs": 2}]),
    ("/v1/responses", ResponseStreamEvent, [RESPONSE | STREAM, RESPONSE | STREAM | INCLUDE, RESPONSE | STREAM | FLAT_CALLS]),
    ("/v1/messages", RawMessageStreamEvent, [MESSAGE | STREAM, MESSAGE | STREAM | USES]),
]
WRONG = [
    ("/v1/chat/completions", CHAT | {"max_tokens": 0}, 400),
    ("/v1/chat/completions", CHAT | {"model": "gpt-4o"}, 404),
    ("/v1/completions", {}, 400),
    ("/v1/responses", RESPONSE | {"top_logprobs": 99}, 400),
    ("/v1/none", {}, 404),
    ("/v1/messages", MESSAGE | {"temperature": 9}, 400),
    ("/v1/messages", MESSAGE | {"model": "claude"}, 404),
]


def ask(base, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.urlopen(urllib.request.Request(base + path, data, {"Content-Type": "application/json"}))


def without_nulls(body):
    """OpenAI's own completions have null where its schema has none: a chunk's finish_reason, and the logprobs of a
    prompt's first token."""
    for choice in body.get("choices", []):
        if choice["finish_reason"] is None:
            choice["finish_reason"] = "stop"
        for name in ("token_logprobs", "top_logprobs"):
            values = (choice["logprobs"] or {}).get(name)
            if values and values[0] is None:
                values[0] = {} if name == "top_logprobs" else 0.0
    return body


def strictly(type_of, text):
    if type_of is Completion:
        text = json.dumps(without_nulls(json.loads(text)))
    return TypeAdapter(type_of).validate_json(text, strict=True)


def reply(base, path, type_of, body):
    with ask(base, path, body) as answer:
        strictly(type_of, answer.read())


def events(base, path, type_of, body):
    with ask(base, path, body) as answer:
        told = [line[len(b"data: "):].strip() for line in answer if line.startswith(b"data: ")]
    if told[-1] == b"[DONE]":
        told.pop()
    assert len(told) > 3, told
    for one in told:
        if json.loads(one) != {"type": "ping"}:  # Anthropic documents it; its SDK takes it out before it parses events
            strictly(type_of, one)


def error(base, path, body, status):
    try:
        ask(base, path, body)
    except urllib.error.HTTPError as refused:
        assert refused.code == status, refused
        told = refused.read()
        if path == "/v1/messages":
            strictly(ErrorResponse, told)
        else:
            strictly(ErrorObject, json.dumps(json.loads(told)["error"]))
    else:
        raise AssertionError("it was taken")


def models(base):
    with ask(base, "/v1/models") as answer:
        listed = json.load(answer)
    assert listed["object"] == "list", listed
    for model in listed["data"]:
        reply(base, "/v1/models/" + model["id"], Model, None)


def with_tools(slipstream, model, folder):
    with_template(model, HERMES, pathlib.Path(folder))
    return server(slipstream, folder)


def main():
    slipstream, model = sys.argv[1:]
    checks = [("models", models)]
    for kind, function, cases in (("reply", reply, REPLIES), ("events", events, EVENTS)):
        checks += [
            (f"{kind} {path} {json.dumps(body)}", lambda base, f=function, p=path, t=of, b=body: f(base, p, t, b))
            for path, of, bodies in cases
            for body in bodies
        ]
    checks += [(f"error {path} {json.dumps(body)}", lambda base, c=case: error(base, *c)) for case in WRONG for path, body, _ in [case]]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, with_tools(slipstream, model, folder) as port:
        for name, check in checks:
            try:
                check(f"http://127.0.0.1:{port}")
            except Exception as wrong:  # any: the next one is checked, too
                failed += 1
                print(f"{name}\n  FAILED: {type(wrong).__name__}: {str(wrong)[:1200]}", flush=True)
    print(f"shapes of {len(checks)} replies, streams and errors: {failed} are not as published")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
