"""Peers with another limit than theirs."""

from __future__ import annotations

from reference_impl.core import Channel
from reference_impl.sbp.codec import Codec, Rejected
from reference_impl.sbp.frames import Error, Input, Malformed, Message, Oversize
from reference_impl.sbp.peer import PeerMachine, PeerStep, State
from reference_impl.sbp.peer_io import Session
from targets.mutants.sbp.shelf import shelf
from targets.mutants.sbp.steps import without


@shelf.breaks("SBP-LIM-01", role="peer")
class HalfMebibyte(Session):
    """Has half the advised limit."""

    def read(self, message: str | bytes) -> Input:
        return Oversize(len(message)) if len(message) > 524_288 else super().read(message)


@shelf.breaks("SBP-LIM-03", role="peer")
class KnowsNoLimit(Session):
    """Takes frames of any size."""

    def read(self, message: str | bytes) -> Input:
        return self.codec.decode(message) if isinstance(message, bytes) else super().read(message)


@shelf.breaks("SBP-LIM-03", role="peer")
class LimitOffByOne(Session):
    """Takes one byte more than its limit."""

    def read(self, message: str | bytes) -> Input:
        long = isinstance(message, bytes) and len(message) == self.limit + 1
        return self.codec.decode(message) if long and isinstance(message, bytes) else super().read(message)


@shelf.breaks("SBP-LIM-03", role="peer")
class NoWordAboutTheLimit(PeerMachine):
    """Closes without an Error."""

    def too_large(self, state: State, channel: Channel, event: Oversize) -> PeerStep:
        return without(super().too_large(state, channel, event), Error)


@shelf.breaks("SBP-LIM-05", "SBP-MSG-03", role="peer")
class RefusesLongSubjects(Codec):
    """Has a limit of 255 bytes for subjects."""

    def message(self, id: bytes, ts: int | None, body: bytes) -> Message:
        got = super().message(id, ts, body)
        if len(got.subject.encode()) > 255:
            raise Rejected(Malformed("a long subject", id))
        return got
