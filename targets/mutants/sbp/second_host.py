"""Peers whose wire is right and whose host is told otherwise, or hands over what nobody reads as it was."""

from __future__ import annotations

import unicodedata
import uuid
from dataclasses import replace

from reference_impl.core import Channel, Expectation, Level
from reference_impl.sbp.codec import HEADER_SIZE, TIMESTAMP
from reference_impl.sbp.frames import (
    Ack,
    Acked,
    BadFlags,
    Delivered,
    Error,
    Frame,
    Handshake,
    Malformed,
    Message,
    Oversize,
    Send,
)
from reference_impl.sbp.peer import HOST, PeerMachine, PeerStep, Phase, State, fresh_id
from reference_impl.sbp.peer_io import Session
from targets.mutants.sbp.shelf import shelf


class DeliversOtherwise(PeerMachine):
    """Base of machines that hand over another Message than came."""

    def deliver(self, state: State, channel: Channel, frame: Message) -> PeerStep:
        return super().deliver(state, channel, self.shown(frame))

    def shown(self, frame: Message) -> Message:
        raise TypeError(type(self))


@shelf.breaks("SBP-TS-03", "SBP-TS-06", role="peer")
class TellsTimesAsDoubles(DeliversOtherwise):
    """Tells its host 53 bits of a timestamp."""

    def shown(self, frame: Message) -> Message:
        return frame if frame.ts is None else replace(frame, ts=int(float(frame.ts)))


@shelf.breaks("SBP-MSG-03", "SBP-MSG-04", role="peer")
class ComposesSubjects(DeliversOtherwise):
    """Normalises a subject."""

    def shown(self, frame: Message) -> Message:
        return replace(frame, subject=unicodedata.normalize("NFC", frame.subject))


@shelf.breaks("SBP-MSG-03", "SBP-MSG-04", role="peer")
class TrimsSubjects(DeliversOtherwise):
    """Trims a subject."""

    def shown(self, frame: Message) -> Message:
        return replace(frame, subject=frame.subject.strip())


@shelf.breaks("SBP-MSG-03", "SBP-MSG-04", role="peer")
class LowersSubjects(DeliversOtherwise):
    """Hands a subject over in lower case."""

    def shown(self, frame: Message) -> Message:
        return replace(frame, subject=frame.subject.lower())


@shelf.breaks("SBP-MSG-04", role="peer")
class UnixLineEnds(DeliversOtherwise):
    """Hands data over with its line ends changed."""

    def shown(self, frame: Message) -> Message:
        return replace(frame, data=frame.data.replace(b"\r\n", b"\n"))


@shelf.breaks("SBP-MSG-04", role="peer")
class KeepsTheLastData(DeliversOtherwise):
    """Hands over the data of the Message before with one that has none."""

    last = b""

    def shown(self, frame: Message) -> Message:
        self.last = frame.data or self.last
        return replace(frame, data=self.last)


@shelf.breaks("SBP-MSG-04", role="peer")
class TrimsTextData(DeliversOtherwise):
    """Trims data that is text."""

    def shown(self, frame: Message) -> Message:
        try:
            return replace(frame, data=frame.data.decode().strip().encode())
        except UnicodeDecodeError:
            return frame


@shelf.breaks("SBP-HSP-03", role="peer")
class TrimsPeerIds(PeerMachine):
    """Tells its host the other side's id without the blanks around it."""

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        return super().greeted(state, channel, replace(frame, peer_id=frame.peer_id.strip()))


@shelf.breaks("SBP-HSP-03", role="peer")
class ComposesPeerIds(PeerMachine):
    """Tells its host the other side's id composed of other code points."""

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        return super().greeted(state, channel, replace(frame, peer_id=unicodedata.normalize("NFC", frame.peer_id)))


@shelf.breaks("SBP-ERR-02", "SBP-SES-11", role="peer")
class TellsSignedCodes(PeerMachine):
    """Tells its host an Error's code as a signed number."""

    def failed(self, state: State, channel: Channel, frame: Error) -> PeerStep:
        code = frame.code - 0x1_0000 if frame.code >= 0x8000 else frame.code
        return super().failed(state, channel, replace(frame, code=code))


@shelf.breaks("SBP-FID-07", "SBP-FID-04", role="peer")
class TellsAckedGuids(PeerMachine):
    """Tells its host an acknowledged id in the byte order of a GUID."""

    def acked(self, state: State, channel: Channel, frame: Ack) -> PeerStep:
        step = super().acked(state, channel, frame)
        told = Acked(uuid.UUID(bytes=frame.of).bytes_le)
        return replace(step, owes=tuple(replace(debt, template=told) for debt in step.owes))


