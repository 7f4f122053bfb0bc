"""A server for the tasks of real clients."""

import contextlib
import pathlib
import socket
import subprocess
import tempfile
import time

START_SECONDS = 120  # a model is loaded within that


@contextlib.contextmanager
def server(slipstream, model):
    """The port of a server that is ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        command = [slipstream, "serve", "--port", str(port), "--model", model, "--run-folder", folder]
        process = subprocess.Popen(command, stdout=log.open("w"), stderr=subprocess.STDOUT)
        try:
            end = time.monotonic() + START_SECONDS
            while "ready:" not in log.read_text():
                if process.poll() is not None or time.monotonic() > end:
                    raise SystemExit(f"the server did not start:\n{log.read_text()[-2000:]}")
                time.sleep(0.1)  # between two looks at whether it is ready
            yield port
        finally:
            process.terminate()
            process.wait()
