"""Peers that are wrong where two conditions meet, each of them harmless alone."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Channel, Expectation, Level, Step
from reference_impl.sbp.codec import Codec
from reference_impl.sbp.frames import (
    BadFlags,
    Error,
    Frame,
    Handshake,
    Hangup,
    Input,
    Kind,
    Malformed,
    Message,
    Ping,
    Pong,
    UnknownOp,
)
from reference_impl.sbp.peer import WIRE, PeerMachine, PeerStep, Phase, State
from reference_impl.sbp.peer_io import Session
from targets.mutants.sbp.shelf import shelf
from targets.mutants.sbp.steps import without

# -- receipts ----------------------------------------------------------------------------------------------------------


class AcksSome(PeerMachine):
    """Base of machines that forget some receipts."""

    def with_receipt(self, step: PeerStep, frame: Frame, level: Level) -> PeerStep:
        return super().with_receipt(step, frame, level) if self.acks(frame) else step

    def acks(self, frame: Frame) -> bool:
        raise TypeError(type(self))


@shelf.breaks("SBP-ACK-03", role="peer")
class AcksTheUnstamped(AcksSome):
    """Acknowledges no Message that has a timestamp."""

    def acks(self, frame: Frame) -> bool:
        return frame.ts is None


@shelf.breaks("SBP-ACK-03", role="peer")
class AcksWhatHasData(AcksSome):
    """Acknowledges no Message without data."""

    def acks(self, frame: Frame) -> bool:
        return isinstance(frame, Message) and bool(frame.data)


@shelf.breaks("SBP-ACK-03", role="peer")
class AcksSixteen(AcksSome):
    """Acknowledges the first sixteen Messages of a session."""

    messages = 0

    def acks(self, frame: Frame) -> bool:
        self.messages += isinstance(frame, Message)
        return self.messages <= 16


@shelf.breaks("SBP-ACK-03", "SBP-SES-11", role="peer")
class AcksUntilAnError(AcksSome):
    """Acknowledges nothing after the other side has reported an Error."""

    failed_once = False

    def failed(self, state: State, channel: Channel, frame: Error) -> PeerStep:
        self.failed_once = True
        return super().failed(state, channel, frame)

    def acks(self, frame: Frame) -> bool:
        return not self.failed_once


@shelf.breaks("SBP-ACK-03", "SBP-SEM-02", role="peer")
class AcksTheLastOfEqual(AcksSome):
    """Acknowledges a Message only if it is not the same as the one before, id apart."""

    last: tuple[str, bytes] | None = None

    def acks(self, frame: Frame) -> bool:
        if not isinstance(frame, Message):
            return False
        same, self.last = self.last == (frame.subject, frame.data), (frame.subject, frame.data)
        return not same


@shelf.breaks("SBP-SES-10", "SBP-CMP-01", role="peer")
class DropsWhatIsTheSame(PeerMachine):
    """Hands a Message over only if it is not the same as the one before, id apart."""

    last: tuple[str, bytes] | None = None

    def deliver(self, state: State, channel: Channel, frame: Message) -> PeerStep:
        same, self.last = self.last == (frame.subject, frame.data), (frame.subject, frame.data)
        return Step(state) if same else super().deliver(state, channel, frame)


# -- Handshakes --------------------------------------------------------------------------------------------------------


@shelf.breaks("SBP-TS-01", "SBP-FLAGS-07", role="peer")
class WantsPlainHandshakes(PeerMachine):
    """Turns away a Handshake that has a timestamp."""

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        if frame.ts is not None:
            return self.too_early(state, channel, frame)
        return super().greeted(state, channel, frame)


@shelf.breaks("SBP-HSP-10", role="peer")
class TwoWrongsAreSilent(PeerMachine):
    """Closes without an Error where protocol and version are both others."""

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        step = super().greeted(state, channel, frame)
        return without(step, Error) if frame.protocol != "sideband" and frame.version != "1" else step


@shelf.breaks("SBP-HSP-10", role="peer")
class TakesTheProtocolInAnyCase(PeerMachine):
    """Takes `Sideband` for the protocol."""

    def understands(self, frame: Handshake) -> bool:
        return super().understands(replace(frame, protocol=frame.protocol.lower()))


@shelf.breaks("SBP-HSP-10", role="peer")
class TakesTrimmedVersions(PeerMachine):
    """Takes a version with blanks around it."""

    def understands(self, frame: Handshake) -> bool:
        return super().understands(replace(frame, version=frame.version.strip()))


@shelf.breaks("SBP-HSP-10", role="peer")
class TakesVersionsThatBeginWell(PeerMachine):
    """Takes every version that begins with 1."""

    def understands(self, frame: Handshake) -> bool:
        return super().understands(replace(frame, version=frame.version[:1]))


@shelf.breaks("SBP-HSP-10", "SBP-CMP-02", role="peer")
class CapsMakeUpForTheVersion(PeerMachine):
    """Takes another version from a peer that has caps."""

    def understands(self, frame: Handshake) -> bool:
        return super().understands(frame) or bool(frame.caps)


# -- a session that was good, and is not -------------------------------------------------------------------------------


@shelf.breaks("SBP-FLAGS-04", "SBP-FLAGS-05", role="peer")
class OverlooksFlagsOfAcks(Codec):
    """Does not look at the reserved bits of an Ack."""

    def header(self, wire: bytes) -> tuple[int, int, bytes]:
        if wire[:1] == bytes([Kind.ACK]) and len(wire) > 1:
            wire = wire[:1] + bytes([wire[1] & 1]) + wire[2:]
        return super().header(wire)


@shelf.breaks("SBP-FLAGS-04", "SBP-FLAGS-05", role="peer")
class ChecksFlagsOfTheFirst(Session):
    """Looks at the reserved bits of the first sixteen frames of a session."""

    frames = 0

    def read(self, message: str | bytes) -> Input:
        self.frames += 1
        got = super().read(message)
        if isinstance(got, BadFlags) and self.frames > 16 and isinstance(message, bytes):
            return super().read(message[:1] + bytes([message[1] & 1]) + message[2:])
        return got


@shelf.breaks("SBP-CMP-02", "SBP-MSG-06", role="peer")
class ForgivesTheFirst(PeerMachine):
    """Goes on after the first malformed frame of a session, and ends it at the second."""

    forgiven = False

    def malformed(self, state: State, channel: Channel, event: Malformed) -> PeerStep:
        first, self.forgiven = not self.forgiven and state.phase is Phase.OPEN, True
        return Step(state) if first else super().malformed(state, channel, event)


@shelf.breaks("SBP-ERR-06", role="peer")
class BlamesTheOneBefore(PeerMachine):
    """Names the frame before the failing one in its Error."""

    before: bytes | None = None
    latest: bytes | None = None

    def receive(self, state: State, channel: Channel, event: object) -> PeerStep:
        if channel == WIRE and getattr(event, "id", None):
            self.before, self.latest = self.latest, event.id  # type: ignore[attr-defined]
        return super().receive(state, channel, event)

    def complaint(self, state: State, id: bytes | None, clause: str, codes: tuple[int, ...]) -> Expectation:
        debt = super().complaint(state, id, clause, codes)
        return replace(debt, template=replace(debt.template, id=self.before)) if self.before else debt


@shelf.breaks("SBP-SES-10", "SBP-CTRL-04", role="peer")
class LosesTheNextAfterAnUnknownOp(PeerMachine):
    """Takes what follows an op that it does not know for its rest, and loses it."""

    lost = False

    def receive(self, state: State, channel: Channel, event: object) -> PeerStep:
        before, self.lost = self.lost, isinstance(event, UnknownOp)
        return Step(state) if before and isinstance(event, Message | Ping) else super().receive(state, channel, event)


@shelf.breaks("SBP-SES-06", role="peer")
class OnePongForABurst(PeerMachine):
    """Answers Pings that come one behind the other with one Pong."""

    last: object = None

    def receive(self, state: State, channel: Channel, event: object) -> PeerStep:
        before, self.last = self.last, event
        step = super().receive(state, channel, event)
        return without(step, Pong) if isinstance(before, Ping) and isinstance(event, Ping) else step


@shelf.breaks("SBP-CMP-02", "SBP-FLAGS-06", role="peer")
class LosesTheErrorBehindAPong(Session):
    """Loses an Error that has to go out right behind something else."""

    said: object = None

    def put(self, frame: Frame | Hangup) -> None:
        before, self.said = self.said, frame
        if not (isinstance(frame, Error) and isinstance(before, Pong)):
            super().put(frame)
