"""One machine's end of a carrier: what comes is handled one at a time, and saying something never makes a turn wait.

`heard` and `ended` are plain calls, not coroutines: while one runs nothing else does, so a turn of a machine is atomic. Whoever
wants to make several turns durable at once may gather what they bring until the loop comes round again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from reference_impl.io.carrier import Carrier, HungUp

Heard = TypeVar("Heard")
Said = TypeVar("Said", bound=str | bytes)

OVERHEAD = 200
"""Bytes that a message in a queue costs besides its own."""


@dataclass(frozen=True, slots=True)
class Goodbye:
    """Stands in the queue behind the last message."""

    code: int


class Conversation(Generic[Heard, Said]):
    """`heard` gets each message in the order in which it came; behind the last, `ended` gets the end, once."""

    def __init__(
        self,
        carrier: Carrier[Heard, Said],
        heard: Callable[[Heard], object],
        ended: Callable[[HungUp], object],
        read_on: Callable[[], object] = lambda: None,
        most: int | None = None,
    ) -> None:
        """`read_on` is called each time that the queue is empty again; one of more than `most` bytes is the end."""
        self._carrier, self._heard, self._ended, self._read_on = carrier, heard, ended, read_on
        self._outgoing: asyncio.Queue[Said | Goodbye] = asyncio.Queue()
        self._most = most
        self.waiting = 0  # bytes in the queue

    def say(self, message: Said) -> None:
        """Put it in the queue, so that another side which does not read holds nobody up. After the end it is lost."""
        self._outgoing.put_nowait(message)
        self.waiting += len(message) + OVERHEAD
        if self._most is not None and self.waiting > self._most:
            self.cut()

    def hang_up(self, code: int) -> None:
        """Close the carrier once everything that was said before is out."""
        self._outgoing.put_nowait(Goodbye(code))

    def cut(self) -> None:
        """End without a word; what waits in the queue is lost."""
        self._carrier.cut()

    async def run(self) -> None:
        """Until the carrier ends, or this is cancelled, which is an end to the machine too."""
        pump = asyncio.create_task(self._pump())
        end = HungUp()
        try:
            while True:
                self._heard(await self._carrier.receive())
        except HungUp as error:
            end = error
        finally:
            self._ended(end)
            pump.cancel()
            [fault] = await asyncio.gather(pump, return_exceptions=True)
        if isinstance(fault, Exception):
            raise fault

    async def _pump(self) -> None:
        try:
            while not isinstance(item := await self._outgoing.get(), Goodbye):
                await self._carrier.send(item)
                self.waiting -= len(item) + OVERHEAD
                if self._outgoing.empty():
                    self._read_on()
            await self._carrier.close(item.code)
        except HungUp:
            pass  # the read loop hears of it too, and tells
