"""A real Prometheus on the node of the test's cluster, which scrapes the release's pods as the chart's PodMonitor would.

Debian's Prometheus is built without Kubernetes discovery, so a thread here asks the API server for
the pods and writes them to a file that Prometheus watches. It reads the chart's own rules.
"""
import json
import os
import pathlib
import signal
import subprocess
import threading
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
CLUSTER, RULES = HERE / "cluster", HERE.parent / "chart" / "slipstream" / "files" / "rules.yaml"
ADDRESS = "198.18.0.1:9090"  # the node's own, as deploy/tests/cluster/env.sh has it
SCRAPE_S, DISCOVER_S = 1, 2

CONFIG = """
global: {{scrape_interval: {scrape}s, scrape_timeout: {scrape}s, evaluation_interval: {scrape}s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: slipstream
    file_sd_configs: [{{files: [{targets}]}}]
"""


def targets_of(pods, namespace):
    """The pods as entries of a file of targets, with the labels that the chart's PodMonitor gives."""
    for pod in pods:
        address, labels = pod["status"].get("podIP"), pod["metadata"]["labels"]
        component = labels.get("app.kubernetes.io/component")
        if address and component:
            port = 8080 if component == "router" else 9100
            yield {"targets": [f"{address}:{port}"],
                   "labels": {"namespace": namespace, "component": component, "pod": pod["metadata"]["name"],
                              "pool": labels.get("slipstream/pool", ""), "group": labels.get("slipstream/group", "")}}


class Prometheus:
    def __init__(self, folder, namespace):
        folder.mkdir(parents=True, exist_ok=True)
        self.targets, self.namespace = folder / "targets.json", namespace
        config = folder / "prometheus.yaml"
        config.write_text(CONFIG.format(scrape=SCRAPE_S, rules=RULES, targets=self.targets), encoding="utf-8")
        self.log = open(folder / "prometheus.log", "w", encoding="utf-8")
        self.command = [CLUSTER / "k", "prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/tsdb-{int(time.time())}",
                        f"--web.listen-address={ADDRESS}"]
        self.begin()
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.discover)
        self.thread.start()

    def begin(self):
        """Starts the process, or starts it again after halt()."""
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, start_new_session=True)

    def halt(self):
        """Ends the process; its data stay."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(timeout=60)

    def discover(self):
        while not self.ending.wait(DISCOVER_S):
            listed = subprocess.run([CLUSTER / "k", "kubectl", "-n", self.namespace, "get", "pods", "-o", "json"],
                                    capture_output=True, text=True, check=False)
            if listed.returncode != 0:
                continue  # the API server is away for a moment: the targets stay
            beside = self.targets.with_suffix(".new")
            beside.write_text(json.dumps(list(targets_of(json.loads(listed.stdout)["items"], self.namespace))), encoding="utf-8")
            beside.rename(self.targets)

    def query(self, text):
        """The samples of an instant query, as [(labels, value)]."""
        asked = subprocess.run([CLUSTER / "k", "curl", "-s", "--max-time", "20",
                                f"http://{ADDRESS}/api/v1/query?query={urllib.parse.quote(text)}"],
                               capture_output=True, text=True, check=True)
        answer = json.loads(asked.stdout)
        if answer["status"] != "success":
            raise ValueError(f"{text}: {answer['error']}")
        return [(sample["metric"], float(sample["value"][1])) for sample in answer["data"]["result"]]

    def value(self, text, otherwise=None):
        """The one value of a query; `otherwise` if it has none, or Prometheus is not there yet."""
        try:
            samples = self.query(text)
        except (subprocess.CalledProcessError, json.JSONDecodeError):
            return otherwise
        return samples[0][1] if samples else otherwise

    def stop(self):
        self.ending.set()
        self.thread.join()
        self.halt()
        self.log.close()


def empty_queries(prometheus, queries):
    """(dashboard, panel, query) of those that give nothing, or a value that is no number."""
    for name, panel, query in queries:
        asked = query.replace("$__rate_interval", "1m").replace("$namespace", ".*")
        samples = prometheus.query(asked)
        if not samples or all(value != value for _, value in samples):
            yield name, panel, asked
