"""Measures structured output through the real service: what a mask costs a token, and what drafting by the grammar brings.

    python3 bench/structured.py build/release/tools/slipstream/slipstream models/smollm2-135m-instruct.gguf [options] [-- options of serve]

For each kind of schema the same prompts are answered three ways, by turns: as free text without drafts, under the schema without drafts,
and under the schema with drafts. Times are those of the tokens after the first. `mask` is what a token takes longer under the schema than
free, without drafts. Two answers under the schema that differ are counted: there must be none.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "peers"))
import servers  # noqa: E402

TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}


def document(**properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


KINDS = {
    "a record": document(name=TEXT, age=NUMBER, city=TEXT, occupation=TEXT, likes_music=FLAG),
    "labels": document(
        sentiment={"enum": ["positive", "negative", "neutral"]},
        language={"enum": ["English", "French", "German"]},
        is_question=FLAG,
        priority={"enum": ["low", "medium", "high"]},
    ),
    "a list": document(items={"type": "array", "minItems": 2, "maxItems": 5, "items": document(title=TEXT, price=NUMBER, in_stock=FLAG)}),
    "prose in JSON": document(summary={"type": "string", "minLength": 100, "maxLength": 400}),
}
SUBJECTS = ["a nurse in a small town", "a shop that sells tea", "a long train ride", "an old lighthouse", "a football match", "a new phone"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("model")
    parser.add_argument("--prompts", type=int, default=len(SUBJECTS), help="of each kind")
    parser.add_argument("--tokens", type=int, default=160)
    parser.add_argument("--temperature", type=float, default=0)
    parser.add_argument("--threads", type=int, default=0)
    options, serve_flags = servers.parse(parser)
    table = []
    with tempfile.TemporaryDirectory() as folder, servers.ours(
        options.slipstream, options.model, folder + "/log", options.threads, *serve_flags
    ) as server:
        for kind, schema in KINDS.items():
            form = {"response_format": {"type": "json_schema", "json_schema": {"name": "it", "schema": schema}}}
            ways = {"free": (False, {}), "plain": (False, form), "drafted": (True, form)}
            seconds, tokens, steps, same = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0), 0.0, 0
            for number, subject in enumerate(SUBJECTS[: options.prompts]):
                answers = {}
                for way in sorted(ways, reverse=bool(number % 2)):
                    drafts, fields = ways[way]
                    answers[way] = servers.ask(server, f"Describe {subject}.", options.tokens, temperature=options.temperature, seed=number,
                                               speculation={"enabled": drafts}, ignore_eos=False, **fields)
                for way, answer in answers.items():
                    seconds[way] += answer.decode_s()
                    tokens[way] += answer.tokens - 1
                steps += answers["drafted"].tokens / answers["drafted"].tokens_per_step
                same += answers["plain"].text == answers["drafted"].text
            rate = {way: tokens[way] / seconds[way] for way in ways}
            table.append((kind, rate, tokens["drafted"] / steps, 1e6 / rate["plain"] - 1e6 / rate["free"], same))
            print(f"{kind}: {rate['drafted'] / rate['free']:.2f}", flush=True)
    print(f"\ntemperature {options.temperature:g}\n")
    print("| answers | free text, tokens/s | under the schema | with drafts | tokens a step | drafts to free text | mask, us a token | same words |")
    print("|---|---|---|---|---|---|---|---|")
    for kind, rate, per_step, mask, same in table:
        print(f"| {kind} | {rate['free']:.0f} | {rate['plain']:.0f} | {rate['drafted']:.0f} | {per_step:.2f} | "
              f"{rate['drafted'] / rate['free']:.2f} | {mask:.0f} | {same} of {options.prompts} |")
    mean = statistics.geometric_mean(rate["drafted"] / rate["free"] for _, rate, _, _, _ in table)
    print(f"| all | | | | | {mean:.2f} | | |")


if __name__ == "__main__":
    main()
