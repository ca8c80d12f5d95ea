"""The shape of a protocol's rules: a table from (phase, input) to a row, read by a player and by an oracle alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from reference_impl.core.expectation import Channel, Expectation

S = TypeVar("S")

CLOCK = "clock"
"""The channel on which time passes."""


@dataclass(frozen=True, slots=True)
class Tick:
    """The time is now `at`, in seconds on whatever clock the role lives by: what is due becomes owed."""

    at: float


def never(_: Expectation) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """What reading one input does."""

    state: S
    owes: tuple[Expectation, ...] = ()
    effects: tuple[Any, ...] = ()  # what must be durable before a debt of this step is paid
    voids: frozenset[Channel] = frozenset()  # channels that are gone, and every debt with them
    lapses: frozenset[Channel] = frozenset()  # channels whose older debts may, but need not be paid any more
    moot: Callable[[Expectation], bool] = never  # the same of single debts: what they were owed for is gone
    clauses: tuple[str, ...] = ()  # what this step obeys, for coverage and for naming what was broken


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a transition table: the clauses it obeys and the method of the machine that obeys them."""

    clauses: tuple[str, ...]
    action: Callable[..., Step[Any]]


class Machine(Generic[S]):
    """The rules of one role. Pure: the same input gives the same output, and nothing is remembered but in the state."""

    table: Mapping[tuple[Any, type], Row] = {}

    def initial(self) -> S:
        """The state of a role that has seen nothing."""
        raise TypeError(f"{type(self).__name__} does not say its initial state")

    def receive(self, state: S, channel: Channel, event: Any) -> Step[S]:
        """Read one input: what the reference does with it."""
        raise TypeError(f"{type(self).__name__} does not say what it receives")

    def obey(self, phase: Any, state: S, channel: Channel, event: Any) -> Step[S]:
        """Take the table's row. The action is looked up by name, so that a subclass with another rule is heard."""
        row = self.table[phase, type(event)]
        step: Step[S] = getattr(self, row.action.__name__)(state, channel, event)
        return replace(step, clauses=row.clauses + step.clauses)

    def alternatives(self, state: S, channel: Channel, event: Any) -> tuple[Step[S], ...]:
        """What else a conforming implementation may do with it, where the specification leaves a choice."""
        return ()

    def spoke(self, state: S, expectation: Expectation, frame: Any) -> S:
        """The state once a debt is paid with this frame; binds what the speaker chose."""
        return state

    def crash(self, state: S) -> S:
        """What is left of the state after a power cut: its durable half."""
        return self.initial()

    def deadline(self, state: S) -> float | None:
        """When the machine wants its next Tick, for protocols with timers; later than a Tick that it has just read."""
        return None
