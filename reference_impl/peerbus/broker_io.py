"""The broker on real sockets: WebSocket in, store, WebSocket out. No rule of the protocol is decided here."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from immutables import Map

from reference_impl.core import Channel, Player
from reference_impl.io.conversation import Conversation
from reference_impl.io.durable import DurableShell, Shelved
from reference_impl.io.websocket import Listener, Settings, WebSocket
from reference_impl.peerbus.broker import ANYBODY_ACKS, ONE_ID, BrokerMachine, Message, MessageStored, State
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import MAX_MESSAGE, Binary, Close, Deliver, Frame, Garbage, Opened
from reference_impl.peerbus.store import Store, shelved

Text = str | bytes
Line = Conversation[Text, Text]
BUSY, FAILED = 1013, 1011


class Broker(DurableShell[State, Text]):
    """One broker on one port. Reads are handled one at a time, so a turn is atomic; writes never block a turn."""

    settings = Settings(max_size=MAX_MESSAGE)  # PB-1-13; and a displaced peer may be half-open (PB-2.1-34)
    store: Store
    goodbye, sorry = Close(FAILED), FAILED
    register_s = 60.0  # then whoever has not registered is dropped
    most_connections = 4096  # whoever comes on top of that is turned away

    def __init__(self, machine: BrokerMachine, state_dir: Path, codec: Codec | None = None) -> None:
        self.codec = codec or Codec()
        self.store = self.open_store(state_dir)
        # What is chosen need not be asked with each message.
        choices = Map({ONE_ID: False, ANYBODY_ACKS: False}).update(machine.initial().choices)
        state = State(durable=self.store.load(), choices=choices)
        super().__init__(Player(machine, entropy=secrets.token_bytes, state=state))
        self._names: dict[Channel, str] = {}  # whoever has registered, until its connection is gone
        self._numbers = itertools.count(1)
        self._listener = Listener(self.handle, self.settings)

    def open_store(self, state_dir: Path) -> Store:
        return Store(state_dir / "peerbus.sqlite", self.codec)

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        return await self._listener.start(host, port)

    async def handle(self, carrier: WebSocket) -> None:
        if len(self._listener) > self.most_connections:
            await carrier.close(BUSY)
            return
        channel = next(self._numbers)
        line = self._lines[channel] = Line(
            carrier,
            heard=lambda message: self.turn(channel, self.read(message)),
            ended=lambda end: self.turn(channel, Close(end.code)),
            read_on=lambda: self.catch_up(channel),
            most=self.most_unread,
        )
        late = asyncio.get_running_loop().call_later(self.register_s, self.drop_stranger, channel)
        try:
            self.turn(channel, Opened())
            await line.run()
        finally:
            late.cancel()
            self.forget(channel)

    def drop_stranger(self, channel: Channel) -> None:
        if channel not in self._names:
            self._lines[channel].hang_up(BUSY)

    def forget(self, channel: Channel) -> None:
        super().forget(channel)
        self._names.pop(channel, None)

    def read(self, message: Text) -> Frame | Garbage | Binary:
        return self.codec.decode(message.encode()) if isinstance(message, str) else Binary(message)

    def turn(self, channel: Channel, event: object) -> None:
        """What an input changes is durable before what it owes is on its way (PB-3-22)."""
        super().turn(channel, event)
        if held := self.player.state.connections.get(channel):
            self._names[channel] = held.name

    def said(self, frames: Sequence[tuple[Channel, Any]]) -> None:
        self.store.delivered([(self._names.get(to, ""), frame) for to, frame in frames if isinstance(frame, Deliver)])

    def put(self, line: Line, frame: Frame | Close) -> None:
        if isinstance(frame, Close):
            line.hang_up(frame.code)
        else:
            line.say(self.write(self.fetched(frame)))

    def write(self, frame: Frame) -> Text:
        return self.codec.encode(frame).decode()

    # -- what stays in the store ----------------------------------------------------------------------------------

    def fetched(self, frame: Frame) -> Frame:
        """A delivery with its envelope, wherever that was."""
        if not isinstance(frame, Deliver) or not isinstance(frame.envelope.body, Shelved):
            return frame
        kept = self.store.envelope(frame.envelope.body.place)
        return replace(frame, envelope=replace(frame.envelope, body=kept.body, wire=kept.wire))

    def pending(self, channel: Channel) -> Map[str, Message]:
        return self.player.state.durable.pending.get(self._names.get(channel, ""), Map())

    def may_wait(self, frame: Any) -> bool:
        return isinstance(frame, Deliver)

    def place(self, channel: Channel, frame: Any) -> int | None:
        message = self.pending(channel).get(frame.delivery_key)
        return message.seq if message else None

    def waiting(self, channel: Channel, first: int) -> Iterator[Deliver]:
        left = [message for message in self.pending(channel).values() if message.seq >= first]
        for message in sorted(left, key=lambda message: message.seq):
            yield Deliver(message.key, message.envelope)

    def shelve(self, effects: Sequence[Any]) -> None:
        durable = self.player.state.durable
        pending = durable.pending
        for effect in effects:
            if isinstance(effect, MessageStored) and (short := shelved(effect.message)) is not effect.message:
                mine = pending.get(short.recipient, Map())
                if short.key in mine:
                    pending = pending.set(short.recipient, mine.set(short.key, short))
        if pending is not durable.pending:
            self.player.state = replace(self.player.state, durable=replace(durable, pending=pending))

    async def stop(self) -> None:
        await self._listener.stop()
        self.flush()
        self.store.close()

    def kill(self) -> None:
        """As a power cut would: nothing is flushed, nobody is told."""
        self._batch = None
        self._listener.kill()
        self.store.close()
