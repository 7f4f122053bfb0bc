#!/usr/bin/env python3
"""Real clients do real tasks with a real server. Usage: clients.py SLIPSTREAM MODEL

Each task fails with what it got. The server is `slipstream serve` with the demo's model.
"""

import json
import pathlib
import subprocess
import sys
import urllib.request
from typing import Literal

import anthropic
import litellm
import openai
import pydantic

from serving import server
from tasks import Tasks, ended

SCHEMAS = pathlib.Path(__file__).parent / "schemas.py"
QUESTION = [{"role": "user", "content": "What is the capital of France?"}]
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
FLAT_WEATHER = {"type": "function", **WEATHER["function"]}
task = Tasks()


@task
def openai_lists_models_with_their_context(client, model):
    listed = client.models.list().data
    assert listed[0].id == model and client.models.retrieve(model).id == model, listed
    assert listed[0].max_model_len > 1000, listed


@task
def openai_chats_whole_and_streamed_with_the_same_words(client, model):
    whole = client.chat.completions.create(model=model, messages=QUESTION, temperature=0, max_tokens=24)
    with client.chat.completions.create(
        model=model, messages=QUESTION, temperature=0, max_tokens=24, stream=True, stream_options={"include_usage": True}
    ) as stream:
        chunks = list(stream)
    words = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert "Paris" in whole.choices[0].message.content, whole
    assert words == whole.choices[0].message.content, words
    assert chunks[-1].usage.total_tokens == whole.usage.total_tokens, chunks[-1]


@task
def openai_gets_several_choices_that_differ_and_are_the_same_again(client, model):
    def ask():
        answer = client.chat.completions.create(model=model, messages=QUESTION, temperature=1, seed=3, n=4, max_tokens=16)
        assert [choice.index for choice in answer.choices] == [0, 1, 2, 3], answer
        return [choice.message.content for choice in answer.choices]

    first = ask()
    assert len(set(first)) > 1, first
    assert ask() == first, first


@task
def openai_completes_prompts_of_every_form(client, model):
    text = client.completions.create(model=model, prompt="The capital of France is", temperature=0, max_tokens=4)
    ids = json.load(post(client, "/tokenize", {"prompt": "The capital of France is"}))["tokens"]
    both = client.completions.create(model=model, prompt=[ids, ids], temperature=0, max_tokens=4, echo=True)
    assert "Paris" in text.choices[0].text, text
    for choice in both.choices:
        assert choice.text == "The capital of France is" + text.choices[0].text, both


@task
def openai_reads_logprobs_of_both_forms(client, model):
    chat = client.chat.completions.create(
        model=model, messages=QUESTION, temperature=0, max_tokens=3, logprobs=True, top_logprobs=2
    )
    tokens = chat.choices[0].logprobs.content
    assert len(tokens) == 3 and all(token.logprob <= 0 and len(token.top_logprobs) == 2 for token in tokens), tokens
    text = client.completions.create(model=model, prompt="The capital of France is", temperature=0, max_tokens=3, logprobs=2)
    lists = text.choices[0].logprobs
    assert len(lists.tokens) == len(lists.token_logprobs) == len(lists.text_offset) == 3, lists
    assert "".join(lists.tokens) == text.choices[0].text, lists


@task
def openai_scores_a_prompt_as_it_was_generated(client, model):
    ask = {"model": model, "temperature": 0, "logprobs": 2}
    prompt = "The capital of France is"
    made = client.completions.create(prompt=prompt, max_tokens=8, **ask).choices[0]
    scored = client.completions.create(prompt=prompt + made.text, max_tokens=0, echo=True, **ask).choices[0]
    assert scored.text == prompt + made.text and scored.logprobs.token_logprobs[0] is None, scored
    assert scored.logprobs.token_logprobs[-8:] == made.logprobs.token_logprobs, (scored.logprobs, made.logprobs)


@task
def openai_stops_at_one_of_many_strings(client, model):
    stops = [f"never {i}" for i in range(40)] + ["Paris"]
    answer = client.chat.completions.create(model=model, messages=QUESTION, temperature=1e-8, max_tokens=24, stop=stops)
    assert answer.choices[0].finish_reason == "stop" and "Paris" not in answer.choices[0].message.content, answer


@task
def openai_knows_each_request_by_its_id(client, model):
    raw = client.chat.completions.with_raw_response.create(model=model, messages=QUESTION, max_tokens=1)
    assert raw.headers["x-request-id"].startswith("req-"), raw.headers
    mine = client.models.with_raw_response.list(extra_headers={"X-Request-Id": "mine"})
    assert mine.headers["x-request-id"] == "mine", mine.headers


