#!/usr/bin/env python3
"""Node's clients do real tasks with a real server. Usage: node_clients.py SLIPSTREAM MODEL CLIENTS

MODEL is the demo's folder, with its GGUF file beside it, and CLIENTS the folder into which `make clients` installs.
node/clients.mjs has the tasks. As in tool_calls.py, a second server has a template that teaches calls of tools.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from serving import server
from tool_calls import HERMES, with_template

TASKS = pathlib.Path(__file__).parent / "node" / "clients.mjs"


def main():
    slipstream, model, clients = sys.argv[1:]
    modules = pathlib.Path(clients) / "node"
    if not (modules / "node_modules").exists():
        raise SystemExit("Node's clients are not installed")
    shutil.copy(TASKS, modules)  # it finds packages beside itself
    with tempfile.TemporaryDirectory() as folder:
        with_template(model, HERMES, pathlib.Path(folder))
        with server(slipstream, model + ".gguf") as plain, server(slipstream, folder) as tools:
            urls = [f"http://127.0.0.1:{port}/v1" for port in (plain, tools)]
            sys.exit(subprocess.call([pathlib.Path(clients) / "bin/node", modules / "clients.mjs", *urls]))


if __name__ == "__main__":
    main()
