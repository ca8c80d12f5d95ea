"""The harness's end of one session: records, lints and decodes what the peer says, on the wire and to its host."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from websockets.asyncio.connection import Connection
from websockets.exceptions import ConnectionClosed

from harness.errors import TargetError, TargetUnsupported
from harness.targets import Instance
from harness.trial import Broken, Nothing, Trial
from reference_impl.sbp.codec import Codec
from reference_impl.sbp.frames import (
    BadFlags,
    BadHandshake,
    Error,
    Frame,
    Handshake,
    Hangup,
    Malformed,
    Message,
    Ping,
    Pong,
)
from reference_impl.sbp.frames import Close as CloseFrame
from suites.sbp import wire
from suites.sbp.lint import lint
from suites.sbp.peer.told import Told

Heard = Frame | Hangup | Broken
T = TypeVar("T")
codec = Codec()
SOON_S = 1.0
"""How long we listen for what need not come; only a peer that leaves it out costs us this."""


class Line:
    """A connection with the peer under test. A reader drains it always; what comes waits in `inbox`, in order."""

    def __init__(self, trial: Trial, websocket: Connection, instance: Instance, hosted: bool) -> None:
        self.trial, self.websocket, self.instance, self.hosted = trial, websocket, instance, hosted
        self.peer_id = wire.unique("harness")
        self.session: Any = None  # the target's name for it, once it is established
        self.inbox: asyncio.Queue[Heard] = asyncio.Queue()
        self.told: asyncio.Queue[Told | TargetError] = asyncio.Queue()
        self.on_frame: Callable[[Heard], None] = self.inbox.put_nowait
        self.on_told: Callable[[Told | TargetError], None] = self.told.put_nowait
        self.greeted: Handshake | None = None
        self.pings = self.pongs = 0  # sent, and taken from the inbox
        self.heard: list[Frame] = []  # all that `next` gave out
        self.survived = False  # did the session last until the fence?
        self.sent: set[bytes] = set()
        self.seen: set[bytes] = set()
        self._reader = asyncio.create_task(self._read())

    # -- reading --------------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        try:
            async for message in self.websocket:
                self.on_frame(self._judged(message))
        except ConnectionClosed:
            pass
        closed = Hangup(self.websocket.close_code or 1006)
        self.trial.said("peer", "harness", "close", f"close {closed.code} {self.websocket.close_reason or ''}")
        self.on_frame(closed)

    def _judged(self, message: str | bytes) -> Heard:
        raw = message.encode() if isinstance(message, str) else message
        try:
            for clause, note in lint(message):
                self.trial.warn(clause, note)
            frame = codec.decode(raw)
        except Broken as broken:
            self.trial.said("peer", "harness", "frame", str(broken), raw)
            return broken
        self.trial.said("peer", "harness", "frame", str(frame), raw)
        if isinstance(frame, BadFlags | Malformed | BadHandshake):
            return Broken("SBP-CMP-01", "an SBP frame", frame.why)
        return self._with_own_id(frame) or frame

    def _with_own_id(self, frame: Frame) -> Broken | None:
        """An id is used once; only an Error carries one of ours."""
        try:
            if isinstance(frame, Error):
                return None
            if frame.id in self.sent:
                return Broken("SBP-FID-08", "an id of the peer's own", f"our {frame.id.hex()} in {frame}")
            if frame.id in self.seen:
                return Broken("SBP-FID-09", "a fresh id in each frame", f"{frame.id.hex()} again in {frame}")
            return None
        finally:
            self.seen.add(frame.id)

    # -- saying ---------------------------------------------------------------------------------------------------

    async def send(self, *wires: bytes) -> None:
        for raw in wires:
            said = codec.decode(raw)
            self.trial.said("harness", "peer", "frame", str(said)[:600], raw)
            if len(raw) >= 18:
                self.sent.add(raw[2:18])
            self.pings += isinstance(said, Ping)
            await self._send(raw)

    async def text(self, text: str) -> None:
        self.trial.said("harness", "peer", "frame", f"text {text!r}", text.encode())
        await self._send(text)

    async def _send(self, message: str | bytes) -> None:
        """The inbox says whether it closed; whether it should have is the case's question."""
        # AttributeError: what the library's send runs into when the other side has reset the connection.
        with contextlib.suppress(ConnectionClosed, AttributeError):
            await self.websocket.send(message)

    async def hang_up(self, code: int = 1000) -> None:
        self.trial.said("harness", "peer", "close", f"close {code}")
        await self.websocket.close(code)

    async def greet(self, **changes: Any) -> Handshake:
        """Both Handshakes; ours goes first, so a peer that waits for it is served too."""
        await self.send(wire.handshake(self.peer_id, **changes))
        return await self.expect_handshake()

    # -- hearing --------------------------------------------------------------------------------------------------

    async def next(self, what: str = "a frame", clause: str = "") -> Frame | Hangup:
        """The next frame, or the end. A peer may ping, and one whose host we do not see may send, at any time."""
        while True:
            heard: Frame | Hangup = await self.trial.next_of(self.inbox, what, clause)
            self.pongs += isinstance(heard, Pong)
            if not isinstance(heard, Hangup):
                self.heard.append(heard)
            unasked = isinstance(heard, Ping) or (isinstance(heard, Message) and not self.hosted)
            if not unasked or type(heard).__name__ == what:
                return heard

    async def expect(self, kind: type[T], clause: str = "") -> T:
        """The next frame, which must be of that kind."""
        frame = await self.next(kind.__name__, clause)
        if not isinstance(frame, kind):
            raise Broken(clause or self.trial.own_clause, kind.__name__, str(frame))
        return frame

    async def expect_handshake(self) -> Handshake:
        """The first thing that a peer says."""
        heard = await self.trial.next_of(self.inbox, "a Handshake", "SBP-HS-02")
        if not isinstance(heard, Handshake):
            raise Broken("SBP-HS-02", "a Handshake as the first frame", str(heard))
        self.greeted = heard
        return heard

    async def expect_rejection(
        self, clause: str, codes: tuple[int, ...], offending: bytes | None = None, *, error_clause: str = ""
    ) -> Error | None:
        """The end, after an Error with one of the codes; without an `error_clause` that Error may be missing."""
        said = await self.until_end(clause)
        errors = [frame for frame in said if isinstance(frame, Error)]
        other = [
            f for f in said if not isinstance(f, Error | CloseFrame) and not (f is said[0] and self.is_greeting(f))
        ]
        if other or len(errors) > 1:
            raise Broken(clause, "at most one Error, then the end", "; ".join(map(str, said)))
        if not errors:
            if error_clause:
                raise Broken(error_clause, f"an Error {codes} before the end", "; ".join(map(str, said)) or "nothing")
            return None
        [error] = errors
        self.trial.measures["error_code"] = error.code
        if error.code not in codes:
            raise Broken(error_clause or clause, f"an Error with code {' or '.join(map(str, codes))}", str(error))
        if offending and error.id != offending:
            self.trial.warn("SBP-ERR-06", f"the Error's id is not the failing frame's {offending.hex()}")
        return error

    def is_greeting(self, frame: Frame) -> bool:
        return isinstance(frame, Handshake) and self.greeted is None

    async def until_end(self, clause: str) -> list[Frame]:
        """All frames up to the end of the transport, which is owed."""
        said: list[Frame] = []
        while not isinstance(frame := await self.next("the end of the transport", clause), Hangup):
            said.append(frame)
        return said

    # -- fences ---------------------------------------------------------------------------------------------------

    async def wire_fence(self) -> list[Frame]:
        """What the peer says to all that was sent so far; ends the session.

        A Ping and a frame that must end the session follow: a Pong, or the end, comes behind everything else. Pongs that no
        Ping asked for are part of what it says.
        """
        await self.send(wire.ping(), wire.bad_flags())
        said: list[Frame] = []
        while not isinstance(frame := await self._fence_next(), Hangup | None):
            if isinstance(frame, Pong):
                self.survived = self.pongs >= self.pings
            if not (isinstance(frame, Pong) and self.pongs <= self.pings):
                said.append(frame)
        return [f for f in said if not isinstance(f, Error | CloseFrame) or self._was_before_the_fence(f)]

    async def _fence_next(self) -> Frame | Hangup | None:
        """The next frame. With the fence's Pong the fence stands: the end behind it is not waited for at full patience."""
        if not self.survived:
            return await self.next("a Pong, or the end of the transport", "SBP-FLAGS-05")
        return await self.maybe_next()

    def _was_before_the_fence(self, frame: Frame) -> bool:
        """With the fence's Pong we know: what came before it was not said to the fence."""
        last = max((n for n, heard in enumerate(self.heard) if isinstance(heard, Pong)), default=-1)
        return self.survived and any(heard is frame for heard in self.heard[:last])

    async def maybe_next(self, what: str = "a frame") -> Frame | Hangup | None:
        """The next frame if one comes soon; for what may, but need not come."""
        return await self._soon(functools.partial(self.next, what))

    async def maybe_told(self, name: str) -> dict[str, Any] | None:
        """The next event of that name if one comes soon: a host may have no ear for it."""
        return await self._soon(functools.partial(self.expect_told, name))

    async def _soon(self, come: Callable[[], Awaitable[T]]) -> T | None:
        full, self.trial.patience_s = self.trial.patience_s, min(self.trial.patience_s, SOON_S)
        try:
            return await come()
        except Nothing:
            return None
        finally:
            self.trial.patience_s = full

    async def host_fence(self) -> list[Told]:
        """What the host is told up to a sentinel Message; the session stays open."""
        subject = wire.unique("app/fence")
        await self.send(wire.message(subject))
        before: list[Told] = []
        while True:
            event, data = await self.next_told("SBP-SES-10", f"the Message {subject} at the host")
            if data.get("subject") == subject:
                return before
            if event == "closed":
                raise Broken(self.trial.own_clause, "the session to go on", f"closed {data}")
            before.append((event, data))

    async def stays_open(self, clause: str) -> None:
        """The session goes on: a Pong comes or, where we see the host, a Message reaches it."""
        if self.hosted:
            await self.host_fence()
            return
        await self.send(wire.ping())
        frame = await self.next("a Pong", "SBP-SES-06")
        if not isinstance(frame, Pong):
            raise Broken(clause, "the session to go on", str(frame))

    # -- the host -------------------------------------------------------------------------------------------------

    async def next_told(self, clause: str = "", what: str = "an event at the host") -> Told:
        """The next thing that the target tells its host about this session."""
        if not self.hosted:
            raise TargetUnsupported("this target shows nothing of its host")
        event: Told = await self.trial.next_of(self.told, what, clause)
        return event

    async def expect_told(self, name: str, clause: str = "") -> dict[str, Any]:
        """The next event of that name; what else the host learns meanwhile is left out."""
        while True:
            event, data = await self.next_told(clause, f"`{name}` at the host")
            if event == name:
                return data
            if event == "closed":
                raise Broken(clause or self.trial.own_clause, f"`{name}` at the host", f"closed {data}")

    async def established(self) -> dict[str, Any]:
        """A good Handshake is accepted."""
        return await self.expect_told("established", "SBP-CMP-01")

    async def do(self, op: str, **args: Any) -> dict[str, Any]:
        """An operation of the host on this session."""
        if not self.hosted:
            raise TargetUnsupported("this target has no host to ask")
        self.trial.said("harness", "host", "request", f"{op} {args}")
        answer = await self.instance.do(op, session=self.session, **args)
        self.trial.said("host", "harness", "answer", str(answer))
        return answer

    async def close(self) -> None:
        self.on_frame = lambda _: None
        await self.websocket.close()
        self._reader.cancel()
