"""The harness's end of one connection: writes down, lints and decodes what the target says on it, as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from harness.bounds import HEAVY, MOST_HEAVY, MOST_WEIGHT, weight
from harness.errors import TargetCrashed
from harness.judging.inbox import Inbox
from harness.judging.trial import Broken, Trial
from reference_impl.io.carrier import LOST, Carrier, HungUp, TooMuch
from reference_impl.io.tcp import Stream
from reference_impl.io.websocket import WebSocket

MOST_WAITING = 32 * 2**20
OVERHEAD = 500
"""Bytes of memory that what waits on all lines of a case may take, and what a message takes beside its own."""

F = TypeVar("F")  # a frame of the protocol, or its word for the end of a connection
T = TypeVar("T")
C = TypeVar("C", bound=Carrier[Any, Any])


class Line(Generic[C, F]):
    """One connection, dialled or accepted. It is read all the time; what comes waits in `inbox`, and its end is the last.

    A protocol says what a message means (`decoded`) and what the end is called (`ended`); over a byte stream also where
    a message ends (`messages`).
    """

    other = ""  # the role under test, as the timeline calls it

    def __init__(self, trial: Trial, carrier: C, label: str = "harness") -> None:
        self.trial, self.carrier, self.label = trial, carrier, label
        self.inbox: Inbox[F] = Inbox()
        self.left = False  # the harness has hung up
        self._over = False  # and nobody looks any more
        self._waiting = 0  # bytes of this line; the trial has those of all
        self._reader = asyncio.create_task(self._read())

    # -- what the protocol says -----------------------------------------------------------------------------------

    def messages(self, piece: Any) -> Iterable[Any]:
        """The messages that this piece completes."""
        return [piece]

    def decoded(self, message: Any) -> F:
        """The frame; raises Broken for what the target may not say."""
        raise TypeError(type(self))

    def ended(self, end: HungUp) -> F:
        raise TypeError(type(self))

    def shown(self, message: Any, heard: F | Broken) -> str:
        """A message for people: as it stands where it is text, else what it means."""
        return message if isinstance(message, str) else str(heard)

    # -- reading --------------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        try:
            while True:
                for message in self.messages(await self.carrier.receive()):
                    if self._over:
                        continue  # not even read: who floods us does so until the connection is gone
                    self._count(message)
                    await self.heard(self._judged(message))
        except TooMuch as flood:
            self.inbox.put(TargetCrashed(f"it floods: {flood.reason}; the harness hung up"))
        except HungUp as end:
            how = f"close {end.code} {end.reason}".rstrip()
            self.trial.said(self.other, self.label, "close", how)
            if not self.left:
                self.trial.went(self.label, how)
            await self.heard(self.ended(end))
        except Exception as fault:  # ours, and no silence of the target: whoever waits raises it
            self.inbox.put(fault)

    def _count(self, message: Any) -> None:
        """What waits to be looked at is bounded: a target that speaks faster than any case listens is not heard out."""
        heavy = weight(message) if isinstance(message, str) else len(message)  # bytes stay what they are
        self._waits(self._waiting + heavy + OVERHEAD if self.inbox.unread else 0)
        if heavy > MOST_WEIGHT:
            self.carrier.cut()
            raise TooMuch(LOST, f"a message of so many values that they may take more than {MOST_WEIGHT} bytes")
        if not self.trial.target.allowance.reads(heavy):
            self.carrier.cut()
            raise TooMuch(LOST, f"more than {MOST_HEAVY} messages of so many values that each may take {HEAVY} bytes")
        if self.trial.unread > MOST_WAITING:
            self.carrier.cut()
            raise TooMuch(LOST, f"messages that nobody asked for, which may take more than {MOST_WAITING} bytes")

    def _waits(self, size: int) -> None:
        self.trial.unread += size - self._waiting
        self._waiting = size

    def _judged(self, message: Any) -> F | Broken:
        heard: F | Broken
        try:
            heard = self.decoded(message)
        except Broken as broken:
            broken.__context__ = None
            heard = broken.with_traceback(None)  # whose frames would keep all that was read of the message
        raw = message.encode() if isinstance(message, str) else message
        self.trial.said(self.other, self.label, "frame", self.shown(message, heard), raw)
        return heard

    async def heard(self, frame: F | Broken) -> None:
        self.inbox.put(frame)

    # -- saying ---------------------------------------------------------------------------------------------------

    async def say(self, message: Any, text: str, raw: bytes) -> None:
        """One message, written down as that text. The inbox says if the connection has ended; whether it should have
        is the case's question."""
        self.trial.said(self.label, self.other, "frame", text, raw)
        with suppress(HungUp):
            await self.carrier.send(message)

    async def close(self, code: int = 1000) -> None:
        """Hang up."""
        self.left = True
        self.trial.said(self.label, self.other, "close", f"close {code}")
        await self.carrier.close(code)

    def cut(self) -> None:
        """Drop the connection without a word."""
        self.left = True
        self.trial.said(self.label, self.other, "close", "TCP reset")
        self.carrier.cut()

    async def part(self, politely: bool = True, code: int = 1000) -> None:
        """Hang up, or drop the connection; what still comes on it is of no interest."""
        self.inbox.shut()
        await self.close(code) if politely else self.cut()

    async def leave(self) -> None:
        """The case is over: hang up, and hear nothing more."""
        self._over = self.left = True
        self.inbox.shut()
        self._waits(0)
        await self.carrier.close()
        self._reader.cancel()

    async def over(self) -> None:
        """Until the connection has ended, and all that came on it was heard."""
        await self._reader

    # -- hearing --------------------------------------------------------------------------------------------------

    async def next(self, what: str = "a frame", clause: str = "") -> F:
        """The next frame, or the end."""
        return await self.trial.next_of(self.inbox, what, clause)

    async def expect(self, kind: type[T], clause: str = "") -> T:
        """The next frame, which must be of that kind."""
        frame = await self.next(kind.__name__, clause)
        if not isinstance(frame, kind):
            raise Broken(clause or self.trial.own_clause, kind.__name__, str(frame))
        return frame


