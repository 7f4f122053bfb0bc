#!/usr/bin/env python3
"""Checks what the chart says of metrics, without a cluster: check.py ROOT.

1. Each alert has a section in docs/use/RUNBOOK.md, a case in which it fires and one in which it does not.
2. Each metric of a rule or a dashboard is in common/metrics/names.h.
3. The dashboards are what deploy/chart/dashboards.py writes.
4. promtool's cases for the rules hold.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
FILES = ROOT / "deploy/chart/slipstream/files"
sys.path.insert(0, str(ROOT / "deploy/chart"))
import dashboards  # noqa: E402  (its folder is known only now)


def alert_faults(rules, cases, runbook):
    for alert in re.findall(r"- alert: (\w+)", rules):
        if f"\n## {alert}\n" not in runbook:
            yield f"{alert} has no section in docs/use/RUNBOOK.md"
        if f"{{alertname: {alert}, eval_time: 45m, exp_alerts: []}}" not in cases:
            yield f"{alert} has no case in deploy/tests/rules_test.yaml in which it does not fire"
        if not re.search(rf"- alertname: {alert}\n +eval_time: \w+\n +exp_alerts: \[\{{exp_labels", cases):
            yield f"{alert} has no case in deploy/tests/rules_test.yaml in which it fires"
    for section in re.findall(r"\n## (Slipstream\w+)\n", runbook):
        if f"- alert: {section}\n" not in rules:
            yield f"docs/use/RUNBOOK.md has a section {section}, which is no alert"


def metric_faults(known, where, text):
    for metric in sorted(set(re.findall(r"\bslipstream_\w+", text))):
        if metric not in known and re.sub(r"_(bucket|sum|count)$", "", metric) not in known:
            yield f"{where} asks for {metric}, which common/metrics/names.h does not have"


def faults():
    rules = (FILES / "rules.yaml").read_text(encoding="utf-8")
    cases = (ROOT / "deploy/tests/rules_test.yaml").read_text(encoding="utf-8")
    yield from alert_faults(rules, cases, (ROOT / "docs/use/RUNBOOK.md").read_text(encoding="utf-8"))
    known = set(re.findall(r'"(slipstream_\w+)"', (ROOT / "common/metrics/names.h").read_text(encoding="utf-8")))
    yield from metric_faults(known, "rules.yaml", rules)
    for name, panel, query in dashboards.queries():
        yield from metric_faults(known, f"dashboard {name}, panel {panel},", query)
    for name in dashboards.DASHBOARDS:
        file = FILES / "dashboards" / f"{name}.json"
        if not file.exists() or file.read_text(encoding="utf-8") != dashboards.dashboard(name):
            yield f"{file.relative_to(ROOT)} is not what deploy/chart/dashboards.py writes: run it"
    promtool = shutil.which("promtool")
    if promtool is None:
        yield "promtool is missing: `make setup` brings it into .cache/bin"
        return
    tested = subprocess.run([promtool, "test", "rules", ROOT / "deploy/tests/rules_test.yaml"], capture_output=True, text=True, check=False)
    if tested.returncode != 0:
        yield tested.stdout + tested.stderr


def main():
    found = list(faults())
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
