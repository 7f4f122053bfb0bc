"""Shows which ways between pods the chart's NetworkPolicies leave open: all are tried, with them and without.

The cluster enforces them by kube-network-policies (deploy/tests/cluster/build/policies).
"""
import concurrent.futures
import json
import os
import sys
import tempfile

import cluster_test as base

LISTENS = 8000  # where each of the others listens
# Clients and scrapers as an installation would name them; one of these is the Prometheus that routers ask.
WATCH = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "watch"}}}]
VALUES = {"router": {"prometheus": f"http://scraper.watch:{LISTENS}"},
          "networkPolicy": {"clients": [{"podSelector": {"matchLabels": {"may": "ask"}}}], "scrapers": WATCH,
                            "prometheus": {"to": WATCH, "port": LISTENS}}}
# name: (namespace, labels)
OTHERS = {"client": (base.NAMESPACE, {"may": "ask"}), "neighbour": (base.NAMESPACE, {}), "scraper": ("watch", {}), "stranger": ("strangers", {})}
DOORS = {"router": (8080, 7300), "verifier": (9100,), "drafter": (9100, 7301), **{name: (LISTENS,) for name in OTHERS}}
OPEN = {("client", "router", 8080), ("scraper", "router", 8080), ("scraper", "verifier", 9100), ("scraper", "drafter", 9100),
        ("verifier", "router", 7300), ("drafter", "router", 7300), ("verifier", "drafter", 7301),
        ("router", "verifier", 9100), ("router", "drafter", 9100), ("router", "scraper", LISTENS),
        *[(one, two, LISTENS) for one in OTHERS for two in OTHERS]}  # the policies are not about them
TRY = """
import socket, sys, threading
def attempt(host, port, open_):
    try:
        socket.create_connection((host, int(port)), timeout=3).close()
        open_.append(f"{host}:{port}")
    except OSError:
        pass
found = []
threads = [threading.Thread(target=attempt, args=(*door.split(":"), found)) for door in sys.argv[1:]]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(" ".join(found))
"""


def manifest(name):
    namespace, labels = OTHERS[name]
    security = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace, "labels": {"other": "yes", **labels}},
            "spec": {"automountServiceAccountToken": False, "terminationGracePeriodSeconds": 0,
                     "securityContext": {"runAsNonRoot": True, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}},
                     "containers": [{"name": "c", "image": "localhost/busybox:1", "imagePullPolicy": "Never", "securityContext": security,
                                     "command": ["httpd", "-f", "-p", str(LISTENS), "-h", "/tmp"]}]}}


def all_pods():
    return json.loads(base.inside("kubectl", "get", "pods", "-A", "-o", "json").stdout)["items"]


def pid_of(pod):
    """The process of a pod's container, as seen inside the cluster."""
    wanted = pod["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://")
    socket = f"{os.environ['SK8S']}/run/containerd-{pod['spec']['nodeName']}.sock"
    for line in base.inside("ctr", "-a", socket, "-n", "k8s.io", "tasks", "ls").stdout.splitlines():
        cells = line.split()
        if cells[0] == wanted:
            return cells[1]
    raise base.Failed(f"{pod['metadata']['name']} has no process")


def role_of(pod):
    labels = pod["metadata"]["labels"]
    if "other" in labels:
        return pod["metadata"]["name"]
    return labels.get("app.kubernetes.io/component") if labels.get("app.kubernetes.io/name") == "slipstream" else None


def open_ways():
    """{(who, to whom, port)}: every way on which a connection comes about. Of a role's pods each is tried from and to."""
    pods = [pod for pod in all_pods() if role_of(pod) and "deletionTimestamp" not in pod["metadata"]]
    doors = {(pod["status"]["podIP"], port): role_of(pod) for pod in pods for port in DOORS[role_of(pod)]}
    def tried(pod):
        others = [f"{address}:{port}" for address, port in doors if address != pod["status"]["podIP"]]
        return base.inside("nsenter", "-t", pid_of(pod), "-n", sys.executable, "-c", TRY, *others).stdout.split()

    found = set()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for pod, doors_open in zip(pods, pool.map(tried, pods)):
            for door in doors_open:
                address, port = door.split(":")
                found.add((role_of(pod), doors[address, int(port)], int(port)))
    return found


def check(install):
    """install(): installs the release with its values. It ends as it began."""
    for namespace in {namespace for namespace, _ in OTHERS.values()} - {base.NAMESPACE}:
        base.inside("kubectl", "create", "namespace", namespace)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"apiVersion": "v1", "kind": "List", "items": [manifest(name) for name in OTHERS]}, file)
        file.flush()
        base.inside("kubectl", "apply", "-f", file.name)
    for name, (namespace, _) in OTHERS.items():
        base.inside("kubectl", "-n", namespace, "wait", "--for=condition=Ready", f"pod/{name}", "--timeout=60s")
    install(VALUES)
    wanted = OPEN - {(one, one, LISTENS) for one in OTHERS}
    found = set()

    def as_said():
        found.clear()
        found.update(open_ways())
        return found == wanted

    try:
        base.wait_for("exactly what the policies say is open", as_said, 60)
    except base.Failed as fault:
        raise base.Failed(f"{fault}; open and not said: {sorted(found - wanted)}, said and not open: {sorted(wanted - found)}") from None
    tried = {(one, two, port) for one in DOORS for two in DOORS for port in DOORS[two]}
    base.kubectl("delete", "networkpolicies", "--all")
    without = {way for way in tried if way[0] != way[1]}
    base.wait_for("without the policies every way is open", lambda: without <= open_ways(), 60)
    ours = [{way for way in ways if not {way[0], way[1]} <= set(OTHERS)} for ways in (without, wanted)]
    base.say(f"of {len(ours[0])} ways from and to the release's pods the policies leave {len(ours[1])} open; without them all are")
    install({})
    for name, (namespace, _) in OTHERS.items():
        base.inside("kubectl", "-n", namespace, "delete", "pod", name, "--wait=true")
