"""A router and a verifier whose only drafter is the scripted one: it guesses at random, so nearly all that it proposes is forbidden.

Without ALWAYS the verifier would soon find that such guesses are not worth waiting for, and ask for none. The drafts of the
grammar itself go on: they are part of what is tested.
"""

import collections
import contextlib
import json
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.request

START_SECONDS = 120  # a model is loaded within that
LOOK_SECONDS = 0.1  # between two looks at whether it is
DEADLINE_US = "100000"  # of a tree; the drafter's machine is this one, and busy
HERE = "--http", "127.0.0.1:0", "--bind", "tcp://127.0.0.1:0"
PLAIN = "--resident", "none", "--head", "none"  # no draft but the scripted drafter's and the grammar's
ALWAYS = "--step-cost-us", "100000", "--wait-percent", "100000"  # drafts are always waited for, and always worth verifying
FATE = re.compile(r'^slipstream_verifier_draft_nodes_total\{fate="(\w+)",[^}]*\} (\S+)$', re.M)


class Cluster:
    def __init__(self, build, model, folder):
        self.build, self.model, self.folder, self.processes = pathlib.Path(build), model, pathlib.Path(folder), {}

    def start(self, name, program, *flags):
        self.folder.mkdir(exist_ok=True)
        command = [self.build / program, "--model", self.model, "--port-file", self.folder / name, *flags]
        with (self.folder / f"{name}.log").open("w") as log:
            self.processes[name] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        return self.wait_for(name, lambda: json.loads((self.folder / name).read_text()))

    def wait_for(self, name, look):
        end = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(OSError, ValueError):  # the file, or the port, is not there yet
                if seen := look():
                    return seen
            if self.processes[name].poll() is not None or time.monotonic() > end:
                raise SystemExit(f"{name} did not start:\n{(self.folder / f'{name}.log').read_text()[-2000:]}")
            time.sleep(LOOK_SECONDS)

    def start_all(self):
        router = self.start("router", "services/router/slipstream-router", *HERE, "--deadline-us", DEADLINE_US)
        self.url = f"http://{router['http']}"
        workers = "--router", router["bind"]
        self.start("drafter", "tests/e2e/scripted/scripted_drafter", "--script", "random", *workers)
        verifier = self.start(
            "verifier", "services/verifier/slipstream-verifier", *PLAIN, *ALWAYS, *workers
        )
        self.metrics_url = f"http://{verifier['metrics']}/metrics"
        self.wait_for("verifier", lambda: b'"verifiers":1,"drafters":1' in urllib.request.urlopen(f"{self.url}/ready").read())

    def fates(self):
        """What became of the draft nodes that reached the verifier: {fate: nodes}. A forbidden node's fate is `trimmed`."""
        page = urllib.request.urlopen(self.metrics_url).read().decode()
        fates = collections.Counter()
        for fate, nodes in FATE.findall(page):
            fates[fate] += int(float(nodes))
        return fates

    def stop(self):
        for process in reversed(self.processes.values()):
            process.terminate()
            process.wait()


@contextlib.contextmanager
def running(build, model):
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(build, model, folder)
        try:
            cluster.start_all()
            yield cluster
        finally:
            cluster.stop()
