"""Reader one: plays the role. Feed it inputs, make its effects durable, then send what it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from reference_impl.core.expectation import Channel, Entropy, Expectation, Level
from reference_impl.core.machine import Machine

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
    """Pays every debt at once, so it never carries one over to the next input."""

    def __init__(
        self,
        machine: Machine[S],
        *,
        entropy: Entropy,
        state: S | None = None,
        volunteers: Callable[[Expectation], bool] = polite,
    ) -> None:
        self.machine = machine
        self.state: S = machine.initial() if state is None else state
        self._entropy, self._volunteers = entropy, volunteers

    def receive(self, channel: Channel, event: Any) -> Turn:
        step = self.machine.receive(self.state, channel, event)
        self.state = step.state
        frames = []
        for debt in step.owes:
            if self._volunteers(debt):
                frame = debt.realise(self._entropy)
                self.state = self.machine.spoke(self.state, debt, frame)
                frames.append((debt.channel, frame))
        return Turn(step.effects, tuple(frames))
