"""Peers that mix up two sessions, or the side that dialled with the one that was dialled."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Iterator
from typing import Any

from websockets.asyncio.server import ServerConnection

from reference_impl.core import Channel
from reference_impl.io.websocket import WebSocket
from reference_impl.sbp.codec import TIMESTAMP
from reference_impl.sbp.frames import (
    Ack,
    Delivered,
    Error,
    Frame,
    Handshake,
    Hangup,
    Input,
    Message,
    Opened,
    Ping,
    Pong,
)
from reference_impl.sbp.peer import WIRE, Config, PeerMachine, PeerStep, Phase, State
from reference_impl.sbp.peer_io import Session
from targets.mutants.sbp.shelf import shelf

COMMON: dict[int, tuple[Config, dict[str, Any]]] = {}


def common(machine: Any) -> dict[str, Any]:
    """What all sessions of one peer share: they have one configuration."""
    config: Config = machine.config
    return COMMON.setdefault(id(config), (config, {}))[1]


class KnowsTheLatest(Session):
    """Base of sessions that take the one that was opened last for themselves."""

    async def run(self) -> None:
        common(self.player.machine)["latest"] = self
        await super().run()

    @property
    def latest(self) -> Session:
        session: Session = common(self.player.machine).get("latest", self)
        return session


@shelf.breaks("SBP-SEM-01", role="peer")
class SendsOnTheLatest(KnowsTheLatest):
    """Sends its host's Messages on the session that was opened last."""

    def put(self, frame: Frame | Hangup) -> None:
        Session.put(self.latest if isinstance(frame, Message) else self, frame)


@shelf.breaks("SBP-SES-06", role="peer")
class PongsOnTheLatest(KnowsTheLatest):
    """Answers a Ping on the session that was opened last."""

    def put(self, frame: Frame | Hangup) -> None:
        Session.put(self.latest if isinstance(frame, Pong) else self, frame)


@shelf.breaks("SBP-CMP-02", "SBP-FLAGS-06", role="peer")
class ComplainsOnTheLatest(KnowsTheLatest):
    """Says what was wrong on the session that was opened last, and ends the right one."""

    def put(self, frame: Frame | Hangup) -> None:
        Session.put(self.latest if isinstance(frame, Error) else self, frame)


@shelf.breaks("SBP-SES-10", role="peer")
class TellsOfTheLatest(KnowsTheLatest):
    """Hands every Message over as one of the session that was opened last."""

    def turn(self, channel: str, event: object) -> list[object]:
        own, latest = self._on_event, self.latest._on_event
        self._on_event = lambda session, told: (latest if isinstance(told, Delivered) else own)(session, told)
        try:
            return super().turn(channel, event)
        finally:
            self._on_event = own


@shelf.breaks("SBP-SES-10", "SBP-HSP-04", role="peer")
class KnowsPeersByTheirId(Session):
    """Hands over what any session of a peer id brings as if it came on the last one of that id."""

    name = ""

    def turn(self, channel: str, event: object) -> list[object]:
        if isinstance(event, Handshake) and self.player.state.phase is Phase.GREETING:
            self.name = event.peer_id
            common(self.player.machine)[self.name] = self._on_event
        own = self._on_event
        others = common(self.player.machine).get(self.name, own)
        self._on_event = lambda session, told: (others if isinstance(told, Delivered) else own)(session, told)
        try:
            return super().turn(channel, event)
        finally:
            self._on_event = own


@shelf.breaks("SBP-HS-03", "SBP-CMP-02", role="peer")
class OneGreetingForAll(PeerMachine):
    """Takes frames before the Handshake once somebody has greeted, on whichever session."""

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        step = super().greeted(state, channel, frame)
        common(self)["greeted"] = step.state.phase is Phase.OPEN
        return step

    def too_early(self, state: State, channel: Channel, frame: Frame) -> PeerStep:
        if common(self).get("greeted"):
            return self.obey(Phase.OPEN, state, channel, frame)
        return super().too_early(state, channel, frame)


@shelf.breaks("SBP-CMP-01", "SBP-SES-10", role="peer")
class RemembersIdsOfAll(Session):
    """Drops a Message under an id that came before, on whichever session."""

    def read(self, message: str | bytes) -> Input:
        got = super().read(message)
        seen = common(self.player.machine).setdefault("ids", {})
        if isinstance(got, Message) and seen.setdefault(got.id, self) is not self:
            return Pong(got.id)
        return got


@shelf.breaks("SBP-ACK-03", role="peer")
class AcksOnTheLatest(KnowsTheLatest):
    """Acknowledges a Message on the session that was opened last."""

    def put(self, frame: Frame | Hangup) -> None:
        Session.put(self.latest if isinstance(frame, Ack) else self, frame)


