"""The relay on real sockets: two TCP listeners, Noise, a store. No rule of the protocol is decided here."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reference_impl.core import Channel, Player
from reference_impl.io.carrier import ENDED, HungUp
from reference_impl.io.conversation import Conversation
from reference_impl.io.durable import LONG, DurableShell, Shelved
from reference_impl.io.tcp import Listener, Stream
from reference_impl.trueseal.codec import Codec, Reader
from reference_impl.trueseal.frames import Deliver, Frame, Hangup, PushOpened, ReceiveOpened
from reference_impl.trueseal.noise import Noise, Pattern, Secured
from reference_impl.trueseal.noise_io import Sealed
from reference_impl.trueseal.relay import Inbox, RelayMachine, State, Stored
from reference_impl.trueseal.store import RelayStore

Line = Conversation[bytes, bytes]


def shelved(inbox: Inbox, number: int) -> Inbox:
    """The inbox without the bytes of that blob, if it still has it."""
    if number in inbox.new:
        return replace(inbox, new=inbox.new.set(number, Shelved(number)))
    shown = {id: (number, Shelved(number)) for id, (n, _) in inbox.delivered.items() if n == number}
    return replace(inbox, delivered=inbox.delivered.update(shown)) if shown else inbox


class Relay(DurableShell[State, bytes]):
    """One relay on two ports (TS-SES-11). Reads are handled one at a time, so a turn is atomic; writes never block one."""

    store: RelayStore
    goodbye = Hangup()
    handshake_s = 10.0  # then whoever does not shake hands is dropped
    most_sessions = 4096  # whoever comes on top of that is turned away

    def __init__(self, machine: RelayMachine, state_dir: Path, private_key: bytes, codec: Codec | None = None) -> None:
        self.codec, self._private_key = codec or Codec(), private_key
        self.store = self.open_store(state_dir)
        super().__init__(Player(machine, entropy=secrets.token_bytes, state=State(durable=self.store.load())))
        self._numbers = itertools.count(1)
        self._push, self._receive = Listener(self.handle_push), Listener(self.handle_receive)

    def open_store(self, state_dir: Path) -> RelayStore:
        return RelayStore(state_dir / "relay.sqlite")

    def entropy(self, size: int) -> bytes:
        return secrets.token_bytes(size)

    @property
    def ports(self) -> tuple[int, int]:
        """Where pushes go, and where they are received."""
        return self._push.port, self._receive.port

    async def start(self, host: str = "127.0.0.1", push_port: int = 0, receive_port: int = 0) -> None:
        await self._push.start(host, push_port)
        await self._receive.start(host, receive_port)

    # -- sessions -------------------------------------------------------------------------------------------------

    async def handle_push(self, stream: Stream) -> None:
        if sealed := await self.shaken(stream, Pattern.NK):
            await self.converse(sealed, PushOpened())

    async def handle_receive(self, stream: Stream) -> None:
        if sealed := await self.shaken(stream, Pattern.XX):
            assert sealed.remote_static, "XX shows the device's key"
            await self.converse(sealed, ReceiveOpened(sealed.remote_static))  # TS-SES-07

    async def shaken(self, stream: Stream, pattern: Pattern) -> Sealed | None:
        """A session, once its handshake is done; None for whoever cannot do it (TS-SES-01, TS-SES-06)."""
        if len(self._push) + len(self._receive) > self.most_sessions:
            return None
        sealed = Sealed(stream, self.secured(pattern))
        try:
            async with asyncio.timeout(self.handshake_s):
                await sealed.shake_hands(initiator=False)
        except (HungUp, TimeoutError):
            return None
        return sealed

    def secured(self, pattern: Pattern) -> Secured:
        return Secured(Noise(pattern, initiator=False, entropy=self.entropy, static=self._private_key))

    async def converse(self, sealed: Sealed, opened: PushOpened | ReceiveOpened) -> None:
        channel, reader = next(self._numbers), self.codec.reader()
        line = self._lines[channel] = Line(
            sealed,
            heard=lambda message: self.heard(channel, reader, message),
            ended=lambda end: self.turn(channel, Hangup()),
            read_on=lambda: self.catch_up(channel),
            most=self.most_unread,
        )
        try:
            self.turn(channel, opened)
            await line.run()
        finally:
            self.forget(channel)

    def heard(self, channel: Channel, reader: Reader, message: bytes) -> None:
        if (event := reader.read(message)) is not None:
            self.turn(channel, event)

    # -- what is said, and what stays in the store ----------------------------------------------------------------

    def put(self, line: Line, frame: Frame | Hangup) -> None:
        if isinstance(frame, Hangup):
            line.hang_up(ENDED)
            return
        if isinstance(frame, Deliver) and isinstance(frame.envelope, Shelved):
            if (envelope := self.store.envelope(frame.envelope.place)) is None:
                return  # another session of the device has acked it meanwhile
            frame = replace(frame, envelope=envelope)
        for message in self.codec.encode(frame):
            line.say(message)

    def may_wait(self, frame: Any) -> bool:
        return isinstance(frame, Deliver)

    def place(self, channel: Channel, frame: Any) -> int | None:
        device = self.player.state.sessions.get(channel) or b""
        number, _ = self.player.state.durable.inbox(device).delivered.get(frame.blob_id, (None, b""))
        return number

    def waiting(self, channel: Channel, first: int) -> Iterator[Deliver]:
        """What the device has not acked, from that blob on."""
        if (device := self.player.state.sessions.get(channel)) is not None:
            for number, id, envelope in self.player.state.durable.inbox(device).envelopes():
                if number >= first and id is not None:
                    yield Deliver(id, envelope)

    def shelve(self, effects: Sequence[Any]) -> None:
        durable = self.player.state.durable
        for effect in effects:
            if isinstance(effect, Stored) and len(effect.envelope) >= LONG:
                durable = durable.keep(effect.device, shelved(durable.inbox(effect.device), effect.number))
        self.player.state = replace(self.player.state, durable=durable)

    async def stop(self) -> None:
        await asyncio.gather(self._push.stop(), self._receive.stop())
        self.flush()
        self.store.close()

    def kill(self) -> None:
        """As a power cut would: nothing is flushed, nobody is told."""
        self._batch = None
        self._push.kill()
        self._receive.kill()
        self.store.close()
