"""Sessions on a carrier: WebSocket, connecting or accepting, or a loopback. No rule of the protocol is decided here."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from typing import Protocol

from websockets.asyncio.client import connect
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from reference_impl.core import Player
from reference_impl.sbp.codec import Codec
from reference_impl.sbp.frames import (
    Close,
    Frame,
    Hangup,
    HostEvent,
    Input,
    Message,
    Opened,
    Oversize,
    Ping,
    Send,
    SendClose,
    SendPing,
    Text,
)
from reference_impl.sbp.peer import HOST, WIRE, PeerMachine, Phase

#: Bytes over the limit that are still read, so that an Error can say what was wrong; beyond, the library closes (1009).
SLACK = 65_536
CLOSE_GRACE_S = 0.5


class SessionOver(RuntimeError):
    """There is no session to send on."""


class Carrier(Protocol):
    """Carries whole messages. Iteration ends with the transport; `close_code` then says how."""

    @property
    def close_code(self) -> int | None: ...

    async def send(self, message: bytes) -> None: ...

    async def close(self, code: int = 1000) -> None: ...

    def __aiter__(self) -> AsyncIterator[str | bytes]: ...


class Session:
    """One peer on one carrier. Reads are handled one at a time, in order; writes never block a turn."""

    def __init__(
        self,
        carrier: Carrier,
        machine: PeerMachine,
        codec: Codec | None = None,
        *,
        on_event: Callable[[Session, HostEvent], None] = lambda session, event: None,
    ) -> None:
        self.carrier, self.codec, self._on_event = carrier, codec or Codec(), on_event
        self.limit = machine.config.limit
        self.player = Player(machine, entropy=self.entropy)
        self._outgoing: asyncio.Queue[bytes | Hangup] = asyncio.Queue()

    def entropy(self, size: int) -> bytes:
        return secrets.token_bytes(size)  # SBP-FID-02

    async def run(self) -> None:
        """Until the transport ends."""
        pump = asyncio.create_task(self._pump())
        try:
            self.turn(WIRE, Opened())
            async for message in self.carrier:
                self.turn(WIRE, self.read(message))
        except ConnectionClosed:
            pass
        finally:
            self.turn(WIRE, Hangup(self.carrier.close_code or 1006))
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)

    def read(self, message: str | bytes) -> Input:
        if isinstance(message, str):
            return Text(message)
        if len(message) > self.limit:
            return Oversize(len(message), message[2:18])
        return self.codec.decode(message)

    def turn(self, channel: str, event: object) -> list[object]:
        """One input; performs what the machine owes and returns it."""
        frames = self.player.receive(channel, event).frames
        for receiver, frame in frames:
            if receiver == HOST:
                self._on_event(self, frame)
            else:
                self._outgoing.put_nowait(frame if isinstance(frame, Hangup) else self.codec.encode(frame))
        return [frame for _, frame in frames]

    async def _pump(self) -> None:
        try:
            while not isinstance(item := await self._outgoing.get(), Hangup):
                await self.carrier.send(item)
            await self.carrier.close(item.code)
        except ConnectionClosed:
            pass

    # -- for the host ---------------------------------------------------------------------------------------------

    def send(self, subject: str, data: bytes = b"", ts: int | None = None) -> bytes:
        """Returns the Message's id."""
        self.codec.encode(Message(bytes(16), subject, data, ts))  # what cannot be encoded is the host's error
        return self._say(Send(subject, data, ts), Message).id

    def ping(self) -> bytes:
        return self._say(SendPing(), Ping).id

    def close(self, reason: str | None = None) -> None:
        self._say(SendClose(reason), Close)

    def _say(self, request: object, kind: type[Frame]) -> Frame:
        if self.player.state.phase not in (Phase.GREETING, Phase.OPEN):
            raise SessionOver("the session is over: open another")
        frame = self.turn(HOST, request)[0]
        assert isinstance(frame, kind), "a host's request owes its frame first"
        return frame


class Listener:
    """Accepts WebSocket connections, a session each."""

    def __init__(self, make: Callable[[Carrier], Session], limit: int) -> None:
        self._make, self._limit = make, limit
        self._server: Server | None = None
        self.port = 0

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        self._server = await serve(
            self._handle,
            host,
            port,
            max_size=self._limit + SLACK,
            compression=None,
            ping_interval=None,
            close_timeout=CLOSE_GRACE_S,
        )
        self.port = next(iter(self._server.sockets)).getsockname()[1]
        return self.port

    async def _handle(self, websocket: ServerConnection) -> None:
        await self._make(websocket).run()

    async def stop(self) -> None:
        if self._server:
            self._server.close()
            await self._server.wait_closed()


async def dial(url: str, make: Callable[[Carrier], Session], limit: int) -> tuple[Session, asyncio.Task[None]]:
    """A session over a WebSocket that we open, and the task that runs it."""
    websocket = await connect(
        url, max_size=limit + SLACK, compression=None, ping_interval=None, close_timeout=CLOSE_GRACE_S
    )
    session = make(websocket)
    return session, asyncio.create_task(session.run())


class Loopback:
    """One end of an in-process carrier; `pair` makes both."""

    def __init__(
        self, incoming: asyncio.Queue[str | bytes | Hangup], outgoing: asyncio.Queue[str | bytes | Hangup]
    ) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self.close_code: int | None = None

    @classmethod
    def pair(cls) -> tuple[Loopback, Loopback]:
        there: asyncio.Queue[str | bytes | Hangup] = asyncio.Queue()
        back: asyncio.Queue[str | bytes | Hangup] = asyncio.Queue()
        return cls(there, back), cls(back, there)

    async def send(self, message: str | bytes) -> None:
        if self.close_code is None:
            self._outgoing.put_nowait(message)

    async def close(self, code: int = 1000) -> None:
        if self.close_code is None:
            self.close_code = code
            self._outgoing.put_nowait(Hangup(code))
            self._incoming.put_nowait(Hangup(code))

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        while not isinstance(message := await self._incoming.get(), Hangup):
            yield message
        if self.close_code is None:
            self.close_code = message.code
            self._outgoing.put_nowait(Hangup(message.code))
