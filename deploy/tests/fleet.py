"""Real services as processes on loopback, for a test that needs no cluster: a folder of their own, free ports."""
import ctypes
import functools
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import threading
import urllib.error
import urllib.request

import waiting
from waiting import Failed

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests" / "data" / "tiny-llama-long"  # random, with room for 16,384 tokens
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 17, 0x4206, 0x4207, 0x40000000
# What a process loads before all else, so that its memory can be made scarce.
SCARCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int posix_memalign(void** to, size_t alignment, size_t size) {
  static int (*real)(void**, size_t, size_t);
  if (!real) real = (int (*)(void**, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
  const char* file = getenv("SCARCE");
  Dl_info caller;
  if (!file || access(file, F_OK) != 0 || !dladdr(__builtin_return_address(0), &caller) || !strstr(caller.dli_fname, "libc10"))
    return real(to, alignment, size);
  return ENOMEM;
}
"""
wait_for = functools.partial(waiting.wait_for, seconds=60, pace=0.2)  # processes are quicker than pods


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def trace(request, thread):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    if libc.ptrace(request, thread, 0, 0) != 0:
        raise Failed(f"cannot trace thread {thread}: {os.strerror(ctypes.get_errno())}")


class Fleet:
    def __init__(self, build, folder):
        self.build, self.folder = pathlib.Path(build).resolve(), folder
        self.processes, self.keys, self.frozen, self.asking = {}, False, [], threading.Event()
        self.threads = []
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.asking.set()
        for thread in self.frozen:
            trace(PTRACE_DETACH, thread)
        for process in self.processes.values():
            process.send_signal(signal.SIGKILL)
            process.wait()
        for thread in self.threads:
            thread.join()

    def start(self, role, name, flags, model, keys, more=None):
        """`more`: what its environment has beside ours."""
        ports = self.folder / f"{name}.json"
        ports.unlink(missing_ok=True)
        command = [self.build / "services" / role / f"slipstream-{role}", "--model", model, "--port-file", ports, *flags]
        if self.keys:
            command += ["--key", self.folder / keys / f"{role}.key", "--peers", self.folder / keys / "peers"]
        with open(self.folder / f"{name}.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen([str(part) for part in command], stdout=log, stderr=log,
                                       env={**os.environ, **(more or {})})
        self.processes[name] = process
        wait_for(f"{name} is there", lambda: process.poll() is not None or (ports.exists() and ports.stat().st_size > 0))
        if process.poll() is not None:
            raise Failed(f"{name} ended: {(self.folder / f'{name}.log').read_text(encoding='utf-8')}")

    def router(self, *flags):
        self.start("router", "router", ["--http", "127.0.0.1:0", "--bind", "tcp://127.0.0.1:0", "--model-name", "any", *flags],
                   MODEL, "keys")

    def worker(self, role, name, flags, model, keys, more=None):
        self.start(role, name, ["--router", self.ports("router")["bind"], "--threads", "1", *flags], model, keys, more)

    def verifier(self, *flags, name="verifier", model=MODEL):
        self.worker("verifier", name, ["--resident", "none", *flags], model or MODEL, "keys")

    def drafter(self, *flags, keys="keys", more=None):
        self.worker("drafter", "drafter", flags, MODEL, keys, more)

    def ports(self, name):
        return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))

    def targets(self, namespace):
        """{address of /metrics: labels} of all processes, as Prometheus is told them."""
        return {self.ports(name)["http" if name == "router" else "metrics"]: {"namespace": namespace, "pod": name}
                for name in self.processes}

    def stop(self, name):
        self.processes[name].terminate()
        self.processes[name].wait(timeout=60)

    def make_keys(self, folder="keys"):
        """New keys for all roles. Processes that start from now on have them."""
        self.keys = True
        subprocess.run([self.build / "tools/slipstream/slipstream", "keys", "new", self.folder / folder], check=True,
                       stdout=subprocess.DEVNULL)

    def damaged_model(self):
        """The model with a final norm that makes all logits infinite."""
        folder = self.folder / "damaged"
        shutil.copytree(MODEL, folder)
        file = folder / "model.safetensors"
        data = bytearray(file.read_bytes())
        size = struct.unpack("<Q", data[:8])[0]
        begin, end = json.loads(data[8:8 + size])["model.norm.weight"]["data_offsets"]
        data[8 + size + begin:8 + size + end] = b"\x7f\x7f" * ((end - begin) // 2)  # 3.4e38 in bf16
        file.write_bytes(data)
        return folder

    def freeze(self, name, thread):
        """Stops one thread of a process, by its name; None: the one that started it. This thread must release it."""
        pid = self.processes[name].pid
        found = [int(task.name) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
                 if (int(task.name) == pid if thread is None else (task / "comm").read_text(encoding="utf-8").strip() == thread)]
        if len(found) != 1:
            raise Failed(f"{name} has {len(found)} threads called {thread}")
        trace(PTRACE_SEIZE, found[0])
        self.frozen.append(found[0])
        trace(PTRACE_INTERRUPT, found[0])
        os.waitpid(found[0], WALL)

    def scarce_memory(self):
        """The environment of a process whose torch gets no more memory once the file `scarce` is there."""
        source, library = self.folder / "scarce.c", self.folder / "scarce.so"
        source.write_text(SCARCE, encoding="utf-8")
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        return {"LD_PRELOAD": str(library), "SCARCE": str(self.folder / "scarce")}

    def ask(self, streams, tokens, temperature=0.0):
        """Asks again and again until the end, several at once; what is answered is not looked at."""
        url = f"http://{self.ports('router')['http']}/v1/chat/completions"
        body = json.dumps({"model": "any", "messages": [{"role": "user", "content": "a"}], "max_tokens": tokens,
                           "temperature": temperature, "top_p": 1, "top_k": 0, "min_p": 0, "ignore_eos": True}).encode()

        def stream():
            while not self.asking.is_set():
                request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
                try:
                    with urllib.request.urlopen(request, timeout=300) as answer:
                        answer.read()
                except (urllib.error.URLError, OSError):
                    self.asking.wait(0.2)  # a client that fails does not spin

        self.threads += [threading.Thread(target=stream) for _ in range(streams)]
        for thread in self.threads[-streams:]:
            thread.start()
