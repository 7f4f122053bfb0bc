#!/usr/bin/env python3
"""Runs the chart on a real Kubernetes of two nodes (deploy/tests/cluster) under steady requests, and prints a table.

    cluster_test.py [--out FOLDER] [--streams N] [--keep]

1. The cluster comes up and gets the images; a namespace that allows `restricted` pods only.
2. The chart is installed; wrong values are refused.
3. The words of each question without drafts are noted.
4. Under steady requests: drafters 1 -> 0 -> 4 -> 0 -> 1, an upgrade of each role, a pod of each role
   deleted, a verifier and a drafter killed. For each event: answers, failures, wrong words, longest
   pause. Every query of the dashboards is asked of a real Prometheus, and each must give something.
5. The release is uninstalled, and nothing but the Secret of the keys is left.
It fails if an answer failed or has other words. --keep leaves the cluster up.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import watch
from waiting import Failed, wait_for

HERE = pathlib.Path(__file__).resolve().parent
CLUSTER, CHART = HERE / "cluster", HERE.parent / "chart" / "slipstream"
IMAGES = ("slipstream", "slipstream-tools", "slipstream-model")
NAMESPACE, RELEASE = "slipstream", "s"
sys.path.insert(0, str(CHART.parent))
import dashboards  # noqa: E402  (its folder is known only now)

BASE_S = 15          # steady requests before the first event, as a base line
AFTER_S = 4          # after an event, so that answers which began in it count
ROLLOUT = "180s"


def run(*command, check=True):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def inside(*command, check=True):
    """A command in the cluster's network, as admin."""
    return run(CLUSTER / "k", *command, check=check)


def kubectl(*command, check=True):
    return inside("kubectl", "-n", NAMESPACE, *command, check=check).stdout.strip()


def helm(*command, check=True):
    home = pathlib.Path(os.environ["SK8S"]) / "run" / "helm"
    return inside("env", f"HELM_CACHE_HOME={home}", f"HELM_CONFIG_HOME={home}", f"HELM_DATA_HOME={home}", "helm", "-n", NAMESPACE,
                  *command, check=check)


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def install(*more):
    return helm("upgrade", "--install", RELEASE, CHART, "-f", HERE / "values.yaml", *more, "--wait", "--timeout", ROLLOUT)


def deployment(role):
    return f"deployment/{RELEASE}-{role}"


def rolled_out(role):
    kubectl("rollout", "status", deployment(role), f"--timeout={ROLLOUT}")


def pods(component):
    """Names of the pods that are not being deleted."""
    listed = json.loads(kubectl("get", "pods", "-l", f"app.kubernetes.io/component={component}", "-o", "json"))
    return [pod["metadata"]["name"] for pod in listed["items"] if "deletionTimestamp" not in pod["metadata"]]


def gone(name):
    return lambda: kubectl("get", "pod", name, "--ignore-not-found", "-o", "name") == ""


# --- What happens under steady requests. Each returns when the cluster is at rest again.


def scale(replicas):
    def event():
        kubectl("scale", deployment("drafter-ngram"), f"--replicas={replicas}")
        wait_for(f"{replicas} drafters", lambda: len(pods("drafter")) == replicas)
        rolled_out("drafter-ngram")
    return event


def upgrade(path, role):
    """A new annotation makes other pods. `path`: the value, without the last part."""
    def event():
        install("--reuse-values", "--set", f"{path}.podAnnotations.roll=r{int(time.time())}")
        rolled_out(role)
    return event


def delete(component, role, *flags):
    def event():
        name = pods(component)[0]
        kubectl("delete", "pod", name, "--wait=false", *flags)
        wait_for(f"{name} is gone", gone(name))
        rolled_out(role)
    return event


