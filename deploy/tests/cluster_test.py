#!/usr/bin/env python3
"""Runs the chart on a real Kubernetes of two nodes (deploy/tests/cluster) under load, and prints a table.

    cluster_test.py [--out FOLDER] [--streams N] [--compared N] [--keep]

1. The cluster comes up and gets the images; a namespace that allows `restricted` pods only.
2. The chart is installed; wrong values are refused.
3. The words of each question without drafts are noted.
4. Under load (under_load.py): drafters 1 -> 0 -> 4 -> 0 -> 1, an upgrade of each role, a pod of each role
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
import subprocess
import sys
import time

import schemas
import under_load
import watch
from under_load import say
from waiting import Failed, wait_for

HERE = pathlib.Path(__file__).resolve().parent
CLUSTER, CHART = HERE / "cluster", HERE.parent / "chart" / "slipstream"
IMAGES = ("slipstream", "slipstream-tools", "slipstream-model")
CRDS = ("keda.sh_scaledobjects.yaml", "monitoring.coreos.com_podmonitors.yaml", "monitoring.coreos.com_prometheusrules.yaml")
NAMESPACE, RELEASE = "slipstream", "s"
sys.path.insert(0, str(CHART.parent))
import dashboards  # noqa: E402  (its folder is known only now)

ROLLOUT = "180s"
# A namespace with a quota admits no pod of which a container does not say what it needs.
QUOTA = "requests.cpu=100,requests.memory=100Gi,limits.memory=100Gi"


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


# --- What happens under load. Each returns when the cluster is at rest again.


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
# Draft tokens that were accepted during the run, by all verifiers that were there.
ACCEPTED = 'sum(max_over_time(slipstream_verifier_draft_nodes_total{fate="accepted"}[1d]))'


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
                  "router.prometheus=prometheus:9090", "networkPolicy.prometheus.prot=9090", "networkPolicy.clients[0].podSelecter.matchLabels.a=b",
                  "verifier.device=gpu", "verifier.runtimeClass=nvidia", "verifier.weights=f32", "verifier.device=cuda:0,verifier.path=amx",
                  "verifier.device=torch-cpu,verifier.weights=q8_0", "verifier.weights=small", "drafterPools.ngram.device=cuda:0", "verifier.path=amx2", "verifier.cacheTokens=1",
                  "access.apiKeysSecret=api-keys", "serve=blue", "verifier.resources.limits.memory=1Gib", "router.resources.requests.cpu=two",
                  "verifier.autoscaling.enabled=true,verifier.autoscaling.prometheus=prometheus",
                  "verifier.autoscaling.enabled=true,verifier.autoscaling.prometheus=http://p,verifier.autoscaling.min=5,verifier.autoscaling.max=3",
                  "drafterPools.ngram.autoscaling.enabled=true,drafterPools.ngram.autoscaling.prometheus=http://p,drafterPools.ngram.autoscaling.min=5"):
        refused = helm("template", RELEASE, CHART, "-f", HERE / "values.yaml", "--set", wrong, check=False)
        if refused.returncode == 0:
            raise Failed(f"the chart took --set {wrong}")
    if helm("template", RELEASE, CHART, check=False).returncode == 0:
        raise Failed("the chart installs without being told who may use the API")
    check_scaling()
    check_disruption()
    check_groups()
    check_devices()
    check_schema()
    run(HERE.parent / "kustomize/make.py", "--check")


EVERYTHING = ",".join(f"{one}=true" for one in (
    "verifier.autoscaling.enabled", "drafterDefaults.autoscaling.enabled", "monitoring.podMonitor.enabled", "monitoring.rules.enabled",
    "monitoring.dashboards.enabled")) + ",router.prometheus=http://prometheus:9090,verifier.autoscaling.prometheus=http://prometheus:9090,\
drafterDefaults.autoscaling.prometheus=http://prometheus:9090"
GPUS = "verifier.device=cuda:0,verifier.weights=bf16,verifier.runtimeClassName=nvidia,drafterPools.small.method=small-lm,drafterPools.small.device=torch-cpu"
VALUES = ("verifier.threads=1", GPUS, "verifier.device=cuda:0,verifier.weights=small", "verifier.device=cuda:0,verifier.weights=q4_0", "groups.blue.verifier.replicas=3,groups.green.model.path=new.gguf,serve=green", EVERYTHING)


def check_schema():
    """The API server and kubeconform know every field of what the chart makes, and the server warns of nothing, as of a pod
    that `restricted` does not admit. The definitions of KEDA and of the Prometheus operator are there for this only."""
    here = pathlib.Path(os.environ["SK8S"])
    crds = [here / "crds" / name for name in CRDS]
    for crd in crds:
        inside("kubectl", "apply", "--server-side", "-f", crd)
    inside("kubectl", "wait", "--for=condition=Established", "--timeout=60s", *[argument for crd in crds for argument in ("-f", crd)])
    wanted = {"ScaledObject", "PodMonitor", "PrometheusRule"}

    def told():
        openapi = json.loads(inside("kubectl", "get", "--raw", "/openapi/v2").stdout)
        known = {kind["kind"] for schema in openapi["definitions"].values() for kind in schema.get(schemas.TYPES, [])}
        return wanted <= known and schemas.write(openapi, here / "run" / "schemas")

    wait_for("the API server tells the fields of the new resources", told)
    for values in VALUES:
        made = here / "run" / "made.yaml"
        made.write_text(helm("template", RELEASE, CHART, "-f", HERE / "values.yaml", "--set", values).stdout, encoding="utf-8")
        tried = inside("kubectl", "-n", NAMESPACE, "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", made)
        if "Warning" in tried.stderr:
            raise Failed(f"the API server warns of the chart: {tried.stderr}")
        conforms(made)
    # That it can fail: a field that no Deployment has.
    made.write_text(made.read_text(encoding="utf-8").replace("\n  replicas:", "\n  replicass:"), encoding="utf-8")
    try:
        conforms(made)
    except Failed:
        pass
    else:
        raise Failed("kubeconform takes a Deployment with replicass")
    for crd in crds:
        inside("kubectl", "delete", "-f", crd)


def conforms(made):
    """kubeconform, with the schemas of this very API server, finds no fault in a file of objects."""
    folder = pathlib.Path(os.environ["SK8S"]) / "run" / "schemas"
    said = run(pathlib.Path(os.environ["SK8S"]) / "bin" / "kubeconform", "-schema-location", f"{folder}/{schemas.PLACE}", "-summary", made)
    say(said.stdout.strip().splitlines()[-1])


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


def check_devices():
    """Each device has its image, only what computes on a GPU asks for one, and only if its resources name none of NVIDIA's."""
    def pods_of(values):
        made = helm("template", RELEASE, CHART, "-f", HERE / "values.yaml", "--set", values).stdout.split("\n---\n")
        return {re.search(r"\n  name: (\S+)", one)[1]: one for one in made if "\nkind: Deployment\n" in one}

    made = pods_of(GPUS)
    for name, tag, device in (("router", "0.1.0", None), ("verifier", "0.1.0-cuda", "cuda:0"), ("drafter-ngram", "0.1.0", "cpu"),
                              ("drafter-small", "0.1.0-torch-cpu", "torch-cpu")):
        one = made[f"{RELEASE}-{name}"]
        on_gpu = device == "cuda:0"
        if f'"localhost/slipstream:{tag}"' not in one or (device and f'"--device={device}"' not in one) \
                or ("nvidia.com/gpu: 1" in one) != on_gpu or ("runtimeClassName: nvidia" in one) != on_gpu:
            raise Failed(f"the chart's pod of {name} on {device}: {one}")
    if "nvidia.com/gpu" in pods_of(f"{GPUS},verifier.resources.limits.nvidia\\.com/mig-1g\\.10gb=1")[f"{RELEASE}-verifier"]:
        raise Failed("a verifier whose resources name a part of a GPU asks for a whole one, too")


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


