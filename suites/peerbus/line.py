"""The harness's end of one peerbus connection: records, lints and decodes what the side under test says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from websockets.asyncio.connection import Connection
from websockets.exceptions import ConnectionClosed

from harness.trial import Broken, Trial
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Close, Frame, Garbage
from suites.peerbus.lint import lint

codec = Codec()
Heard = Frame | Close | Broken
T = TypeVar("T")


class Line:
    """What comes is read all the time and waits in `inbox`, in order."""

    other = ""  # the role under test, as the timeline calls it

    def __init__(self, trial: Trial, websocket: Connection, label: str) -> None:
        self.trial, self.websocket, self.label = trial, websocket, label
        self.inbox: asyncio.Queue[Heard] = asyncio.Queue()
        self.on_frame: Callable[[Heard], None] = self.inbox.put_nowait

    async def read(self) -> None:
        """Until the connection ends; the close is the last thing heard."""
        with suppress(ConnectionClosed):
            async for message in self.websocket:
                raw = message.encode() if isinstance(message, str) else message
                self.trial.said(self.other, self.label, "frame", raw.decode(errors="replace"), raw)
                await self.heard(self._judged(message, raw))
        closed = Close(int(self.websocket.close_code or 1006))
        reason = self.websocket.close_reason or ""
        self.trial.said(self.other, self.label, "close", f"close {closed.code} {reason}".rstrip())
        await self.heard(closed)

    async def heard(self, frame: Heard) -> None:
        self.on_frame(frame)

    def _judged(self, message: str | bytes, raw: bytes) -> Heard:
        try:
            self.lint(message, raw)
        except Broken as broken:
            return broken
        frame = codec.decode(raw)
        return Broken("PB-1-03", "a peerbus frame", frame.why) if isinstance(frame, Garbage) else frame

    def lint(self, message: str | bytes, raw: bytes) -> None:
        """Raise Broken for what no frame of that role may be."""
        lint(message, self.other)

    # -- saying ---------------------------------------------------------------------------------------------------

    async def send(self, *frames: Frame) -> None:
        for frame in frames:
            await self.text(codec.encode(frame).decode())

    async def text(self, text: str | Iterable[str]) -> None:
        """One text message, fragmented if it is given in pieces."""
        whole = text if isinstance(text, str) else "".join(text := list(text))
        self.trial.said(self.label, self.other, "frame", whole, whole.encode())
        await self._send(text)

    async def binary(self, data: bytes) -> None:
        self.trial.said(self.label, self.other, "frame", f"binary {data[:60]!r}", data)
        await self._send(data)

    async def _send(self, data: Any) -> None:
        with suppress(ConnectionClosed):  # the inbox says that it closed; whether it should have is the case's question
            await self.websocket.send(data)

    async def close(self, code: int = 1000) -> None:
        self.trial.said(self.label, self.other, "close", f"close {code}")
        await self.websocket.close(code)

    def cut(self, tail: bytes = b"") -> None:
        """Drop the connection without a close frame: at once, or behind the first bytes of a message."""
        self.trial.said(self.label, self.other, "close", f"TCP dropped {tail!r}" if tail else "TCP reset", tail)
        if tail:
            self.websocket.transport.write(tail)
            self.websocket.transport.close()
        else:
            self.websocket.transport.abort()

    # -- hearing --------------------------------------------------------------------------------------------------

    async def next(self, what: str = "a frame", clause: str = "") -> Frame | Close:
        """The next frame, or the close."""
        frame: Frame | Close = await self.trial.next_of(self.inbox, what, clause)
        return frame

    async def expect(self, kind: type[T], clause: str = "") -> T:
        """The next frame, which must be of that kind."""
        frame = await self.next(kind.__name__, clause)
        if not isinstance(frame, kind):
            raise Broken(clause or self.trial.own_clause, kind.__name__, str(frame))
        return frame

    async def expect_closed(self, clause: str = "") -> Close:
        return await self.expect(Close, clause)
