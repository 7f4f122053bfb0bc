#!/usr/bin/env python3
"""Plants one bug after another into a copy of the sources and shows which test catches it: a test that cannot fail proves nothing.

    mutants.py                 every bug: builds it, runs the test that must catch it, prints bug, test or seed, and the message
    mutants.py --only WORD     only the bugs whose name, folder or test contains the word
    mutants.py --check         checks only that every bug can still be planted and that its test exists (fast; part of make test)

The copy and its build are in build/mutants. The sources here are never changed.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import planting  # noqa: E402
from bugs import BUGS  # noqa: E402
from planting import ROOT  # noqa: E402

COPY = ROOT / "build/mutants"
BUILD = COPY / "build/release"  # as deep as the preset's: a cache of compilers takes both for one tree
SEEDS = 500  # a bug in the protocol must be found within this many seeds
JOBS = 2
CPU = pathlib.Path("/proc/cpuinfo").read_text().split()
# A bug may leave a name unused. That is no reason for the compiler to refuse it.
WARNINGS = ("unused-variable", "unused-parameter", "unused-function", "unused-but-set-variable", "unused-but-set-parameter",
            "unused-const-variable", "conversion", "sign-compare", "return-type", "unused-value", "type-limits", "maybe-uninitialized")
LENIENT = "".join(f'#pragma GCC diagnostic warning "-W{name}"\n' for name in WARNINGS) + "#line 1\n"


def run(*command, **options):
    return subprocess.run(command, text=True, capture_output=True, **options)


def copy_sources():
    """Copies only files that differ, so that the next build is short."""
    tracked = run("git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", check=True).stdout
    for name in tracked.splitlines():
        to, text = COPY / name, (ROOT / name).read_bytes()
        if not to.exists() or to.read_bytes() != text:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(text)
    for name in (".cache", "models"):  # what set-up fetched: the build needs the crates, tests the model
        if (ROOT / name).exists() and not (COPY / name).exists():
            (COPY / name).symlink_to(ROOT / name)


def build(target):
    made = run("cmake", "--build", str(BUILD), "--target", target, "--parallel", str(JOBS))
    if made.returncode != 0:
        errors = [line for line in made.stdout.splitlines() if "error" in line][:3]
        raise RuntimeError("does not compile: " + " / ".join(errors or made.stdout.splitlines()[-3:]))


def caught_by(bug):
    """Returns (test or seed, its message) if the bug is caught, else None."""
    if bug.catcher == "simulate":
        ran = run(str(BUILD / "tests/sim/simulate"), "--seeds", str(SEEDS), timeout=600)
        if ran.returncode == 0:
            return None
        last = (ran.stdout.splitlines() or [""])[-1] if ran.returncode == 1 else (ran.stderr.splitlines() or ["?"])[0]
        seed = re.search(r"seed (\d+): (.*)", ran.stderr if ran.returncode != 1 else last)
        return (f"seed {seed[1]}", seed[2] if ran.returncode == 1 else last) if seed else ("crash", last)
    target, test = bug.catcher.split(" ", 1)
    where = next(BUILD.glob(f"tests/**/{target}"))
    ran = run(str(where), f"--gtest_filter={test}", timeout=600)
    if "[ RUN" not in ran.stdout:
        raise RuntimeError(f"no test is called {test}")
    if ran.returncode == 0:
        return None
    failed = re.findall(r"^\[  FAILED  \] (\S+) \(", ran.stdout, re.M)
    return (failed[0] if failed else test, "fails")


def plant_all(bugs):
    """Returns {name: (file, its text with the bug)}. Exits with one line for each bug that cannot be planted or has no test."""
    texts, problems = {}, []
    for bug in bugs:
        try:
            if bug.name in texts:
                raise ValueError(f"tests/mutants/bugs.py: two bugs are called '{bug.name}'")
            texts[bug.name] = planting.planted(bug)
            planting.check_catcher(bug)
        except ValueError as error:
            problems.append(str(error))
    if problems:
        sys.exit("\n".join(problems))
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    bugs = [bug for bug in BUGS if any(options.only in of_it for of_it in (bug.name, bug.where, bug.catcher))]
    texts = plant_all(bugs)
    if options.check:
        print(f"{len(bugs)} bugs can be planted")
        return
    copy_sources()
    os.environ |= {"CCACHE_BASEDIR": str(COPY), "CCACHE_NOHASHDIR": "1"}
    BUILD.mkdir(parents=True, exist_ok=True)
    # The flags of the preset release: what a cache of compilers has of it is not compiled again.
    flags = ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -g1", "-DSLIPSTREAM_RESEARCH=ON")
    run("cmake", "-S", str(COPY), "-B", str(BUILD), "-G", "Ninja", *flags, check=True)
    missed, built = 0, None
    # Test program by test program, each built without bugs first. The end-to-end tests take longest to build and come last.
    target_of = lambda bug: bug.catcher.split(" ")[0]
    for bug in sorted(bugs, key=lambda bug: (target_of(bug) == "e2e_test", target_of(bug) != "simulate", target_of(bug))):
        if built != target_of(bug):
            built = target_of(bug)
            print(f"\nbuilding {built} without bugs ...\n{'bug':<44} {'caught by':<44} how", flush=True)
            build(built)
        if bug.cpu and bug.cpu not in CPU:
            print(f"{bug.name:<44} {'not here':<44} this CPU has no {bug.cpu}", flush=True)
            continue
        path, text = texts[bug.name]
        file = COPY / path
        sound = file.read_text()
        began = time.monotonic()
        try:
            file.write_text((LENIENT if file.suffix in (".h", ".cpp") else "") + text)
            build(bug.catcher.split(" ")[0])
            caught = caught_by(bug)
        except subprocess.TimeoutExpired:
            caught = ("the clock", "it does not end")
        except RuntimeError as error:
            caught, missed = ("nobody", str(error)), missed + 1
        finally:
            file.write_text(sound)
        if caught is None:
            caught, missed = ("NOBODY", f"{SEEDS} seeds passed" if bug.catcher == "simulate" else "the test passed"), missed + 1
        print(f"{bug.name:<44} {caught[0]:<44} {caught[1][:110]}  ({time.monotonic() - began:.0f} s)", flush=True)
    print(f"\n{len(bugs) - missed} of {len(bugs)} bugs caught")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
