"""Peers that give frames the wrong id, or tell their host another."""

from __future__ import annotations

import itertools
import uuid

from reference_impl.core import Channel, Expectation, Step
from reference_impl.sbp.frames import Ping, Pong
from reference_impl.sbp.peer import WIRE, PeerMachine, PeerStep, State
from reference_impl.sbp.peer_io import Session
from targets.mutants.sbp.shelf import shelf


@shelf.breaks("SBP-FID-02", role="peer")
class CountsItsIds(Session):
    """Numbers its frames."""

    numbers = itertools.count(1)

    def entropy(self, size: int) -> bytes:
        return next(self.numbers).to_bytes(size, "big")


@shelf.breaks("SBP-FID-03", role="peer")
class UuidsAsIds(Session):
    """Makes ids with version and variant bits."""

    def entropy(self, size: int) -> bytes:
        return uuid.uuid4().bytes


@shelf.breaks("SBP-FID-08", role="peer")
class PongsUnderThePingsId(PeerMachine):
    """Copies the id of a Ping."""

    def pong(self, state: State, channel: Channel, frame: Ping) -> PeerStep:
        return Step(state, (Expectation("", Pong(frame.id), WIRE),))


@shelf.breaks("SBP-FID-09", role="peer")
class OneIdForAllPongs(PeerMachine):
    """Makes an id once for each session's Pongs."""

    def pong(self, state: State, channel: Channel, frame: Ping) -> PeerStep:
        return Step(state, (Expectation("", Pong(b"pongpongpongpong"), WIRE),))


@shelf.breaks("SBP-FID-07", role="peer")
class TellsAnotherId(Session):
    """Tells its host an id that no Message has."""

    def send(self, subject: str, data: bytes = b"", ts: int | None = None) -> bytes:
        super().send(subject, data, ts)
        return self.entropy(16)


@shelf.breaks("SBP-FID-07", role="peer")
class TellsAnotherPingsId(Session):
    """Tells its host an id that no Ping has."""

    def ping(self) -> bytes:
        super().ping()
        return self.entropy(16)
