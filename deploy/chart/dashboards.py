#!/usr/bin/env python3
"""Writes the chart's Grafana dashboards: `dashboards.py deploy/chart/slipstream/files/dashboards`.

The table below is their one source. deploy/tests/check.py fails when the files differ from it, and
the cluster test asks every query of a real Prometheus.
"""
import json
import pathlib
import sys

NS = 'namespace=~"$namespace"'


def rate(metric, by="", labels=""):
    selector = ",".join(part for part in (NS, labels) if part)
    return f"sum{f' by ({by})' if by else ''} (rate({metric}{{{selector}}}[$__rate_interval]))"


def ratio(above, below):
    return f"{above} / {below}"


def quantile(share, histogram):
    return f"histogram_quantile({share}, {rate(histogram + '_bucket', 'le')})"


def quantiles(histogram):
    return [(quantile(0.5, histogram), "half"), (quantile(0.99, histogram), "99 of 100")]


def now(metric, how="sum", by="", labels=""):
    selector = ",".join(part for part in (NS, labels) if part)
    return f"{how}{f' by ({by})' if by else ''} ({metric}{{{selector}}})"


R, V, D, N = "slipstream_router_", "slipstream_verifier_", "slipstream_drafter_", "slipstream_node_"
DEPTH = V + "draft_depth_"

# file: (title, [(panel, unit, [(query, legend)])])
DASHBOARDS = {
    "service": ("Slipstream: service level", [
        ("Tokens a second", "short", [(rate(R + "output_tokens_total", "drafted"), "drafted: {{drafted}}")]),
        ("Requests that ended", "reqps", [(rate(R + "requests_total", "outcome"), "{{outcome}}")]),
        ("Errors by code", "reqps", [(rate(R + "errors_total", "code"), "{{code}}")]),
        ("Requests now", "short", [(now(R + "requests_live"), "live"), (now(R + "requests_waiting"), "waiting")]),
        ("Time to the first token", "s", quantiles(R + "time_to_first_token_seconds")),
        ("Time between tokens", "s", quantiles(R + "inter_token_seconds")),
        ("Wait for a verifier", "s", quantiles(R + "queue_seconds") + [(now(R + "expected_wait_seconds", "max"), "expected now")]),
        ("Prompt tokens a second, and those from a prefix cache", "short",
         [(rate(R + "prompt_tokens_total"), "asked"), (rate(V + "prefix_tokens_total"), "cached")]),
        ("Workers", "short", [(now(R + "workers", "max", "role"), "{{role}}")]),
        ("Busy share", "percentunit", [(now(R + "worker_busy_ratio", "avg", "role"), "{{role}}")]),
    ]),
    "speculation": ("Slipstream: speculation", [
        ("What became of draft nodes", "short", [(rate(V + "draft_nodes_total", "fate"), "{{fate}}")]),
        ("Tokens a step and sequence", "short",
         [("1 + " + ratio(rate(V + "accepted_nodes_sum"), rate(V + "accepted_nodes_count")), "acceptance length")]),
        ("Acceptance by depth", "percentunit",
         [(ratio(rate(DEPTH + "accepted_nodes_total", "depth"), rate(DEPTH + "verified_nodes_total", "depth")), "depth {{depth}}")]),
        ("Accepted beside expected nodes", "short",
         [(rate(DEPTH + "expected_nodes_total", "method"), "expected, {{method}}"),
          (rate(DEPTH + "accepted_nodes_total", "method"), "accepted, {{method}}")]),
        ("Rounds", "short", [(rate(V + "rounds_total", "kind"), "{{kind}}")]),
        ("Asks, or why not", "short", [(rate(V + "draft_asks_total", "asked"), "{{asked}}")]),
        ("Price of a node, tokens", "short", [(now(V + "node_price_tokens", "avg"), "price")]),
        ("Nodes that a step could afford", "short", [(quantile(0.5, V + "affordable_nodes"), "half")]),
        ("Deadlines", "short", [(rate(V + "missed_deadlines_total"), "missed"), (rate(V + "met_deadlines_total"), "met")]),
        ("Time waited for drafts, of a second", "percentunit", [(rate(V + "draft_wait_seconds_total"), "waited")]),
        ("Step", "s", quantiles(V + "step_seconds")),
        ("Rows a step", "short", [(ratio(rate(V + "step_rows_total"), rate(V + "step_seconds_count")), "rows")]),
    ]),
    "drafters": ("Slipstream: drafters", [
        ("Drafters that a verifier knows", "short", [(now(V + "drafters", "max", "method"), "{{method}}")]),
        ("Accepted tokens a second and drafter", "short",
         [(ratio(rate(DEPTH + "accepted_nodes_total", "method"), "(" + now(V + "drafters", "max", "method") + " > 0)"), "{{method}}")]),
        ("Gain of a round, tokens", "short", [(now(V + "draft_gain_tokens", "avg", "method, rule"), "{{method}}, {{rule}}")]),
        ("Asks and answers", "short", [(rate(D + "asks_total"), "asks"), (rate(D + "answers_total", "answer"), "{{answer}}")]),
        ("A draft job", "s", quantiles(D + "draft_seconds")),
        ("Nodes", "short", [(rate(D + "nodes_total", "fate"), "{{fate}}")]),
        ("Advances", "short", [(rate(D + "advances_total", "outcome"), "{{outcome}}")]),
        ("Sequences and tokens held", "short", [(now(D + "sequences_live"), "sequences"), (now(D + "tokens_held"), "tokens")]),
        ("Verifiers attached, each drafter", "short", [(now(D + "verifiers", "avg"), "verifiers")]),
        ("Failed jobs", "short", [(rate(D + "failed_jobs_total"), "jobs")]),
    ]),
    "faults": ("Slipstream: faults", [
        ("Workers refused, lost, silent, stuck", "short", [(rate(R + "worker_faults_total", "kind"), "{{kind}}")]),
        ("Requests begun again", "short", [(rate(R + "starts_total", "kind"), "{{kind}}")]),
        ("Tokens repeated, gaps, stale", "short", [(rate(R + "token_faults_total", "kind"), "{{kind}}")]),
        ("Steps and sequences that failed", "short", [(rate(V + "step_faults_total", "kind"), "{{kind}}")]),
        ("Wrong messages", "short",
         [(rate(role + "peer_faults_total", "kind"), name + " {{kind}}") for role, name in ((R, "router"), (V, "verifier"), (D, "drafter"))]),
        ("Frames dropped", "short", [(rate(N + "dropped_total", "why"), "{{why}}")]),
        ("What stands still longest", "s", [(now(N + "standstill_seconds", "max", "of"), "{{of}}")]),
        ("Connections cut", "short", [(rate(N + "connections_cut_total", "why"), "{{why}}")]),
        ("Handshakes that failed", "short", [(rate(N + "handshakes_failed_total", "why"), "{{why}}")]),
        ("HTTP turned away", "short", [(rate("slipstream_http_faults_total", "kind"), "{{kind}}")]),
        ("Releases and numerics", "short",
         [(now("slipstream_build_info", "count", "role, version, commit, numerics"), "{{role}} {{version}} {{commit}} {{numerics}}")]),
    ]),
}


def queries():
    """(dashboard, panel, query) of each, for tests."""
    for name, (_, panels) in DASHBOARDS.items():
        for title, _, targets in panels:
            for query, _ in targets:
                yield name, title, query


def panel(index, title, unit, targets):
    source = {"type": "prometheus", "uid": "${source}"}
    stacked = {"stacking": {"mode": "normal"}, "fillOpacity": 30} if title.startswith("What became") else {}
    return {"id": index + 1, "title": title, "type": "timeseries", "datasource": source,
            "gridPos": {"x": 12 * (index % 2), "y": 8 * (index // 2), "w": 12, "h": 8},
            "fieldConfig": {"defaults": {"unit": unit, "min": 0, "custom": stacked}, "overrides": []},
            "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
            "targets": [{"refId": chr(ord("A") + i), "expr": query, "legendFormat": legend, "datasource": source}
                        for i, (query, legend) in enumerate(targets)]}


def dashboard(name):
    title, panels = DASHBOARDS[name]
    variables = [{"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"},
                 {"name": "namespace", "type": "query", "datasource": {"type": "prometheus", "uid": "${source}"}, "multi": True,
                  "includeAll": True, "allValue": ".*", "refresh": 2, "query": "label_values(slipstream_build_info, namespace)"}]
    made = {"uid": f"slipstream-{name}", "title": title, "tags": ["slipstream"], "schemaVersion": 39, "editable": False,
            "time": {"from": "now-1h", "to": "now"}, "refresh": "10s", "templating": {"list": variables},
            "panels": [panel(i, *each) for i, each in enumerate(panels)]}
    return json.dumps(made, indent=1) + "\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    for name in DASHBOARDS:
        (folder / f"{name}.json").write_text(dashboard(name), encoding="utf-8")


if __name__ == "__main__":
    main()