class ByteLine(Line[Stream, bytes]):
    """A line of bytes, in the pieces in which they come; its end is none."""

    other = "target"

    def decoded(self, message: bytes) -> bytes:
        return message

    def ended(self, end: HungUp) -> bytes:
        return b""


class WebSocketLine(Line[WebSocket, F]):
    """A line of text and binary messages."""

    async def text(self, text: str | Iterable[str]) -> None:
        """One text message, fragmented if it is given in pieces."""
        whole = text if isinstance(text, str) else "".join(text := list(text))
        await self.say(text, whole, whole.encode())

    async def binary(self, data: bytes | Iterable[bytes]) -> None:
        """One binary message, fragmented if it is given in pieces."""
        whole = data if isinstance(data, bytes) else b"".join(data := list(data))
        await self.say(data, f"binary {whole[:60]!r}", whole)

    def cut_behind(self, tail: bytes) -> None:
        """Drop the connection behind the first bytes of a message that is never finished."""
        self.trial.said(self.label, self.other, "close", f"TCP dropped behind {tail!r}", tail)
        self.carrier.cut(tail)

    async def expect_pong(self, clause: str) -> None:
        """A ping of the transport is answered."""
        try:
            async with asyncio.timeout(self.trial.patience_s):
                await self.carrier.ping(b"touchstone")
        except (HungUp, TimeoutError) as error:
            raise Broken(clause, "a pong on an open connection", repr(error)) from None

    @property
    def asked_for(self) -> str:
        """The HTTP request with which the target came: path and headers."""
        request = self.carrier.connection.request
        return f"{request.path} {request.headers}" if request else ""
