"""A real Prometheus on loopback that scrapes what it is told to, with the rules that it is given."""
import contextlib
import json
import shutil
import subprocess
import urllib.parse
import urllib.request

import fleet

SCRAPE_S = 1
CONFIG = """
global: {{scrape_interval: {scrape}s, scrape_timeout: {scrape}s, evaluation_interval: {scrape}s}}
rule_files: [rules.yaml]
scrape_configs: [{{job_name: slipstream, file_sd_configs: [{{files: [targets.json], refresh_interval: 1s}}]}}]
"""


class Prometheus:
    """Lives in `folder`. It may be stopped and started again: it keeps its address and what it scraped."""

    def __init__(self, folder, rules="groups: []"):
        self.folder, self.targets = folder, {}
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "rules.yaml").write_text(rules, encoding="utf-8")
        (folder / "prometheus.yaml").write_text(CONFIG.format(scrape=SCRAPE_S), encoding="utf-8")
        self.watch({})
        self.port = fleet.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        with open(self.folder / "prometheus.log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [shutil.which("prometheus"), f"--config.file={self.folder}/prometheus.yaml", f"--storage.tsdb.path={self.folder}/tsdb",
                 f"--web.listen-address=127.0.0.1:{self.port}"], stdout=log, stderr=log)
        fleet.wait_for("Prometheus", self.up)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)

    def up(self):
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(f"{self.url}/-/ready", timeout=5).status == 200
        return False

    def watch(self, targets):
        """{address: labels} of what is scraped from now on, beside what was."""
        self.targets.update(targets)
        beside = self.folder / "targets.new"
        beside.write_text(json.dumps([{"targets": [address], "labels": labels} for address, labels in self.targets.items()]),
                          encoding="utf-8")
        beside.rename(self.folder / "targets.json")

    def get(self, path, **parameters):
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=20) as answer:
            return json.load(answer)["data"]

    def scraped(self, namespace, processes):
        """Whether each process of a namespace was read."""
        up = self.get("query", query=f'count(up{{namespace="{namespace}"}} == 1)')["result"]
        return bool(up) and int(up[0]["value"][1]) == processes
