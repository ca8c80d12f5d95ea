"""A role's state diagram: which input leads from which phase to which, as its machine shows on the walks of its tours."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import escape
from typing import Any

from harness.touring.tours import Tours
from harness.touring.world import Say, World
from reference_impl.core.machine import CLOCK, Machine, Step

Edges = Mapping[tuple[str, str], set[str]]
"""From phase to phase: by which inputs."""

GONE = "gone"
"""Where a connection is of which the machine keeps nothing."""


class Reading(Exception):
    """A machine is about to read an input."""

    def __init__(self, phase: str, kind: str) -> None:
        self.phase, self.kind = phase, kind


def edges(tours: Tours[Any]) -> Edges:
    """Every transition that the walks go through."""
    samples: dict[Any, dict[str, Any]] = defaultdict(dict)  # one of each kind of input, by channels that carry the same
    for world, said, _ in steps(tours):
        if said.channel != CLOCK and (read := reading(world, said)):
            samples[kind_of(said.channel)].setdefault(read.kind, said.event)
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for world, said, step in steps(tours):
        if said.channel != CLOCK and (read := reading(world, said)):
            others = [event for kind, event in samples[kind_of(said.channel)].items() if kind != read.kind]
            if after := most_likely(replace(world, state=step.state), said.channel, others or [said.event]):
                found[read.phase, after].add(read.kind)
    return found


def kind_of(channel: Any) -> Any:
    return channel if isinstance(channel, str) else type(channel)


def most_likely(world: World[Any], channel: Any, events: list[Any]) -> str:
    """The phase in which most inputs would be read now: one of a kind may begin anew, whatever the phase."""
    phases: Counter[str] = Counter()
    for event in events:
        try:
            read = reading(world, Say(channel, event))
        except (KeyError, AttributeError):
            continue  # it cannot even be said now
        phases[read.phase if read else GONE] += 1
    return phases.most_common(1)[0][0] if phases else ""


def steps(tours: Tours[Any]) -> Iterator[tuple[World[Any], Say, Step[Any]]]:
    return (step for walk in tours.walks for step in tours.steps(walk))


def reading(world: World[Any], said: Say) -> Reading | None:
    """In which phase the machine would read this, and as what; None if it would not."""
    honest, Machine.obey = Machine.obey, tell  # type: ignore[method-assign]
    try:
        world.step(said)
    except Reading as read:
        return read
    finally:
        Machine.obey = honest  # type: ignore[method-assign]
    return None


def tell(self: Machine[Any], phase: Any, state: Any, channel: Any, event: Any) -> Step[Any]:
    raise Reading(str(getattr(phase, "name", phase)).lower(), type(event).__name__)


# -- as a picture ------------------------------------------------------------------------------------------------------

WIDTH, GAP, HEIGHT, TOP, RISE = 140, 84, 46, 20, 34
INK, LINE, PAPER = "#4a4a4a", "#8a6d1d", "#f6efdc"


def svg(found: Edges, name: str) -> str:
    """Phases in a row, with how much changes nothing inside; ways forward are arcs above, ways back below."""
    phases = in_order(found)
    at = {phase: 10 + n * (WIDTH + GAP) for n, phase in enumerate(phases)}
    ways = [(one, two, sorted(inputs)) for (one, two), inputs in sorted(found.items()) if one != two]
    far = {(one, two): abs(phases.index(one) - phases.index(two)) for one, two, _ in ways}
    above = TOP + RISE * (max(far.values(), default=0) + 0.5)
    width, height = 20 + len(phases) * (WIDTH + GAP) - GAP, 2 * above + HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        'style="max-width: 100%; min-width: 42rem; height: auto">',
        f'<defs><marker id="tip-{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0 0 8 4 0 8z" fill="{LINE}"/></marker></defs>',
    ]
    for phase, x in at.items():
        parts.append(
            f'<rect x="{x}" y="{above}" width="{WIDTH}" height="{HEIGHT}" rx="9" fill="{PAPER}" stroke="{LINE}"/>'
        )
        parts.append(text(x + WIDTH / 2, above + 20, phase.replace("_", " "), 14, bold=True))
        if stays := sorted(found.get((phase, phase), ())):
            words = stays[0] if len(stays) == 1 else f"{len(stays)} kinds of input"
            parts.append(text(x + WIDTH / 2, above + 37, f"stays for {words}", 10, title=", ".join(stays)))
    for one, two, inputs in ways:
        parts += arc(at[one], at[two], above, far[one, two], inputs, name)
    return "".join([*parts, "</svg>"])


def arc(one: float, two: float, above: float, far: int, inputs: list[str], name: str) -> list[str]:
    forward = two > one
    side, y = (-1, above) if forward else (1, above + HEIGHT)
    start, end = one + WIDTH * (0.8 if forward else 0.2), two + WIDTH * (0.2 if forward else 0.8)
    bend = y + side * RISE * (far + 0.3)
    most = 1 if far == 1 else 2  # a short arc has little room
    shown = ", ".join(inputs[:most]) + (f" and {len(inputs) - most} more" if len(inputs) > most else "")
    return [
        f'<path d="M{start} {y} C{start} {bend} {end} {bend} {end} {y}" fill="none" stroke="{LINE}" '
        f'marker-end="url(#tip-{name})"/>',
        text((start + end) / 2, y + (bend - y) * 0.75 + (-4 if forward else 12), shown, 11, title=", ".join(inputs)),
    ]


def text(x: float, y: float, words: str, size: int, bold: bool = False, title: str = "") -> str:
    weight = ' font-weight="700"' if bold else ""
    hint = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" font-family="sans-serif" text-anchor="middle" fill="{INK}"{weight}>'
        f"{hint}{escape(words)}</text>"
    )


def in_order(found: Edges) -> list[str]:
    """From those that nothing leads to, onwards; what is gone last."""
    phases = list(dict.fromkeys(phase for way in sorted(found) for phase in way))
    entered = {two for one, two in found if one != two and one != GONE}
    order = [phase for phase in phases if phase not in entered] or phases[:1]
    for phase in order:
        order += [two for one, two in sorted(found) if one == phase and two not in order]
    return sorted([*order, *(phase for phase in phases if phase not in order)], key=lambda phase: phase == GONE)
