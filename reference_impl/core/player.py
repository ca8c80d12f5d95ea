"""Reader one: plays the role. Feed it inputs, make its effects durable, then send what it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from reference_impl.core.expectation import Channel, Entropy, Expectation, Level, bound
from reference_impl.core.machine import CLOCK, Machine, Tick

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Turn:
    """What one input makes the role do: first the effects, then the frames, each in order."""

    effects: tuple[Any, ...]
    frames: tuple[tuple[Channel, Any], ...]


def polite(expectation: Expectation) -> bool:
    """The reference says what it must and what it should."""
    return expectation.level is not Level.MAY


class Player(Generic[S]):
    """Pays every debt as soon as it may, so all it ever carries over is what must wait for its time."""

    def __init__(
        self,
        machine: Machine[S],
        *,
        entropy: Entropy,
        state: S | None = None,
        volunteers: Callable[[Expectation], bool] = polite,
        now: float = 0.0,
    ) -> None:
        self.machine = machine
        self.state: S = machine.initial() if state is None else state
        self._entropy, self._volunteers, self._now = entropy, volunteers, now
        self._waiting: tuple[Expectation, ...] = ()

    @property
    def deadline(self) -> float | None:
        """When it wants to be told the time again."""
        times = [e.not_before for e in self._waiting if e.not_before is not None]
        due = self.machine.deadline(self.state)
        return min(times if due is None else [*times, due], default=None)

    def tick(self, now: float) -> Turn:
        """The time is now so late: what has become due, and what had to wait until now."""
        self._now = max(self._now, now)
        deadline = self.machine.deadline(self.state)
        if deadline is not None and deadline <= self._now:
            return self.receive(CLOCK, Tick(self._now))
        return Turn((), self._pay(()))

    def receive(self, channel: Channel, event: Any) -> Turn:
        step = self.machine.receive(self.state, channel, event)
        self.state = step.state
        gone = step.voids | step.lapses
        self._waiting = tuple(debt for debt in self._waiting if debt.channel not in gone and not step.moot(debt))
        return Turn(step.effects, self._pay(tuple(debt for debt in step.owes if self._volunteers(debt))))

    def _pay(self, owed: tuple[Expectation, ...]) -> tuple[tuple[Channel, Any], ...]:
        """In order; what may not be said yet waits, and nothing else waits for it."""
        debts, frames = self._waiting + owed, []
        self._waiting = tuple(debt for debt in debts if not debt.opens(self._now))
        debts = tuple(debt for debt in debts if debt.opens(self._now))
        while debts:
            debt, debts = debts[0], debts[1:]
            frame = debt.realise(self._entropy)
            self.state = self.machine.spoke(self.state, debt, frame)
            frames.append((debt.channel, frame))
            debts = bound(debts, debt, frame)
        return tuple(frames)
