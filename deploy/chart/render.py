#!/usr/bin/env python3
"""Draws the chart's dashboards from a Prometheus, as Grafana would lay them out: render.py URL OUT [--minutes N] [--end TIME]

Writes OUT/NAME.svg of each dashboard, and NAME.png where there is a Chromium. The panels, their queries,
legends, units and places are those of dashboards.py; nothing of Grafana is needed, and nothing shows
that Grafana draws them so.
"""
import argparse
import json
import math
import pathlib
import re
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from xml.sax.saxutils import escape

import dashboards

WIDTH, HEIGHT = 560, 250  # of a panel, pixels; two beside each other
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 30, 62  # around its axes
POINTS = 180
COLOURS = ("#1b6ca8", "#d1495b", "#3d8b37", "#8a5aa8", "#c77d0a", "#2a9d8f", "#6b705c", "#b5179e")
PARTS = {"ms": 1e-3, "us": 1e-6}


def samples(url, query, span):
    """[(labels, [(time, value)])] of a query over a span (begin, end)."""
    begin, end = span
    asked = query.replace("$__rate_interval", "30s").replace("$namespace", ".*")
    parameters = urllib.parse.urlencode({"query": asked, "start": begin, "end": end, "step": (end - begin) / POINTS})
    with urllib.request.urlopen(f"{url}/api/v1/query_range?{parameters}", timeout=60) as answer:
        result = json.load(answer)["data"]["result"]
    return [(each["metric"], [(at, float(value)) for at, value in each["values"] if math.isfinite(float(value))]) for each in result]


def legend_of(pattern, labels):
    for name, value in labels.items():
        pattern = pattern.replace(f"{{{{{name}}}}}", value)
    return re.sub(r"\{\{\w+\}\}", "", pattern).strip()


def ticks(most):
    """Round numbers from 0 to `most` or a little more."""
    if most <= 0:
        return [0, 1]
    step = 10 ** math.floor(math.log10(most / 4))
    step *= next(by for by in (1, 2, 2.5, 5, 10) if most <= 4 * by * step)
    return [step * at for at in range(math.ceil(most / step - 1e-9) + 1)]


def label(value, unit):
    if unit == "percentunit":
        return f"{value * 100:g} %"
    if unit == "s" and value:
        for name, size in PARTS.items():
            if size <= value < size * 1000:
                return f"{value / size:g} {name}"
        return f"{value:g} s"
    return f"{value:g}"


def panel(title, unit, series, span):
    """Lines of a panel. series: [(legend, points)]"""
    begin, end = span
    marks = ticks(max((value for _, points in series for _, value in points), default=0))
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x_of(at):
        return LEFT + (at - begin) / (end - begin) * (right - LEFT)

    def y_of(value):
        return bottom - max(value, 0) / marks[-1] * (bottom - TOP)

    yield f'<rect x="3" y="3" width="{WIDTH - 6}" height="{HEIGHT - 6}" rx="4" fill="#fff" stroke="#ddd"/>'
    yield f'<text x="12" y="20" font-weight="bold">{escape(title)}</text>'
    for mark in marks:
        yield f'<line x1="{LEFT}" x2="{right}" y1="{y_of(mark):.1f}" y2="{y_of(mark):.1f}" stroke="#eee"/>'
        yield f'<text x="{LEFT - 6}" y="{y_of(mark) + 4:.1f}" text-anchor="end" fill="#555">{label(mark, unit)}</text>'
    for at in range(5):
        stamp = begin + (end - begin) * at / 4
        anchor = ("start", "middle", "middle", "middle", "end")[at]
        yield (f'<text x="{x_of(stamp):.1f}" y="{bottom + 15}" text-anchor="{anchor}" fill="#555">'
               f"{time.strftime('%H:%M:%S', time.gmtime(stamp))}</text>")
    if not any(points for _, points in series):
        yield f'<text x="{(LEFT + right) / 2}" y="{(TOP + bottom) / 2}" text-anchor="middle" fill="#a00">no data</text>'
    x, y = LEFT, bottom + 34
    for index, (name, points) in enumerate(series):
        colour, gap = COLOURS[index % len(COLOURS)], 3 * (end - begin) / POINTS
        path, before = [], None
        for at, value in points:
            path.append(f"{'L' if before is not None and at - before < gap else 'M'}{x_of(at):.1f} {y_of(value):.1f}")
            before = at
        yield f'<path d="{"".join(path)}" fill="none" stroke="{colour}" stroke-width="1.5" stroke-linecap="round"/>'
        if x > LEFT and x + 16 + 6.2 * len(name) > right:
            x, y = LEFT, y + 15
        if y < HEIGHT - 6:
            yield f'<rect x="{x:.1f}" y="{y - 8}" width="10" height="4" fill="{colour}"/><text x="{x + 14:.1f}" y="{y - 2}">{escape(name)}</text>'
        x += 26 + 6.2 * len(name)


def drawn(url, name, span):
    title, panels = dashboards.DASHBOARDS[name]
    height = 34 + HEIGHT * math.ceil(len(panels) / 2)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH}" height="{height}" font-family="sans-serif" font-size="11">'
           f'<rect width="100%" height="100%" fill="#f4f5f7"/><text x="10" y="23" font-size="16" font-weight="bold">{escape(title)}</text>')
    for index, (heading, unit, targets) in enumerate(panels):
        series = [(legend_of(legend, labels), points) for query, legend in targets for labels, points in samples(url, query, span)]
        yield f'<g transform="translate({WIDTH * (index % 2)} {34 + HEIGHT * (index // 2)})">'
        # What is not always zero first: its legends have room and colours of their own.
        series.sort(key=lambda each: (not any(value for _, value in each[1]), each[0]))
        yield from panel(heading, unit, series, span)
        yield "</g>"
    yield "</svg>"


def picture(svg):
    chromium = shutil.which("chromium")
    if chromium is None:
        return
    width, height = 2 * WIDTH, int(svg.read_text(encoding="utf-8").split('height="')[1].split('"')[0])
    subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--screenshot={svg.with_suffix('.png')}",
                    f"--window-size={width},{height}", svg.resolve().as_uri()], check=True, capture_output=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--end", type=float, default=time.time(), help="seconds since 1970")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in dashboards.DASHBOARDS:
        svg = arguments.out / f"{name}.svg"
        lines = drawn(arguments.url, name, (arguments.end - 60 * arguments.minutes, arguments.end))
        svg.write_text("\n".join(lines) + "\n", encoding="utf-8")
        picture(svg)
        print(svg)


if __name__ == "__main__":
    main()
