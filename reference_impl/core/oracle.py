"""Reader two: watches a target in the machine's role, and says what it may say next and what it still owes.

The oracle holds a frontier: every position that fits what was seen. A target reads its inputs when it likes, so a position
also knows what it has not read yet; inputs of one channel are read in order, those of different channels in any order.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from reference_impl.core.expectation import Channel, Expectation, Level, reachable, settle
from reference_impl.core.machine import Machine, Step

S = TypeVar("S")

#: A frontier of more positions than this is a case that pipelines too much, not a target at fault.
FRONTIER_LIMIT = 20_000


@dataclass(frozen=True, slots=True)
class Position(Generic[S]):
    """One reading of the past: the state, the debts, and the inputs the target may not have read yet."""

    state: S
    owed: tuple[Expectation, ...] = ()
    unread: tuple[tuple[Channel, Any], ...] = ()

    @property
    def debts(self) -> tuple[Expectation, ...]:
        return tuple(e for e in self.owed if e.level is Level.MUST and not e.repeats)


class Violation(AssertionError):
    """A target broke a clause. Carries data; the sentence is made in `__str__`."""

    clause: str = ""


class NotAllowed(Violation):
    """The target said something that no clause allows here."""

    def __init__(self, channel: Channel, frame: Any, allowed: tuple[Expectation, ...], recent: tuple[str, ...]) -> None:
        super().__init__(channel, frame)
        self.channel, self.frame, self.allowed, self.recent = channel, frame, allowed, recent
        kin = [e.clause for e in allowed if type(e.template) is type(frame)]
        self.clause = next(iter(kin or [e.clause for e in allowed] or recent), "")

    def __str__(self) -> str:
        wanted = "; ".join(map(str, self.allowed)) or f"silence ({', '.join(self.recent) or 'nothing was asked'})"
        return f"{self.channel} got {self.frame}, allowed was {wanted}"


class Overdue(Violation):
    """The target did not say what it owed."""

    def __init__(self, debts: tuple[Expectation, ...]) -> None:
        super().__init__(debts)
        self.debts = debts
        self.clause = debts[0].clause if debts else ""

    def __str__(self) -> str:
        return "still owed: " + "; ".join(f"{e} on {e.channel}" for e in self.debts)


class Oracle(Generic[S]):
    """Judges one target in one role."""

    def __init__(self, machine: Machine[S]) -> None:
        self.machine = machine
        self.exercised: Counter[str] = Counter()
        self._recent: deque[str] = deque(maxlen=8)
        self.frontier: frozenset[Position[S]] = frozenset([Position(machine.initial())])

    def stimulus(self, channel: Channel, event: Any) -> None:
        """The harness sent this; the target reads it now or later."""
        self._move(replace(p, unread=(*p.unread, (channel, event))) for p in self.frontier)

    def observe(self, channel: Channel, frame: Any) -> None:
        """The target sent this. Raises NotAllowed when no reading of the past permits it."""
        after = list(self._spoken(channel, frame))
        if not after:
            raise NotAllowed(channel, frame, self.allowed(channel), tuple(reversed(self._recent)))
        self._move(after)

    def allowed(self, channel: Channel) -> tuple[Expectation, ...]:
        """What the target may say next on that channel."""
        heads = (p.owed[i] for p in self.frontier for i in reachable(p.owed, channel))
        return tuple({str(e): e for e in heads}.values())

    def overdue(self) -> tuple[Expectation, ...]:
        """What is unpaid if the target has read everything; the reading that suits the target best wins."""
        return min((p.debts for p in self.frontier if not p.unread), key=len, default=())

    @property
    def settled(self) -> bool:
        """Can the target have read everything and paid everything?"""
        return any(not p.unread and not p.debts for p in self.frontier)

    @property
    def certain(self) -> bool:
        """Has the target shown that it read every input?"""
        return all(not p.unread for p in self.frontier)

    def quiesce(self) -> None:
        """The target has had its time: it has read everything, and what it owes it will not pay any more."""
        debts = self.overdue()
        if debts:
            raise Overdue(debts)
        self.frontier = frozenset(p for p in self.frontier if not p.unread and not p.debts)

    def crash(self) -> None:
        """The target lost its volatile half; whatever it had read or not is decided by what it says from now on."""
        self.frontier = frozenset(Position(self.machine.crash(p.state)) for p in self.frontier)

    def _spoken(self, channel: Channel, frame: Any) -> Iterator[Position[S]]:
        for p in self.frontier:
            for index in reachable(p.owed, channel):
                expectation = p.owed[index]
                if expectation.admits(frame):
                    self.exercised[expectation.clause] += 1
                    state = self.machine.spoke(p.state, expectation, frame)
                    yield replace(p, state=state, owed=settle(p.owed, index))

    def _move(self, positions: Iterable[Position[S]]) -> None:
        """Close under reading: from each position, every order in which the target can read what waits."""
        seen: set[Position[S]] = set()
        todo = list(positions)
        while todo:
            position = todo.pop()
            if position in seen:
                continue
            seen.add(position)
            if len(seen) > FRONTIER_LIMIT:
                raise RuntimeError("the oracle's frontier grew past its limit: let the case settle more often")
            todo.extend(self._readings(position))
        self.frontier = frozenset(seen)

    def _readings(self, position: Position[S]) -> Iterator[Position[S]]:
        heads: set[Channel] = set()
        for index, (channel, event) in enumerate(position.unread):
            if channel in heads:
                continue
            heads.add(channel)
            rest = position.unread[:index] + position.unread[index + 1 :]
            first = self.machine.receive(position.state, channel, event)
            for step in (first, *self.machine.alternatives(position.state, channel, event)):
                self._note(step)
                kept = (e for e in position.owed if e.channel not in step.voids)
                owed = tuple(replace(e, level=Level.MAY) if e.channel in step.lapses else e for e in kept)
                yield Position(step.state, owed + step.owes, rest)

    def _note(self, step: Step[S]) -> None:
        for clause in step.clauses:
            self.exercised[clause] += 1
            if clause in self._recent:
                self._recent.remove(clause)
            self._recent.append(clause)
