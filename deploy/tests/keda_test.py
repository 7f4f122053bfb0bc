#!/usr/bin/env python3
"""KEDA's real operator scales drafters by what they are worth and verifiers by their load: keda_test.py [--out FOLDER] [--keep].

The release has one verifier and no drafter at first. Then, in turn, requests come
1. whose answers repeat themselves, so that drafts are accepted: a drafter is tried, and stays;
2. whose answers are noise, so that hardly a draft is accepted: the pool goes to zero;
3. that repeat again: a drafter comes back;
4. so many at once that one verifier is not enough: there are as many as the requests need;
5. the same while Prometheus is gone: nothing is scaled;
6. one at a time: there are fewer verifiers.
No answer may fail, and but for noise none may have other words. It prints how many of each there were
and what they brought, every few seconds.
"""
import argparse
import os
import pathlib
import sys
import time

import cluster_test as base
import under_load
import watch

POOL = "drafter-ngram"
STREAMS, CROWD = 3, 8  # at once, few and many
GONE_S = 45  # without Prometheus; longer than all windows and cooldowns here
PAYS = 3  # accepted tokens a second that a drafter must bring
PHASE_S = 240
LOOK_S = 5
AUTOSCALING = {"enabled": "true", "min": 0, "max": 3, "acceptedPerDrafter": PAYS, "pollingSeconds": 2, "cooldownSeconds": 20,
               "windowSeconds": 15, "probeSeconds": 30, "prometheus": f"http://{watch.ADDRESS}"}
ROW_SHARE = 0.7  # as the chart's values.yaml has it
VERIFIERS = {"enabled": "true", "min": 1, "max": 3, "requestsPerVerifier": 3, "pollingSeconds": 2, "downSeconds": 20, "windowSeconds": 15,
             "prometheus": f"http://{watch.ADDRESS}"}
# Whether a draft is worth its row depends on the machine: on two busy cores with AVX2 alone four rows cost 2.4 times one, and
# verifiers ask for hardly a draft. A step of a fixed cost makes every draft worth it, as where rows cost little.
VERIFIER_ARGS = ("--wait-percent=100", "--head=none", "--step-cost-us=100000")
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


def replicas(role):
    return int(base.kubectl("get", base.deployment(role), "-o", "jsonpath={.spec.replicas}") or 0)


def scaling_query(name):
    """A query of the chart, filled in as templates/_names.tpl does."""
    query = (base.CHART / "files" / "scaling" / f"{name}.promql").read_text(encoding="utf-8")
    for key, value in {"namespace": base.NAMESPACE, "group": "", "rowShare": ROW_SHARE, **VERIFIERS}.items():
        query = query.replace(f"${{{key}}}", str(value))
    return query


class Phase:
    """Requests of a kind, until there are as many pods of a role as there should be."""

    def __init__(self, arguments, prometheus, url):
        self.arguments, self.prometheus, self.url, self.lines = arguments, prometheus, url, []
        self.expected = base.expected_words(url)

    def tell(self, kind, began, role, count):
        window = AUTOSCALING["windowSeconds"]
        brings = self.prometheus.value(f'sum(rate(slipstream_verifier_draft_depth_accepted_nodes_total{{method="ngram"}}[{window}s]))', 0.0)
        live = self.prometheus.value("sum(slipstream_router_requests_live) + sum(slipstream_router_requests_waiting)", 0.0)
        needed = [self.prometheus.value(scaling_query(name), 0.0) for name in ("verifiers_queue", "verifiers_tokens")]
        base.say(f"{kind}, {time.monotonic() - began:3.0f} s: {count} of {role}, {live:.0f} requests, {brings:.1f} accepted tokens a second; "
                 f"verifiers by requests {needed[0]:.1f}, by tokens {needed[1]:.1f}")

    def run(self, kind, role, wanted, looks, streams=None, during=None):
        """wanted(count): whether there are as many pods as there should be. It must stay so for `looks` looks."""
        out = self.arguments.out / f"{kind}-{len(self.lines)}.jsonl"
        asking = under_load.Steady(self.url, streams or STREAMS, out, kind)
        began, so = time.monotonic(), 0
        try:
            while so < looks:
                time.sleep(LOOK_S)
                count = replicas(role)
                self.tell(kind, began, role, count)
                so = so + 1 if wanted(count) else 0
                if time.monotonic() - began > PHASE_S:
                    raise base.Failed(f"{kind}: {count} of {role} after {PHASE_S} s")
            if during:
                during()
        finally:
            asking.stop()
        self.judge(kind, asking.lines())

    def judge(self, kind, lines):
        self.lines += lines
        if faults := [line["error"] for line in lines if line["error"]]:
            raise base.Failed(f"{kind}: {len(faults)} of {len(lines)} answers failed, as in: {faults[0]}")
        if kind != "mixed":
            return
        if wrong := [line for line in lines if line["words"] != self.expected[line["question"]]]:
            raise base.Failed(f"{kind}: {len(wrong)} of {len(lines)} answers have other words")


