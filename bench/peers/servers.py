"""Starts the servers that are compared, and sends them streamed OpenAI-style chat requests."""

import json
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

START_SECONDS = 120  # a model is loaded within that


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server process at self.url. It ends with its `with` block."""

    def __init__(self, name, command, health, log):
        self.name = name
        port = str(free_port())
        self.url = "http://127.0.0.1:" + port
        self.health = self.url + health
        self.run_folder = None  # ours: where serve writes the ports and logs of its processes
        self.log = pathlib.Path(log)
        self.process = subprocess.Popen([*command, "--port", port], stdout=self.log.open("w"), stderr=subprocess.STDOUT)

    def __enter__(self):
        end = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                raise SystemExit(f"{self.name} did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.1)  # between two looks at whether it is ready
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def answers(self):
        try:
            return urllib.request.urlopen(self.health).status == 200
        except (urllib.error.URLError, ConnectionError):
            return False


def parse(parser):
    """The options of this command line, and behind a `--` the flags that ours() passes on to serve."""
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    return parser.parse_args(arguments[:split]), arguments[split + 1:]


def ours(slipstream, model, log, threads, *more):
    folder = str(log) + ".run"
    command = [slipstream, "serve", "--model", model, "--threads", str(threads), "--run-folder", folder, *more]
    server = Server("slipstream", command, "/ready", log)
    server.run_folder = pathlib.Path(folder)
    return server


def llama_cpp(program, model, log, threads, slots, *more):
    command = [program, "-m", model, "-t", str(threads), "-tb", str(threads), "-np", str(slots), "-c", str(4096 * slots), *more]
    return Server("llama.cpp", command, "/health", log)


class Answer:
    """One answer: the time (seconds, monotonic) and text of each piece, and the number of tokens that the server counted."""

    def __init__(self):
        self.sent, self.pieces, self.text, self.tokens, self.prompt_tokens = time.monotonic(), [], "", 0, 0
        self.tokens_per_step = 1.0  # ours: as the reply says

    def first_s(self):
        return self.pieces[0] - self.sent

    def decode_s(self):
        return self.pieces[-1] - self.pieces[0]


def ask(server, prompt, tokens, on_piece=lambda answer: None, key=None, **more):
    """Asks for exactly this many tokens, greedily. The prompt must be new to both servers, or a prefix cache would help one of them."""
    body = {"messages": [{"role": "user", "content": prompt}], "max_tokens": tokens, "temperature": 0, "ignore_eos": True, "stream": True,
            "stream_options": {"include_usage": True}, **more}
    if server.name == "llama.cpp":
        body["cache_prompt"] = False
    request = urllib.request.Request(server.url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    answer = Answer()
    for line in urllib.request.urlopen(request):
        if not line.startswith(b"data: {"):
            continue
        chunk = json.loads(line[6:])
        if "error" in chunk:
            raise SystemExit(f"{server.name}: {chunk['error']}")
        piece = "".join(choice["delta"].get("content") or "" for choice in chunk["choices"])
        if piece:
            answer.pieces.append(time.monotonic())
            answer.text += piece
            on_piece(answer)
        if chunk.get("usage"):
            answer.tokens, answer.prompt_tokens = chunk["usage"]["completion_tokens"], chunk["usage"]["prompt_tokens"]
            metrics = chunk.get("metrics", {}).get("speculative_decoding", {})
            answer.tokens_per_step = metrics.get("mean_acceptance_length", 1.0)
    return answer
