"""The time that a target lives by: this machine's, or as far ahead of it as a case has pushed it."""

from __future__ import annotations

import asyncio
import time

from harness.errors import TargetUnsupported
from harness.judging.trial import Trial
from harness.targets import Instance

CAPABILITY = "clock"
"""What a target declares whose shim offers `advance_clock {seconds}` (targets/README.md)."""


class Clock:
    """Runs on by itself; `advance` is for what nobody wants to wait for."""

    def __init__(self, pushed: Instance | None = None) -> None:
        self._pushed, self._ahead = pushed, 0.0

    def now(self) -> float:
        return time.monotonic() + self._ahead

    async def advance(self, seconds: float) -> None:
        """Push the target's clock; what became due is on its way when this returns. Without one, let the time pass."""
        if self._pushed is None:
            await asyncio.sleep(seconds)  # real time is what such a case is about
            return
        self._ahead += seconds  # ours first: a target is never judged to be early because we were late
        await self._pushed.do("advance_clock", seconds=seconds)


async def clock_of(trial: Trial, instance: Instance) -> Clock:
    """The clock of a target that has one to push; under `--slow` real time for one that has none."""
    if CAPABILITY in await trial.target.capabilities(instance.role):
        return Clock(instance)
    if trial.slow:
        return Clock()
    raise TargetUnsupported(f"{trial.target.name} has no clock to push for {instance.role}: --slow waits in real time")
