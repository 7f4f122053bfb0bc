#!/usr/bin/env python3
"""Verifiers on libtorch (the image torch-cpu) on the cluster of `make cluster-test`: torch_test.py [--out FOLDER] [--keep].

1. The release is installed with verifier.device torch-cpu: the verifiers alone have the image with
   libtorch, and their log says that torch computes.
2. Each question is asked without drafts and then with them, several at once: the words are the same,
   and drafts were accepted.
3. A verifier is killed while both answer: another takes its answers over, with the same words.
It fails if an answer failed or has other words.
"""
import argparse
import json
import pathlib
import re
import sys
import urllib.parse

import cluster_test as base
import steady
import under_load

FLAVOUR = "torch-cpu"
VALUES = {"verifier": {"device": FLAVOUR, "replicas": 2, "resources": {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {"memory": "3Gi"}}}}


def images(component):
    listed = json.loads(base.kubectl("get", "pods", "-l", f"app.kubernetes.io/component={component}", "-o", "json"))
    return {container["image"] for pod in listed["items"] for container in pod["spec"]["containers"]}


def check_images():
    for component, suffix in (("router", ""), ("verifier", f"-{FLAVOUR}"), ("drafter", "")):
        if images(component) != {f"localhost/slipstream:0.1.0{suffix}"}:
            raise base.Failed(f"the {component}s have the images {images(component)}")
    for name in base.pods("verifier"):
        if "torch 2." not in base.kubectl("logs", name):
            raise base.Failed(f"the log of {name} does not say that torch computes")


def draft_tokens():
    """{fate: tokens} of all drafts that the verifiers had so far."""
    fates = {}
    for ip in base.kubectl("get", "pods", "-l", "app.kubernetes.io/component=verifier", "-o", "jsonpath={.items[*].status.podIP}").split():
        page = base.inside("curl", "-sf", f"http://{ip}:9100/metrics").stdout
        for fate, tokens in re.findall(r'^slipstream_verifier_draft_nodes_total{.*fate="(\w+)".*} (\S+)$', page, re.MULTILINE):
            fates[fate] = fates.get(fate, 0) + int(float(tokens))
    return fates


def answers(url, out, amid=None):
    """The lines of steady.py: each question once or more, two at a time, with drafts. `amid` is done after the first answer, while
    two others are under way."""
    out.unlink(missing_ok=True)
    asking = under_load.Steady(url, 2, out)
    try:
        if amid:
            base.wait_for("the first answer has come", asking.lines, 300)
            amid()
        base.wait_for("each question has its answer", lambda: len(asking.lines()) >= len(steady.QUESTIONS), 600)
    finally:
        asking.stop()
    return asking.lines()


def compare(lines, expected, what):
    failed = [line["error"] for line in lines if line["error"]]
    wrong = [line["question"] for line in lines if not line["error"] and line["words"] != expected[line["question"]]]
    base.say(f"{what}: {len(lines)} answers, {len(failed)} failed, {len(wrong)} with other words")
    if failed or wrong:
        raise base.Failed(f"{what}: {failed[:3]}, other words for the questions {sorted(set(wrong))}")


def lose_verifier():
    base.kubectl("delete", "pod", base.pods("verifier")[0], "--wait=false", *base.KILL)


def test(arguments):
    base.say("the cluster comes up")
    base.bring_up(arguments.images)
    base.run(base.CLUSTER / "load", arguments.images / f"slipstream-{FLAVOUR}.tar")
    values = arguments.out / "torch.json"
    values.write_text(json.dumps(VALUES), encoding="utf-8")
    base.install("-f", values)
    for role in ("router", "verifier", "drafter-ngram"):
        base.rolled_out(role)
    check_images()
    url = base.service_url()
    base.say(f"asked without drafts at {urllib.parse.urlsplit(url).netloc}")
    expected = base.expected_words(url)
    compare(answers(url, arguments.out / "drafts.jsonl"), expected, "with drafts")
    tokens = draft_tokens()
    base.say(f"draft tokens by their fate: {json.dumps(tokens)}")
    if not tokens.get("accepted"):
        raise base.Failed("no draft was accepted, so nothing was compared")
    compare(answers(url, arguments.out / "lost.jsonl", lose_verifier), expected, "with a verifier killed")
    base.uninstall()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    base.add_arguments(parser, pathlib.Path("build/torch-image-test"))
    return base.run_test(parser.parse_args(), test)


if __name__ == "__main__":
    sys.exit(main())
