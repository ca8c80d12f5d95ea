"""The harness as the host of one started role: it asks, it is told, and the timeline has both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from harness.errors import TargetError, TargetRefused
from harness.judging.trial import MOST_TEXT, Trial
from harness.targets import Instance

Event = tuple[str, dict[str, Any]]
"""An event of the shim: its name and its members."""


def short(value: Any) -> Any:
    """The same for a timeline, which shows the beginning of a text: megabytes in an answer are not written out first."""
    if isinstance(value, str):
        return value if len(value) <= 2 * MOST_TEXT else value[: 2 * MOST_TEXT]
    if isinstance(value, dict):
        return {key: short(item) for key, item in value.items()}
    return [short(item) for item in value] if isinstance(value, list) else value


class Host:
    """What is said through the shim of one instance."""

    def __init__(self, trial: Trial, instance: Instance) -> None:
        self.trial, self.instance = trial, instance
        self.role = instance.role.partition("/")[2]
        self._listening: asyncio.Task[None] | None = None

    # -- asking ---------------------------------------------------------------------------------------------------

    async def do(self, op: str, raw: bytes = b"", shown: object = None, /, **args: Any) -> dict[str, Any]:
        """One operation. The timeline shows its arguments, or what is `shown` of them, and the bytes they are about."""
        self.trial.said("host", self.role, "request", f"{op} {args if shown is None else shown}", raw)
        try:
            answer = await self.instance.do(op, **args)
        except TargetError as error:
            self.trial.said(self.role, "host", "answer", f"{op}: {type(error).__name__}: {error}")
            raise
        self.trial.said(self.role, "host", "answer", f"{op}: {short(answer)}")
        return answer

    async def asked(self, op: str, raw: bytes = b"", shown: object = None, /, **args: Any) -> dict[str, Any] | None:
        """The answer, or None for a refusal."""
        try:
            return await self.do(op, raw, shown, **args)
        except TargetRefused:
            return None

    # -- being told -----------------------------------------------------------------------------------------------

    async def event(self, patience_s: float) -> Event:
        """The next event."""
        return self._noted(await self.instance.event(patience_s))

    def listen(self, hear: Callable[[Event | Exception], None]) -> None:
        """From now on `hear` gets every event as it comes; the last is what ended it: a death, or a fault of the shim."""
        self._listening = self._listening or asyncio.create_task(self._listen(hear))

    async def _listen(self, hear: Callable[[Event | Exception], None]) -> None:
        try:
            while not isinstance(item := await self.instance.events.get(), TargetError):
                hear(self._noted(item))
            hear(item)
        except Exception as fault:  # of whoever hears: a shim's word that nobody understands, or ours
            hear(fault)

    def _noted(self, told: Event) -> Event:
        event, data = told
        self.trial.said(self.role, "host", "event", f"{event} {str(data)[:400]}")
        return told

    async def deaf(self) -> None:
        """Hear nothing more; events that come now are for the next host."""
        if self._listening:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)

    async def stop(self) -> None:
        """Stop the role, if it still runs."""
        await self.deaf()
        if self.instance.session.alive:
            await self.instance.stop()
