"""Plots as SVG, drawn here so that the page needs no library and no request."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]

WIDTH, HEIGHT = 520, 190
LEFT, RIGHT, TOP, BOTTOM = 44, 10, 12, 24
#: Lines take these classes in turn; the style sheet gives them colours that stay apart in both themes.
HUES = 8


@dataclasses.dataclass(frozen=True)
class Line:
    """One polyline of a plot, already in pixels."""

    label: str
    hue: int
    points: str
    dots: list[tuple[float, float, str]]


@dataclasses.dataclass(frozen=True)
class Plot:
    """Axes and lines; the template writes the SVG so that labels are escaped like everything else."""

    title: str
    unit: str
    lines: list[Line]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    width: int = WIDTH
    height: int = HEIGHT


def trend_plots(trends: list[Row]) -> list[Plot]:
    """Pass rate per day, one plot for each protocol, one line for each target; a dot carries the version."""
    return [_plot(protocol, "%", series, 100.0) for protocol, series in _series(trends, _pass_rate)]


def latency_plots(trends: list[Row]) -> list[Plot]:
    """The 90th percentile per day in milliseconds."""
    return [_plot(protocol, "ms", series, None) for protocol, series in _series(trends, lambda row: row["p90"])]


def _pass_rate(row: Row) -> float | None:
    return None if row["pass_rate"] is None else 100.0 * row["pass_rate"]


def _series(
    trends: list[Row], value: Callable[[Row], float | None]
) -> list[tuple[str, dict[str, list[tuple[str, float, str]]]]]:
    found: dict[str, dict[str, list[tuple[str, float, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in trends:
        number = value(row)
        if number is not None:
            found[row["protocol"]][row["target"]].append((row["run_date"], number, row["target_version"]))
    return sorted((protocol, dict(targets)) for protocol, targets in found.items())


def _plot(title: str, unit: str, series: dict[str, list[tuple[str, float, str]]], ceiling: float | None) -> Plot:
    days = sorted({day for points in series.values() for day, _, _ in points})
    values = [number for points in series.values() for _, number, _ in points]
    low, high = _range(values, ceiling)
    place = {day: LEFT + (WIDTH - LEFT - RIGHT) * (index / max(1, len(days) - 1)) for index, day in enumerate(days)}

    def height(number: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (high - number) / (high - low), 1)

    lines = []
    for index, (target, points) in enumerate(sorted(series.items())):
        dots = [
            (round(place[day], 1), height(number), f"{target} {version}, {day}: {number:.1f} {unit}")
            for day, number, version in points
        ]
        lines.append(
            Line(target, index % HUES, " ".join(f"{x},{y}" for x, y, _ in dots), dots[-1:] if len(dots) > 40 else dots)
        )
    marks = [low + (high - low) * step / 4 for step in range(5)]
    return Plot(title, unit, lines, _day_ticks(days, place), [(height(mark), _number(mark)) for mark in marks])


def _range(values: list[float], ceiling: float | None) -> tuple[float, float]:
    """Rates hang from 100 %, times stand on 0; a flat line still gets room."""
    if ceiling is not None:
        return max(0.0, min(ceiling - 5.0, min(values, default=ceiling) - 1.0)), ceiling
    return 0.0, max(1.0, 1.1 * max(values, default=1.0))


def _day_ticks(days: list[str], place: dict[str, float]) -> list[tuple[float, str]]:
    step = max(1, (len(days) - 1) // 4)
    return [(round(place[day], 1), day[5:]) for day in days[::step]][:6]


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


@dataclasses.dataclass(frozen=True)
class Bar:
    """Median to 99th percentile of one target as a bar, the 90th as a mark on it; in percent of the widest."""

    row: Row
    start: float
    width: float
    mark: float


def latency_bars(latency: list[Row]) -> list[tuple[str, list[Bar]]]:
    """The newest run of each target alone, per protocol."""
    by_protocol: dict[str, list[Row]] = defaultdict(list)
    for row in latency:
        if not row["peer"]:
            by_protocol[row["protocol"]].append(row)
    return [(protocol, _bars(found)) for protocol, found in sorted(by_protocol.items())]


def _bars(found: list[Row]) -> list[Bar]:
    widest = max(row["p99"] for row in found) or 1.0
    return [
        Bar(
            row,
            100 * row["p50"] / widest,
            max(0.5, 100 * (row["p99"] - row["p50"]) / widest),
            100 * row["p90"] / widest,
        )
        for row in found
    ]
