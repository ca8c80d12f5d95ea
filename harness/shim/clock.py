"""The clock of a target with timers: real time, which the operation `advance_clock` pushes forward."""

from __future__ import annotations

import time


class Clock:
    """`clock()` is now, in seconds, as `time.monotonic` would say it; `clock.ahead` is how far it was pushed.

    Whoever sleeps until a deadline has to look again once it was: a timer is not woken by a number.
    """

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead
