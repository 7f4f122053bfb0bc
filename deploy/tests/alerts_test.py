#!/usr/bin/env python3
"""Provokes each alert of the chart once by its cause: real services, a real Prometheus, the chart's own rules.

    alerts_test.py BUILD [--for SECONDS] [--torch BUILD] [--only ALERT] [--out FOLDER]

Each case is a fleet of its own on loopback, with a random model and its own namespace. At rest none
of its alerts may be there; then the cause, and each must fire. The only change to the rules is how
long an expression must hold (`for:`). SlipstreamDrafterFails needs a build with torch, since no
draft job fails on our own device. Needs root or the right to trace processes, and prometheus.
"""
import argparse
import pathlib
import re
import sys
import tempfile
import time

import fleet
from prometheus import SCRAPE_S, Prometheus
from waiting import Failed

HERE = pathlib.Path(__file__).resolve().parent
RULES = HERE.parent / "chart" / "slipstream" / "files" / "rules.yaml"
REST_S = 5       # how long no alert may be there before the cause
FIRES_S = 240    # after this an alert is not coming


def rules_of(holds_s):
    """The chart's rules, but for how long each must hold; and how long that is in the chart."""
    text = RULES.read_text(encoding="utf-8")
    chart_for = dict(re.findall(r"- alert: (\w+)\n(?:(?! *- alert).*\n)*?\s+for: (\w+)\n", text))
    return re.sub(r"\bfor: \w+", f"for: {holds_s}s", text), chart_for