def check_disruption():
    """Verifiers of which KEDA keeps two have a budget, whatever `replicas` says, and one that it may leave alone has none."""
    scaled = "verifier.replicas={},verifier.autoscaling.enabled=true,verifier.autoscaling.prometheus=http://p,verifier.autoscaling.min={}"
    for replicas, least in ((1, 2), (2, 1)):
        made = helm("template", RELEASE, CHART, "-f", HERE / "values.yaml", "--set", scaled.format(replicas, least)).stdout.split("\n---\n")
        if any("\nkind: PodDisruptionBudget\n" in one and f"\n  name: {RELEASE}-verifier\n" in one for one in made) != (least > 1):
            raise Failed(f"of {least} verifiers or more, with replicas={replicas}, the chart makes the budget wrongly")


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


def test(arguments):
    say("the cluster comes up")
    bring_up(arguments.images)
    check_chart()
    say("the chart is installed")
    kubectl("create", "quota", "room", f"--hard={QUOTA}")
    began = time.monotonic()
    install()
    say(f"installed and ready after {time.monotonic() - began:.1f} s")
    for role in ("router", "verifier", "drafter-ngram"):
        rolled_out(role)
    url = service_url()
    expected = expected_words(url)
    prometheus = watch.Prometheus(arguments.out, NAMESPACE)
    try:
        rows = under_load.under_load(arguments, url, lambda line: line["words"] == expected[line["question"]],
                                     [*EVENTS, ("every query of the dashboards asked", lambda: check_dashboards(prometheus))])
        accepted = prometheus.value(ACCEPTED, 0)
    finally:
        prometheus.stop()
    check_no_secret_shows(pods("router") + pods("verifier") + pods("drafter"))
    (arguments.out / "pods.txt").write_text(kubectl("get", "pods", "-o", "wide") + "\n", encoding="utf-8")
    say("the release is uninstalled")
    uninstall()
    (arguments.out / "rows.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    under_load.tell(rows)
    print(f"draft tokens accepted: {accepted:.0f}")
    under_load.judge(rows)
    if accepted == 0:
        raise Failed("no draft was accepted: the drafters did nothing")


def add_arguments(parser, out):
    parser.add_argument("--out", type=pathlib.Path, default=out)
    parser.add_argument("--images", type=pathlib.Path, default=pathlib.Path("build/images"))
    parser.add_argument("--streams", type=int, default=2, help="of slipstream load")
    parser.add_argument("--compared", type=int, default=2, help="streams beside it whose words are compared")
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
