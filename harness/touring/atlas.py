"""What can be reached with an alphabet of letters, what there is to cover of it, and what a set of walks covers."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from harness.touring.world import Letter, World

W = TypeVar("W", bound=World[Any])
State = Hashable
Pair = tuple[State, str, str]
"""In this state one letter, and behind it another: a transition pair."""


@dataclass(frozen=True)
class Atlas(Generic[W]):
    """The abstract states within reach, and where each letter leads from each."""

    start: W
    letters: Mapping[str, Letter[W]]
    moves: Mapping[State, Mapping[str, State]]  # state -> letter -> state
    pairs: frozenset[Pair]  # of letters that are possible one behind the other, from each state's representative
    depth: int

    @property
    def transitions(self) -> int:
        return sum(map(len, self.moves.values()))


def explore(start: W, letters: Iterable[Letter[W]], depth: int) -> Atlas[W]:
    """Every abstract state within so many letters, each by one representative: the one that is reached first."""
    alphabet = {letter.name: letter for letter in letters}
    moves: dict[State, dict[str, State]] = {}
    pairs: set[Pair] = set()
    queue: deque[tuple[W, int]] = deque([(start, 0)])
    known = {start.abstract()}
    while queue:
        world, steps = queue.popleft()
        here = moves.setdefault(world.abstract(), {})
        for letter in alphabet.values():
            if not letter.possible(world):
                continue
            after = letter.foreseen(world)
            state = after.abstract()
            if state in known or steps + 1 < depth:
                here[letter.name] = state
                behind = (two.name for two in alphabet.values() if two.possible(after))
                pairs.update((world.abstract(), letter.name, two) for two in behind)
            if state not in known and steps + 1 < depth:
                known.add(state)
                queue.append((after, steps + 1))
    return Atlas(start, alphabet, moves, frozenset(pairs), depth)


@dataclass(frozen=True)
class Coverage:
    """How much of an atlas a set of walks covers."""

    states: int
    transitions: int
    pairs: int
    covered: int  # pairs
    walks: int
    steps: int
    left_out: tuple[Pair, ...]

    def __str__(self) -> str:
        return (
            f"{self.walks} walks of {self.steps} letters: {self.states} states, {self.transitions} transitions, "
            f"{self.covered} of {self.pairs} pairs"
        )


def visited(atlas: Atlas[W], walk: Sequence[str]) -> Iterator[Pair]:
    """The pairs that a walk goes through; raises KeyError for a letter that is not, or ValueError where it is not possible."""
    world, before = atlas.start, None
    for name in walk:
        letter, state = atlas.letters[name], world.abstract()
        if not letter.possible(world):
            raise ValueError(f"{name!r} is not possible after {before[1] if before else 'the start'!r}")
        if before:
            yield (*before, name)
        world, before = letter.foreseen(world), (state, name)


def coverage(atlas: Atlas[W], walks: Sequence[Sequence[str]]) -> Coverage:
    """What walks, each a sequence of letters, cover of what there is."""
    pairs = atlas.pairs
    covered = pairs.intersection(pair for walk in walks for pair in visited(atlas, walk))
    left = tuple(sorted(pairs - covered, key=repr))
    steps = sum(map(len, walks))
    return Coverage(len(atlas.moves), atlas.transitions, len(pairs), len(covered), len(walks), steps, left)
