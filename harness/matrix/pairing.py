"""What a protocol says of its pairs: who takes part, what they do together, and what they promise one another.

A protocol's `suites/<protocol>/pairing.py` has `PAIRINGS`, a tuple of `Pairing`.
"""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from harness.catalogue.requirements import protocols
from harness.matrix.along import Illegal, Said
from harness.matrix.history import Breach, History

if TYPE_CHECKING:
    from harness.matrix.play import Bench, Stage

CLIENT, SERVER, THIRD = "client", "server", "third"
"""Sides of a pair: the implementation in the row, that in the column, and the reference where a third is needed."""

Play = Callable[["Stage"], Awaitable[None]]
Promise = Callable[[History, str], Iterator[Breach]]
"""From a history and the name of the fault profile to the promises that were not kept."""


@dataclass(frozen=True)
class Seat:
    """One place in a pairing: whose implementation sits there, in which role, and what it has to be able to do."""

    side: str
    role: str  # protocol/role
    needs: Sequence[str] = ()  # capabilities; `a|b`: one of them


@dataclass(frozen=True)
class Scenario:
    """One use of the protocol. `play` drives both ends, the promises judge what came of it."""

    name: str
    play: Play
    promises: Sequence[Promise]
    clauses: Sequence[str]  # the first one is broken by an end that refuses what it is asked, or dies of it
    axes: Mapping[str, str] = field(default_factory=dict)
    needs: Mapping[str, Sequence[str]] = field(default_factory=dict)  # capabilities by seat
    profiles: Sequence[str] = ()  # under which faults it says something; empty: all of its pairing
    steps: int = 1  # moments at which a machine may be killed or paused
    is_led: bool = False  # does it lead connections over lines of its own, whatever the profile?


@dataclass(frozen=True)
class Pairing:
    """Two implementations, and a third where they cannot do without."""

    protocol: str
    name: str  # client-broker: also the second part of a case id
    seats: Mapping[str, Seat]
    scenarios: Sequence[Scenario]
    profiles: Sequence[str]  # besides the one without faults
    open: Callable[[Bench], Awaitable[None]]  # servers and proxies that all scenarios share
    lines: Sequence[str] = ()  # the proxied lines, by name
    read: Callable[[Sequence[Said]], Illegal | None] | None = None  # the oracle that reads along
    shown: Callable[[Said], str] | None = None  # a message for people
    unread: str = ""  # why there is none
    alike: bool = True  # may both sides be the same implementation?

    def seats_of(self, side: str) -> dict[str, Seat]:
        return {label: seat for label, seat in self.seats.items() if seat.side == side}


@cache
def pairings(protocol: str) -> tuple[Pairing, ...]:
    """What pairs of that protocol do; none if its suite says nothing of it."""
    try:
        module = importlib.import_module(f"suites.{protocol}.pairing")
    except ModuleNotFoundError as missing:
        if missing.name != f"suites.{protocol}.pairing":
            raise
        return ()
    found: tuple[Pairing, ...] = module.PAIRINGS
    return found


def paired_protocols() -> list[str]:
    return [protocol for protocol in protocols() if pairings(protocol)]
