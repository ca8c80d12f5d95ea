"""Virtual time: what is to happen, in order; at one moment what was put down first comes first."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Any


class Agenda:
    """The clock of a world. It stands still but for `next`."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._numbers = itertools.count()

    def put(self, at: float, act: Callable[..., None], *given: Any) -> None:
        heapq.heappush(self._due, (max(at, self.now), next(self._numbers), act, given))

    def run(self, until: float) -> None:
        """Everything up to that moment, with what it leads to."""
        while self._due and self._due[0][0] <= until:
            self.now, _, act, given = heapq.heappop(self._due)
            act(*given)
        self.now = max(self.now, until)
