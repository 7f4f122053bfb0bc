#!/usr/bin/env python3
"""Writes the parts of deploy/kustomize that are the chart's, or checks them all: make.py [--check].

The chart is the one source. This writes with `helm template`
  base/slipstream.yaml         what it installs, with values.yaml beside it
  scaling/scaling.yaml         KEDA's objects, where both kinds of pods are scaled
  monitoring/monitoring.yaml   what the Prometheus operator and Grafana's side-car read
  chart.sha256                 of the chart's files from which these were written
A folder with a file values.yaml and patches of its own says the same twice. --check shows that both
ways make the same objects, for each such folder. Writing needs helm and checking kubectl, too, on
the PATH or in $SK8S/bin. `deploy/tests/check.py` needs neither: it compares chart.sha256 only.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CHART = HERE.parent / "chart/slipstream"
STAMP = HERE / "chart.sha256"
NAME = "slipstream"  # of the release and of its namespace
OF_SCALING = {"ScaledObject"}
OF_MONITORING = {"PodMonitor", "PrometheusRule", "ConfigMap"}


def tool(name):
    """Its path, or None. $SK8S is the test's cluster (deploy/tests/cluster), whose kubectl has kustomize, too."""
    return shutil.which(name, path=os.pathsep.join([os.environ.get("SK8S", "") + "/bin", os.environ["PATH"]]))


def chart_hash():
    digest = hashlib.sha256()
    for path in sorted(path for path in CHART.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(CHART)}\0".encode() + path.read_bytes() + b"\0")
    for path in sorted(HERE.glob("*/values.yaml")):
        digest.update(f"{path.relative_to(HERE)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def ran(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def kind(item):
    return re.search(r"^kind: (\w+)", item, re.MULTILINE)[1]


def objects(values):
    """What the chart makes of these files of values: texts, without Helm's own marks."""
    files = [argument for path in values for argument in ("--values", path)]
    made = ran(tool("helm"), "template", NAME, CHART, "--namespace", NAME, *files)
    for item in re.split(r"^---\n", made, flags=re.MULTILINE):
        if "\nkind: " not in item:
            continue
        lines = [line for line in item.splitlines()
                 if not re.match(r"# Source: | +app.kubernetes.io/managed-by: Helm$| +helm.sh/chart: ", line)]
        yield "\n".join(lines) + "\n"


def write(path, items, what):
    head = f"# {what}, written by deploy/kustomize/make.py from deploy/chart/slipstream. Change the chart.\n"
    path.write_text(head + "---\n".join(items), encoding="utf-8")


def make():
    write(HERE / "base/slipstream.yaml", objects([HERE / "base/values.yaml"]), "What the chart installs")
    whole = list(objects([HERE / "base/values.yaml", HERE / "production/values.yaml"]))
    write(HERE / "scaling/scaling.yaml", [item for item in whole if kind(item) in OF_SCALING], "KEDA's objects")
    write(HERE / "monitoring/monitoring.yaml", [item for item in whole if kind(item) in OF_MONITORING], "What monitors")
    STAMP.write_text(chart_hash() + "\n", encoding="utf-8")


def kustomized(folder):
    return ran(tool("kubectl"), "kustomize", folder)


def from_chart(values):
    """The chart's objects as kustomize writes them: sorted, and without comments."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "all.yaml").write_text("---\n".join(objects(values)), encoding="utf-8")
        (folder / "kustomization.yaml").write_text(f"namespace: {NAME}\nresources: [all.yaml]\n", encoding="utf-8")
        return kustomized(folder)


def faults():
    base = HERE / "base/values.yaml"
    for values in sorted(HERE.glob("*/values.yaml")):
        ours, charts = kustomized(values.parent), from_chart([base] if values == base else [base, values])
        # kustomize keeps the order in which resources are named; that of the objects means nothing.
        if sorted(ours.split("---\n")) != sorted(charts.split("---\n")):
            with tempfile.TemporaryDirectory() as name:
                one, two = pathlib.Path(name, "kustomize"), pathlib.Path(name, "chart")
                one.write_text("---\n".join(sorted(ours.split("---\n"))), encoding="utf-8")
                two.write_text("---\n".join(sorted(charts.split("---\n"))), encoding="utf-8")
                shown = subprocess.run(["diff", "-u", one, two], stdout=subprocess.PIPE, text=True, check=False).stdout
            yield f"deploy/kustomize/{values.parent.name} is not what the chart makes of its values.yaml:\n{shown}"


def need(name):
    if tool(name) is None:
        sys.exit(f"{name} is missing: `deploy/tests/cluster/build.sh kube helm` builds kubectl and helm into $SK8S/bin")


def main():
    need("helm")
    if "--check" not in sys.argv[1:]:
        make()
        if tool("kubectl") is None:
            print("written; kubectl is missing, so nothing was compared")
            return
    need("kubectl")
    found = list(faults())
    print("\n".join(found) or "kustomize and the chart make the same")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
