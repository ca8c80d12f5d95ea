"""The broker on real sockets: WebSocket in, store, WebSocket out. No rule of the protocol is decided here."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from pathlib import Path

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from reference_impl.core import Channel, Player
from reference_impl.peerbus.broker import BrokerMachine, State
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import MAX_MESSAGE, Binary, Close, Deliver, Frame, Garbage, Opened
from reference_impl.peerbus.store import Store

#: How long a peer has to answer our close frame before the socket is cut; a displaced peer may be half-open (PB-2.1-34).
CLOSE_GRACE_S = 0.5


class Broker:
    """One broker on one port. Reads are handled one at a time, so a turn is atomic; writes never block a turn."""

    def __init__(self, machine: BrokerMachine, state_dir: Path, codec: Codec | None = None) -> None:
        self.codec = codec or Codec()
        self.store = self.open_store(state_dir)
        self.player = Player(machine, entropy=secrets.token_bytes, state=State(durable=self.store.load()))
        self._lines: dict[Channel, Line] = {}
        self._numbers = itertools.count(1)
        self._server: Server | None = None
        self.port = 0

    def open_store(self, state_dir: Path) -> Store:
        return Store(state_dir / "peerbus.sqlite", self.codec)

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        self._server = await serve(
            self.handle,
            host,
            port,
            max_size=MAX_MESSAGE,  # PB-1-13; one byte more is closed with 1009 by the library
            compression=None,
            ping_interval=None,
            close_timeout=CLOSE_GRACE_S,
        )
        self.port = next(iter(self._server.sockets)).getsockname()[1]
        return self.port

    async def handle(self, websocket: ServerConnection) -> None:
        channel = next(self._numbers)
        line = self._lines[channel] = Line(websocket)
        try:
            self.turn(channel, Opened())
            async for message in websocket:
                self.turn(channel, self.read(message))
        except ConnectionClosed:
            pass
        finally:
            self.turn(channel, Close(websocket.close_code or 1006))
            del self._lines[channel]
            await line.finished()

    def read(self, message: str | bytes) -> Frame | Garbage | Binary:
        return self.codec.decode(message.encode()) if isinstance(message, str) else Binary(message)

    def turn(self, channel: Channel, event: object) -> None:
        """One input: what it changes is durable before what it owes is on its way (PB-3-22)."""
        turn = self.player.receive(channel, event)
        self.store.commit(turn.effects)
        deliveries = []
        for receiver, frame in turn.frames:
            if line := self._lines.get(receiver):
                self.put(line, frame)
                if isinstance(frame, Deliver):
                    deliveries.append((self.name_of(receiver), frame))
        self.store.delivered(deliveries)

    def name_of(self, channel: Channel) -> str:
        held = self.player.state.connections.get(channel)
        return held.name if held else ""

    def put(self, line: Line, frame: Frame | Close) -> None:
        line.put(frame if isinstance(frame, Close) else self.write(frame))

    def write(self, frame: Frame) -> str:
        return self.codec.encode(frame).decode()

    async def stop(self) -> None:
        if self._server:
            self._server.close()
            await self._server.wait_closed()
        self.store.close()

    def kill(self) -> None:
        """As a power cut would: nothing is flushed, nobody is told."""
        if self._server:
            self._server.close(close_connections=False)
        for line in self._lines.values():
            line.cut()
        self.store.close()


class Line:
    """The sending side of one connection: a queue, so that a peer which does not read holds nobody else up."""

    def __init__(self, websocket: ServerConnection) -> None:
        self._websocket = websocket
        self._queue: asyncio.Queue[str | Close] = asyncio.Queue()
        self._task = asyncio.create_task(self._pump())

    def put(self, item: str | Close) -> None:
        self._queue.put_nowait(item)

    async def _pump(self) -> None:
        try:
            while not isinstance(item := await self._queue.get(), Close):
                await self._websocket.send(item)
            await self._websocket.close(item.code)
        except ConnectionClosed:
            pass

    async def finished(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def cut(self) -> None:
        self._task.cancel()
        self._websocket.transport.abort()
