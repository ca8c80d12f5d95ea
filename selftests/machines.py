"""What every machine owes, asked in one way: rows for all inputs, clauses that exist, a player whom the oracle accepts.

`reference_impl/README.md` lists it; a protocol's own selftests say which inputs, which scripts and which faults.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from harness.catalogue.requirements import catalogue
from reference_impl.core import Expectation, Level, Machine, NotAllowed, Oracle, Player

POLICIES: dict[str, Callable[[Expectation], bool]] = {
    "terse": lambda debt: debt.level is Level.MUST,
    "polite": lambda debt: debt.level is not Level.MAY,
    "eager": lambda debt: True,
}
"""What a player pays beside what it must."""

Impossible = Mapping[str, set[tuple[Any, type]]]
"""Pairs of phase and input that cannot be, by the reason why."""
Transcript = list[tuple[str, Any, Any]]


def assert_total(
    machine: type[Machine[Any]], phases: Iterable[Any], inputs: Iterable[type], impossible: Impossible | None = None
) -> None:
    """Each pair has a row or is listed as impossible for one reason, and none is both."""
    reasons = impossible or {}
    listed = set().union(*reasons.values())
    assert sum(map(len, reasons.values())) == len(listed), "a pair is impossible for one reason"
    assert set(machine.table) | listed == set(itertools.product(phases, inputs))
    assert not set(machine.table) & listed


def assert_clauses_exist(machine: type[Machine[Any]], protocol: str) -> None:
    """What a row says it obeys is in the catalogue."""
    known = catalogue(protocol)
    assert not {clause for row in machine.table.values() for clause in row.clauses if clause not in known}


class Watched:
    """A player and the oracle beside it. What the player says is heard `lag` inputs later, in order."""

    def __init__(self, machine: Machine[Any], policy: str, lag: int) -> None:
        self.machine, self.lag = machine, lag
        self._entropy = itertools.count(1)
        self.player = Player(machine, entropy=self.bytes, volunteers=POLICIES[policy])
        self.oracle = Oracle(machine)
        self.transcript: Transcript = []
        self._unheard: list[tuple[tuple[Any, Any], ...]] = []

    def bytes(self, count: int) -> bytes:
        return next(self._entropy).to_bytes(count, "big")

    def tell(self, channel: Any, event: Any) -> None:
        self.transcript.append(("stimulus", channel, event))
        self.oracle.stimulus(channel, event)
        self._unheard.append(tuple(self.player.receive(channel, event).frames))
        self.hear(self.lag)

    def hear(self, keep: int = 0) -> None:
        while len(self._unheard) > keep:
            for channel, frame in self._unheard.pop(0):
                self.transcript.append(("observe", channel, frame))
                self.oracle.observe(channel, frame)

    def crash(self) -> None:
        self.hear()
        self.transcript.append(("crash", None, None))
        self.oracle.crash()
        self.player.state = self.machine.crash(self.player.state)

    def settle(self) -> None:
        self.hear()
        self.oracle.quiesce()


def judged(machine: Machine[Any], transcript: Transcript) -> tuple[str, Any]:
    """The verdict on a stored transcript: the broken clause and its sentence, or none and where the oracle got to."""
    oracle = Oracle(machine)
    try:
        for verb, *what in transcript:
            getattr(oracle, verb)(*(what if verb != "crash" else ()))
        oracle.quiesce()
    except NotAllowed as violation:
        return violation.clause, str(violation)
    return "", oracle.frontier
