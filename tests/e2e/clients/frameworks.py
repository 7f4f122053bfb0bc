#!/usr/bin/env python3
"""Frameworks on top of OpenAI's client do real tasks with a real server. Usage: frameworks.py SLIPSTREAM MODEL_FOLDER

The demo's model was not taught any calls of tools, so its template is replaced by one that teaches them, as in
tool_calls.py. The words are its own.
"""

import asyncio
import pathlib
import sys
import tempfile
from typing import Literal

import instructor
import openai
import pydantic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAI
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from serving import server
from tasks import Tasks, ended
from tool_calls import HERMES, with_template

QUESTION = "What is the capital of France?"
DESCRIBE = "Describe a person."
task = Tasks()


class Pet(pydantic.BaseModel):  # a schema refers to it
    model_config = pydantic.ConfigDict(extra="forbid")
    kind: Literal["cat", "dog"]


class Person(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    name: str = pydantic.Field(max_length=40)
    age: int = pydantic.Field(ge=0, le=120)
    pets: list[Pet] = pydantic.Field(max_length=2)


@tool
def get_weather(city: Literal["Paris", "Rome"], day: Literal["today", "tomorrow"]) -> str:
    """Tells the weather of a city."""
    return f"It rains in {city} {day}."


def langchain(url, model, **fields):
    return ChatOpenAI(base_url=url, api_key="unused", model=model, max_retries=0, **{"temperature": 0, **fields})


@task
def langchain_invokes_and_streams_with_the_same_words(url, model):
    chat = langchain(url, model, max_tokens=24, stream_usage=True)
    whole = chat.invoke([HumanMessage(QUESTION)])
    assert "Paris" in whole.content and whole.usage_metadata["input_tokens"] > 5, whole
    parts = list(chat.stream(QUESTION))
    assert "".join(part.content for part in parts) == whole.content and len(parts) > 3, parts
    assert sum(part.usage_metadata["output_tokens"] for part in parts if part.usage_metadata) > 3, parts


@task
def langchain_batches_and_invokes_asynchronously(url, model):
    chat = langchain(url, model, max_tokens=8)
    batch = chat.batch([QUESTION] * 6)
    one = asyncio.run(chat.ainvoke(QUESTION))
    assert {answer.content for answer in batch} == {one.content}, (batch, one)


@task
def langchain_invokes_the_responses_api(url, model):
    answer = langchain(url, model, max_tokens=24, use_responses_api=True).invoke(QUESTION)
    assert "Paris" in answer.text, answer
    parts = list(langchain(url, model, max_tokens=24, use_responses_api=True).stream(QUESTION))
    assert "".join(part.text for part in parts) == answer.text, parts


@task
def langchain_gets_structured_output_of_each_method(url, model):
    for method in ("json_schema", "function_calling"):
        person = langchain(url, model, max_tokens=200).with_structured_output(Person, method=method).invoke(DESCRIBE)
        assert isinstance(person, Person), (method, person)


@task
def langchain_calls_a_tool_and_answers_with_its_result(url, model):
    chat = langchain(url, model, max_tokens=100)
    asked = chat.bind_tools([get_weather], tool_choice="any", parallel_tool_calls=False).invoke("The weather in Paris?")
    call = asked.tool_calls[0]
    assert call["name"] == "get_weather" and call["args"]["city"] in ("Paris", "Rome"), asked
    streamed = None
    for part in chat.bind_tools([get_weather], tool_choice="get_weather").stream("The weather in Paris?"):
        streamed = part if streamed is None else streamed + part
    assert streamed.tool_calls[0]["args"] == call["args"], streamed
    result = get_weather.invoke(call)
    assert isinstance(result, ToolMessage) and "rains" in result.content, result
    final = chat.bind_tools([get_weather], tool_choice="none").invoke([HumanMessage("The weather in Paris?"), asked, result])
    assert final.content and not final.tool_calls, final


@task
def langchain_completes_a_text(url, model):
    text = OpenAI(base_url=url, api_key="unused", model=model, temperature=0, max_tokens=4).invoke("The capital of France is")
    assert "Paris" in text, text


def instructed(url, mode):
    return instructor.from_openai(openai.OpenAI(base_url=url, api_key="unused", max_retries=0), mode=mode)


@task
def instructor_gets_a_class_in_each_mode(url, model):
    for mode in (instructor.Mode.TOOLS, instructor.Mode.TOOLS_STRICT, instructor.Mode.JSON_SCHEMA, instructor.Mode.RESPONSES_TOOLS):
        fields = {"max_output_tokens" if "responses" in mode.value else "max_tokens": 200}
        person = instructed(url, mode).chat.completions.create(
            model=model, messages=[{"role": "user", "content": DESCRIBE}], response_model=Person, max_retries=0, temperature=0,
            **fields,
        )
        assert isinstance(person, Person), (mode, person)


@task
def instructor_streams_a_class_as_it_grows(url, model):
    parts = list(instructed(url, instructor.Mode.TOOLS).chat.completions.create_partial(
        model=model, messages=[{"role": "user", "content": DESCRIBE}], response_model=Person, max_retries=0, temperature=0,
        max_tokens=200,
    ))
    assert len(parts) > 3 and Person.model_validate(parts[-1].model_dump()), parts


def agent(kind, url, model, **fields):
    made = kind(model, provider=OpenAIProvider(base_url=url, api_key="unused"))
    return Agent(made, model_settings={"temperature": 0, "max_tokens": 200}, retries=0, **fields)


@task
def pydanticai_runs_and_streams_with_the_same_words(url, model):
    async def streamed():
        async with agent(OpenAIChatModel, url, model).run_stream(QUESTION) as result:
            return [part async for part in result.stream_text(delta=True, debounce_by=None)]

    for kind in (OpenAIChatModel, OpenAIResponsesModel):
        whole = agent(kind, url, model).run_sync(QUESTION)
        assert "Paris" in whole.output, (kind, whole)
    assert "".join(asyncio.run(streamed())) == agent(OpenAIChatModel, url, model).run_sync(QUESTION).output


@task
def pydanticai_gets_a_class_by_a_tool_and_by_a_schema(url, model):
    for output in (Person, NativeOutput(Person)):
        for kind in (OpenAIChatModel, OpenAIResponsesModel):
            person = agent(kind, url, model, output_type=output).run_sync(DESCRIBE).output
            assert isinstance(person, Person), (output, kind, person)


def main():
    slipstream, model = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        with_template(model, HERMES, pathlib.Path(folder))
        with server(slipstream, folder) as port:
            url = f"http://127.0.0.1:{port}/v1"
            name = openai.OpenAI(base_url=url, api_key="unused").models.list().data[0].id
            ended(task.run(url, name))


if __name__ == "__main__":
    main()