@task
def openai_raises_the_error_that_it_has_for_each_mistake(client, model):
    for kind, fields in [
        (openai.BadRequestError, {"max_tokens": 10**6}),
        (openai.BadRequestError, {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "foo"}}}}),
        (openai.NotFoundError, {"model": "gpt-4o"}),
    ]:
        try:
            client.chat.completions.create(**{"model": model, "messages": QUESTION, **fields})
        except kind as error:
            assert error.body["message"], error
        else:
            raise AssertionError(f"{fields} was taken")


class Person(pydantic.BaseModel):
    name: str
    age: int
    likes_tea: bool
    pet: Literal["cat", "dog", "none"]


@task
def openai_parses_the_class_that_it_asked_for(client, model):
    for temperature in (0, 1, 1.5):
        answer = client.chat.completions.parse(
            model=model,
            messages=[{"role": "user", "content": "Describe a person."}],
            temperature=temperature,
            seed=1,
            max_tokens=400,
            response_format=Person,
        )
        assert isinstance(answer.choices[0].message.parsed, Person), answer


@task
def openai_gets_a_json_object_in_a_stream(client, model):
    with client.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": "List two fruits as JSON."}],
        temperature=0,
        max_tokens=400,
        stream=True,
        response_format={"type": "json_object"},
    ) as stream:
        chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    if chunks[-1].choices[0].finish_reason == "stop":
        assert isinstance(json.loads(text), dict), text
    assert text.startswith("{"), text


@task
def openai_gets_one_of_the_texts_that_vllm_calls_choices(client, model):
    for fields in ({"guided_choice": ["red", "green"]}, {"structured_outputs": {"choice": ["red", "green"]}}):
        answer = client.chat.completions.create(model=model, messages=QUESTION, max_tokens=9, extra_body=fields)
        assert answer.choices[0].message.content in ("red", "green"), answer


@task
def litellm_gets_a_document_of_its_schema(client, model):
    answer = lite(
        client, model, messages=[{"role": "user", "content": "Describe a person."}], max_tokens=400, response_format=Person
    )
    Person.model_validate_json(answer.choices[0].message.content)


