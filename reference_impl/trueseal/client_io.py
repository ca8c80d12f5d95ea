"""The client on real sockets: keeps a Receive Session, opens Push Sessions when there is something to push, and dials again."""

from __future__ import annotations

import asyncio
import itertools
import random
import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reference_impl.core import Channel, Player
from reference_impl.io.carrier import ENDED, HungUp, NoConnection
from reference_impl.io.conversation import Conversation
from reference_impl.io.sqlite import StoreFailed
from reference_impl.io.tcp import dial
from reference_impl.trueseal.client import HOST, NETWORK, ClientMachine, State
from reference_impl.trueseal.codec import Codec
from reference_impl.trueseal.frames import (
    Beat,
    Dial,
    Frame,
    Hangup,
    InSession,
    Pushed,
    PushSession,
    Queued,
    Received,
    ReceiveOpened,
    Refused,
    Rejected,
    Start,
    Submit,
)
from reference_impl.trueseal.noise import Noise, Pattern, Secured, public_key
from reference_impl.trueseal.noise_io import Sealed
from reference_impl.trueseal.store import ClientStore

Line = Conversation[bytes, bytes]
Told = Received | Pushed | Rejected


class CannotPush(ValueError):
    """The envelope is over the limit, now and for ever (TS-SIZE-03)."""


class NoSession(RuntimeError):
    """There is no Receive Session to send on."""


@dataclass(frozen=True, slots=True)
class Config:
    """What a client is told by its operator."""

    push_port: int
    receive_port: int
    relay_key: bytes  # the relay's public key, known from elsewhere
    private_key: bytes  # the device's own
    host: str = "127.0.0.1"
    first_wait_s: float = 0.1  # before a session is dialled again; it doubles up to the next
    most_wait_s: float = 5.0
    open_s: float = 10.0  # for a connection and its handshake

    def wait_s(self, attempt: int, jitter: float) -> float:
        """Before the n-th attempt: none at first, then doubling, plus up to half as jitter."""
        if attempt == 0:
            return 0.0
        return min(self.most_wait_s, self.first_wait_s * 2.0 ** min(attempt - 1, 30)) * (1 + jitter / 2)


