"""Reads the numbers on a /metrics page. Two pages give what happened between them."""

import json
import pathlib
import re
import urllib.request

SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="(.*?)"')


class Page:
    def __init__(self, url):
        text = urllib.request.urlopen(url).read().decode()
        self.samples = [(name, dict(LABEL.findall(labels)), float(value)) for name, labels, value in SAMPLE.findall(text)]

    def by(self, name, *keys):
        """{values of these labels: value} of one metric, as the page has them."""
        return {tuple(labels[key] for key in keys): value for sample, labels, value in self.samples if sample == name}

    def sum(self, name, **labels):
        """The sum of one metric over the samples that have these labels."""
        return sum(value for sample, has, value in self.samples if sample == name and has.items() >= labels.items())


def verifier_url(server):
    """The verifier's page, of a server that peers/servers.ours() started."""
    port_file = next(server.run_folder.glob("ports/*verifier*"))
    return f"http://{json.loads(port_file.read_text())['metrics']}/metrics"


def processor():
    return re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)[1]
