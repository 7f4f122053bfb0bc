#!/usr/bin/env python3
"""Real clients get calls of tools, whole and in pieces. Usage: tool_calls.py SLIPSTREAM MODEL_FOLDER

The demo's model was not taught any form of calls, so its template is replaced by two that teach one, and
`tool_choice` "required" makes it call. The words are its own.
"""

import json
import pathlib
import sys
import tempfile

import anthropic
import openai

from serving import server
from tasks import Tasks, ended

HERMES = "Call as <tool_call>{...}</tool_call>."
PYTHONIC = "Call as [func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)]."
TEMPLATE = (
    "{%% if tools %%}%s {{ tools | tojson }}\n{%% endif %%}"
    "{%% for m in messages %%}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{%% endfor %%}"
    "{%% if add_generation_prompt %%}<|im_start|>assistant\n{%% endif %%}"
)
QUESTION = [{"role": "user", "content": "What is the weather in Paris tomorrow?"}]
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 40}, "day": {"enum": ["today", "tomorrow"]}, "exact": {"type": "boolean"}},
    "required": ["city", "day"],
    "additionalProperties": False,
}
WEATHER = {"type": "function", "function": {"name": "get_weather", "description": "The weather.", "parameters": PARAMETERS}}
FLAT_WEATHER = {"type": "function", **WEATHER["function"], "strict": False}
task = Tasks()


def check(arguments):
    assert set(arguments) - {"exact"} == {"city", "day"} and arguments["day"] in ("today", "tomorrow"), arguments


@task
def openai_gets_the_same_call_whole_and_in_pieces(client, model):
    fields = {
        "model": model, "messages": QUESTION, "tools": [WEATHER], "tool_choice": "required", "parallel_tool_calls": False,
        "temperature": 0, "max_tokens": 200,
    }
    whole = client.chat.completions.create(**fields)
    call = whole.choices[0].message.tool_calls[0]
    assert whole.choices[0].finish_reason == "tool_calls" and call.function.name == "get_weather", whole
    check(json.loads(call.function.arguments))
    chunks = list(client.chat.completions.create(**fields, stream=True))
    parts = [part for chunk in chunks if chunk.choices for part in chunk.choices[0].delta.tool_calls or []]
    first, rest = parts[0], parts[1:]
    assert first.id and first.type == "function" and first.function.name == "get_weather", first
    assert first.function.arguments == "", first
    assert len(rest) >= 2 and all(part.id is None and part.function.name is None for part in rest), rest
    assert "".join(part.function.arguments for part in rest) == call.function.arguments, rest
    with client.chat.completions.stream(**fields) as stream:
        final = stream.get_final_completion()
    assert final.choices[0].message.tool_calls[0].function.arguments == call.function.arguments, final


@task
def openai_answers_a_call_with_what_the_tool_gave(client, model):
    fields = {"model": model, "tools": [WEATHER], "temperature": 0, "max_tokens": 200}
    asked = client.chat.completions.create(messages=QUESTION, tool_choice="required", **fields).choices[0].message
    given = [{"role": "tool", "tool_call_id": call.id, "content": "rain"} for call in asked.tool_calls]
    told = client.chat.completions.create(messages=[*QUESTION, asked, *given], tool_choice="none", **fields)
    assert told.choices[0].message.content and not told.choices[0].message.tool_calls, told


@task
def openai_gets_a_call_as_the_items_of_a_response(client, model):
    fields = {
        "model": model, "input": QUESTION, "tools": [FLAT_WEATHER], "tool_choice": "required", "parallel_tool_calls": False,
        "temperature": 0, "max_output_tokens": 200,
    }
    whole = client.responses.create(**fields)
    call = whole.output[0]
    assert call.type == "function_call" and call.status == "completed", whole
    check(json.loads(call.arguments))
    with client.responses.stream(**fields) as stream:
        events = list(stream)
    deltas = [event.delta for event in events if event.type == "response.function_call_arguments.delta"]
    done = [event.arguments for event in events if event.type == "response.function_call_arguments.done"]
    assert len(deltas) >= 2 and "".join(deltas) == call.arguments and done == [call.arguments], events


@task
def anthropic_uses_a_tool_whole_and_in_pieces(client, model):
    claude = anthropic.Anthropic(base_url=str(client.base_url).removesuffix("/v1/"), api_key="unused", max_retries=0)
    fields = {
        "model": model, "messages": QUESTION, "max_tokens": 200, "extra_body": {"temperature": 0},
        "tools": [{"name": "get_weather", "description": "The weather.", "input_schema": PARAMETERS}],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
    }
    whole = claude.messages.create(**fields)
    assert whole.stop_reason == "tool_use" and whole.content[0].name == "get_weather", whole
    check(whole.content[0].input)
    with claude.messages.stream(**fields) as stream:
        pieces = [event.partial_json for event in stream if event.type == "input_json"]
        final = stream.get_final_message()
    assert len(pieces) >= 2 and json.loads("".join(pieces)) == whole.content[0].input == final.content[0].input, final


@task
def openai_gets_a_document_or_calls_where_both_may_be(client, model):
    schema = {"type": "object", "properties": {"sky": {"enum": ["blue", "grey"]}}, "required": ["sky"], "additionalProperties": False}
    form = {"type": "json_schema", "json_schema": {"name": "sky", "schema": schema}}
    for seed in range(8):
        choice = client.chat.completions.create(
            model=model, messages=QUESTION, tools=[WEATHER], response_format=form, temperature=1, seed=seed, max_tokens=300
        ).choices[0]
        calls = choice.message.tool_calls or []
        if calls and choice.finish_reason == "tool_calls":
            assert not choice.message.content, choice
            for call in calls:
                check(json.loads(call.function.arguments))
        elif not calls:
            assert json.loads(choice.message.content)["sky"] in ("blue", "grey"), choice


@task
def openai_gets_no_drafts_and_the_same_call(client, model):
    fields = {
        "model": model, "messages": QUESTION, "tools": [WEATHER], "tool_choice": "required", "temperature": 1, "seed": 5,
        "max_tokens": 200,
    }
    drafted = client.chat.completions.create(**fields)
    plain = client.chat.completions.create(**fields, extra_body={"speculation": {"enabled": False}})
    told = [[call.function for call in answer.choices[0].message.tool_calls] for answer in (drafted, plain)]
    assert told[0] == told[1], told


def with_template(model, words, folder):
    """A model folder that differs in its template alone."""
    for file in pathlib.Path(model).resolve().iterdir():
        if file.name != "chat_template.jinja":
            (folder / file.name).symlink_to(file)
    (folder / "chat_template.jinja").write_text(TEMPLATE % words)


def main():
    slipstream, model = sys.argv[1:]
    failed = 0
    for form, words in (("Hermes'", HERMES), ("Python's", PYTHONIC)):
        with tempfile.TemporaryDirectory() as folder:
            with_template(model, words, pathlib.Path(folder))
            with server(slipstream, folder) as port:
                client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="unused", max_retries=0)
                name = client.models.list().data[0].id
                failed += task.run(client, name, where=f", {form} form")
    ended(failed)


if __name__ == "__main__":
    main()
