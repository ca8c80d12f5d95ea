"""Walks that cover an atlas: greedy, deterministic, each from the start and of a bounded length."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.touring.atlas import Atlas, Pair, State
from harness.touring.world import World

W = TypeVar("W", bound=World[Any])

MOST_BARREN = 5
"""Walks in a row that cover nothing, but learn where letters really lead."""


@dataclass(frozen=True)
class Walk:
    """One conversation. Its name says what it is there for: the state whose pairs it was begun to cover."""

    name: str
    letters: tuple[str, ...]
    clauses: tuple[str, ...] = ()  # what is obeyed on the way
    fair: bool = False  # among ends that conform: no foul letter, in its ending neither


class Walker:
    """Goes where something is left to cover."""

    def __init__(self, atlas: Atlas[W], length: int) -> None:
        self._atlas, self._length = atlas, length
        self._ahead: tuple[Any, str, Any] = (
            None,
            "",
            None,
        )  # a world, a letter, and the world behind it: looked at last
        self._learned: dict[tuple[State, str], State] = {}  # where a letter led last, if not where the atlas has it
        self._open: dict[State, dict[str, set[str]]] = {}
        for state, one, two in atlas.pairs:
            self._open.setdefault(state, {}).setdefault(one, set()).add(two)

    @property
    def left(self) -> int:
        return sum(len(seconds) for firsts in self._open.values() for seconds in firsts.values())

    def walks(self) -> Iterator[Walk]:
        """Until everything is covered, or several walks in a row found nothing new."""
        named: Counter[str] = Counter()
        barren = 0
        while (left := self.left) and barren < MOST_BARREN:
            focus, letters = self._walk()
            barren = barren + 1 if self.left == left else 0
            if not barren:
                named[focus] += 1
                yield Walk(f"{focus}.{named[focus]}", letters)

    def _walk(self) -> tuple[str, tuple[str, ...]]:
        """Letters, cut behind the last that covered something new, and the label of where the first such pair began."""
        world: Any = self._atlas.start
        walk: list[str] = []
        before: tuple[State, str] | None = None
        useful, focus, label = 0, "", ""
        while len(walk) < self._length:
            name = self._next(world, before)
            if name is None:
                break
            if before and self._cover((*before, name)):
                useful, focus = len(walk) + 1, focus or label
            before, label = (world.abstract(), name), world.label()
            world = self._foreseen(world, name)
            self._learn(before, world.abstract())
            walk.append(name)
        return focus, tuple(walk[:useful])

    def _learn(self, move: tuple[State, str], state: State) -> None:
        """An abstract state stands for many: from this one of them a letter may lead elsewhere than from the first."""
        if self._leads(*move) != state:
            self._learned[move] = state

    def _leads(self, state: State, name: str) -> State | None:
        return self._learned.get((state, name), self._atlas.moves.get(state, {}).get(name))

    def _cover(self, pair: Pair) -> bool:
        state, one, two = pair
        seconds = self._open.get(state, {}).get(one, set())
        if two not in seconds:
            return False
        seconds.remove(two)
        if not seconds:
            del self._open[state][one]
            if not self._open[state]:
                del self._open[state]
        return True

    def _next(self, world: Any, before: tuple[State, str] | None) -> str | None:
        """A letter that covers something now, else one that begins something, else the way to where something is open."""
        state = world.abstract()
        possible = [name for name, letter in self._atlas.letters.items() if letter.possible(world)]
        wanted = self._open.get(before[0], {}).get(before[1], set()) if before else set()
        begins = self._open.get(state, {})
        now = [name for name in possible if name in wanted]
        if now:
            return max(now, key=lambda name: len(begins.get(name, ())))
        soon = sorted((name for name in possible if name in begins), key=lambda name: -len(begins[name]))
        begun = next((name for name in soon if self._continues(world, name, begins[name])), None)
        if begun:
            return begun
        return self._towards(state, possible) if state in self._atlas.moves else self._back(world, possible)

    def _continues(self, world: Any, name: str, seconds: set[str]) -> bool:
        """Is one of them possible behind that letter? Of what an abstract state stands for, not every one allows the same."""
        after = self._foreseen(world, name)
        return any(self._atlas.letters[second].possible(after) for second in seconds)

    def _foreseen(self, world: Any, name: str) -> Any:
        if self._ahead[0] is not world or self._ahead[1] != name:
            self._ahead = (world, name, self._atlas.letters[name].foreseen(world))
        return self._ahead[2]

    def _back(self, world: Any, possible: list[str]) -> str | None:
        """The first letter that leads into the atlas again: a walk can leave what was explored, its depth being bounded."""
        return next((name for name in possible if self._foreseen(world, name).abstract() in self._atlas.moves), None)

    def _towards(self, start: State, possible: list[str]) -> str | None:
        """The first letter of the shortest way, as the atlas knows it, to a state where something is open."""
        moves = self._atlas.moves
        queue: deque[tuple[State, str]] = deque()
        seen = {start}
        for name in possible:
            if (state := self._leads(start, name)) is not None and state not in seen:
                seen.add(state)
                queue.append((state, name))
        while queue:
            state, first = queue.popleft()
            if state in self._open:
                return first
            for name in moves.get(state, {}):
                if (after := self._leads(state, name)) is not None and after not in seen:
                    seen.add(after)
                    queue.append((after, first))
        return None


def derive(atlas: Atlas[W], length: int) -> list[Walk]:
    """Walks of at most so many letters that together cover what can be covered."""
    return list(Walker(atlas, length).walks())
