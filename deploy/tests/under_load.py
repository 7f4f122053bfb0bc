"""Events on the cluster under load, and a table of what became of the requests in each.

`slipstream load` is the load: streams that keep their connections. Beside it steady.py asks over a new
connection each time, and its words are compared with those that are right.
"""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import steady
from waiting import Failed

HERE = pathlib.Path(__file__).resolve().parent
CLUSTER, LOAD = HERE / "cluster", HERE.parents[1] / "build/release/tools/slipstream/slipstream"
BASE_S = 15          # steady requests before the first event, as a base line
AFTER_S = 4          # after an event, so that answers which began in it count
LOAD_TIMEOUT_S = 30  # of an answer; on a cluster at rest it takes two seconds


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def innermost(pid):
    """The last of a process's children's children: `k` is a shell, which waits for nsenter, which waits for the command."""
    while children := pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split():
        pid = int(children[-1])
    return pid


def read_lines(file):
    """The whole lines of a file that is still written."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]


class Inside:
    """A process in the cluster's network that works until it is told to stop."""

    def __init__(self, command, said):
        self.said = said
        with open(said, "w", encoding="utf-8") as file:
            self.process = subprocess.Popen([CLUSTER / "k", *map(str, command)], stdout=file, stderr=file, start_new_session=True)

    def stop(self):
        """Tells it to end, and waits until it has. What it printed, if it did not end well, is the error."""
        if self.process.poll() is None:
            os.kill(innermost(self.process.pid), signal.SIGTERM)
        if self.process.wait(timeout=180) != 0:
            raise Failed(f"status {self.process.returncode}: {self.said.read_text(encoding='utf-8')[-2000:]}")


class Steady:
    """steady.py, whose words are compared."""

    def __init__(self, url, streams, out, kind="mixed"):
        self.out = out
        self.out.unlink(missing_ok=True)
        self.inside = Inside([sys.executable, HERE / "steady.py", url, streams, out, kind], out.with_suffix(".log"))

    def stop(self):
        self.inside.stop()

    def lines(self):
        """{"began", "ended", "pause_ms", "error", ...} of each answer."""
        return read_lines(self.out)


class Load:
    """`slipstream load` in a closed loop."""

    def __init__(self, url, streams, folder):
        self.each, self.report = folder / "requests.jsonl", folder / "load.json"
        prompts = folder / "prompts.txt"
        prompts.write_text("\n".join(steady.QUESTIONS) + "\n", encoding="utf-8")
        self.each.unlink(missing_ok=True)
        self.inside = Inside([LOAD, "load", "--url", url, "--streams", streams, "--seconds", 24 * 3600, "--prompts", prompts,
                              "--max-tokens", steady.TOKENS, "--fields", '{"ignore_eos": true}', "--timeout-s", LOAD_TIMEOUT_S,
                              "--each", self.each, "--json", self.report, "--html", folder / "load.html"], folder / "load.log")

    def stop(self):
        self.inside.stop()

    def lines(self):
        """As Steady.lines(). Requests that the end of the run cut off are left out."""
        for line in read_lines(self.each):
            if line["ending"] != "cut":
                whole = line["ending"] == "complete"
                yield {"began": line["ended_at"] - line["ended_s"] + line["sent_s"], "ended": line["ended_at"], "words": None,
                       "pause_ms": round(line["pause_ms"]) if whole else None,
                       "error": None if whole else f"{line['ending']}: {line['problem']}"}

    def check(self):
        """The report counts what its lines say, and no answer is shorter than it was asked to be."""
        counts, lines = json.loads(self.report.read_text(encoding="utf-8"))["runs"][0], read_lines(self.each)
        told = {ending: count for ending, count in counts["requests"].items() if count}
        found = {"all": len(lines)}
        for line in lines:
            found[line["ending"]] = found.get(line["ending"], 0) + 1
        if told != found:
            raise Failed(f"the report of slipstream load counts {told}, and its lines are {found}")
        if counts["tokens"]["out"] != steady.TOKENS * found.get("complete", 0):
            raise Failed(f"{found.get('complete', 0)} answers of {steady.TOKENS} tokens have {counts['tokens']['out']}")
        say(f"slipstream load: {told}, {counts['tokens_out_per_s']:.0f} tokens a second")


def row(name, span, lines, right, healed):
    """right(line): whether its words are as they should be. healed: from when on no request may begin that fails; None: always."""
    began, ended = span
    errors = [line for line in lines if line["error"]]
    pauses = [line["pause_ms"] for line in lines if line["pause_ms"] is not None]
    compared = [line for line in lines if line["words"] is not None]
    return {"event": name, "seconds": round(ended - began, 1), "answers": len(lines), "failed": len(errors),
            "unhealed": sum(1 for line in errors if healed is None or line["began"] > healed),
            "compared": len(compared), "wrong": sum(1 for line in compared if not right(line)), "pause_ms": max(pauses, default=None),
            "errors": sorted({line["error"] for line in errors})[:5],
            "failed_s": [round(line["ended"] - began, 1) for line in errors]}


def table(rows):
    head = ("event", "seconds", "requests", "failed", "compared", "wrong words", "longest pause, ms")
    body = [(r["event"], r["seconds"], r["answers"], r["failed"], r["compared"], r["wrong"], r["pause_ms"]) for r in rows]
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in [head, ["---"] * len(head), *body])


def tell(rows):
    """Prints the table, and what went wrong in which event."""
    print(table(rows))
    for one in rows:
        if one["failed"]:
            print(f"{one['event']}: failed after {one['failed_s']} s, {one['unhealed']} of these where none may")
        for error in one["errors"]:
            print(f"{one['event']}: {error}")


def judge(rows):
    if bad := [one["event"] for one in rows if one["unhealed"] or one["wrong"]]:
        raise Failed(f"an answer failed or has other words: {', '.join(bad)}")
    if idle := [one["event"] for one in rows if not one["answers"]]:
        raise Failed(f"no answer ended during: {', '.join(idle)}")


def under_load(arguments, url, right, events):
    """Rows of the table. An event is called, and returns None, or the time from which on no request that begins may fail."""
    marks = []  # [name, began, healed]
    with contextlib.ExitStack() as stopping:
        load = Load(url, arguments.streams, arguments.out)
        stopping.callback(load.stop)
        compared = Steady(url, arguments.compared, arguments.out / "answers.jsonl")
        stopping.callback(compared.stop)
        marks.append([f"steady, {arguments.streams + arguments.compared} streams", time.time(), None])
        time.sleep(BASE_S)
        for name, event in events:
            say(name)
            marks.append([name, time.time(), None])
            marks[-1][2] = event()
            time.sleep(AFTER_S)
        end = time.time()
    load.check()
    lines = [*load.lines(), *compared.lines()]
    rows = []
    for i, (name, began, healed) in enumerate(marks):
        # An answer belongs to the event in which it ended; the last event has all that came after.
        last = i + 1 == len(marks)
        ended = end if last else marks[i + 1][1]
        mine = [line for line in lines if began <= line["ended"] and (last or line["ended"] < ended)]
        rows.append(row(name, (began, ended), mine, right, healed))
    return rows
