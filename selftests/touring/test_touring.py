"""Walks computed from a machine: everything that can be covered is covered, the same way every time."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from harness.catalogue.cases import CaseInfo
from harness.judging.trial import Trial
from harness.targets import resolve
from harness.touring.atlas import Atlas, coverage, explore
from harness.touring.derive import derive
from harness.touring.tour import Tour
from harness.touring.world import Crash, Letter, Say, Stimulus, World
from reference_impl.core import Channel, Expectation, Machine, NotAllowed, Oracle, Overdue, Player, Step


@dataclass(frozen=True)
class Put:
    """Stores one more, up to two."""


@dataclass(frozen=True)
class Take:
    """Gives one back."""


@dataclass(frozen=True)
class Took:
    left: int


@dataclass(frozen=True)
class Purse:
    kept: int = 0  # durable
    shaken: bool = False  # volatile


class PurseMachine(Machine[Purse]):
    def initial(self) -> Purse:
        return Purse()

    def receive(self, state: Purse, channel: Channel, event: Any) -> Step[Purse]:
        if isinstance(event, Put):
            return Step(replace(state, kept=min(2, state.kept + 1), shaken=True))
        kept = max(0, state.kept - 1)
        return Step(replace(state, kept=kept), (Expectation("P-1", Took(kept), channel),))

    def crash(self, state: Purse) -> Purse:
        return Purse(state.kept)


class Forgetful(PurseMachine):
    """Loses what was stored when it was put before a take and a crash follows: two conditions that must meet."""

    def crash(self, state: Purse) -> Purse:
        return Purse(0 if state.shaken and state.kept == 1 else state.kept)


@dataclass(frozen=True)
class PurseWorld(World[Purse]):
    def abstract(self) -> Hashable:
        return self.state

    def label(self) -> str:
        return f"{self.state.kept}{'.shaken' if self.state.shaken else ''}"


def always(_: PurseWorld) -> bool:
    return True


LETTERS = [
    Letter[PurseWorld]("put", always, lambda world: ([Say("a", Put())], world)),
    Letter[PurseWorld]("take", lambda world: world.state.kept > 0, lambda world: ([Say("a", Take())], world)),
    Letter[PurseWorld]("crash", always, lambda world: ([Crash()], world)),
]


def atlas_of(depth: int = 9) -> Atlas[PurseWorld]:
    return explore(PurseWorld(PurseMachine(), Purse()), LETTERS, depth)


def test_every_reachable_state_is_found_with_its_letters() -> None:
    """Three amounts, shaken or not; zero and two have one way less in or out."""
    atlas = atlas_of()
    assert set(atlas.moves) == {Purse(kept, shaken) for kept in range(3) for shaken in (False, True)}
    assert atlas.moves[Purse(0)].keys() == {"put", "crash"}
    assert atlas.moves[Purse(2, True)] == {"put": Purse(2, True), "take": Purse(1, True), "crash": Purse(2)}


def test_a_smaller_depth_reaches_less() -> None:
    """What lies beyond is not part of the atlas, and so not of what is to be covered."""
    assert set(atlas_of(2).moves) == {Purse(0), Purse(1, True)}


@pytest.mark.parametrize("length", [3, 8, 40])
def test_the_walks_cover_every_pair(length: int) -> None:
    """Whatever their length, as long as the farthest pair fits into one."""
    atlas = atlas_of()
    walks = derive(atlas, max(length, 6))
    covered = coverage(atlas, [walk.letters for walk in walks])
    assert covered.covered == covered.pairs == len(atlas.pairs)
    assert not covered.left_out
    assert all(len(walk.letters) <= max(length, 6) for walk in walks)


def test_what_is_out_of_reach_is_said() -> None:
    """Walks that are too short leave pairs out, and each of them is named."""
    atlas = atlas_of()
    covered = coverage(atlas, [walk.letters for walk in derive(atlas, 3)])
    assert 0 < len(covered.left_out) == covered.pairs - covered.covered


def test_the_walks_are_the_same_every_time() -> None:
    """No seed: two derivations agree, and their names differ within one."""
    one, two = (derive(atlas_of(), 12) for _ in range(2))
    assert one == two
    assert len({walk.name for walk in one}) == len(one)


class PlayedPurse:
    """A purse that is played beside its oracle."""

    def __init__(self, machine: PurseMachine) -> None:
        self.player, self.oracle = Player(machine, entropy=bytes), Oracle(PurseMachine())
        self.trial = Trial(CaseInfo("toy/purse/tours/walk", "toy", "purse", "tours", ()), resolve("reference"))
        self._said: list[tuple[Channel, Any]] = []

    async def perform(self, stimulus: Stimulus) -> None:
        if isinstance(stimulus, Crash):
            self.player.state = self.player.machine.crash(self.player.state)
            self.oracle.crash()
            return
        self.oracle.stimulus(stimulus.channel, stimulus.event)
        self._said += self.player.receive(stimulus.channel, stimulus.event).frames

    async def fence(self) -> list[tuple[Channel, Any]]:
        said, self._said = self._said, []
        for channel, frame in said:
            self.oracle.observe(channel, frame)
        self.oracle.quiesce()
        return said


async def led(machine: PurseMachine) -> None:
    atlas = atlas_of()
    for walk in derive(atlas, 12):
        letters = [atlas.letters[name] for name in (*walk.letters, "crash", "take", "take")]
        await Tour(atlas.start).lead(PlayedPurse(machine), letters)


async def test_an_honest_role_passes_every_tour() -> None:
    """Closure: what the machine itself does is never found wrong."""
    await led(PurseMachine())


async def test_a_fault_that_needs_two_conditions_is_found_without_luck() -> None:
    """And the letters that lead there are told."""
    with pytest.raises((NotAllowed, Overdue)) as found:
        await led(Forgetful())
    assert any(note.startswith("letters: put") and "crash" in note for note in found.value.__notes__)


@dataclass(frozen=True)
class CoarseWorld(PurseWorld):
    """Tells only empty from full: an abstract state that stands for several."""

    def abstract(self) -> Hashable:
        return self.state.kept > 0

    def label(self) -> str:
        return "full" if self.state.kept else "empty"


def test_a_coarse_abstraction_is_covered_all_the_same() -> None:
    """From two a take leads to one, though the atlas, which knows one only, has it lead to none: the walker learns."""
    atlas = explore(CoarseWorld(PurseMachine(), Purse()), LETTERS, 9)
    covered = coverage(atlas, [walk.letters for walk in derive(atlas, 12)])
    assert covered.states == 2
    assert covered.covered == covered.pairs
