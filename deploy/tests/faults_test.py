#!/usr/bin/env python3
"""Faults and a new model on the cluster of `make cluster-test`, under load (under_load.py), with a table.

    faults_test.py [--out FOLDER] [--streams N] [--compared N] [--keep] [--only EVENT...]

1. NetworkPolicies: of all ways from one pod to another, exactly the three boundaries and the scrapes
   are open, and without the policies all are (policies.py).
2. Under load a new model comes as a new group, clients are moved to it, and the old group
   goes. Each answer has the words of the old model or of the new one, and after the move only the new.
3. Then, under the same load: a node is drained, a node is lost without a word, a verifier is killed
   for its memory, a verifier is cut off from a router, clocks are wrong by hours, and the keys are
   changed, by a group and at once.
It fails if an answer has other words, or fails: but where docs/use/KUBERNETES.md says that answers
may: at a router that is lost with its node, until the cluster sends nobody there any more; and while
all keys are changed at once.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile
import time

import cluster_test as base
import model_image
import policies
import under_load

FAKETIME = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
OLD = {"verifier": {"replicas": 2}}
ROLES = ("router", "verifier", "drafter-ngram")
KEYS = "new-keys"
MOVED_S = 5  # until every node sends clients to another group
KNOWN_S = 2  # until every node has heard that a router is gone
NEW = {"model": {"image": {"tag": "2"}}}
# Kubernetes takes 50 s to call a node lost. Its pods then move after so long, and not after five minutes.
MOVE_S = 5
MOVES = [{"key": f"node.kubernetes.io/{taint}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": MOVE_S}
         for taint in ("unreachable", "not-ready")]
ALL = {role: {"tolerations": MOVES} for role in ("router", "verifier", "drafterDefaults")}


def joined(one, two):
    """Two trees of values as one."""
    both = {key: joined(one[key], two[key]) for key in one.keys() & two.keys()}
    return {**one, **two, **both}


class Groups:
    """The groups of the release, which is served, and which words are right when."""

    def __init__(self):
        self.groups, self.serve = {"blue": OLD}, "blue"
        self.words = []  # [since, until, words]: what an answer may say that began then

    def install(self, more=None):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"groups": self.groups, "serve": self.serve, **joined(ALL, more or {})}, file)
            file.flush()
            base.install("-f", file.name)
        self.roll_out(self.serve)

    @staticmethod
    def roll_out(group):
        for role in ROLES:
            base.rolled_out(f"{group}-{role}")

    def learn(self, group, since):
        """The words of a group's model, asked of one of its routers."""
        router = listed(f"app.kubernetes.io/component=router,slipstream/group={group}")[0]["status"]["podIP"]
        self.words.append([since, float("inf"), base.expected_words(f"http://{router}:8080")])

    def right(self, line):
        return any(since <= line["began"] <= until and line["words"] == words[line["question"]] for since, until, words in self.words)

    def add(self, name, values):
        self.groups = {**self.groups, name: values}
        self.install()
        self.roll_out(name)

    def move(self, name):
        """Clients reach another group. Those that ask a moment after may still reach the old one."""
        self.serve = name
        self.learn(name, time.time())
        self.install()
        for known in self.words[:-1]:
            known[1] = min(known[1], time.time() + MOVED_S)

    def only(self):
        self.groups = {self.serve: self.groups[self.serve]}
        self.install()
        base.wait_for("the old group has ended", lambda: len(names("router")) == 2 and not leaving())


def listed(selector):
    return json.loads(base.kubectl("get", "pods", "-l", selector, "-o", "json"))["items"]


def names(component):
    return base.pods(component)


def leaving():
    return [pod for pod in listed("app.kubernetes.io/name=slipstream") if "deletionTimestamp" in pod["metadata"]]


def pod(component):
    return [one for one in listed(f"app.kubernetes.io/component={component}") if "deletionTimestamp" not in one["metadata"]][0]


def router_samples(name, label):
    """A metric's samples that have a label, on the pages of all routers."""
    samples = []
    for one in listed("app.kubernetes.io/component=router"):
        page = base.inside("curl", "-s", "--max-time", "5", f"http://{one['status'].get('podIP')}:8080/metrics", check=False).stdout
        samples += [float(line.rsplit(" ", 1)[1]) for line in page.splitlines() if line.startswith(f"{name}{{") and label in line]
    return samples


def whole():
    counts = router_samples("slipstream_router_workers", 'role="verifier"')
    return len(counts) == 2 and all(count == 2 for count in counts)


# --- The events. Each returns when the release is whole again.


def new_model(groups):
    def event():
        groups.add("green", NEW)
    return event


