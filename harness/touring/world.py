"""A role and its surroundings as one immutable value, so that walks can branch, and the letters of which walks are made."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from reference_impl.core import Channel, Machine, Step
from reference_impl.core.player import polite

S = TypeVar("S")
W = TypeVar("W", bound="World[Any]")


@dataclass(frozen=True)
class Say:
    """One input of the role: a frame, a hang-up, a request of its host, a Tick."""

    channel: Channel
    event: Any


@dataclass(frozen=True)
class Crash:
    """The role loses its volatile half, and is started again."""


Stimulus = Say | Crash


@dataclass(frozen=True)
class World(Generic[S]):
    """What a protocol's own world adds: who is connected, which ids were used. The machine's state is the role's."""

    machine: Machine[S]
    state: S
    drawn: int = 0  # bytes of entropy that were used: the same walk always draws the same

    def abstract(self) -> Hashable:
        """What makes two situations different enough to try every letter in both: here is where the bite is."""
        raise TypeError(type(self))

    def label(self) -> str:
        """The abstract state in words, as part of a case id: lower case, without spaces."""
        raise TypeError(type(self))

    def heard(self, channel: Channel, frame: Any) -> Self:
        """The role said this: what the surroundings learn of it."""
        return self

    def crashed(self) -> Self:
        """The role is back with its durable half: what the surroundings learn of it."""
        return self

    # -- foreseeing: the role reads at once and does what the reference does --------------------------------------

    def after(self, stimulus: Stimulus) -> Self:
        if isinstance(stimulus, Crash):
            return replace(self, state=self.machine.crash(self.state)).crashed()
        return self.paid(self.step(stimulus))

    def step(self, said: Say) -> Step[S]:
        """What the role's machine makes of it."""
        return self.machine.receive(self.state, said.channel, said.event)

    def paid(self, step: Step[S]) -> Self:
        """All that the step owes is said."""
        world = replace(self, state=step.state)
        for debt in filter(polite, step.owes):
            frame = debt.realise(world.entropy)
            state = self.machine.spoke(world.state, debt, frame)
            world = replace(world, state=state, drawn=world.drawn + 1).heard(debt.channel, frame)
        return world

    def entropy(self, size: int) -> bytes:
        return (self.drawn + 1).to_bytes(size, "big") if size >= 8 else bytes(size)


@dataclass(frozen=True)
class Letter(Generic[W]):
    """One thing that the world around the role may do next."""

    name: str
    possible: Callable[[W], bool]
    says: Callable[[W], tuple[Sequence[Stimulus], W]]  # and the surroundings once it is said

    def foreseen(self, world: W) -> W:
        """The world once the role has read it and paid all that it owes."""
        stimuli, world = self.says(world)
        for stimulus in stimuli:
            world = world.after(stimulus)
        return world
