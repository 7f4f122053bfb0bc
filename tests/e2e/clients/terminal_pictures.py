"""Draws what `slipstream chat` and `slipstream top` show on a terminal, for docs/use/TERMINAL.md: the real programs, on a pseudo
terminal, with a server of the demo's model.

    PYTHON tests/e2e/clients/terminal_pictures.py build/release/tools/slipstream/slipstream models/smollm2-135m-instruct.gguf docs/use

PYTHON has pyte 0.8.2, which interprets what a program writes to a terminal.
"""

import argparse
import html
import os
import pathlib
import pty
import select
import subprocess
import threading
import time
import urllib.request

import pyte

import serving

COLUMNS, ROWS = 100, 30
WAIT_SECONDS = 120  # for what a program shall show
CELL, LINE, SIZE, MARGIN = 8.4, 19, 14, 14  # of the picture, in its units
COLOURS = {"default": "#d7dde5", "dim": "#8b95a3", "green": "#7ee08a", "brown": "#e8c26a", "red": "#ff8b80"}
BACKGROUND = "#14181d"


class Screen(pyte.Screen):
    """With faint text (SGR 2), which pyte leaves out."""

    def select_graphic_rendition(self, *codes, **more):
        super().select_graphic_rendition(*codes, **more)
        if 2 in codes:
            self.cursor.attrs = self.cursor.attrs._replace(fg="dim")


class Terminal:
    """A program on a pseudo terminal, and what it shows."""

    def __init__(self, command):
        self.screen = Screen(COLUMNS, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        ours, theirs = pty.openpty()
        subprocess.run(["stty", "rows", str(ROWS), "cols", str(COLUMNS)], stdin=theirs, check=True)
        self.process = subprocess.Popen([str(part) for part in command], stdin=theirs, stdout=theirs, stderr=theirs,
                                        start_new_session=True, env={**os.environ, "TERM": "xterm-256color"})
        os.close(theirs)
        self.end = ours

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def until(self, shown):
        """Reads on until the screen is as wanted."""
        limit = time.monotonic() + WAIT_SECONDS
        while not shown(self.text()):
            if time.monotonic() > limit:
                raise SystemExit(f"this is not what was waited for:\n{self.text()}")
            if select.select([self.end], [], [], 1)[0]:
                self.stream.feed(os.read(self.end, 1 << 16))

    def type(self, text):
        os.write(self.end, text.encode())

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.end)


def drawn(screen):
    """The screen as SVG, without the empty rows at its end."""
    filled = max(row for row in range(ROWS) if screen.display[row].strip()) + 1
    width, height = 2 * MARGIN + COLUMNS * CELL, 2 * MARGIN + filled * LINE
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" font-size="{SIZE}" '
             'font-family="ui-monospace, \'DejaVu Sans Mono\', Menlo, Consolas, monospace">',
             f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>']
    for row in range(filled):
        for column, text, look in runs(screen.buffer[row]):
            weight = ' font-weight="bold"' if look[1] else ""
            lines.append(f'<text x="{MARGIN + column * CELL:.1f}" y="{MARGIN + row * LINE + SIZE}" fill="{COLOURS[look[0]]}"{weight} '
                         f'textLength="{len(text) * CELL:.1f}" xml:space="preserve">{html.escape(text)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def runs(row):
    """(column, text, look) of neighbouring cells that look alike, without blanks at either end."""
    cells = [(row[column].data, (row[column].fg, row[column].bold)) for column in range(COLUMNS)]
    begin = 0
    while begin < COLUMNS:
        end = begin
        while end < COLUMNS and cells[end][1] == cells[begin][1]:
            end += 1
        text = "".join(data for data, _ in cells[begin:end])
        if text.strip():
            yield begin + len(text) - len(text.lstrip()), text.strip(), cells[begin][1]
        begin = end


def chat(slipstream, url):
    terminal = Terminal([slipstream, "chat", "--url", url, "--max-tokens", "90", "--temperature", "0"])
    asked = lambda count: lambda text: text.count("tokens/s") >= count and text.rstrip().endswith("\n>")
    terminal.until(lambda text: text.rstrip().endswith("\n>"))
    terminal.type("Name three rivers in Europe.\r")
    terminal.until(asked(1))
    terminal.type("Write that list again, with a number before each river.\r")
    terminal.until(asked(2))
    terminal.close()
    return drawn(terminal.screen)


def keep_asking(url, ended):
    """A client that goes on asking, so that there is something to see."""
    body = b'{"messages": [{"role": "user", "content": "Write a story about a cat, then tell it again."}], "max_tokens": 200, "temperature": 0}'
    while not ended.is_set():
        request = urllib.request.Request(f"{url}/v1/chat/completions", body, {"content-type": "application/json"})
        urllib.request.urlopen(request).read()


def top(slipstream, url):
    ended = threading.Event()
    clients = [threading.Thread(target=keep_asking, args=(url, ended)) for _ in range(2)]
    for client in clients:
        client.start()
    terminal = Terminal([slipstream, "top", "--url", url])
    terminal.until(lambda text: "rates of the last 10" in text and "threshold" in text)
    picture = drawn(terminal.screen)
    terminal.close()
    ended.set()
    for client in clients:
        client.join()
    return picture


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("slipstream", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path, help="where the pictures go")
    options = parser.parse_args()
    with serving.server(options.slipstream, options.model) as port:
        url = f"http://127.0.0.1:{port}"
        for name, picture in (("chat", chat), ("top", top)):
            (options.folder / f"terminal-{name}.svg").write_text(picture(options.slipstream, url), encoding="utf-8")


if __name__ == "__main__":
    main()