def drain(_):
    """Another node takes the pods of one that is drained; no more than one of each role is away at once."""
    def event():
        node = pod("router")["spec"]["nodeName"]
        moved = [one for one in listed("app.kubernetes.io/name=slipstream") if one["spec"]["nodeName"] == node]
        base.say(f"{node} has {len(moved)} pods of the release")
        base.inside("kubectl", "drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=240s")
        if left := [one for one in listed("app.kubernetes.io/name=slipstream") if one["spec"].get("nodeName") == node]:
            raise base.Failed(f"{len(left)} pods are left on the drained {node}")
        base.wait_for("all verifiers are known again", whole)
        base.inside("kubectl", "uncordon", node)
    return event


def nodes_of(component):
    return [one["spec"]["nodeName"] for one in listed(f"app.kubernetes.io/component={component}")
            if "deletionTimestamp" not in one["metadata"] and one["spec"].get("nodeName")]


def spread(groups):
    """After a drain all pods are on one node. One of each two is deleted, and the scheduler puts another on the other node."""
    def event():
        for role in ("router", "verifier"):
            for _ in range(5):
                if len(set(nodes_of(role))) == 2:
                    break
                name = names(role)[0]
                base.kubectl("delete", "pod", name, "--wait=false")
                base.wait_for(f"{name} is gone", base.gone(name))
                groups.roll_out(groups.serve)
                base.wait_for("all verifiers are known again", whole)
            else:
                raise base.Failed(f"both {role} pods are still on one node")
    return event


def ready(node):
    conditions = json.loads(base.inside("kubectl", "get", "node", node, "-o", "json").stdout)["status"]["conditions"]
    return next(one["status"] for one in conditions if one["type"] == "Ready") == "True"


def served():
    """Addresses of the routers to which the Service sends clients."""
    slices = json.loads(base.kubectl("get", "endpointslices", "-l", f"kubernetes.io/service-name={base.RELEASE}", "-o", "json"))["items"]
    return {address for one in slices for endpoint in one["endpoints"] or [] if endpoint["conditions"]["ready"]
            for address in endpoint["addresses"]}


def lose_node(groups):
    """A node's pods are heard no more, and its kubelet is gone. The pods move once the control plane has noticed. It comes back."""
    def event():
        dns = base.inside("kubectl", "-n", "kube-system", "get", "pods", "-l", "k8s-app=kube-dns", "-o", "jsonpath={.items[0].spec.nodeName}").stdout
        node = next(one for one in sorted(set(nodes_of("router"))) if one != dns.strip())
        lost = [one for one in listed("app.kubernetes.io/name=slipstream") if one["spec"]["nodeName"] == node]
        routers = {one["status"]["podIP"] for one in lost if policies.role_of(one) == "router"}
        if {policies.role_of(one) for one in lost} < {"router", "verifier"} or len(routers) != 1:
            raise base.Failed(f"{node} has not one of two routers and a verifier: {[one['metadata']['name'] for one in lost]}")
        began = time.monotonic()

        def say(what):
            base.say(f"{what} {time.monotonic() - began:.1f} s after {node} was lost with {len(lost)} pods")

        base.run(base.CLUSTER / "lose", node)
        known = {one["metadata"]["name"] for one in lost}
        base.wait_for("the control plane notices", lambda: not ready(node), 180)
        say("the control plane called it lost")
        base.wait_for("no client is sent to the lost router", lambda: not served() & routers)
        healed = time.time() + KNOWN_S
        say("the Service left out its router")
        base.wait_for("its pods are given up", lambda: not known & set(names("router") + names("verifier") + names("drafter")), 240)
        groups.roll_out(groups.serve)
        base.wait_for("all verifiers are known again", whole)
        say("other pods had taken their place")
        base.run(base.CLUSTER / "lose", "--back", node)
        base.wait_for("the node is back", lambda: ready(node))
        base.wait_for("it has ended the pods that it had", lambda: not leaving(), 180)
        base.wait_for("all verifiers are known again", whole)
        return healed
    return event


def out_of_memory(_):
    """A process that eats memory is put beside a verifier: the kernel kills the verifier at the container's limit."""
    def event():
        victim = pod("verifier")
        name, pid = victim["metadata"]["name"], policies.pid_of(victim)
        eater = ("import os,sys\nkept=[]\nopen(sys.argv[1]+'/tasks','w').write('0')\n"
                 "while os.path.exists('/proc/'+sys.argv[2]): kept.append(bytearray(b'1')*(16<<20))\n")
        groups = base.inside("cat", f"/proc/{pid}/cgroup").stdout
        memory = next(line.split(":", 2)[2] for line in groups.splitlines() if ":memory:" in line)
        base.inside(sys.executable, "-c", eater, f"/sys/fs/cgroup/memory{memory}", str(pid), check=False)

        def restarted():
            status = json.loads(base.kubectl("get", "pod", name, "-o", "json"))["status"]["containerStatuses"][0]
            ended = status["lastState"].get("terminated", {})
            return status["ready"] and ended.get("reason") == "OOMKilled"

        base.wait_for(f"{name} was OOMKilled and is ready again", restarted)
        base.wait_for("all verifiers are known again", whole)
    return event


