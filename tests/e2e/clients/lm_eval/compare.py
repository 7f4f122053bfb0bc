#!/usr/bin/env python3
"""Compares lm-eval's answers to the same items. Usage: compare.py FOLDER FOLDER

Each folder is the --output_path of a run of lm_eval with --log_samples on slipstream_capitals, the first of
transformers, the second of a server. Prints how far the log likelihoods of the choices are apart, and how many items
are scored differently.
"""

import json
import pathlib
import sys


def samples(folder):
    """[items] Each with the log likelihoods of its choices, and its scores."""
    (log,) = pathlib.Path(folder).rglob("samples_slipstream_capitals_*.jsonl")
    return sorted(map(json.loads, log.read_text().splitlines()), key=lambda item: item["doc_id"])


def main():
    one, other = map(samples, sys.argv[1:])
    assert [item["doc_hash"] for item in one] == [item["doc_hash"] for item in other], "other items"
    apart = sorted(
        abs(float(a[0][0]) - float(b[0][0])) for x, y in zip(one, other) for a, b in zip(x["resps"], y["resps"], strict=True)
    )
    print(f"{len(apart)} choices, nats apart: mean {sum(apart) / len(apart):.5f}, largest {apart[-1]:.5f}")
    for score in ("acc", "acc_norm"):
        first, second = (sum(item[score] for item in items) / len(items) for items in (one, other))
        differ = sum(a[score] != b[score] for a, b in zip(one, other))
        print(f"{score}: {first:.3f} and {second:.3f}, {differ} of {len(one)} items differ")


if __name__ == "__main__":
    main()