KILL = ("--grace-period=0", "--force")
EVENTS = [
    ("drafters 1 -> 0", scale(0)),
    ("drafters 0 -> 4", scale(4)),
    ("drafters 4 -> 0", scale(0)),
    ("drafters 0 -> 1", scale(1)),
    ("helm upgrade of the drafters", upgrade("drafterPools.ngram", "drafter-ngram")),
    ("helm upgrade of the verifiers", upgrade("verifier", "verifier")),
    ("helm upgrade of the routers", upgrade("router", "router")),
    ("drafter pod deleted", delete("drafter", "drafter-ngram")),
    ("verifier pod deleted", delete("verifier", "verifier")),
    ("router pod deleted", delete("router", "router")),
    ("drafter pod killed", delete("drafter", "drafter-ngram", *KILL)),
    ("verifier pod killed", delete("verifier", "verifier", *KILL)),
]


class Steady:
    """The process that asks."""

    def __init__(self, url, streams, out, kind="mixed"):
        self.out = out
        self.out.unlink(missing_ok=True)
        self.process = subprocess.Popen([CLUSTER / "k", sys.executable, HERE / "steady.py", url, str(streams), out, kind],
                                        stdout=subprocess.DEVNULL, start_new_session=True)

    def stop(self):
        if self.process.poll() is None:
            # nsenter waits for steady.py, which ends after its last answers.
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(timeout=180)

    def lines(self):
        return [json.loads(line) for line in self.out.read_text(encoding="utf-8").splitlines()] if self.out.exists() else []


def row(name, took, lines, right):
    wrong = sum(1 for line in lines if not line["error"] and not right(line))
    errors = [line["error"] for line in lines if line["error"]]
    pauses = [line["pause_ms"] for line in lines if line["pause_ms"] is not None]
    return {"event": name, "seconds": round(took, 1), "answers": len(lines), "failed": len(errors), "wrong": wrong,
            "pause_ms": max(pauses, default=None), "errors": sorted(set(errors))[:3]}


def table(rows):
    head = ("event", "seconds", "answers", "failed", "wrong words", "longest pause, ms")
    body = [(r["event"], r["seconds"], r["answers"], r["failed"], r["wrong"], r["pause_ms"]) for r in rows]
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in [head, ["---"] * len(head), *body])


def bring_up(images):
    run(CLUSTER / "up")
    run(CLUSTER / "load", *[images / f"{name}.tar" for name in IMAGES])
    inside("kubectl", "-n", "kube-system", "rollout", "status", "deploy/coredns", f"--timeout={ROLLOUT}")
    inside("kubectl", "delete", "namespace", NAMESPACE, "--ignore-not-found")  # of a run before, with --keep
    inside("kubectl", "create", "namespace", NAMESPACE)
    inside("kubectl", "label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted")


def check_chart():
    helm("lint", CHART, "-f", HERE / "values.yaml")
    for wrong in ("router.replica=3", "drafterPools.ngram.methd=ngram", "verifier.threads=many", "verifier.autoscaling.min=0", "verifier.autoscaling.most=3",
                  "router.prometheus=prometheus:9090", "networkPolicy.prometheus.prot=9090", "networkPolicy.clients[0].podSelecter.matchLabels.a=b"):
        refused = helm("template", RELEASE, CHART, "-f", HERE / "values.yaml", "--set", wrong, check=False)
        if refused.returncode == 0:
            raise Failed(f"the chart took --set {wrong}")
    if helm("template", RELEASE, CHART, check=False).returncode == 0:
        raise Failed("the chart installs without being told who may use the API")
    check_scaling()
    check_groups()
    check_schema()
    run(HERE.parent / "kustomize/make.py", "--check")


def check_schema():
    """The API server knows every field of what the chart makes, and warns of nothing, as of a pod that `restricted` does not admit."""
    for values in ("verifier.threads=1", "groups.blue.verifier.replicas=3,groups.green.model.path=new.gguf,serve=green"):
        made = pathlib.Path(os.environ["SK8S"]) / "run" / "made.yaml"
        made.write_text(helm("template", RELEASE, CHART, "-f", HERE / "values.yaml", "--set", values).stdout, encoding="utf-8")
        tried = inside("kubectl", "-n", NAMESPACE, "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", made)
        if "Warning" in tried.stderr:
            raise Failed(f"the API server warns of the chart: {tried.stderr}")


