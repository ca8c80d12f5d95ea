"""Messages between two ends in one process: a carrier without a network, for tests and for hosts that live together."""

from __future__ import annotations

import asyncio
from typing import Generic, TypeVar

from reference_impl.io.carrier import LOST, HungUp

M = TypeVar("M")


class Loopback(Generic[M]):
    """One end; `pair` makes both. What was sent before the end still arrives."""

    def __init__(self) -> None:
        self._inbox: asyncio.Queue[M | HungUp] = asyncio.Queue()
        self._other = self
        self._end: HungUp | None = None

    @classmethod
    def pair(cls) -> tuple[Loopback[M], Loopback[M]]:
        one, other = cls(), cls()
        one._other, other._other = other, one
        return one, other

    async def send(self, message: M) -> None:
        if self._end:
            raise self._end
        self._other._inbox.put_nowait(message)

    async def receive(self) -> M:
        message = await self._inbox.get()
        if isinstance(message, HungUp):
            self._inbox.put_nowait(message)  # for whoever asks again
            raise message
        return message

    async def close(self, code: int = 1000) -> None:
        self._end_both(code)

    def cut(self) -> None:
        self._end_both(LOST)

    def _end_both(self, code: int) -> None:
        if not self._end:
            for side in (self, self._other):
                side._end = HungUp(code)
                side._inbox.put_nowait(side._end)