# -- ids ---------------------------------------------------------------------------------------------------------------


@shelf.breaks("SBP-FID-02", "SBP-FID-09", role="peer")
class SeedsItsIds(Session):
    """Draws its ids from its peer id, so that every session has the same."""

    numbers: Iterator[int]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.numbers = itertools.count()
        super().__init__(*arguments, **named)

    def entropy(self, size: int) -> bytes:
        name = self.player.machine.config.peer_id  # type: ignore[attr-defined]  # its machine is a peer's
        return hashlib.sha256(f"{name} {next(self.numbers)}".encode()).digest()[:size]


@shelf.breaks("SBP-FID-02", "SBP-FID-03", role="peer")
class UlidsAsIds(Session):
    """Begins its ids with the time."""

    def entropy(self, size: int) -> bytes:
        return int(time.time() * 1000).to_bytes(6, "big") + super().entropy(size - 6)


@shelf.breaks("SBP-FID-02", "SBP-FID-03", role="peer")
class IdsOfOneSession(Session):
    """Begins all ids of a session alike."""

    prefix = b""

    def entropy(self, size: int) -> bytes:
        self.prefix = self.prefix or super().entropy(8)
        return self.prefix + super().entropy(size - 8)


@shelf.breaks("SBP-FID-09", role="peer")
class IdsOfOneByte(Session):
    """Numbers its ids with a byte behind fifteen random ones: the 257th comes again."""

    prefix = b""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.numbers = itertools.cycle(range(256))
        super().__init__(*arguments, **named)

    def entropy(self, size: int) -> bytes:
        self.prefix = self.prefix or super().entropy(size - 1)
        number = next(self.numbers)
        return hashlib.sha256(self.prefix + bytes([number])).digest()[:size]


# -- the side that dialled ---------------------------------------------------------------------------------------------


class KnowsItsSide(Session):
    """Base of sessions that are wrong on the side that dialled."""

    @property
    def dialled(self) -> bool:
        return isinstance(self.carrier, WebSocket) and not isinstance(self.carrier.connection, ServerConnection)

    def read(self, message: str | bytes) -> Input:
        return self.overlook(message) if self.dialled else super().read(message)

    def overlook(self, message: str | bytes) -> Input:
        return super().read(message)


@shelf.breaks("SBP-FLAGS-04", "SBP-FLAGS-05", role="peer")
class TheDiallerOverlooksFlags(KnowsItsSide):
    """Does not look at the reserved bits where it dialled."""

    def overlook(self, message: str | bytes) -> Input:
        if isinstance(message, bytes) and len(message) > 1:
            message = message[:1] + bytes([message[1] & TIMESTAMP]) + message[2:]
        return super().overlook(message)


@shelf.breaks("SBP-SES-06", role="peer")
class TheDiallerNeverPongs(KnowsItsSide):
    """Ignores Pings where it dialled."""

    def put(self, frame: Frame | Hangup) -> None:
        if not (self.dialled and isinstance(frame, Pong)):
            super().put(frame)


@shelf.breaks("SBP-HS-03", "SBP-CMP-02", role="peer")
class TheDiallerTakesItEarly(KnowsItsSide):
    """Drops what comes before the other side's Handshake where it dialled, and stays."""

    def turn(self, channel: str, event: object) -> list[object]:
        early = self.player.state.phase is Phase.GREETING and isinstance(event, Message | Ping)
        return [] if self.dialled and early and channel == WIRE else super().turn(channel, event)


@shelf.breaks("SBP-SES-02", "SBP-HS-02", role="peer")
class TheAcceptorWaits(KnowsItsSide):
    """Greets only who has greeted, where it was dialled."""

    def turn(self, channel: str, event: object) -> list[object]:
        if not self.dialled and (isinstance(event, Opened) or self.player.state.phase is Phase.DOWN):
            return []
        return super().turn(channel, event)

    def read(self, message: str | bytes) -> Input:
        if self.player.state.phase is Phase.DOWN:
            super().turn(WIRE, Opened())
        return super().read(message)


@shelf.breaks("SBP-HSP-10", role="peer")
class TheDiallerTakesAnyVersion(KnowsItsSide):
    """Takes whatever version the other side says where it dialled."""

    def turn(self, channel: str, event: object) -> list[object]:
        if self.dialled and isinstance(event, Handshake):
            event = Handshake(event.id, event.peer_id, event.caps, event.metadata, ts=event.ts, size=event.size)
        return super().turn(channel, event)