def check_groups():
    """Groups of routers, verifiers and drafters know no other group, and clients reach the one that is served."""
    groups = ("--set", "groups.blue.verifier.replicas=3,groups.green.model.path=new.gguf,serve=green")
    made = helm("template", RELEASE, CHART, "-f", HERE / "values.yaml", *groups).stdout.split("\n---\n")
    for group, model in (("blue", "smollm2-135m-instruct.gguf"), ("green", "new.gguf")):
        own = [one for one in made if f"\n  name: {RELEASE}-{group}-" in one]
        other = {"blue": "green", "green": "blue"}[group]
        if len(own) != 9 or any(other in one for one in own) or f"--model=/model/{model}" not in "".join(own):
            raise Failed(f"the chart's group {group} has {len(own)} objects, or names the other group or model: {own}")
    service = [one for one in made if f"\nkind: Service\nmetadata:\n  name: {RELEASE}\n" in one]
    if len(service) != 1 or "slipstream/group: green" not in service[0]:
        raise Failed(f"clients do not reach the group that is served: {service}")
    if helm("template", RELEASE, CHART, "-f", HERE / "values.yaml", *groups[:1], "groups.blue.model.path=a,serve=red", check=False).returncode == 0:
        raise Failed("the chart serves a group that it does not have")


def check_scaling():
    """Both ScaledObjects are made, their queries are filled in, and nothing else says how many pods there are."""
    scaling = [f"{of}.autoscaling.{value}" for of in ("verifier", "drafterPools.ngram") for value in ("enabled=true", "prometheus=http://p")]
    made = helm("template", RELEASE, CHART, "-f", HERE / "values.yaml", "--set", ",".join(scaling)).stdout.split("\n---\n")
    objects = [one for one in made if "\nkind: ScaledObject\n" in one]
    triggers = re.findall(r"\n    - type: prometheus\n      name: (\w+)", "".join(objects))
    if triggers != ["pays", "probe", "queue", "tokens"] or "${" in "".join(objects):
        raise Failed(f"the chart's ScaledObjects are {objects}")
    for one in made:
        if "\nkind: Deployment\n" in one and "component: router" not in one and "\n  replicas:" in one:
            raise Failed(f"a Deployment says replicas, which the autoscaler sets: {one}")


def check_no_secret_shows(names):
    """No half of a secret key stands in a log or in the environment of a pod's description."""
    import base64
    data = json.loads(kubectl("get", "secret", f"{RELEASE}-keys", "-o", "json"))["data"]
    secrets = [base64.b64decode(text).decode().split("secret ")[1].strip() for name, text in data.items() if name.endswith(".key")]
    shown = "".join(kubectl("logs", name) for name in names) + kubectl("describe", "pods")
    if any(secret in shown for secret in secrets):
        raise Failed("a secret key stands in a log or a description")


def service_url():
    return "http://" + kubectl("get", "service", RELEASE, "-o", "jsonpath={.spec.clusterIP}")


def expected_words(url):
    lines = [json.loads(line) for line in inside(sys.executable, HERE / "steady.py", url, "--once").stdout.splitlines()]
    if faults := [line["error"] for line in lines if line["error"]]:
        raise Failed(f"a question at rest failed: {faults[0]}")
    return [line["words"] for line in lines]


def drafted_tokens(url):
    """Draft tokens that all verifiers accepted so far."""
    total = 0
    for ip in kubectl("get", "pods", "-l", "app.kubernetes.io/component=verifier", "-o", "jsonpath={.items[*].status.podIP}").split():
        page = inside("curl", "-sf", f"http://{ip}:9100/metrics").stdout
        total += sum(float(line.rsplit(" ", 1)[1]) for line in page.splitlines()
                     if line.startswith("slipstream_verifier_draft_nodes_total") and 'fate="accepted"' in line)
    return total


def uninstall():
    helm("uninstall", RELEASE, "--wait", "--timeout", ROLLOUT)
    wait_for("no pod is left", lambda: kubectl("get", "pods", "-o", "name") == "")
    left = kubectl("get", "all,secrets,configmaps,networkpolicies,poddisruptionbudgets,roles,rolebindings", "-o", "name").split()
    left = [name for name in left if name not in (f"secret/{RELEASE}-keys", "configmap/kube-root-ca.crt")]
    if left:
        raise Failed(f"left after the uninstallation: {' '.join(left)}")