class Client:
    """One device. `on_event` gets each message once, and what becomes of each blob."""

    def __init__(
        self,
        config: Config,
        machine: ClientMachine,
        state_dir: Path,
        *,
        on_event: Callable[[Told], None] = lambda event: None,
        codec: Codec | None = None,
    ) -> None:
        self.config, self.codec, self._on_event = config, codec or Codec(), on_event
        self.store = self.open_store(state_dir)
        self.player = Player(machine, entropy=secrets.token_bytes, state=State(durable=self.store.load()))
        self._lines: dict[Channel, Line] = {}
        self._early: dict[PushSession, list[Frame]] = {}  # for sessions that are not up yet
        self._numbers = itertools.count(1)
        self._attempts = {Pattern.NK: 0, Pattern.XX: 0}  # since something was last heard
        self._tasks: set[asyncio.Task[None]] = set()
        self._over = False

    def open_store(self, state_dir: Path) -> ClientStore:
        return ClientStore(state_dir / "client.sqlite")

    def entropy(self, size: int) -> bytes:
        return secrets.token_bytes(size)

    # -- for the host ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        self.turn(HOST, Start())

    def push(self, recipient: bytes, envelope: bytes) -> int:
        """Puts it into the outbox; returns its number there."""
        match self.turn(HOST, Submit(recipient, envelope)):
            case [Queued(blob), *_]:
                return blob
        raise CannotPush(f"an envelope of {len(envelope)} bytes is over the protocol's limit: no relay takes it")

    def heartbeat(self) -> None:
        if any(isinstance(frame, Refused) for frame in self.turn(HOST, Beat())):
            raise NoSession("there is no Receive Session now: try again once it is up")

    def received(self) -> list[bytes]:
        return self.store.received()

    async def stop(self) -> None:
        self.kill()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def kill(self) -> None:
        """End without a word, as a power cut would."""
        self._over = True
        for line in self._lines.values():
            line.cut()
        for task in self._tasks:
            task.cancel()
        self.store.close()

    # -- the machine's turns --------------------------------------------------------------------------------------

    def turn(self, channel: Channel, event: object) -> list[object]:
        """One input; what it changes is durable before anything is said of it (TS-DLV-03)."""
        if self._over:
            return []
        before = self.player.state
        turn = self.player.receive(channel, event)
        try:
            self.store.commit(turn.effects)
        except StoreFailed:
            self.player.state = before
            if channel == HOST:
                raise
            self._lines[channel].cut()  # without an ack it comes again
            return []
        for receiver, frame in turn.frames:
            self._perform(receiver, frame)
        return [frame for _, frame in turn.frames]

    def _perform(self, channel: Channel, frame: object) -> None:
        match frame:
            case Received() | Pushed() | Rejected():
                self._on_event(frame)
            case Queued() | Refused():
                pass  # what the host is answered
            case Dial():
                self._run(self._listen())
            case InSession(session, push):
                self._push(session, push)
            case _ if line := self._lines.get(channel):
                self.put(line, frame)  # type: ignore[arg-type]  # whatever else is owed goes on the wire

    def put(self, line: Line, frame: Frame | Hangup) -> None:
        if isinstance(frame, Hangup):
            line.hang_up(ENDED)
            return
        for message in self.codec.encode(frame):
            line.say(message)

    def _run(self, session: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(session)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- sessions -------------------------------------------------------------------------------------------------

    def _push(self, session: PushSession, push: Frame) -> None:
        """Into the session if it is up, else it is opened for this."""
        if line := self._lines.get(session):
            self.put(line, push)
        elif session in self._early:
            self._early[session].append(push)
        else:
            self._early[session] = [push]
            self._run(self._deliver(session))

    async def _deliver(self, session: PushSession) -> None:
        """One Push Session, from the dial to its end (TS-SES-05)."""
        sealed = await self._open(Pattern.NK, self.config.push_port)
        early = self._early.pop(session)
        if sealed is None:
            self.turn(session, Hangup())
            return
        line = self._line(session, sealed, Pattern.NK)
        for push in early:
            self.put(line, push)
        await self._converse(session, line, sealed)

    async def _listen(self) -> None:
        """One Receive Session, from the dial to its end."""
        sealed = await self._open(Pattern.XX, self.config.receive_port)
        if sealed is None:
            self.turn(NETWORK, Hangup())
            return
        channel = next(self._numbers)
        line = self._line(channel, sealed, Pattern.XX)
        self.turn(channel, ReceiveOpened(public_key(self.config.private_key)))
        await self._converse(channel, line, sealed)

    async def _open(self, pattern: Pattern, port: int) -> Sealed | None:
        """A session with the relay we trust, or None; waits first if the last one came to nothing."""
        await asyncio.sleep(self.config.wait_s(self._attempts[pattern], random.random()))
        self._attempts[pattern] += 1
        try:
            async with asyncio.timeout(self.config.open_s):
                stream = await dial(self.config.host, port)
                sealed = Sealed(stream, self.secured(pattern))
                try:
                    await sealed.shake_hands(initiator=True)
                except BaseException:
                    stream.cut()
                    raise
                return sealed
        except (NoConnection, HungUp, TimeoutError):
            return None

    def secured(self, pattern: Pattern) -> Secured:
        """Anonymous for a push (TS-SES-03); under our own key to receive, and only with the relay we trust (TS-SES-06)."""
        if pattern is Pattern.NK:
            return Secured(Noise(pattern, initiator=True, entropy=self.entropy, remote_static=self.config.relay_key))
        noise = Noise(pattern, initiator=True, entropy=self.entropy, static=self.config.private_key)
        return Secured(noise, trusted=self.config.relay_key)

    def _line(self, channel: Channel, sealed: Sealed, pattern: Pattern) -> Line:
        reader = self.codec.reader()

        def heard(message: bytes) -> None:
            self._attempts[pattern] = 0
            if (event := reader.read(message)) is not None:
                self.turn(channel, event)

        line = self._lines[channel] = Line(sealed, heard, ended=lambda end: self._ended(channel))
        return line

    def _ended(self, channel: Channel) -> None:
        del self._lines[channel]
        self.turn(channel, Hangup())

    async def _converse(self, channel: Channel, line: Line, sealed: Sealed) -> None:
        try:
            await line.run()
        finally:
            sealed.cut()  # where this was cancelled it is still open
