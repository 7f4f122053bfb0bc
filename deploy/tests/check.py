#!/usr/bin/env python3
"""Checks what the chart says of metrics, without a cluster: check.py ROOT.

1. Each alert has a section in docs/use/RUNBOOK.md, a case in which it fires and one in which it does not.
2. Each metric of a rule or a dashboard is in common/metrics/names.h.
3. The dashboards are what deploy/chart/dashboards.py writes.
4. promtool's cases for the rules hold.
5. The scaling queries (files/scaling), filled in with the chart's own values, give what
   scaling_cases.json expects, as promtool reads them. The simulator's tests ask it the same cases.
6. deploy/kustomize was written from the chart as it is now. What it says is compared with the chart
   where there are helm and kubectl: `deploy/kustomize/make.py --check`, and `make cluster-test`.
7. The chart's schema knows the instruction paths of kernels/cpu/path.h.
"""
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

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


def scaling_values(section):
    """The values of `autoscaling` in a section of values.yaml. There is no YAML reader among our packages."""
    values = (FILES.parent / "values.yaml").read_text(encoding="utf-8")
    own = re.search(rf"^{section}:\n(?:  .*\n)*?  autoscaling:\n((?:    .*\n)+)", values, re.MULTILINE)[1]
    return dict(re.findall(r"^    (\w+): ([^ \n]+)", own, re.MULTILINE))


def scaling_query(name):
    """files/scaling/NAME.promql, filled in as templates/_names.tpl does."""
    query = (FILES / "scaling" / f"{name}.promql").read_text(encoding="utf-8")
    values = scaling_values("verifier" if name.startswith("verifiers") else "drafterDefaults")
    for key, value in {"namespace": "day", "group": "", "pool": "toy", "method": "toy", **values}.items():
        query = query.replace(f"${{{key}}}", value)
    return query


def scaling_tests(cases):
    """promtool's file of tests."""
    for case in cases:
        expected = [] if case["expected"] is None else [{"labels": "{}", "value": case["expected"]}]
        yield {"name": case["name"], "interval": "15s",
               "input_series": [{"series": series, "values": values} for series, values in case["series"].items()],
               "promql_expr_test": [{"expr": scaling_query(case["query"]), "eval_time": f"{case['at']}s", "exp_samples": expected}]}


def scaling_faults(known, promtool):
    cases = json.loads((ROOT / "deploy/tests/scaling_cases.json").read_text(encoding="utf-8"))
    template = (FILES.parent / "templates/_autoscaling.tpl").read_text(encoding="utf-8")
    for file in sorted((FILES / "scaling").glob("*.promql")):
        yield from metric_faults(known, file.name, file.read_text(encoding="utf-8"))
        if "${" in scaling_query(file.stem):
            yield f"{file.name} asks for a value that values.yaml does not have: {scaling_query(file.stem)}"
        if f'"file" "{file.stem}"' not in template:
            yield f"no trigger of templates/_autoscaling.tpl asks {file.name}"
        if file.stem not in {case["query"] for case in cases}:
            yield f"{file.name} has no case in deploy/tests/scaling_cases.json"
    with tempfile.TemporaryDirectory() as folder:
        tests = pathlib.Path(folder, "scaling_test.yaml")
        # JSON is YAML, too.
        tests.write_text(json.dumps({"evaluation_interval": "15s", "tests": list(scaling_tests(cases))}), encoding="utf-8")
        yield from promtool_faults(promtool, tests)


def promtool_faults(promtool, tests):
    tested = subprocess.run([promtool, "test", "rules", tests], capture_output=True, text=True, check=False)
    if tested.returncode != 0:
        yield tested.stdout + tested.stderr


def kustomize_faults():
    path = ROOT / "deploy/kustomize/make.py"
    spec = importlib.util.spec_from_file_location("make", path)
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    if make.STAMP.read_text(encoding="utf-8").strip() != make.chart_hash():
        yield "the chart has changed since deploy/kustomize was written from it: run deploy/kustomize/make.py and commit what it writes"


def path_faults():
    enum = re.search(r"enum class CpuPath : uint8_t \{\n(.*?)\n\};", (ROOT / "kernels/cpu/path.h").read_text(encoding="utf-8"), re.DOTALL)[1]
    schema = json.loads((FILES.parent / "values.schema.json").read_text(encoding="utf-8"))["properties"]
    groups = schema["groups"]["additionalProperties"]["properties"]
    for where, properties in (("verifier", schema["verifier"]), ("groups.*.verifier", groups["verifier"])):
        if properties["properties"]["path"]["enum"] != ["auto", *re.findall(r"^  (\w+),", enum, re.MULTILINE)]:
            yield f"{where}.path in values.schema.json does not list the paths of kernels/cpu/path.h"


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
    yield from kustomize_faults()
    yield from path_faults()
    promtool = shutil.which("promtool")
    if promtool is None:
        yield "promtool is missing: `make setup` brings it into .cache/bin"
        return
    yield from promtool_faults(promtool, ROOT / "deploy/tests/rules_test.yaml")
    yield from scaling_faults(known, promtool)


def main():
    found = list(faults())
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
