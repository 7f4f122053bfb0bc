#!/usr/bin/env python3
"""KEDA's real operator scales a pool of drafters by what it is worth: keda_test.py [--out FOLDER] [--keep].

The release has no drafter at first. Then, in turn, requests come
1. whose answers repeat themselves, so that drafts are accepted: a drafter is tried, and stays;
2. whose answers are noise, so that hardly a draft is accepted: the pool goes to zero;
3. that repeat again: a drafter comes back.
No answer may fail. It prints how many drafters there were and what they brought, every few seconds.
"""
import argparse
import os
import pathlib
import sys
import time

import cluster_test as base
import watch

POOL = "drafter-ngram"
PAYS = 3  # accepted tokens a second that a drafter must bring
PHASE_S = 240
LOOK_S = 5
AUTOSCALING = {"enabled": "true", "min": 0, "max": 3, "acceptedPerDrafter": PAYS, "pollingSeconds": 2, "cooldownSeconds": 20,
               "windowSeconds": 15, "probeSeconds": 30, "prometheus": f"http://{watch.ADDRESS}"}
# A drafter that is only tried goes after the cooldown; one that stays for longer stays for its worth.
STAYS = 3 * AUTOSCALING["cooldownSeconds"] // LOOK_S


def install_keda():
    images = pathlib.Path(os.environ["SK8S"]) / "images"
    base.run(base.CLUSTER / "load", *[images / f"{name}.tar" for name in ("keda", "keda-adapter", "keda-admission-webhooks")])
    source = pathlib.Path(os.environ["SK8S"]) / "src" / "keda" / "config" / "default"
    manifests = base.inside("kubectl", "kustomize", source).stdout
    lines = []
    for line in manifests.splitlines():
        head, found, image = line.partition("image: ")
        if found:
            name = image.strip('"').rsplit("/", 1)[-1].split(":")[0]
            line = f"{head}image: localhost/{name.replace('keda-metrics-apiserver', 'keda-adapter')}:1"
        lines.append(line.replace("imagePullPolicy: Always", "imagePullPolicy: Never"))
    file = pathlib.Path(os.environ["SK8S"]) / "run" / "keda.yaml"
    file.write_text("\n".join(lines), encoding="utf-8")
    base.inside("kubectl", "apply", "--server-side", "--force-conflicts", "-f", file)
    for name in ("keda-operator", "keda-metrics-apiserver", "keda-admission"):
        base.inside("kubectl", "-n", "keda", "rollout", "status", f"deploy/{name}", "--timeout=240s")
    base.inside("kubectl", "wait", "--for=condition=Available", "apiservice/v1beta1.external.metrics.k8s.io", "--timeout=120s")


def drafters():
    return int(base.kubectl("get", base.deployment(POOL), "-o", "jsonpath={.spec.replicas}") or 0)


class Phase:
    """Requests of a kind, until the pool is as it should be."""

    def __init__(self, arguments, prometheus, url):
        self.arguments, self.prometheus, self.url, self.lines = arguments, prometheus, url, []

    def tell(self, kind, began, count):
        brings = self.prometheus.value(
            f'sum(rate(slipstream_verifier_draft_depth_accepted_nodes_total{{method="ngram"}}[{AUTOSCALING["windowSeconds"]}s]))', 0.0)
        base.say(f"{kind}, {time.monotonic() - began:3.0f} s: {count} drafters, {brings:.1f} accepted tokens a second")

    def run(self, kind, wanted, looks):
        """wanted(count): whether the pool is as it should be. It must stay so for `looks` looks."""
        steady = base.Steady(self.url, self.arguments.streams, self.arguments.out / f"{kind}-{len(self.lines)}.jsonl", kind)
        began, so = time.monotonic(), 0
        try:
            while so < looks:
                time.sleep(LOOK_S)
                count = drafters()
                self.tell(kind, began, count)
                so = so + 1 if wanted(count) else 0
                if time.monotonic() - began > PHASE_S:
                    raise base.Failed(f"{kind}: {count} drafters after {PHASE_S} s")
        finally:
            steady.stop()
        lines = steady.lines()
        self.lines += lines
        if faults := [line["error"] for line in lines if line["error"]]:
            raise base.Failed(f"{kind}: {len(faults)} of {len(lines)} answers failed, as in: {faults[0]}")


def test(arguments):
    base.say("the cluster comes up, with KEDA")
    base.bring_up(arguments.images)
    install_keda()
    prometheus = watch.Prometheus(arguments.out, base.NAMESPACE)
    try:
        settings = [f"drafterPools.ngram.autoscaling.{name}={value}" for name, value in AUTOSCALING.items()]
        base.install("--set", ",".join(settings))
        base.wait_for("the pool goes to zero while nobody asks", lambda: drafters() == 0, PHASE_S)
        base.say("at rest: no drafters")
        phase = Phase(arguments, prometheus, base.service_url())
        phase.run("repeating", lambda count: count >= 1, STAYS)
        phase.run("noise", lambda count: count == 0, 3)
        phase.run("repeating", lambda count: count >= 1, STAYS)
        base.say(f"{len(phase.lines)} answers, none failed")
    finally:
        prometheus.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    base.add_arguments(parser, pathlib.Path("build/keda-test"))
    return base.run_test(parser.parse_args(), test)


if __name__ == "__main__":
    sys.exit(main())
