"""One walk against a target: the letters are said as planned, the oracle judges what comes, nothing is expected here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from harness.judging.trial import Trial
from harness.touring.world import Crash, Letter, Stimulus, World
from reference_impl.core import Channel, Oracle
from reference_impl.core.oracle import Position

S = TypeVar("S")
W = TypeVar("W", bound=World[Any])


class Guide(Protocol[S]):
    """How a suite leads its role through a walk: the watch of that role, with connections and a host."""

    trial: Trial
    oracle: Oracle[S]

    async def perform(self, stimulus: Stimulus) -> None:
        """Tell the oracle, then do it to the target."""

    async def fence(self) -> Sequence[tuple[Channel, Any]]:
        """Prove that the target has read all that was said, judge what it said, and give that back in order."""


class Tour(Generic[W]):
    """Letters, one behind the other, from the start."""

    def __init__(self, start: W) -> None:
        self._start = start

    async def lead(self, guide: Guide[Any], letters: Iterable[Letter[W]]) -> W:
        """The world behind them. Raises what the oracle finds, with the letters said so far as a note."""
        world, said = self._start, list[str]()
        for letter in letters:
            if not letter.possible(world):  # the target has chosen otherwise than the reference somewhere
                continue
            said.append(letter.name)
            try:
                world = await self._step(guide, world, letter)
            except Exception as error:
                error.add_note("letters: " + ", ".join(said))
                raise
        return world

    async def _step(self, guide: Guide[Any], world: W, letter: Letter[W]) -> W:
        stimuli, world = letter.says(world)
        for stimulus in stimuli:
            await guide.perform(stimulus)
            if isinstance(stimulus, Crash):
                world = world.crashed()
        for channel, frame in await guide.fence():
            world = world.heard(channel, frame)
        return replace(world, state=likeliest(guide.oracle).state)


def likeliest(oracle: Oracle[S]) -> Position[S]:
    """The reading that has read and paid most; where several have, always the same one."""
    best = min((len(p.unread), len(p.debts(oracle.now))) for p in oracle.frontier)
    among = [p for p in oracle.frontier if (len(p.unread), len(p.debts(oracle.now))) == best]
    return among[0] if len(among) == 1 else min(among, key=repr)