def without_prometheus(prometheus):
    """Its process is gone for a while; what was scaled stays as it is."""
    def during():
        before = {role: replicas(role) for role in (POOL, "verifier")}
        prometheus.halt()
        try:
            end = time.monotonic() + GONE_S
            while time.monotonic() < end:
                if up := prometheus.value("vector(1)"):
                    raise base.Failed(f"Prometheus is not gone: it says {up}")
                now = {role: replicas(role) for role in before}
                if now != before:
                    raise base.Failed(f"{time.strftime('%H:%M:%S')}: without Prometheus {before} became {now}")
                time.sleep(LOOK_S)
        finally:
            prometheus.begin()
        base.say(f"{GONE_S} s without Prometheus: still {before}")
    return during


def test(arguments):
    base.say("the cluster comes up, with KEDA")
    base.bring_up(arguments.images)
    install_keda()
    prometheus = watch.Prometheus(arguments.out, base.NAMESPACE)
    try:
        settings = [f"drafterPools.ngram.autoscaling.{name}={value}" for name, value in AUTOSCALING.items()]
        settings += [f"verifier.autoscaling.{name}={value}" for name, value in VERIFIERS.items()]
        settings.append(f"verifier.extraArgs={{{','.join(VERIFIER_ARGS)}}}")
        base.install("--set", ",".join(settings))
        base.wait_for("the pool goes to zero while nobody asks, and one verifier is left",
                      lambda: replicas(POOL) == 0 and replicas("verifier") == 1, PHASE_S)
        base.say("at rest: no drafters, one verifier")
        phase = Phase(arguments, prometheus, base.service_url())
        if not arguments.verifiers:
            phase.run("repeating", POOL, lambda count: count >= 1, STAYS)
            phase.run("noise", POOL, lambda count: count == 0, 3)
            phase.run("repeating", POOL, lambda count: count >= 1, STAYS)
        most = -(-CROWD // VERIFIERS["requestsPerVerifier"])
        phase.run("mixed", "verifier", lambda count: count == most, 4, CROWD, without_prometheus(prometheus))
        phase.run("mixed", "verifier", lambda count: count < most, 3, 1)
        base.say(f"{len(phase.lines)} answers, none failed")
    except base.Failed:
        log = base.inside("kubectl", "-n", "keda", "logs", "deploy/keda-operator", check=False).stdout
        (arguments.out / "keda.log").write_text(log, encoding="utf-8")
        raise
    finally:
        prometheus.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    base.add_arguments(parser, pathlib.Path("build/keda-test"))
    parser.add_argument("--verifiers", action="store_true", help="only what is about verifiers")
    return base.run_test(parser.parse_args(), test)


if __name__ == "__main__":
    sys.exit(main())
