"""Draws small plots as SVG: panels side by side, each with axes, series of points, and lines to compare with."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 360, 338  # of a panel, pixels
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 30, 96  # around its axes
LEGEND_ROWS = 4  # then the names go on in a second column
COLOURS = ("#1b6ca8", "#d1495b", "#3d8b37", "#8a5aa8", "#c9822b", "#555555", "#2a9d8f", "#b56576")


class Panel:
    """One pair of axes. x_of and y_of map a value to pixels; REQUIRES: ticks rise, and the first and last bound the axis."""

    def __init__(self, title, x, y, log_x=False):
        """x, y: (label, ticks)."""
        self.title, (self.x_label, self.x_ticks), (self.y_label, self.y_ticks), self.log_x = title, x, y, log_x
        self.marks, self.names = [], []

    def x_of(self, x):
        first, last = self.x_ticks[0], self.x_ticks[-1]
        if self.log_x:
            first, last, x = math.log2(first), math.log2(last), math.log2(x)
        return LEFT + (x - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y_of(self, y):
        first, last = self.y_ticks[0], self.y_ticks[-1]
        return HEIGHT - BOTTOM - (min(max(y, first), last) - first) / (last - first) * (HEIGHT - TOP - BOTTOM)

    def reference(self, points):
        """A dashed line, without a name."""
        path = " ".join(f"{self.x_of(x):.1f},{self.y_of(y):.1f}" for x, y in points)
        self.marks.append(f'<polyline points="{path}" fill="none" stroke="#888" stroke-dasharray="4 3"/>')

    def series(self, name, points, radius=lambda at: 3):
        """points: (x, y) or (x, y, low, high); radius: of the point at an index."""
        colour = COLOURS[len(self.names) % len(COLOURS)]
        path = " ".join(f"{self.x_of(point[0]):.1f},{self.y_of(point[1]):.1f}" for point in points)
        self.marks.append(f'<polyline points="{path}" fill="none" stroke="{colour}"/>')
        for at, (x, y, *interval) in enumerate(points):
            if interval:
                low, high = map(self.y_of, interval)
                self.marks.append(f'<line x1="{self.x_of(x):.1f}" x2="{self.x_of(x):.1f}" y1="{low:.1f}" y2="{high:.1f}" stroke="{colour}"/>')
            self.marks.append(f'<circle cx="{self.x_of(x):.1f}" cy="{self.y_of(y):.1f}" r="{radius(at):.1f}" fill="{colour}" fill-opacity="0.7"/>')
        self.names.append((name, colour))

    def drawn(self):
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        yield f'<text x="{(LEFT + right) / 2}" y="18" text-anchor="middle" font-weight="bold">{escape(self.title)}</text>'
        for tick in self.y_ticks:
            y = self.y_of(tick)
            yield f'<line x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
            yield f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
        for tick in self.x_ticks:
            yield f'<text x="{self.x_of(tick):.1f}" y="{bottom + 14}" text-anchor="middle">{tick:g}</text>'
        yield f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#333"/>'
        yield f'<text x="{(LEFT + right) / 2}" y="{bottom + 30}" text-anchor="middle">{escape(self.x_label)}</text>'
        yield f'<text transform="translate(13 {(TOP + bottom) / 2}) rotate(-90)" text-anchor="middle">{escape(self.y_label)}</text>'
        yield from self.marks
        for at, (name, colour) in enumerate(self.names):
            x, y = LEFT + 4 + 150 * (at // LEGEND_ROWS), bottom + 46 + 14 * (at % LEGEND_ROWS)
            yield f'<circle cx="{x}" cy="{y - 4}" r="4" fill="{colour}"/><text x="{x + 8}" y="{y}">{escape(name)}</text>'


def write(path, panels):
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH * len(panels)}" height="{HEIGHT}" font-family="sans-serif" font-size="11">',
             '<rect width="100%" height="100%" fill="white"/>']
    for at, panel in enumerate(panels):
        lines += [f'<g transform="translate({at * WIDTH})">', *panel.drawn(), "</g>"]
    path.write_text("\n".join([*lines, "</svg>"]) + "\n")