def cut(_):
    """All packets between a verifier and one router are dropped, until the router has given it up; then they pass again."""
    def event():
        network, router = ("nsenter", "-t", policies.pid_of(pod("verifier")), "-n", "nft"), pod("router")["status"]["podIP"]

        def given_up():
            return sum(router_samples("slipstream_router_worker_faults_total", 'kind="silent"'))

        before = given_up()
        base.inside(*network, "add table ip cut")
        for hook, side in (("output", "daddr"), ("input", "saddr")):
            base.inside(*network, f"add chain ip cut {hook} {{ type filter hook {hook} priority 0; }}")
            base.inside(*network, f"add rule ip cut {hook} ip {side} {router} drop")
        try:
            base.wait_for("the router gives the verifier up", lambda: given_up() > before)
            time.sleep(under_load.AFTER_S)  # requests go on without it
        finally:
            base.inside(*network, "delete table ip cut")
        base.wait_for("all verifiers are known again", whole)
    return event


def clocks(groups):
    """Verifiers whose clock is an hour ahead, drafters whose clock is a day behind."""
    def event():
        for role, offset in (("verifier", "+3600s"), ("drafter-ngram", "-86400s")):
            base.kubectl("set", "env", base.deployment(f"{groups.serve}-{role}"), f"LD_PRELOAD=/model/{FAKETIME.name}",
                         f"FAKETIME={offset}", "FAKETIME_DONT_FAKE_MONOTONIC=1")
        for role in ("verifier", "drafter-ngram"):
            base.rolled_out(f"{groups.serve}-{role}")
        base.wait_for("all verifiers are known again", whole)
        logs = base.kubectl("logs", names("drafter")[0])
        here, there = time.time(), time.mktime(time.strptime(logs[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
        if abs(here - there - 86400) > 600:
            raise base.Failed(f"the drafter's clock is right: {logs[:19]}")
        time.sleep(under_load.BASE_S)  # answers by the wrong clocks
    return event


def make_secret(name):
    with tempfile.TemporaryDirectory() as folder:
        keys = pathlib.Path(folder) / "keys"
        base.run("build/release/tools/slipstream/slipstream", "keys", "new", keys)
        base.kubectl("create", "secret", "generic", name, f"--from-file={keys}", f"--from-file={keys}/peers")


def keys_by_group(groups):
    """A new group has keys of its own: nothing of the old one is cut off."""
    def event():
        make_secret(KEYS)
        groups.add("red", {**NEW, "keys": {"existingSecret": KEYS}})
        groups.move("red")
        groups.only()
    return event


def keys_at_once(groups):
    """The Secret is another, and all pods start again."""
    def event():
        base.kubectl("delete", "secret", KEYS)
        make_secret(KEYS)
        base.kubectl("rollout", "restart", *[base.deployment(f"{groups.serve}-{role}") for role in ROLES])
        groups.roll_out(groups.serve)
        base.wait_for("all verifiers are known again", whole)
        return time.time()
    return event


EVENTS = [
    ("a new model beside the old one", new_model),
    ("clients moved to the new model", lambda groups: lambda: groups.move("green")),
    ("the old model's group removed", lambda groups: groups.only),
    ("a node of two drained", drain),
    ("pods spread over both nodes", spread),
    ("a node of two lost", lose_node),
    ("a verifier OOM-killed", out_of_memory),
    ("a verifier cut off from a router", cut),
    ("clocks wrong by an hour and a day", clocks),
    ("keys changed by a group", keys_by_group),
    ("keys changed at once", keys_at_once),
]


def test(arguments):
    base.say("the cluster comes up")
    base.bring_up(arguments.images)
    second = arguments.out / "slipstream-model-2.tar"
    model_image.make(arguments.images, second, FAKETIME if FAKETIME.exists() else None)
    base.run(base.CLUSTER / "load", second)
    groups = Groups()
    groups.install()
    groups.learn("blue", 0)
    if (pathlib.Path(os.environ["SK8S"]) / "bin" / "policies").exists():
        policies.check(groups.install)
    events = [(name, make(groups)) for name, make in EVENTS
              if (not arguments.only or name in arguments.only) and (make is not clocks or FAKETIME.exists())]
    rows = under_load.under_load(arguments, base.service_url(), groups.right, events)
    if len(groups.words) > 1 and groups.words[0][2] == groups.words[1][2]:
        raise base.Failed("the two models say the same: nothing shows which of them answered")
    (arguments.out / "rows.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    under_load.tell(rows)
    under_load.judge(rows)
    base.kubectl("delete", "secret", KEYS, "--ignore-not-found")
    base.uninstall()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    base.add_arguments(parser, pathlib.Path("build/faults-test"))
    parser.add_argument("--only", nargs="*", help="events: " + ", ".join(name for name, _ in EVENTS))
    return base.run_test(parser.parse_args(), test)


if __name__ == "__main__":
    sys.exit(main())
