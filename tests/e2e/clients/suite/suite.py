#!/usr/bin/env python3
"""Samples documents of the schemas of JSON-Schema-Test-Suite while a drafter proposes forbidden tokens, and validates each.

Usage: suite.py BUILD MODEL SUITE [--samples N] [--again N] [--streams N] [--max-tokens N]
BUILD: a build folder. SUITE: the suite's tests/draft2020-12. All schemas of its files are asked, those of optional/ are not. A
schema is either refused by a clear 400, or sampled from at temperature 1 by turns until N whole documents were validated by the
package jsonschema. The first N questions are asked again without drafts, and must have the same bytes. `make schemas` runs it.
"""

import argparse
import collections
import concurrent.futures
import itertools
import json
import pathlib
import re
import sys

import jsonschema
from asking import ask
from cluster import running

PROBE_TOKENS = 1  # enough to learn whether a schema is taken
REFUSAL = "`response_format` cannot be followed: "
DETAIL = re.compile(r"[:;] |, got| '| /")  # where a refusal's kind ends, and what is special to the schema begins
CONTROL = 24  # questions without a schema, where nothing is forbidden
TAKEN_LEAST = 149  # schemas that the service took in 2026: it may take more, and never fewer


class Schema:
    """A schema of the suite, and the name by which it is reported."""

    def __init__(self, file, group):
        self.name, self.schema = f"{file.stem}: {group['description']}", group["schema"]
        self.validator = jsonschema.Draft202012Validator(self.schema)


def read_suite(folder):
    return [Schema(file, group) for file in sorted(folder.glob("*.json")) for group in json.loads(file.read_text())]


class Tally:
    def __init__(self):
        self.count, self.wrong, self.schemas = collections.Counter(), [], set()

    def judge(self, schema, seed, answer, plain):
        kind = self.kind_of(schema, answer)
        self.count[kind] += 1
        self.count["again"] += plain is not None
        if plain is not None and plain != answer:
            self.note("differing", schema, seed, answer, plain)
        if kind in ("invalid", "failed"):
            self.note(kind, schema, seed, answer)
        if kind == "valid":
            self.schemas.add(schema.name)

    def kind_of(self, schema, answer):
        if answer.status != 200:
            return "failed"
        if answer.reason != "stop":
            return "cut at max_tokens"
        return "valid" if is_valid(schema, answer.text) else "invalid"

    def note(self, kind, schema, seed, *answers):
        self.count["differing"] += kind == "differing"
        self.wrong.append({"what": kind, "schema": schema.name, "seed": seed, "answers": answers, "of": schema.schema})


def is_valid(schema, text):
    try:
        return schema.validator.is_valid(json.loads(text))
    except ValueError:  # no JSON
        return False


def show(line):
    if sys.stderr.isatty():
        print(f"\r{line:100}", end="", file=sys.stderr, flush=True)


def probe(pool, url, schemas):
    """(the schemas that are taken, {kind: sentences of those refused}); any other answer than 200 and 400 ends the run."""
    taken, refused = [], collections.defaultdict(list)
    for schema, answer in zip(schemas, pool.map(lambda one: ask(url, one.schema, 1, True, PROBE_TOKENS), schemas)):
        show(f"asking which schemas are taken: {len(taken)}, refused {sum(map(len, refused.values()))}")
        if answer.status == 200:
            taken.append(schema)
        elif answer.status == 400 and answer.text:
            why = answer.text.removeprefix(REFUSAL)
            refused[DETAIL.split(why)[0]].append(f"{why} ({schema.name})")
        else:
            raise SystemExit(f"{schema.name}: {answer}")
    return taken, refused


def sample(pool, url, schemas, options):
    tally, turns = Tally(), zip(itertools.count(1), itertools.cycle(schemas))

    def one(turn):
        seed, schema = turn
        answer = ask(url, schema.schema, seed, True, options.max_tokens)
        plain = ask(url, schema.schema, seed, False, options.max_tokens) if seed <= options.again else None
        return schema, seed, answer, plain

    waiting = {pool.submit(one, next(turns)) for _ in range(options.streams)}
    while waiting:
        done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            tally.judge(*future.result())
            show(" ".join(f"{kind} {number}," for kind, number in tally.count.items()))
            if tally.count["valid"] + tally.count["invalid"] + len(waiting) < options.samples:
                waiting.add(pool.submit(one, next(turns)))
    return tally


def trimmed(cluster, work):
    """What `work` returns, and what became of the draft nodes that reached the verifier meanwhile: {fate: nodes}."""
    before = cluster.fates()
    result = work()
    after = {fate: nodes - before[fate] for fate, nodes in cluster.fates().items()}
    return result, after


def words_of(fates):
    return f"{fates['trimmed']} of {sum(fates.values())} draft nodes cut before they were verified, {fates['accepted']} accepted"


def report(schemas, refused, tally, forbidden, control):
    print(f"{len(schemas)} schemas: {sum(map(len, refused.values()))} refused by a 400, {len(tally.schemas)} with a valid document")
    for ones in sorted(refused.values(), key=len, reverse=True):
        print(f"  {len(ones)} like {ones[0]}")
    print(", ".join(f"{tally.count[kind]} {kind}" for kind in ("valid", "invalid", "cut at max_tokens", "failed")))
    print(f"{tally.count['again']} asked again without drafts, {tally.count['differing']} differing")
    print(f"under schemas {words_of(forbidden)}; without a schema {words_of(control)}")
    for one in tally.wrong:
        print(json.dumps(one))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("model")
    parser.add_argument("suite", type=pathlib.Path)
    for flag, default in {"--samples": 2000, "--again": 1000, "--streams": 8, "--max-tokens": 40}.items():
        parser.add_argument(flag, type=int, default=default)
    options = parser.parse_args()
    schemas = read_suite(options.suite)
    with running(options.build, options.model) as cluster, concurrent.futures.ThreadPoolExecutor(options.streams) as pool:
        free = lambda: list(pool.map(lambda seed: ask(cluster.url, None, seed, True, options.max_tokens), range(CONTROL)))
        _, control = trimmed(cluster, free)
        taken, refused = probe(pool, cluster.url, schemas)
        tally, forbidden = trimmed(cluster, lambda: sample(pool, cluster.url, taken, options))
    report(schemas, refused, tally, forbidden, control)
    faults = list(filter(None, (
        "no draft node was cut under a schema: nobody proposed a forbidden token" if forbidden["trimmed"] == 0 else "",
        "drafts were cut without a schema, so cut ones prove nothing" if control["trimmed"] > 0 else "",
        f"only {len(taken)} schemas were taken, {TAKEN_LEAST} once were" if len(taken) < TAKEN_LEAST else "")))
    for fault in faults:
        print(fault)
    return 1 if tally.wrong or faults or tally.count["valid"] < options.samples else 0


if __name__ == "__main__":
    sys.exit(main())
