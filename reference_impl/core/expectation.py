"""What a role owes: a frame template with holes, its clause, how binding it is, and what it must wait for.

A template is an ordinary frame whose free fields hold a hole instead of a value. The player fills a hole, the oracle asks
whether it admits what the target chose. Hole constructors return `Any`, so that a template type-checks as the frame it is.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

Channel = Hashable
"""Where a frame goes: a connection, or the host behind a client."""

Entropy = Callable[[int], bytes]
"""A port: that many unpredictable bytes."""


class Level(enum.StrEnum):
    """How binding a clause is (RFC 2119)."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


@dataclass(frozen=True, slots=True)
class Hole:
    """A field the speaker chooses. `frame` is the frame it stands in, for values derived from their neighbours."""

    label: str  # says all that is known about the value: two holes of one label are equal
    admits: Callable[[Any, Any], bool] = field(compare=False)
    fill: Callable[[Entropy, Any], Any] = field(compare=False)
    shared: Hashable = None  # one value wherever a hole of this name stands: who fills one has filled all

    def __repr__(self) -> str:
        return f"<{self.label}>"


def anything(kind: type, default: Any) -> Any:
    """Any value of that type; the player says `default`."""
    return Hole(f"any {kind.__name__}", lambda value, _: isinstance(value, kind), lambda _, __: default)


def text(label: str, admits: Callable[[str], bool], default: str) -> Any:
    """Any string that passes the test."""
    return Hole(label, lambda value, _: isinstance(value, str) and admits(value), lambda _, __: default)


def fresh(make: Callable[[Entropy], Any], used: Collection[Any] = (), label: str = "fresh") -> Any:
    """A value the speaker has not used before, of the type that `make` gives."""

    def admits(value: Any, _: Any) -> bool:
        return bool(value) and value not in used

    return Hole(label, admits, lambda entropy, _: make(entropy))


def any_order(values: Collection[str]) -> Any:
    """These strings, each once, in whatever order."""
    wanted = sorted(values)
    return Hole(
        f"in any order: {wanted}",
        lambda value, _: sorted(value) == wanted,
        lambda _, __: tuple(wanted),
    )


def one_of(first: Any, *others: Any) -> Any:
    """One of several values; the player says the first."""
    choices = (first, *others)
    return Hole(f"one of {choices}", lambda value, _: value in choices, lambda _, __: first)


def derived(label: str, compute: Callable[[Any], Any], admits: Callable[[Any, Any], bool] | None = None) -> Any:
    """A value that follows from the frame's other fields, such as a MAC."""
    return Hole(label, admits or (lambda value, frame: value == compute(frame)), lambda _, frame: compute(frame))


@dataclass(frozen=True, slots=True)
class Expectation:
    """One frame that the role under the machine's rule owes, or is allowed, to send."""

    clause: str
    template: Any
    channel: Channel
    level: Level = Level.MUST
    lane: str = ""  # order binds within a lane; the empty lane is ordered with everything on its channel
    repeats: bool = False  # may be spoken any number of times
    due: float | None = None  # by when a debt is to be paid; None: as soon as it is owed
    not_before: float | None = None  # until then it may not be spoken, and is not owed
    suffices: bool = False  # once it is spoken, the others of its channel that say the same of themselves may wait
    since: float = field(default=0.0, compare=False)  # when the oracle saw it owed

    def opens(self, now: float) -> bool:
        """Has its time come?"""
        return self.not_before is None or self.not_before <= now

    def late(self, now: float, patience_s: float = 0.0) -> bool:
        """Has the time run out in which it is to be paid, and the patience behind it?"""
        return (self.since if self.due is None else self.due) + patience_s <= now

    def admits(self, frame: Any) -> bool:
        return type(frame) is type(self.template) and _fits(self.template, frame, frame)

    def realise(self, entropy: Entropy) -> Any:
        """The template with its holes filled, in field order: a derived field comes after what it is derived from."""
        return _filled(self.template, entropy)

    def __str__(self) -> str:
        return f"{self.level} {self.template} [{self.clause}]"


def _is_frame(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, (type, Hole))


def _fits(wanted: Any, got: Any, frame: Any) -> bool:
    if isinstance(wanted, Hole):
        return wanted.admits(got, frame)
    if _is_frame(wanted) and type(got) is type(wanted):
        return all(_fits(getattr(wanted, f.name), getattr(got, f.name), got) for f in fields(wanted) if f.compare)
    return bool(wanted == got)


def _filled(template: Any, entropy: Entropy) -> Any:
    frame = template
    for name in (f.name for f in fields(template)):
        value = getattr(frame, name)
        if isinstance(value, Hole):
            frame = replace(frame, **{name: value.fill(entropy, frame)})
        elif _is_frame(value):
            frame = replace(frame, **{name: _filled(value, entropy)})
    return frame


def bound(owed: tuple[Expectation, ...], spoken: Expectation, frame: Any) -> tuple[Expectation, ...]:
    """The other debts, once this one is paid: what they share with it is no hole any more."""
    values = {
        hole.shared: getattr(frame, f.name)
        for f in (fields(spoken.template) if owed and _is_frame(spoken.template) else ())
        if isinstance(hole := getattr(spoken.template, f.name), Hole) and hole.shared is not None
    }
    return tuple(_bind(debt, values) for debt in owed) if values else owed


def _bind(debt: Expectation, values: dict[Hashable, Any]) -> Expectation:
    known = {
        f.name: values[hole.shared]
        for f in (fields(debt.template) if _is_frame(debt.template) else ())
        if isinstance(hole := getattr(debt.template, f.name), Hole) and hole.shared in values
    }
    return replace(debt, template=replace(debt.template, **known)) if known else debt


def reachable(owed: tuple[Expectation, ...], channel: Channel, now: float) -> list[int]:
    """Positions that may be spoken now on that channel: lane heads whose time has come, looking past what is optional."""
    closed_lanes: set[str] = set()
    open_positions: list[int] = []
    for index, expectation in enumerate(owed):
        if expectation.channel != channel:
            continue
        waits = bool(closed_lanes) if expectation.lane == "" else bool(closed_lanes & {"", expectation.lane})
        if not waits and expectation.opens(now):
            open_positions.append(index)
        if expectation.level is Level.MUST and not expectation.repeats:
            closed_lanes.add(expectation.lane)
    return open_positions


def settle(owed: tuple[Expectation, ...], index: int) -> tuple[Expectation, ...]:
    """Drop the spoken expectation and whatever optional it overtook: it can no longer be said in order."""
    spoken = owed[index]

    def stays(position: int, e: Expectation) -> bool:
        if position == index:
            return e.repeats
        ordered = e.channel == spoken.channel and (e.lane == spoken.lane or "" in (e.lane, spoken.lane))
        return e.repeats or not (ordered and position < index)

    def relieved(e: Expectation) -> Expectation:
        waits = spoken.suffices and e.suffices and e.channel == spoken.channel
        return replace(e, level=Level.SHOULD) if waits else e

    return tuple(relieved(e) for position, e in enumerate(owed) if stays(position, e))
