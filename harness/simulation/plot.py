"""Curves as a picture: coverage and cost against the TTL, one curve for each fanout, as SVG written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, log10

from harness.simulation.plan import Row

WIDTH, HEIGHT, LEFT, TOP, GAP = 340, 240, 64, 56, 90
INK, FAINT = "#4a4a4a", "#d9d4c5"
COLOURS = ("#8a6d1d", "#2f6f8f", "#a03c2e", "#4d7a35", "#6b4a94", "#777777")
STEPS = 5
Curves = dict[str, list[tuple[float, float]]]


@dataclass(frozen=True)
class Panel:
    """One field with its curves: (x, y) in order, by name."""

    title: str
    unit: str
    curves: Curves
    top: float  # the greatest y


def panels(rows: Sequence[Row]) -> list[Panel]:
    fanouts = sorted({row.fanout for row in rows})
    of = {fanout: [row for row in rows if row.fanout == fanout] for fanout in fanouts}
    reached: Curves = {f"fanout {n}": [(row.ttl, 100 * row.reached) for row in of[n]] for n in fanouts}
    cost: Curves = {f"fanout {n}": [(row.ttl, row.messages) for row in of[n]] for n in fanouts}
    return [
        Panel("Servers that a lookup reaches", "%", reached, 100.0),
        Panel("Messages between servers for one lookup", "", cost, rounded(max(row.messages for row in rows))),
    ]


def rounded(value: float) -> float:
    """The next number up with one digit or a half, so that its fifths are readable."""
    size = 10.0 ** int(log10(max(value, 1.0)))
    return max(5.0, ceil(value / size * 2) / 2 * size)


def svg(title: str, rows: Sequence[Row]) -> str:
    fields = panels(rows)
    width, height = LEFT + len(fields) * (WIDTH + GAP), TOP + HEIGHT + 70
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" role="img"><rect width="100%" height="100%" fill="#ffffff"/>',
        words(LEFT, 20, title, 14, "start", bold=True),
    ]
    for n, panel in enumerate(fields):
        parts += field_of(panel, LEFT + n * (WIDTH + GAP))
    for n, name in enumerate(fields[0].curves):
        x = LEFT + n * 95
        parts.append(f'<path d="M{x} {height - 14}h18" stroke="{COLOURS[n % len(COLOURS)]}" stroke-width="3"/>')
        parts.append(words(x + 24, height - 10, name, 12, "start"))
    return "\n".join([*parts, "</svg>\n"])


def field_of(panel: Panel, left: float) -> list[str]:
    xs = sorted({x for points in panel.curves.values() for x, _ in points})
    span = max(xs[-1] - xs[0], 1)

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (x - xs[0]) / span * WIDTH, TOP + HEIGHT * (1 - y / panel.top)

    parts = [words(left, TOP - 12, panel.title, 12, "start")]
    for step in range(STEPS + 1):
        value = panel.top * step / STEPS
        _, y = place(xs[0], value)
        parts.append(f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="{FAINT}"/>')
        parts.append(words(left - 8, y + 4, f"{value:,.0f}{panel.unit}", 11, "end"))
    parts += [words(place(x, 0)[0], TOP + HEIGHT + 18, f"{x:g}", 11, "middle") for x in xs]
    parts.append(words(left + WIDTH / 2, TOP + HEIGHT + 36, "TTL", 12, "middle"))
    for n, points in enumerate(panel.curves.values()):
        colour, placed = COLOURS[n % len(COLOURS)], [place(x, y) for x, y in points]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in placed]
    return parts


def words(x: float, y: float, text: str, size: int, anchor: str, bold: bool = False) -> str:
    weight = ' font-weight="700"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{INK}"{weight}>{escape(text)}</text>'