@task
def jsonschema_finds_sampled_documents_valid_and_the_same_undrafted(client, _):
    url = str(client.base_url).removesuffix("/v1/")
    ran = subprocess.run([sys.executable, SCHEMAS, url, "--samples", "60"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@task
def openai_is_told_what_was_ignored(client, model):
    answer = client.chat.completions.create(model=model, messages=QUESTION, max_tokens=1, extra_body={"temprature": 0})
    assert "temprature" in answer.slipstream["warnings"][0], answer


@task
def litellm_recognises_a_prompt_that_is_too_long(client, model):
    try:
        lite(client, model, messages=[{"role": "user", "content": "word " * 40_000}])
    except litellm.ContextWindowExceededError:
        return
    raise AssertionError("no ContextWindowExceededError")


@task
def litellm_chats_streams_and_completes(client, model):
    whole = lite(client, model, messages=QUESTION, temperature=0, max_tokens=24)
    assert "Paris" in whole.choices[0].message.content, whole
    parts = lite(client, model, messages=QUESTION, temperature=0, max_tokens=24, stream=True)
    words = "".join(part.choices[0].delta.content or "" for part in parts)
    assert words == whole.choices[0].message.content, words
    text = litellm.text_completion(
        model="text-completion-openai/" + model, prompt="The capital of France is", temperature=0, max_tokens=4,
        api_base=str(client.base_url), api_key="unused",
    )
    assert "Paris" in text.choices[0].text, text


@task
def openai_responds_whole_and_streamed_with_the_words_of_a_chat(client, model):
    fields = {"model": model, "input": QUESTION[0]["content"], "temperature": 0, "max_output_tokens": 24, "store": False}
    chat = client.chat.completions.create(model=model, messages=QUESTION, temperature=0, max_tokens=24)
    whole = client.responses.create(**fields)
    assert whole.output_text == chat.choices[0].message.content, (whole, chat)
    assert whole.usage.output_tokens == chat.usage.completion_tokens, whole
    with client.responses.stream(**fields) as stream:
        events = list(stream)
    assert events[0].type == "response.created" and events[-1].type in ("response.completed", "response.incomplete"), events
    assert [event.sequence_number for event in events] == list(range(len(events))), events
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == whole.output_text, events
    assert events[-1].response.output_text == whole.output_text, events[-1]


@task
def openai_reads_logprobs_of_a_response_whole_and_streamed(client, model):
    fields = {"model": model, "input": QUESTION[0]["content"], "temperature": 0, "max_output_tokens": 8, "top_logprobs": 2,
              "include": ["message.output_text.logprobs"]}
    part = client.responses.create(**fields).output[0].content[0]
    assert "".join(token.token for token in part.logprobs) == part.text, part
    assert all(token.logprob <= 0 and len(token.top_logprobs) == 2 for token in part.logprobs), part
    chat = client.chat.completions.create(
        model=model, messages=QUESTION, temperature=0, max_tokens=8, logprobs=True, top_logprobs=2
    ).choices[0].logprobs.content
    assert [token.logprob for token in part.logprobs] == [token.logprob for token in chat][: len(part.logprobs)], (part, chat)
    with client.responses.stream(**fields) as stream:
        events = list(stream)
    told = [token.logprob for event in events if event.type == "response.output_text.delta" for token in event.logprobs]
    assert told == [token.logprob for token in part.logprobs], events


@task
def openai_responds_to_a_history_of_items(client, model):
    answer = client.responses.create(
        model=model, instructions="Be brief.", temperature=0, max_output_tokens=24, metadata={"who": "me"},
        input=[{"role": "user", "content": [{"type": "input_text", "text": "Hello!"}]},
               {"role": "assistant", "content": "Hello! How can I help?"}, *QUESTION],
    )
    assert "Paris" in answer.output_text and answer.metadata == {"who": "me"}, answer
    assert answer.slipstream["seed"] is not None, answer


@task
def openai_is_told_what_a_response_cannot_have(client, model):
    for fields in ({"previous_response_id": "resp_1"}, {"background": True}, {"max_output_tokens": 0},
                   {"tools": [{"type": "web_search"}]}, {"tools": [FLAT_WEATHER]}):
        try:
            client.responses.create(**{"model": model, "input": "Hi", **fields})
        except openai.BadRequestError as error:
            assert next(iter(fields)) in error.body["message"], error
        else:
            raise AssertionError(f"{fields} was taken")


@task
def anthropic_creates_whole_and_streamed_with_the_words_of_a_chat(client, model):
    claude = anthropic_client(client)
    fields = {"model": model, "messages": QUESTION, "max_tokens": 24, "extra_body": {"temperature": 0}}
    chat = client.chat.completions.create(model=model, messages=QUESTION, temperature=0, max_tokens=24)
    whole = claude.messages.create(**fields)
    assert whole.content[0].text == chat.choices[0].message.content, (whole, chat)
    assert whole.stop_reason in ("end_turn", "max_tokens"), whole
    with claude.messages.stream(**fields) as stream:
        words = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert words == whole.content[0].text == final.content[0].text, (words, final)
    usage = final.usage
    assert usage.input_tokens + usage.cache_read_input_tokens == chat.usage.prompt_tokens, usage
    assert usage.output_tokens == whole.usage.output_tokens, usage


@task
def anthropic_stops_at_a_sequence_and_counts_tokens(client, model):
    claude = anthropic_client(client)
    fields = {"model": model, "messages": QUESTION, "system": [{"type": "text", "text": "Be brief."}]}
    stopped = claude.messages.create(
        **fields, max_tokens=24, stop_sequences=["Paris"], extra_body={"temperature": 0}
    )
    assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", "Paris"), stopped
    counted = claude.messages.count_tokens(**fields).input_tokens
    assert counted == stopped.usage.input_tokens + stopped.usage.cache_read_input_tokens, counted


@task
def anthropic_parses_the_class_that_it_asked_for(client, model):
    question = [{"role": "user", "content": "Describe a person."}]
    parsed = anthropic_client(client).messages.parse(model=model, messages=question, max_tokens=400, output_format=Person)
    assert isinstance(parsed.parsed_output, Person), parsed


@task
def anthropic_raises_the_error_that_it_has_for_each_mistake(client, model):
    claude = anthropic_client(client)
    for kind, fields in [
        (anthropic.BadRequestError, {"max_tokens": 0}),
        (anthropic.BadRequestError, {"tools": [{"name": "weather", "input_schema": {"type": "object"}}]}),
        (anthropic.NotFoundError, {"model": "claude-sonnet"}),
    ]:
        try:
            claude.messages.create(**{"model": model, "messages": QUESTION, "max_tokens": 9, **fields})
        except kind as error:
            assert error.body["type"] == "error" and error.body["error"]["message"], error
        else:
            raise AssertionError(f"{fields} was taken")


def anthropic_client(client):
    base = str(client.base_url).removesuffix("/v1/")
    return anthropic.Anthropic(base_url=base, api_key="unused", max_retries=0)


def lite(client, model, **fields):
    return litellm.completion(model="openai/" + model, api_base=str(client.base_url), api_key="unused", **fields)


def post(client, path, body):
    url = str(client.base_url).removesuffix("/v1/") + path
    return urllib.request.urlopen(
        urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    )


def main():
    slipstream, model = sys.argv[1:]
    with server(slipstream, model) as port:
        client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="unused", max_retries=0)
        ended(task.run(client, client.models.list().data[0].id))


if __name__ == "__main__":
    main()