@shelf.breaks("SBP-ACK-03", "SBP-FID-04", role="peer")
class AcksGuids(PeerMachine):
    """Acknowledges an id in the byte order of a GUID."""

    def with_receipt(self, step: PeerStep, frame: Frame, level: Level) -> PeerStep:
        return super().with_receipt(step, replace(frame, id=uuid.UUID(bytes=frame.id).bytes_le), level)


# -- what should not reach the host ------------------------------------------------------------------------------------


class DeliversFirst(Session):
    """Base of sessions that hand a Message over before they reject the frame."""

    def turn(self, channel: str, event: object) -> list[object]:
        if self.player.state.phase is Phase.OPEN and (message := self.seen_in(event)):
            self._on_event(self, Delivered(message.subject, message.data, message.ts))
        return super().turn(channel, event)

    def read(self, message: str | bytes) -> object:  # type: ignore[override]  # an input, as ever
        self.wire = message if isinstance(message, bytes) else b""
        return super().read(message)

    def seen_in(self, event: object) -> Message | None:
        raise TypeError(type(self))


@shelf.breaks("SBP-LIM-03", role="peer")
class DeliversTheTooLarge(DeliversFirst):
    """Hands over a Message beyond its limit, and rejects it then."""

    def seen_in(self, event: object) -> Message | None:
        got = self.codec.decode(self.wire) if isinstance(event, Oversize) else None
        return got if isinstance(got, Message) else None


@shelf.breaks("SBP-FLAGS-04", "SBP-CMP-02", role="peer")
class DeliversTheFlagged(DeliversFirst):
    """Hands over a Message with a reserved flag, and rejects it then."""

    def seen_in(self, event: object) -> Message | None:
        if not isinstance(event, BadFlags):
            return None
        got = self.codec.decode(self.wire[:1] + bytes([self.wire[1] & TIMESTAMP]) + self.wire[2:])
        return got if isinstance(got, Message) else None


@shelf.breaks("SBP-MSG-06", "SBP-CMP-02", role="peer")
class DeliversTheCut(DeliversFirst):
    """Hands over as much of a subject as there is, and rejects the frame then."""

    def seen_in(self, event: object) -> Message | None:
        body = self.wire[HEADER_SIZE + 4 :]
        if not isinstance(event, Malformed) or self.wire[:2] != b"\x01\x00" or not body:
            return None
        return Message(event.id or b"", body.decode("utf-8", "replace"))


@shelf.breaks("SBP-SES-10", "SBP-SEM-01", role="peer")
class HearsItself(PeerMachine):
    """Hands its host's own Message over to it."""

    def send(self, state: State, channel: Channel, request: Send) -> PeerStep:
        step = super().send(state, channel, request)
        own = Expectation("", Delivered(request.subject, request.data, request.ts), HOST)
        return replace(step, owes=(*step.owes, own))


# -- what the host sends -----------------------------------------------------------------------------------------------


@shelf.breaks("SBP-MSG-01", "SBP-SEM-01", role="peer")
class SendsComposedSubjects(PeerMachine):
    """Normalises its host's subject."""

    def send(self, state: State, channel: Channel, request: Send) -> PeerStep:
        return super().send(state, channel, replace(request, subject=unicodedata.normalize("NFC", request.subject)))


@shelf.breaks("SBP-MSG-01", "SBP-SEM-01", role="peer")
class SendsTrimmedSubjects(PeerMachine):
    """Trims its host's subject."""

    def send(self, state: State, channel: Channel, request: Send) -> PeerStep:
        return super().send(state, channel, replace(request, subject=request.subject.strip()))


@shelf.breaks("SBP-MSG-04", role="peer")
class SendsNothingAsNul(PeerMachine):
    """Sends a zero byte where its host gives no data."""

    def send(self, state: State, channel: Channel, request: Send) -> PeerStep:
        return super().send(state, channel, replace(request, data=request.data or b"\0"))


@shelf.breaks("SBP-SEM-01", "SBP-MSG-01", role="peer")
class SendsLongDataInPieces(PeerMachine):
    """Sends data of more than 65,536 bytes as two Messages."""

    def send(self, state: State, channel: Channel, request: Send) -> PeerStep:
        first = super().send(state, channel, replace(request, data=request.data[:65_536]))
        if len(request.data) <= 65_536:
            return first
        second = Message(fresh_id(state), request.subject, request.data[65_536:], request.ts)
        return replace(first, owes=(*first.owes, replace(first.owes[0], template=second)))
