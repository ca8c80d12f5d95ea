"""Peers that answer a Ping wrongly."""

from __future__ import annotations

from reference_impl.core import Channel, Step
from reference_impl.sbp.codec import Codec
from reference_impl.sbp.frames import Frame, Ping, Pong
from reference_impl.sbp.peer import PeerMachine, PeerStep, State, fresh_id
from targets.mutants.sbp.shelf import shelf
from targets.mutants.sbp.steps import also


@shelf.breaks("SBP-FLAGS-03", role="peer")
class FlagsItsPongs(Codec):
    """Sets a reserved bit on Pongs."""

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        raw = super().framed(kind, frame, body)
        return raw[:1] + b"\x02" + raw[2:] if isinstance(frame, Pong) else raw


@shelf.breaks("SBP-KIND-03", "SBP-VER-01", role="peer")
class PongsOfItsOwnKind(Codec):
    """Writes Pongs as kind 4."""

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        return super().framed(4 if isinstance(frame, Pong) else kind, frame, body)


@shelf.breaks("SBP-CTRL-03", role="peer")
class PongsWithItsOwnOp(Codec):
    """Writes Pongs as op 4."""

    def encode(self, frame: Frame) -> bytes:
        raw = super().encode(frame)
        return raw[:-1] + b"\x04" if isinstance(frame, Pong) else raw


@shelf.breaks("SBP-PING-01", role="peer")
class PongsWithData(Codec):
    """Adds a byte to each Pong."""

    def encode(self, frame: Frame) -> bytes:
        return super().encode(frame) + (b"\x00" if isinstance(frame, Pong) else b"")


@shelf.breaks("SBP-CMP-01", "SBP-CTRL-04", role="peer")
class PongsToAnyOp(Codec):
    """Reads op 5 as a Ping, and so on."""

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        return super().control(id, ts, bytes([body[0] & 3]) + body[1:] if body else body)


@shelf.breaks("SBP-SES-06", role="peer")
class NeverPongs(PeerMachine):
    """Ignores Pings."""

    def pong(self, state: State, channel: Channel, frame: Ping) -> PeerStep:
        return Step(state)


@shelf.breaks("SBP-SES-06", role="peer")
class PongsTwice(PeerMachine):
    """Answers each Ping twice."""

    def pong(self, state: State, channel: Channel, frame: Ping) -> PeerStep:
        return also(super().pong(state, channel, frame), Pong(fresh_id(state)))


@shelf.breaks("SBP-PING-03", "SBP-SES-06", role="peer")
class WantsPingsWithTime(PeerMachine):
    """Answers a Ping only if it has a timestamp."""

    def pong(self, state: State, channel: Channel, frame: Ping) -> PeerStep:
        return Step(state) if frame.ts is None else super().pong(state, channel, frame)
