"""The tours of one role: what they are made of, the walks that come of it, what those cover, and what they claim."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from harness.places import SUITES
from harness.touring.atlas import Atlas, Coverage, coverage, explore
from harness.touring.derive import Walk, derive
from harness.touring.tour import Guide, Tour
from harness.touring.world import Crash, Letter, Say, Stimulus, World
from reference_impl.core import Step
from reference_impl.core.player import polite

W = TypeVar("W", bound=World[Any])


@dataclass(frozen=True)
class Tours(Generic[W]):
    """A role's alphabet and how far it is taken. `suites/<protocol>/<role>/world.py` calls its own TOURS."""

    start: W
    letters: Sequence[Letter[W]]
    ending: Sequence[Letter[W]]  # makes the hidden half of the state visible, behind every walk
    depth: int  # letters from the start within which states are looked for
    length: int  # letters of one walk: a longer one spares set-up, a shorter one is easier to read
    left_out: Mapping[str, str] = field(default_factory=dict)  # what no walk tries, and why
    foul: Collection[str] = ()  # names of letters that no conforming other end says, whatever its host asks of it
    fair: Mapping[str, Callable[[W], tuple[Sequence[Stimulus], W]]] = field(default_factory=dict)
    """Of letters that are foul by turns, what is said in their place among ends that conform."""

    @cached_property
    def atlas(self) -> Atlas[W]:
        return explore(self.start, self.letters, self.depth)

    @cached_property
    def walks(self) -> list[Walk]:
        """Each with its clauses, as cases have them."""
        return [replace(walk, clauses=self._clauses(walk)) for walk in derive(self.atlas, self.length)]

    @cached_property
    def fair_walks(self) -> list[Walk]:
        """The role among others that conform: without foul letters, each of the rest once from every state.

        What conforming ends can make of one another, whatever their hosts ask and whatever network and machines do, is in these:
        they say which mutants the matrix could find (`harness/matrix/visible.py`).
        """
        atlas = explore(self.start, self._fairly(self.letters), self.depth)
        first = {(state, one): two for state, one, two in sorted(atlas.pairs, key=repr)}
        walks = derive(replace(atlas, pairs=frozenset((*place, two) for place, two in first.items())), self.length)
        unsaid = set(atlas.letters) - {name for walk in walks for name in walk.letters}
        walks += derive(replace(atlas, pairs=frozenset(p for p in atlas.pairs if unsaid & set(p[1:]))), self.length)
        return [replace(walk, name=f"fair-{n}", fair=True) for n, walk in enumerate(walks, 1)]

    @property
    def coverage(self) -> Coverage:
        return coverage(self.atlas, [walk.letters for walk in self.walks])

    async def lead(self, guide: Guide[Any], walk: Walk, start: W | None = None) -> None:
        """From the start, or from what that is with this target: its names and what it can do."""
        await Tour(start or self.start).lead(guide, self._letters(walk))

    @property
    def clauses(self) -> tuple[str, ...]:
        """What all of them claim together."""
        return tuple(sorted({clause for walk in self.walks for clause in walk.clauses}))

    def _letters(self, walk: Walk) -> list[Letter[W]]:
        named = {letter.name: letter for letter in self.letters}
        letters = [*(named[name] for name in walk.letters), *self.ending]
        return self._fairly(letters) if walk.fair else letters

    def _fairly(self, letters: Sequence[Letter[W]]) -> list[Letter[W]]:
        return [
            replace(letter, says=self.fair.get(letter.name, letter.says))
            for letter in letters
            if letter.name not in self.foul
        ]

    def _clauses(self, walk: Walk) -> tuple[str, ...]:
        """What the steps on the way obey, and what is owed on it, as far as the reference goes it."""
        return tuple(sorted(set(self._obeyed(walk))))

    def _obeyed(self, walk: Walk) -> Iterator[str]:
        for _, _, step in self.steps(walk):
            yield from filter(None, (*step.clauses, *(debt.clause for debt in step.owes if polite(debt))))

    def steps(self, walk: Walk) -> Iterator[tuple[W, Say, Step[Any]]]:
        """What is said on a walk, where the machine stands then and what it does, as far as the reference goes it."""
        world = self.start
        for letter in self._letters(walk):
            if not letter.possible(world):
                continue
            stimuli, world = letter.says(world)
            for stimulus in stimuli:
                if isinstance(stimulus, Crash):
                    world = world.after(stimulus)
                    continue
                step = world.step(stimulus)
                yield world, stimulus, step
                world = world.paid(step)


GROUP = "tours"
"""The group of a role's own; another one, of a part of the role, ends like it."""


def roles_with_tours(protocol: str) -> list[str]:
    return [role for role, group in groups_of_tours(protocol) if group == GROUP]


def groups_of_tours(protocol: str) -> list[tuple[str, str]]:
    """Roles, and the groups of cases that are tours."""
    found = sorted(SUITES.glob(f"{protocol}/*/test_*{GROUP}.py"))
    return [(path.parent.name, path.stem.removeprefix("test_").replace("_", "-")) for path in found]


def tours_of(protocol: str, role: str, group: str = GROUP) -> Tours[Any]:
    """A role's own, from its world; those of another group from where their case has them."""
    home = "world" if group == GROUP else f"test_{group.replace('-', '_')}"
    found = importlib.import_module(f"suites.{protocol}.{role}.{home}").TOURS
    assert isinstance(found, Tours), f"suites/{protocol}/{role}/{home}.py says what TOURS are"
    return found
