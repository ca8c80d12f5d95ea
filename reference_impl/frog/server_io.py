"""The server on real sockets: WebSocket in, a turn of the machine, WebSocket out. No rule of the protocol is decided here."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import time
from dataclasses import replace

from reference_impl.core import Channel, Player, Turn
from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import Frame, Hangup, Heard, NoFrame, Opened, Text
from reference_impl.frog.host import NETWORK, Dial, DialFailed, Dialled
from reference_impl.frog.server import ServerMachine
from reference_impl.frog.wire_io import Wire
from reference_impl.io.carrier import NoConnection
from reference_impl.io.conversation import Conversation
from reference_impl.io.timer import Clock, Timer
from reference_impl.io.websocket import Listener, Message, WebSocket


class Line(Conversation[Message, Message]):
    """One connection. A peer that does not read what it is sent is cut off, where there is a bound (FROG-40-02)."""

    bound: int = 0

    def say(self, message: Message) -> None:
        if self.bound and self._outgoing.qsize() >= self.bound:
            self.cut()
        else:
            super().say(message)


class Server(Wire):
    """One server on one port. Reads are handled one at a time, so a turn is atomic; writes never block a turn."""

    def __init__(self, machine: ServerMachine, codec: Codec | None = None, clock: Clock = time.monotonic) -> None:
        self.machine, self.codec, self._clock = machine, codec or Codec(), clock
        self.player = Player(machine, entropy=self.entropy, now=clock())
        self.timer = Timer(self.player, self.perform, clock)
        self._lines: dict[Channel, Line] = {}
        self._numbers = itertools.count(1)
        self._listener = Listener(self.handle, self.settings)
        self._due: float | None = None
        self._dials: set[asyncio.Task[None]] = set()
        self._over = False

    def entropy(self, size: int) -> bytes:
        return secrets.token_bytes(size)  # FROG-7.7-02, FROG-7.8-02

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Without a public URI of its own, its address is one."""
        port = await self._listener.start(host, port)
        if not self.machine.config.uri:
            self.machine.config = replace(self.machine.config, uri=address(host, port))
        self.timer.set()  # its seeds are to be dialled
        return port

    @property
    def uri(self) -> str:
        return self.machine.config.uri

    async def handle(self, carrier: WebSocket) -> None:
        await self.converse(carrier, Opened(carrier.address))

    async def converse(self, carrier: WebSocket, first: Opened | Dialled) -> None:
        channel = next(self._numbers)
        line = self._lines[channel] = Line(
            carrier,
            heard=lambda message: self.hear(channel, message),
            ended=lambda end: self.turn(channel, Hangup(end.code)),
        )
        line.bound = self.machine.config.bounds.queue
        try:
            self.turn(channel, first)
            await line.run()
        finally:
            del self._lines[channel]

    def connect(self, wanted: Dial) -> None:
        task = asyncio.create_task(self.meet(wanted.uri))
        self._dials.add(task)
        task.add_done_callback(self._dials.discard)

    async def meet(self, uri: str) -> None:
        """A sister that is dialled: as any other connection once it is up."""
        try:
            carrier = await self.dial(uri)
        except NoConnection:
            self.turn(NETWORK, DialFailed(uri))
            return
        try:
            await self.converse(carrier, Dialled(uri))
        finally:
            carrier.cut()  # where this was cancelled it is still open

    def frame_of(self, message: bytes) -> Frame | NoFrame:
        return self.codec.heard_by_server(message)

    def turn(self, channel: Channel, what: Frame | NoFrame | Text | Opened | Hangup | Dialled | DialFailed) -> None:
        self.perform(self.player.receive(channel, Heard(what, self._clock())))

    def perform(self, turn: Turn) -> None:
        if self._over:
            return
        for receiver, frame in turn.frames:
            if receiver == NETWORK:
                self.connect(frame)
            elif line := self._lines.get(receiver):
                self.put(line, frame)
        if self.player.deadline != self._due:
            self._due = self.player.deadline
            self.timer.set()

    async def stop(self) -> None:
        dials = self._end()
        await self._listener.stop()
        await asyncio.gather(*dials, return_exceptions=True)

    def kill(self) -> None:
        """As a power cut would: nobody is told."""
        self._end()
        self._listener.kill()

    def _end(self) -> list[asyncio.Task[None]]:
        """Nothing more is said or dialled."""
        self._over = True
        self.timer.stop()
        dials = list(self._dials)
        for task in dials:
            task.cancel()
        return dials


def address(host: str, port: int) -> str:
    """The canonical URI of a plain server on that port."""
    return f"ws://{host}/" if port == 80 else f"ws://{host}:{port}/"
