"""Work side by side: one more begins whenever the processors have time to spare beside what runs."""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

CORES = os.cpu_count() or 1
MOST = 4 * CORES
"""More than this never run side by side: what waits all at once must not wake up all at once."""

SPARE = 0.3
"""This share of the processors has to be idle before one more begins: who has to wait for one takes everything for slower."""

LOOK_S = 3.0
"""So long they are looked at; what has just begun imports first, and shows in it."""

TIMES = Path("/proc/stat")
"""Where Linux says what the processors did: in its first line, idle in the fourth place, waiting for a disk in the fifth."""


def side_by_side(todo: Sequence[T], run: Callable[[T], R]) -> Iterator[tuple[T, R]]:
    """What each came to, as they end."""
    waiting, running = deque(todo), dict[Future[R], T]()
    processors = Processors()
    with ThreadPoolExecutor(MOST) as pool:
        try:
            while waiting or running:
                free = len(running) < CORES or (len(running) < MOST and processors.spare() > SPARE)
                if waiting and free:
                    one = waiting.popleft()
                    running[pool.submit(run, one)] = one
                    continue
                ended, _ = wait(running, LOOK_S, FIRST_COMPLETED)
                yield from [(running.pop(future), future.result()) for future in ended]
        finally:
            pool.shutdown(cancel_futures=True)


class Processors:
    """How idle they were since they were last asked."""

    def __init__(self) -> None:
        self._asked, self._before = time.monotonic(), times()

    def spare(self) -> float:
        """The share that nobody used; none where that was not looked at for long enough, or cannot be said."""
        if time.monotonic() - self._asked < LOOK_S:
            return 0.0
        before, self._before, self._asked = self._before, times(), time.monotonic()
        idle, passed = (now - then for now, then in zip(self._before, before, strict=True))
        return idle / max(1.0, passed)


def times() -> tuple[float, float]:
    """Idle, and all."""
    with contextlib.suppress(OSError):
        spent = [float(word) for word in TIMES.read_text().split("\n", 1)[0].split()[1:9]]
        return sum(spent[3:5]), sum(spent)
    return 0.0, 0.0
