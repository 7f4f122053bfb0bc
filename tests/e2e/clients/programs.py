#!/usr/bin/env python3
"""Programs that people point at a server do real tasks with a real one.

Usage: programs.py SLIPSTREAM MODEL CLIENTS. MODEL is the demo's folder, with its GGUF file beside it, and CLIENTS the
folder into which `make clients` installs.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from serving import server
from tasks import Tasks, ended

HERE = pathlib.Path(__file__).parent
QUESTION = "What is the capital of France?"
TIMEOUT_SECONDS = 600
TOKENS = 24
# No program asks anybody but the server.
ALONE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True", "HF_DATASETS_OFFLINE": "1", "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1", "OPENAI_API_KEY": "unused",
}


class Place:
    """Where a task runs: the server, the model, the clients, and a folder of its own."""

    def __init__(self, url, model, clients):
        self.url, self.model, self.clients = url, model, clients
        self.name = model.name

    def run(self, program, *arguments, cwd=None, expected=0, **environment):
        """What the program printed. It must end as expected."""
        with tempfile.TemporaryDirectory() as home:
            ran = subprocess.run(
                [self.clients / program, *map(str, arguments)],
                env={**os.environ, "HOME": home, **ALONE, **environment}, cwd=cwd or home, timeout=TIMEOUT_SECONDS,
                capture_output=True, text=True, stdin=subprocess.DEVNULL,
            )
        assert ran.returncode == expected, f"it ended with {ran.returncode}: {(ran.stdout + ran.stderr)[-1500:]}"
        return ran.stdout


def version_of(package):
    """The version that is installed; None: it is not."""
    if package == "promptfoo":
        manifest = CLIENTS / "node/node_modules/promptfoo/package.json"
        return json.loads(manifest.read_text())["version"] if manifest.exists() else None
    metadata = f"lib/python3*/site-packages/{package.replace('-', '_')}-*.dist-info"
    for folder in ("", "aider", "guidellm", "load"):
        for found in (CLIENTS / folder).glob(metadata):
            return found.name.removesuffix(".dist-info").rsplit("-", 1)[1]
    return None


task = Tasks(version_of)


@task
def llm_prompts_streams_and_fills_a_schema(place):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "extra-openai-models.yaml").write_text(json.dumps([
            {"model_id": "demo", "model_name": place.name, "api_base": place.url + "/v1", "supports_schema": True}
        ]))
        ask = ("-m", "demo", "-o", "temperature", 0, "-o", "max_tokens", 200)
        streamed = place.run("bin/llm", *ask, QUESTION, LLM_USER_PATH=folder)
        whole = place.run("bin/llm", *ask, "--no-stream", QUESTION, LLM_USER_PATH=folder)
        assert "Paris" in streamed and streamed == whole, (streamed, whole)
        filled = place.run("bin/llm", *ask, "--schema", "name, age int", "Describe a person.", LLM_USER_PATH=folder)
        assert isinstance(json.loads(filled)["age"], int), filled
        logged = json.loads(place.run("bin/llm", "logs", "--json", LLM_USER_PATH=folder))
        assert len(logged) == 3 and all(one["input_tokens"] > 5 and one["output_tokens"] > 3 for one in logged), logged


@task
def aider_answers_a_question_in_a_terminal(place):
    told = place.run(
        "aider/bin/aider", "--model", "openai/" + place.name, "--openai-api-base", place.url + "/v1", "--no-git",
        "--yes-always", "--no-show-model-warnings", "--no-check-update", "--analytics-disable", "--no-pretty",
        "--no-show-release-notes", "--edit-format", "ask", "--message", QUESTION,
    )
    assert "Paris" in told and re.search(r"Tokens: \d+ sent, \d+ received", told), told


@task
def promptfoo_evaluates_answers_and_a_schema(place):
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
    fields = {"apiBaseUrl": place.url + "/v1", "apiKey": "unused", "temperature": 0, "max_tokens": 100}
    form = {"type": "json_schema", "json_schema": {"name": "city", "strict": True, "schema": schema}}
    test = {"vars": {"question": QUESTION}, "assert": [{"type": "contains", "value": "Paris"}]}
    cases = [
        (fields, test),
        ({**fields, "response_format": form}, {**test, "assert": [{"type": "is-json", "value": schema}]}),
    ]
    for config, one in cases:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "config.json").write_text(json.dumps(
                {"providers": [{"id": "openai:chat:" + place.name, "config": config}], "prompts": ["{{question}}"], "tests": [one]}
            ))
            place.run(
                "bin/node", place.clients / "node/node_modules/promptfoo/dist/src/main.js", "eval", "-c", "config.json", "-o",
                "out.json", "--no-cache", "--no-progress-bar", cwd=folder, PROMPTFOO_CONFIG_DIR=folder,
            )
            results = json.loads(pathlib.Path(folder, "out.json").read_text())["results"]
        assert results["stats"]["successes"] == 1 and results["stats"]["tokenUsage"]["completion"] > 3, results["stats"]


@task
def locust_loads_the_server_with_users_of_openais_client(place):
    told = place.run(
        "bin/locust", "-f", HERE / "locustfile.py", "--headless", "-u", 4, "-r", 4, "-t", "10s", "--stop-timeout", "30",
        "--json", "--only-summary", "-H", place.url, OPENAI_BASE_URL=place.url + "/v1",
    )
    rows = {row["name"]: row for row in json.loads(told)}
    assert set(rows) == {"/v1/responses", "stream"}, rows
    for row in rows.values():
        assert row["num_requests"] >= 2 and row["num_failures"] == 0, row


@task
def guidellm_benchmarks_a_rate_of_two_streams(place):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        data = {"prompt_tokens": 64, "output_tokens": TOKENS}
        place.run(
            "guidellm/bin/guidellm", "benchmark", "run", "--target", place.url, "--processor", place.model, "--data",
            json.dumps(data), "--rate-type", "concurrent", "--rate", 2, "--max-requests", 6, "--output-path", report,
            "--disable-progress",
        )
        figures = json.loads(report.read_text())["benchmarks"][0]
    totals, tokens = figures["request_totals"], figures["metrics"]["output_token_count"]["successful"]
    assert totals["successful"] >= 6 and totals["errored"] == 0, totals
    assert tokens["mean"] == TOKENS, tokens
    assert figures["metrics"]["time_to_first_token_ms"]["successful"]["mean"] > 0, figures["metrics"]


@task
def aiperf_benchmarks_and_reports_speculation(place):
    with tempfile.TemporaryDirectory() as folder:
        place.run(
            "load/bin/aiperf", "profile", "-m", place.name, "--url", place.url, "--endpoint-type", "chat", "--streaming",
            "--tokenizer", place.model, "--concurrency", 2, "--request-count", 6, "--isl", 64, "--osl", TOKENS,
            "--extra-inputs", "ignore_eos:true", "--extra-inputs", "temperature:0", "--artifact-dir", folder, "--ui", "none",
            "--use-server-token-count",
        )
        figures = json.loads(pathlib.Path(folder, "profile_export_aiperf.json").read_text())
        log = pathlib.Path(folder, "logs/aiperf.log").read_text()
    assert figures["request_count"]["avg"] == 6 and not figures["error_summary"], figures["error_summary"]
    assert figures["output_sequence_length"]["avg"] == TOKENS, figures["output_sequence_length"]
    told = [name for name in figures if "acceptance" in name or "spec_decode" in name]
    assert told and "malformed" not in log, (list(figures), [line for line in log.splitlines() if "malformed" in line][:2])


def lm_eval(place, kind, path, task_name, *more):
    """The figures of a local task, whose items lie in lm_eval/."""
    model = f"model={place.name},base_url={place.url}/v1/{path},tokenizer={place.model},num_concurrent=4"
    with tempfile.TemporaryDirectory() as folder:
        place.run(
            "load/bin/lm_eval", "--model", kind, "--include_path", ".", "--tasks", task_name, "--output_path", folder,
            "--model_args", model + "".join("," + one for one in more if "=" in one), *(one for one in more if "=" not in one),
            cwd=HERE / "lm_eval",
        )
        (report,) = pathlib.Path(folder).rglob("results*.json")
        return json.loads(report.read_text())["results"][task_name]


@task
def lmeval_scores_multiple_choice_by_prompt_logprobs(place):
    figures = lm_eval(place, "local-completions", "completions", "slipstream_capitals", "tokenized_requests=True")
    assert 0.7 <= figures["acc,none"] <= 0.85, figures  # transformers in float32: 0.775


@task
def lmeval_scores_generated_answers_of_chats(place):
    figures = lm_eval(place, "local-chat-completions", "chat/completions", "slipstream_questions", "--apply_chat_template")
    assert 0.5 <= figures["exact_match,city"] <= 0.8, figures


def main():
    global CLIENTS
    slipstream, model, clients = sys.argv[1], pathlib.Path(sys.argv[2]).absolute(), pathlib.Path(sys.argv[3]).absolute()
    CLIENTS = clients
    with server(slipstream, f"{model}.gguf") as port:
        ended(task.run(Place(f"http://127.0.0.1:{port}", model, clients)))


if __name__ == "__main__":
    main()