def check_dashboards(prometheus):
    empty = list(watch.empty_queries(prometheus, dashboards.queries()))
    for name, panel, query in empty:
        say(f"dashboard {name}, panel {panel}: nothing for {query}")
    if empty:
        raise Failed(f"{len(empty)} queries of dashboards gave nothing")
    say(f"{sum(1 for _ in dashboards.queries())} queries of the dashboards gave something")


def under_requests(arguments, url, right, events):
    """Rows of the table: what came of the answers in each event. right(line): whether its words are as they should be."""
    steady, rows = Steady(url, arguments.streams, arguments.out / "answers.jsonl"), []
    marks = [(f"steady, {arguments.streams} streams", time.time())]
    try:
        time.sleep(BASE_S)
        for name, event in events:
            marks.append((name, time.time()))
            say(name)
            event()
            time.sleep(AFTER_S)
    finally:
        marks.append(("end", time.time()))
        steady.stop()
    lines = steady.lines()
    for (name, began), (_, ended) in zip(marks, marks[1:]):
        # An answer belongs to the event in which it ended; the last event has all that came after.
        last = ended == marks[-1][1]
        mine = [line for line in lines if began <= line["ended"] and (last or line["ended"] < ended)]
        rows.append(row(name, ended - began, mine, right))
    return rows


def test(arguments):
    say("the cluster comes up")
    bring_up(arguments.images)
    check_chart()
    say("the chart is installed")
    began = time.monotonic()
    install()
    say(f"installed and ready after {time.monotonic() - began:.1f} s")
    for role in ("router", "verifier", "drafter-ngram"):
        rolled_out(role)
    url = service_url()
    expected = expected_words(url)
    prometheus = watch.Prometheus(arguments.out, NAMESPACE)
    try:
        rows = under_requests(arguments, url, lambda line: line["words"] == expected[line["question"]],
                              [*EVENTS, ("every query of the dashboards asked", lambda: check_dashboards(prometheus))])
    finally:
        prometheus.stop()
    accepted = drafted_tokens(url)
    check_no_secret_shows(pods("router") + pods("verifier") + pods("drafter"))
    (arguments.out / "pods.txt").write_text(kubectl("get", "pods", "-o", "wide") + "\n", encoding="utf-8")
    say("the release is uninstalled")
    uninstall()
    (arguments.out / "rows.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print(table(rows))
    print(f"draft tokens accepted by the verifiers that were there at the end: {accepted:.0f}")
    for one in rows:
        for error in one["errors"]:
            print(f"{one['event']}: {error}")
    if any(one["failed"] or one["wrong"] for one in rows):
        raise Failed("an answer failed or has other words")
    if any(not one["answers"] for one in rows):
        raise Failed("no answer ended during an event")
    if accepted == 0:
        raise Failed("no draft was accepted: the drafters did nothing")


def add_arguments(parser, out):
    parser.add_argument("--out", type=pathlib.Path, default=out)
    parser.add_argument("--images", type=pathlib.Path, default=pathlib.Path("build/images"))
    parser.add_argument("--streams", type=int, default=3)
    parser.add_argument("--keep", action="store_true", help="leave the cluster up")


def run_test(arguments, what):
    """The exit status of `what(arguments)`. The cluster goes down at the end."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    arguments.out = arguments.out.resolve()
    os.environ.setdefault("SK8S", str(pathlib.Path(".sk8s").resolve()))
    try:
        what(arguments)
    except Failed as fault:
        print(f"FAILED: {fault}", file=sys.stderr)
        state = inside("kubectl", "get", "pods,events", "-A", "-o", "wide", check=False)
        (arguments.out / "state.txt").write_text(state.stdout, encoding="utf-8")
        return 1
    finally:
        if not arguments.keep:
            run(CLUSTER / "down", "--wipe", check=False)
    print("passed")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, pathlib.Path("build/cluster-test"))
    return run_test(parser.parse_args(), test)


if __name__ == "__main__":
    sys.exit(main())
