"""Ticks when a player's next deadline has come. A machine has no clock; its shell is given one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from reference_impl.core import Player, Turn

Clock = Callable[[], float]


class Timer:
    """Tells the player the time when it wants to know it, and `perform` what that makes it do.

    Any turn may move the deadline, and whoever holds the clock may move that: `set` looks again.
    """

    def __init__(self, player: Player[Any], perform: Callable[[Turn], object], clock: Clock = time.monotonic) -> None:
        self._player, self._perform, self._clock = player, perform, clock
        self._handle: asyncio.TimerHandle | None = None

    def left(self) -> float | None:
        """Seconds until the deadline, zero once it has come; None where there is nothing to wait for."""
        deadline = self._player.deadline
        return None if deadline is None else max(0.0, deadline - self._clock())

    def check(self) -> None:
        """Tick if it is time. A loop that blocks does this itself, after it has waited for what is `left`."""
        deadline, now = self._player.deadline, self._clock()
        if deadline is not None and deadline <= now:
            self._perform(self._player.tick(now))

    def set(self) -> None:
        """Let the running event loop check when it is time, and from then on."""
        self.stop()
        if (left := self.left()) is not None:
            self._handle = asyncio.get_running_loop().call_later(left, self._ring)

    def _ring(self) -> None:
        self.check()
        self.set()

    def stop(self) -> None:
        if self._handle:
            self._handle.cancel()
            self._handle = None
