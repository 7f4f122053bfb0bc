"""Makes a draft head for a target, from its folder and questions to ask it: chats that it writes, its features of them, the trained head and its acceptance head.

    make train && python3 tools/train/make_head.py --model models/smollm2-135m-instruct.gguf --gsm8k train.jsonl --exclude EVALUATION...

The head lies in MODEL-head then, where `slipstream serve` finds it. Chats, features and head go on where it was cut off, by the same
command; another command for the same target takes another --work. Arguments behind `--` go to `slipstream-train head`. Work lies in --work: some 5 KB for each token of the chats.
With --documents, chats that were written before are taken, and nothing is asked of the target. With --device cuda:0 all of it is
computed on that GPU, and features stay in memory. --draws lets the target answer the same prompts again, so many times.
Exit status: 0 made, 1 a part failed (it says why), 2 wrong arguments.
"""

import argparse
import contextlib
import gzip
import http.client
import pathlib
import shutil
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
START_SECONDS = 120  # until a service is ready
STOP_SECONDS = 30    # until it has ended
SEEDS_OF_A_DRAW = 1_000_000  # more than there are chats


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ready(port):
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        try:
            connection.request("GET", "/ready")
            return connection.getresponse().status == 200
        except OSError:
            return False


def serve(options, port):
    """The target as it is served, without a head: what it says does not depend on who drafts."""
    command = [options.slipstream, "serve", "--model", options.model, "--port", str(port), "--head", "none", "--drafter", "none",
               "--device", options.device, "--path", options.path]
    service = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
    ends = time.monotonic() + START_SECONDS
    while not ready(port):
        if service.poll() is not None or time.monotonic() > ends:
            stop(service)
            raise SystemExit("make_head: the service did not start: its log above tells why")
        time.sleep(0.2)  # between two looks
    return service


def stop(service):
    service.terminate()
    try:
        service.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        service.kill()
        service.wait()


def is_head(folder):
    config = folder / "config.json"
    return config.is_file() and "eagle_config" in config.read_text(encoding="utf-8")


def run(*command):
    print("make_head:", *command, flush=True)
    if subprocess.run([str(part) for part in command], check=False).returncode != 0:
        raise SystemExit(1)


def write_documents(options):
    """The files of chats, each of half of the tokens if there are two."""
    documents, about_texts = options.work / "documents.jsonl", options.work / "texts.jsonl"
    if options.documents is not None:
        with documents.open("wb") as file:
            for path in options.documents:
                with gzip.open(path, "rb") as packed:
                    shutil.copyfileobj(packed, file)
        return [documents]
    prompts = {}
    if options.gsm8k is not None:
        prompts[documents] = ["--gsm8k", options.gsm8k]
    if options.texts:
        prompts[about_texts] = ["--texts", *options.texts]
    port = free_port()
    service = serve(options, port)
    try:
        for file, source in prompts.items():
            run(sys.executable, ROOT / "tools/train/target_documents.py", file, "--url", f"http://127.0.0.1:{port}",
                "--tokens", options.tokens // len(prompts), *source, *(["--exclude", *options.exclude] if options.exclude else []))
    finally:
        stop(service)
    return list(prompts)


def draw_answers(options, documents):
    """The documents, and files of new answers to their prompts; those that are there are kept."""
    files = list(documents)
    for draw in range(1, options.draws + 1):
        files.append(options.work / f"answers-{draw}.jsonl")
        if not files[-1].exists():
            run(options.train, "answer", "--model", options.model, "--documents", *documents, "--out", files[-1],
                "--seed", draw * SEEDS_OF_A_DRAW, "--device", options.device, "--path", options.path)
    return files


def train(options, files, theirs):
    """On a CPU features are collected once, since they take long; a GPU computes them anew when a training goes on."""
    if options.device == "cpu":
        features = options.work / "features"
        run(options.train, "collect", "--model", options.model, "--documents", *files, "--out", features, "--path", options.path)
        source = ["--data", features]
    else:
        source = ["--documents", *files]
    limit = ["--minutes", options.minutes] if options.minutes is not None else []
    run(options.train, "head", "--model", options.model, *source, "--out", options.work / "run", "--device", options.device, *limit, *theirs)


def add_acceptance_head(options, documents):
    """It is trained on what the head drafts for the first chats of the files, greedily and at temperature 1."""
    head, traces = options.work / "run/model", []
    for temperature in (0, 1):
        traces.append(options.work / f"trace-{temperature}")
        run(options.train, "trace", "--model", options.model, "--head", head, "--documents", *documents, "--out", traces[-1],
            "--temperature", temperature, "--chats", options.traced_chats, "--device", options.device)
    run(options.train, "acceptance", "--head", head, "--traces", *traces, "--device", options.device)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=pathlib.Path, default=ROOT / "models/smollm2-135m-instruct.gguf")
    parser.add_argument("--out", type=pathlib.Path, help="default: MODEL-head")
    parser.add_argument("--work", type=pathlib.Path, help="default: .run/head/MODEL")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="of the chats, prompts included")
    parser.add_argument("--gsm8k", type=pathlib.Path, help="questions of GSM8K's training set")
    parser.add_argument("--texts", type=pathlib.Path, nargs="+", help="files of prose; the target is asked about pieces of them")
    parser.add_argument("--exclude", type=pathlib.Path, nargs="*", default=[], help="files of prompts that something is measured with")
    parser.add_argument("--documents", type=pathlib.Path, nargs="+", help="chats that were written before (.jsonl.gz)")
    parser.add_argument("--draws", type=int, default=0, help="times that the target answers all prompts again, at temperature 1")
    parser.add_argument("--minutes", type=float, help="how long the head is trained, in place of steps")
    parser.add_argument("--device", default="cpu", help="what computes target and head: cpu, torch-cpu or cuda:N")
    parser.add_argument("--path", default="auto", help="instructions of chats and features, as in `serve`: amx_bf16 computes many rows faster")
    parser.add_argument("--traced-chats", type=int, default=256, help="chats that the acceptance head is trained on")
    parser.add_argument("--slipstream", type=pathlib.Path, help="default: that of build/release; for cuda:N of build/cuda")
    parser.add_argument("--train", type=pathlib.Path, help="slipstream-train; default: that of build/torch; for cuda:N of build/cuda")
    ours, theirs = (sys.argv[1:], []) if "--" not in sys.argv else (sys.argv[1:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:])
    options = parser.parse_args(ours)
    if options.documents is None and options.gsm8k is None and not options.texts:
        parser.error("name --gsm8k or --texts, or --documents that were written before")
    on_gpu = options.device.startswith("cuda")
    options.slipstream = options.slipstream or ROOT / "build" / ("cuda" if on_gpu else "release") / "tools/slipstream/slipstream"
    options.train = options.train or ROOT / "build" / ("cuda" if on_gpu else "torch") / "tools/train/slipstream-train"
    out = options.out or options.model.with_name(options.model.name + "-head")
    if out.exists() and not is_head(out):
        parser.error(f"{out} is there, and is no draft head: name another --out")
    options.work = options.work or ROOT / ".run/head" / options.model.name
    options.work.mkdir(parents=True, exist_ok=True)
    documents = write_documents(options)
    train(options, draw_answers(options, documents), theirs)
    add_acceptance_head(options, documents)
    made = out.with_name(out.name + ".new")
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(options.work / "run/model", made)
    shutil.rmtree(out, ignore_errors=True)
    made.rename(out)
    print("made:", out)


if __name__ == "__main__":
    main()
