"""Fits the times of the real service, as SpecDec++ does (2405.19715, Section 4.2): do steps and passes explain how long answers take?

    .venv/bin/python research/specdec/forward_time.py build/release/tools/slipstream/slipstream MODEL [options] [-- options of serve]

Each prompt is asked with drafts and without, by turns. The paper's equation 2.1 is T = t_target N_target + t_draft N_draft. Here a step has
more than one row and reads its context, and a draft of the head takes a way to the compute thread and back besides its passes:

    T = step * steps + row * (rows - steps) + position * steps * context + draft * drafts + pass * passes

where `context` is that of the middle of the answer, other counts are those that the verifier exports, and T is what a client sees between its first token and its last. Both forms are fitted to
the answers to the odd prompts by least squares, and tell R2 there. The answers to the even prompts then show how far tokens a second are
off what the fit predicts. Drafts come from the head and from the verifier's look-up; the drafter process is off, since nobody counts what
waiting for it took.
Exit status: 0 R2 is at least 0.98 and the prediction within 6 % (of the longer form), 1 not, 2 wrong arguments.
"""

import argparse
import contextlib
import json
import pathlib
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/peers")]
import scrape  # noqa: E402
import servers  # noqa: E402

R2_LEAST, WITHIN = 0.98, 0.06
V = "slipstream_verifier_"


class Counts:
    """What the verifier counted up to now."""

    def __init__(self, server):
        page = scrape.Page(scrape.verifier_url(server))
        self.steps, self.rows = page.sum(V + "step_seconds_count"), page.sum(V + "step_rows_total")
        self.prompt_rows = page.sum(V + "prompt_tokens_total") - page.sum(V + "prefix_tokens_total")
        self.drafts = page.sum(V + "draft_asks_total", method="head", asked="yes")
        self.passes = page.sum(V + "head_passes_total")


class Timed:
    """An answer: its seconds behind the first token, its tokens there, and what was computed for them."""

    def __init__(self, answer, before, after, drafted):
        self.drafted, self.seconds, self.tokens = drafted, answer.decode_s(), answer.tokens - 1
        # The first token comes from the one step that computes what the cache has not of the prompt.
        self.steps = after.steps - before.steps - 1
        self.rows = after.rows - before.rows - (after.prompt_rows - before.prompt_rows)
        self.positions = self.steps * (answer.prompt_tokens + answer.tokens / 2)
        self.drafts, self.passes = after.drafts - before.drafts, after.passes - before.passes

    def paper(self):
        return [self.steps, self.passes]

    def ours(self):
        return [self.steps, self.rows - self.steps, self.positions, self.drafts, self.passes]


def fit(answers, form):
    """Seconds of each term, and R2."""
    terms, seconds = numpy.array([form(each) for each in answers], float), numpy.array([each.seconds for each in answers])
    seconds_of, *_ = numpy.linalg.lstsq(terms, seconds, rcond=None)
    off = seconds - terms @ seconds_of
    return seconds_of, 1 - (off @ off) / ((seconds - seconds.mean()) @ (seconds - seconds.mean()))


def speeds(answers, form, seconds_of):
    """Tokens a second of these answers together: seen, and as fitted."""
    tokens = sum(each.tokens for each in answers)
    return tokens / sum(each.seconds for each in answers), tokens / sum(numpy.dot(form(each), seconds_of) for each in answers)


def measure(options, serve_flags):
    prompts = [json.loads(line)["prompt"] for line in options.file.read_text().splitlines()]
    answers = ([], [])  # to the even prompts, and to the odd ones
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        flags = ["--drafter", "none", *serve_flags]
        server = running.enter_context(servers.ours(options.slipstream, options.model, folder + "/log", options.threads, *flags))
        for number, prompt in enumerate(prompts[:: options.every]):
            servers.ask(server, prompt, 1)  # so that the cache has the prompt, and one step computes the rest of it
            for drafted in (True, False) if number % 2 else (False, True):
                before = Counts(server)
                answer = servers.ask(server, prompt, options.tokens, temperature=options.temperature, seed=number, ignore_eos=False,
                                     speculation={"enabled": drafted})
                answers[number % 2].append(Timed(answer, before, Counts(server), drafted))
                print(f"\r{number + 1} of {len(prompts[:: options.every])} prompts", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return answers


def report(even, odd):
    print("| form | ms of each term | R2 | tokens/s with drafts: seen, as fitted | plain |\n|---|---|---|---|---|")
    forms = {"steps, passes (equation 2.1)": Timed.paper, "steps, rows beyond one, positions read, drafts, passes": Timed.ours}
    for name, form in forms.items():
        seconds_of, r2 = fit(odd, form)
        told, off = [], 0
        for drafted in (True, False):
            seen, fitted = speeds([each for each in even if each.drafted == drafted], form, seconds_of)
            told.append(f"{seen:.1f}, {fitted:.1f} ({fitted / seen - 1:+.1%})")
            off = max(off, abs(fitted / seen - 1))
        print(f"| {name} | {', '.join(f'{1e3 * each:.3g}' for each in seconds_of)} | {r2:.4f} | {told[0]} | {told[1]} |")
    return r2 >= R2_LEAST and off <= WITHIN  # of the last form


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream")
    parser.add_argument("model")
    parser.add_argument("--every", type=int, default=1, help="take each prompt whose number this divides")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--temperature", type=float, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--file", type=pathlib.Path, default=ROOT / "bench/data/categories.jsonl")
    options, serve_flags = servers.parse(parser)
    even, odd = measure(options, serve_flags)
    sys.exit(0 if report(even, odd) else 1)


if __name__ == "__main__":
    main()
