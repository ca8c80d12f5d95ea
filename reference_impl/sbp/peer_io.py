"""A session on a carrier: WebSocket, dialled or accepted, or a loopback. No rule of the protocol is decided here."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from reference_impl.core import Player
from reference_impl.io.carrier import Carrier
from reference_impl.io.conversation import Conversation
from reference_impl.io.websocket import Settings
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


class SessionOver(RuntimeError):
    """There is no session to send on."""


def settings(limit: int) -> Settings:
    return Settings(max_size=limit + SLACK)


class Session:
    """One peer on one carrier. Reads are handled one at a time, in order; writes never block a turn."""

    def __init__(
        self,
        carrier: Carrier[str | bytes, bytes],
        machine: PeerMachine,
        codec: Codec | None = None,
        *,
        on_event: Callable[[Session, HostEvent], None] = lambda session, event: None,
    ) -> None:
        self.carrier, self.codec, self._on_event = carrier, codec or Codec(), on_event
        self.limit = machine.config.limit
        self.player = Player(machine, entropy=self.entropy)
        self._line = Conversation(
            carrier,
            heard=lambda message: self.turn(WIRE, self.read(message)),
            ended=lambda end: self.turn(WIRE, Hangup(end.code)),
        )

    def entropy(self, size: int) -> bytes:
        return secrets.token_bytes(size)  # SBP-FID-02

    async def run(self) -> None:
        """Until the transport ends."""
        self.turn(WIRE, Opened())
        await self._line.run()

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
                self.put(frame)
        return [frame for _, frame in frames]

    def put(self, frame: Frame | Hangup) -> None:
        if isinstance(frame, Hangup):
            self._line.hang_up(frame.code)
        else:
            self._line.say(self.codec.encode(frame))

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
