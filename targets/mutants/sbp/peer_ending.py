"""Peers that take an Error for the end, or end a session wrongly."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Channel
from reference_impl.sbp.codec import Codec, Rejected
from reference_impl.sbp.frames import Ack, Close, Error, Frame, Hangup, Malformed, Pong, SendClose
from reference_impl.sbp.peer import VIOLATION, PeerMachine, PeerStep, State, fresh_id
from targets.mutants.sbp.shelf import shelf
from targets.mutants.sbp.steps import also, without


@shelf.breaks("SBP-SES-11", role="peer")
class AnyErrorIsTheEnd(PeerMachine):
    """Closes when the application reports an Error."""

    def failed(self, state: State, channel: Channel, frame: Error) -> PeerStep:
        return self.end(state, "an Error")


@shelf.breaks("SBP-ERR-05", role="peer")
class AnswersErrorsWithDetails(PeerMachine):
    """Takes details for trailing bytes."""

    def failed(self, state: State, channel: Channel, frame: Error) -> PeerStep:
        step = super().failed(state, channel, frame)
        return also(step, Error(fresh_id(state), 1002, "trailing bytes")) if frame.details else step


@shelf.breaks("SBP-CLOSE-01", role="peer")
class LeavesWithoutClose(PeerMachine):
    """Ends the transport without a Close."""

    def close(self, state: State, channel: Channel, request: SendClose) -> PeerStep:
        step = super().close(state, channel, request)
        silent = tuple(
            replace(debt, template=Pong(fresh_id(state))) if isinstance(debt.template, Close) else debt
            for debt in step.owes
        )
        return replace(step, owes=silent)


@shelf.breaks("SBP-CLOSE-01", role="peer")
class WantsReasonToClose(Codec):
    """Refuses a Close without a reason."""

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        if body == b"\x03":
            raise Rejected(Malformed("no reason", id))
        return super().control(id, ts, body)


@shelf.breaks("SBP-CLOSE-02", role="peer")
class ClosesInLatin1(Codec):
    """Writes a reason in Latin-1."""

    def encode(self, frame: Frame) -> bytes:
        raw = super().encode(frame)
        return raw[:19] + (frame.reason or "").encode("latin-1") if isinstance(frame, Close) else raw


@shelf.breaks("SBP-SES-09", role="peer")
class StaysAfterItsClose(PeerMachine):
    """Sends a Close, and keeps the transport."""

    def close(self, state: State, channel: Channel, request: SendClose) -> PeerStep:
        return without(super().close(state, channel, request), Hangup)


@shelf.breaks("SBP-SES-09", role="peer")
class ClosesTwice(PeerMachine):
    """Says a second Close where the transport was to end."""

    def close(self, state: State, channel: Channel, request: SendClose) -> PeerStep:
        step = super().close(state, channel, request)
        first, *rest = step.owes
        return replace(step, owes=(first, replace(first, template=Close(fresh_id(state), "again")), *rest))


@shelf.breaks("SBP-CMP-01", "SBP-SES-07", role="peer")
class AnyPongIsTheEnd(PeerMachine):
    """Takes the Pong that it asked for, like any other, for one that nobody asked for."""

    def answered(self, state: State, channel: Channel, frame: Pong) -> PeerStep:
        return self.reject(state, frame.id, "SBP-SES-07", VIOLATION)


@shelf.breaks("SBP-CMP-01", "SBP-SES-07", role="peer")
class AnyAckIsTheEnd(PeerMachine):
    """Knows nothing of its own ids any more, and ends the session for an Ack of them."""

    def acked(self, state: State, channel: Channel, frame: Ack) -> PeerStep:
        return self.reject(state, frame.id, "SBP-SES-07", VIOLATION)