def alerts_of(prometheus, namespace):
    """{name: (state, when it began to hold)}."""
    found = {}
    for alert in prometheus.get("alerts")["alerts"]:
        if alert["labels"].get("namespace") == namespace:
            stamp = re.sub(r"(\.\d{6})\d*Z$", r"\1+0000", alert["activeAt"])
            stamp = re.sub(r"(:\d\d)Z$", r"\1.000000+0000", stamp)
            since = time.mktime(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
            found[alert["labels"]["alertname"]] = (alert["state"], since)
    return found


# --- The causes. A case is (alerts, set-up, cause): each takes the fleet, and says in words what it did.


def quiet(one):
    one.router()
    one.verifier()


def busy(one):
    quiet(one)
    one.ask(streams=2, tokens=500)


def no_verifier(one):
    one.stop("verifier")
    return "the only verifier is stopped"


def few_rooms(one):
    """A verifier with room for two long answers, and routers that refuse none."""
    one.router("--queue-wait-ms", "0")
    one.verifier("--cache-tokens", "16384")
    one.ask(streams=1, tokens=500)


def crowd(one):
    one.ask(streams=120, tokens=7000)
    return "120 clients ask for 7,000 tokens each, of a verifier with room for two"


def job_hangs(one):
    one.freeze("verifier", "compute")
    return "the verifier's compute thread is stopped by a tracer, in a step"


def loop_hangs(one):
    one.freeze("verifier", None)
    return "the thread of the verifier's event loop is stopped by a tracer"


def damaged(one):
    one.router()
    one.verifier(model=one.damaged_model())
    return None


def ask_damaged(one):
    one.ask(streams=1, tokens=50)
    return "a final norm whose weights are finite and too large, so that no logit is finite"


def unlike_paths(one):
    one.verifier("--path", "portable", name="other")
    return "a second verifier computes by another instruction path"


def useless(one):
    quiet(one)
    one.drafter()


def noise(one):
    one.ask(streams=2, tokens=500, temperature=2.0)
    return "answers drawn at temperature 2, so that look-up guesses them hardly ever"


def drafting(one):
    quiet(one)
    one.drafter("--method", "small-lm", "--device", "torch-cpu", more=one.scarce_memory())
    one.ask(streams=2, tokens=500)


def no_memory(one):
    (one.folder / "scarce").touch()
    return "a small-lm drafter on torch-cpu gets no more memory"


def keyed(one):
    one.make_keys()
    quiet(one)


def stranger(one):
    one.make_keys("new")
    one.drafter(keys="new")
    return "a drafter has keys that were made anew, as after a change of the Secret"


CASES = {
    "no-verifier": (["SlipstreamNoVerifier"], quiet, no_verifier),
    "requests-fail": (["SlipstreamRequestsFail"], busy, no_verifier),
    "crowd": (["SlipstreamRequestsWait", "SlipstreamSlowFirstToken"], few_rooms, crowd),
    "job": (["SlipstreamVerifierStuck", "SlipstreamStandsStill"], busy, job_hangs),
    "loop": (["SlipstreamStandsStill"], busy, loop_hangs),
    "weights": (["SlipstreamStepsFail"], damaged, ask_damaged),
    "paths": (["SlipstreamMixedNumerics"], quiet, unlike_paths),
    "useless": (["SlipstreamDraftsDoNotPay"], useless, noise),
    "memory": (["SlipstreamDrafterFails"], drafting, no_memory),
    "keys": (["SlipstreamKeysDoNotMatch"], keyed, stranger),
}


def provoke(name, arguments, prometheus, chart_for):
    """The rows of a case: (alert, cause, seconds until it held, the chart's `for`, seconds until it fired)."""
    alerts, set_up, cause = CASES[name]
    with fleet.Fleet(arguments.torch if name == "memory" else arguments.build, arguments.out / name) as one:
        set_up(one)
        prometheus.watch(one.targets(name))
        fleet.wait_for(f"{name}: all are scraped", lambda: prometheus.scraped(name, len(one.targets(name))))
        rested = time.monotonic()
        while time.monotonic() - rested < REST_S:
            if early := set(alerts) & set(alerts_of(prometheus, name)):
                raise Failed(f"{name}: {early} without its cause")
            time.sleep(SCRAPE_S)
        began, told = time.time(), cause(one)
        prometheus.watch(one.targets(name))
        fired = {}

        def all_fire():
            for alert, (state, since) in alerts_of(prometheus, name).items():
                if state == "firing":
                    fired.setdefault(alert, (max(0, since - began), time.time() - began))
            return set(alerts) <= set(fired)

        try:
            fleet.wait_for(f"{name}: {alerts} fire", all_fire, seconds=FIRES_S)
        except Failed as fault:
            raise Failed(f"{fault}; of them {sorted(fired)} did") from None
        beside = sorted(set(alerts_of(prometheus, name)) - set(alerts))
        print(f"{time.strftime('%H:%M:%S')} {name}: {', '.join(alerts)}" + (f"; beside them {', '.join(beside)}" if beside else ""),
              flush=True)
        return [(alert, told, f"{fired[alert][0]:.0f}", chart_for.get(alert, "0s"), f"{fired[alert][1]:.0f}")
                for alert in alerts]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--for", type=int, default=3, dest="holds_s", help="how long each expression must hold")
    parser.add_argument("--torch", type=pathlib.Path, help="a build with torch")
    parser.add_argument("--only", help="a case: " + ", ".join(CASES))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(tempfile.mkdtemp()))
    arguments = parser.parse_args()
    arguments.out = arguments.out.resolve()
    rules, chart_for = rules_of(arguments.holds_s)
    prometheus, rows, faults = Prometheus(arguments.out, rules), [], []
    try:
        for name in [arguments.only] if arguments.only else CASES:
            if name == "memory" and arguments.torch is None:
                print("memory: SlipstreamDrafterFails is not provoked without --torch", flush=True)
                continue
            try:
                rows += provoke(name, arguments, prometheus, chart_for)
            except Failed as fault:
                faults.append(str(fault))
    finally:
        prometheus.stop()
    head = ("alert", "cause", "s until it held", "`for` of the chart", f"s until it fired, by `for: {arguments.holds_s}s`")
    for cells in [head, ["---"] * len(head), *rows]:
        print("| " + " | ".join(cells) + " |")
    provoked = {row[0] for row in rows}
    for alert in re.findall(r"- alert: (\w+)", RULES.read_text(encoding="utf-8")):
        if alert not in provoked and not arguments.only and (arguments.torch or alert != "SlipstreamDrafterFails"):
            faults.append(f"{alert} was not provoked")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
