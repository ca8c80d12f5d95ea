"""Peers that stay where a frame ends the session, or say the wrong thing about it."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Channel, Expectation, Step
from reference_impl.sbp.codec import Codec
from reference_impl.sbp.frames import (
    Ack,
    BadFlags,
    Error,
    Frame,
    Handshake,
    Input,
    Malformed,
    Message,
    NoFrame,
    Text,
    UnknownOp,
)
from reference_impl.sbp.peer import PeerMachine, PeerStep, Phase, State
from reference_impl.sbp.peer_io import Session
from targets.mutants.sbp.shelf import shelf
from targets.mutants.sbp.steps import still_open, without


@shelf.breaks("SBP-CMP-02", role="peer")
class DeliversBehindTheEnd(PeerMachine):
    """Hands over what came right behind a frame that ended the session."""

    def receive(self, state: State, channel: Channel, event: object) -> PeerStep:
        if state.phase is Phase.OVER and isinstance(event, Message):
            return self.deliver(state, channel, event)
        return super().receive(state, channel, event)


@shelf.breaks("SBP-CMP-02", "SBP-HSP-10", role="peer")
class AnotherGreetingAnotherChance(PeerMachine):
    """Turns a version away, and takes the good Handshake right behind it."""

    def receive(self, state: State, channel: Channel, event: object) -> PeerStep:
        if state.phase is Phase.OVER and isinstance(event, Handshake):
            return self.greeted(state, channel, event)
        return super().receive(state, channel, event)


@shelf.breaks("SBP-FLAGS-05", "SBP-CMP-02", role="peer")
class StaysAfterReservedFlag(PeerMachine):
    """Says InvalidFrame, and goes on."""

    def bad_flags(self, state: State, channel: Channel, event: BadFlags) -> PeerStep:
        return still_open(super().bad_flags(state, channel, event), state)


@shelf.breaks("SBP-FLAGS-06", role="peer")
class NoWordAboutReservedFlag(PeerMachine):
    """Closes without an Error."""

    def bad_flags(self, state: State, channel: Channel, event: BadFlags) -> PeerStep:
        return without(super().bad_flags(state, channel, event), Error)


@shelf.breaks("SBP-FLAGS-06", role="peer")
class ReservedFlagIsViolation(PeerMachine):
    """Says ProtocolViolation where a reserved flag is set."""

    def bad_flags(self, state: State, channel: Channel, event: BadFlags) -> PeerStep:
        return self.reject(state, event.id, "", (1000,))


@shelf.breaks("SBP-FLAGS-05", "SBP-CMP-02", role="peer")
class OverlooksFlagsOverWebSocket(Codec):
    """Does not look at the reserved bits."""

    def reserved(self, flags: int) -> int:
        return 0


@shelf.breaks("SBP-CMP-02", role="peer")
class IgnoresMalformedFrames(PeerMachine):
    """Drops what it cannot read, and goes on."""

    def malformed(self, state: State, channel: Channel, event: Malformed) -> PeerStep:
        return Step(state)


@shelf.breaks("SBP-CMP-02", role="peer")
class StaysAfterMalformedFrame(PeerMachine):
    """Says InvalidFrame, and goes on."""

    def malformed(self, state: State, channel: Channel, event: Malformed) -> PeerStep:
        return still_open(super().malformed(state, channel, event), state)


@shelf.breaks("SBP-CMP-02", role="peer")
class AnOddErrorCode(PeerMachine):
    """Says 4000 where a frame is malformed."""

    def malformed(self, state: State, channel: Channel, event: Malformed) -> PeerStep:
        step = super().malformed(state, channel, event)
        wrong = tuple(
            replace(debt, template=replace(debt.template, code=4000)) if isinstance(debt.template, Error) else debt
            for debt in step.owes
        )
        return replace(step, owes=wrong)


@shelf.breaks("SBP-KIND-02", "SBP-CMP-02", role="peer")
class IgnoresUnknownKinds(Codec):
    """Takes an unknown kind for something to ignore."""

    def decode(self, wire: bytes) -> Frame | NoFrame:
        if len(wire) >= 18 and wire[0] > 3:
            return UnknownOp(wire[2:18], 99)
        return super().decode(wire)


@shelf.breaks("SBP-PING-02", role="peer")
class AnswersPingsWithData(Codec):
    """Takes a Ping with data."""

    def no_data(self, id: bytes, data: bytes) -> None:
        pass


@shelf.breaks("SBP-MSG-03", "SBP-SES-13", role="peer")
class DeliversBrokenText(Codec):
    """Puts a replacement character where a subject is no UTF-8."""

    def text(self, id: bytes, raw: bytes, what: str) -> str:
        return raw.decode("utf-8", "replace")


@shelf.breaks("SBP-MSG-05", role="peer")
class DeliversWithoutSubject(Codec):
    """Takes an empty subject."""

    def message(self, id: bytes, ts: int | None, body: bytes) -> Message:
        subject, data = self.counted(id, body, "subject")
        return Message(id, subject, data, ts)


@shelf.breaks("SBP-MSG-06", "SBP-CMP-02", role="peer")
class BelievesLengths(Codec):
    """Waits for the bytes that a length promises."""

    def counted(self, id: bytes, body: bytes, what: str) -> tuple[str, bytes]:
        if len(body) >= 4 and self.length(body) > len(body) - 4:
            return "app/partial", b""
        return super().counted(id, body, what)


@shelf.breaks("SBP-TS-04", "SBP-CMP-02", role="peer")
class IgnoresCutTimestamp(Codec):
    """Reads on as if there were no timestamp."""

    def timestamp(self, flags: int, id: bytes, rest: bytes) -> tuple[int | None, bytes]:
        return super().timestamp(flags, id, rest) if len(rest) >= 8 else (None, b"\x01")


@shelf.breaks("SBP-ACK-02", role="peer")
class TakesAcksOfAnyLength(Codec):
    """Ignores what follows an acknowledged id, and what is missing."""

    def ack(self, id: bytes, ts: int | None, body: bytes) -> Ack:
        return super().ack(id, ts, body[:16].ljust(16, b"\x00"))


@shelf.breaks("SBP-ERR-03", role="peer")
class TakesCutErrors(Codec):
    """Takes an Error of any length."""

    def error(self, id: bytes, ts: int | None, body: bytes) -> Error:
        return Error(id, 2000, "cut", b"", ts)


@shelf.breaks("SBP-ERR-06", role="peer")
class ErrorsUnderAnIdOfTheirOwn(PeerMachine):
    """Does not name the failing frame."""

    def complaint(self, state: State, id: bytes | None, clause: str, codes: tuple[int, ...]) -> Expectation:
        return super().complaint(state, None, clause, codes)


@shelf.breaks("SBP-SES-01", "SBP-CMP-02", role="peer")
class ReadsTextAsBytes(Session):
    """Takes a text message for a binary one."""

    def read(self, message: str | bytes) -> Input:
        return super().read(message.encode() if isinstance(message, str) else message)


@shelf.breaks("SBP-SES-01", role="peer")
class IgnoresText(PeerMachine):
    """Drops a text message, and goes on."""

    def text(self, state: State, channel: Channel, event: Text) -> PeerStep:
        return Step(state)
