"""Peers with one fault each."""

from __future__ import annotations

import asyncio
import itertools
import json
import uuid
from dataclasses import replace
from typing import Any, ClassVar

from reference_impl.core import Channel, Expectation, Level, Step
from reference_impl.sbp.codec import Codec, Rejected
from reference_impl.sbp.frames import (
    Ack,
    Acked,
    BadFlags,
    BadHandshake,
    Close,
    Delivered,
    Error,
    Established,
    Frame,
    Handshake,
    Hangup,
    HostEvent,
    Input,
    Malformed,
    Message,
    NoFrame,
    Opened,
    Oversize,
    Ping,
    Pong,
    Send,
    SendClose,
    Text,
    UnknownOp,
)
from reference_impl.sbp.peer import HOST, WIRE, PeerMachine, PeerStep, Phase, State, fresh_id
from reference_impl.sbp.peer_io import Session
from targets.mutants.sbp.codec import Payload, Refuses
from targets.mutants.sbp.shelf import shelf


def without(step: PeerStep, *kinds: type) -> PeerStep:
    """The step with some of its debts forgotten."""
    return replace(step, owes=tuple(debt for debt in step.owes if not isinstance(debt.template, kinds)))


def also(step: PeerStep, *frames: Frame) -> PeerStep:
    return replace(step, owes=(*step.owes, *(Expectation("", frame, WIRE) for frame in frames)))


def still_open(step: PeerStep, state: State) -> PeerStep:
    return replace(without(step, Hangup), state=state, lapses=frozenset())


# -- greeting ----------------------------------------------------------------------------------------------------------


@shelf.breaks("SBP-HS-02", "SBP-HSP-09", role="peer")
class NeverGreets(PeerMachine):
    """Sends no Handshake."""

    def opened(self, state: State, channel: Channel, event: Opened) -> PeerStep:
        return without(super().opened(state, channel, event), Handshake)


@shelf.breaks("SBP-HS-02", role="peer")
class PingsBeforeItGreets(PeerMachine):
    """Sends a Ping first."""

    def opened(self, state: State, channel: Channel, event: Opened) -> PeerStep:
        step = super().opened(state, channel, event)
        return replace(step, owes=(Expectation("", Ping(fresh_id(state)), WIRE), *step.owes))


@shelf.breaks("SBP-HSP-09", "SBP-HS-02", role="peer")
class SendsBeforeItGreets(PeerMachine):
    """Sends a Message first."""

    def opened(self, state: State, channel: Channel, event: Opened) -> PeerStep:
        step = super().opened(state, channel, event)
        return replace(step, owes=(Expectation("", Message(fresh_id(state), "app/first"), WIRE), *step.owes))


@shelf.breaks("SBP-SES-02", role="peer")
class WaitsForTheOtherHandshake(PeerMachine):
    """Greets only who has greeted."""

    def opened(self, state: State, channel: Channel, event: Opened) -> PeerStep:
        return without(super().opened(state, channel, event), Handshake)

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        step = super().greeted(state, channel, frame)
        return replace(step, owes=(Expectation("", self.greeting(state), WIRE), *step.owes))


@shelf.breaks("SBP-HS-03", "SBP-CMP-02", role="peer")
class IgnoresEarlyFrames(PeerMachine):
    """Drops what comes before the Handshake, and stays."""

    def too_early(self, state: State, channel: Channel, frame: Frame) -> PeerStep:
        return Step(state)


@shelf.breaks("SBP-HS-03", role="peer")
class AnswersEarlyPings(PeerMachine):
    """Answers a Ping before the Handshake."""

    def too_early(self, state: State, channel: Channel, frame: Frame) -> PeerStep:
        if isinstance(frame, Ping):
            return self.pong(state, channel, frame)
        return super().too_early(state, channel, frame)


@shelf.breaks("SBP-SES-04", role="peer")
class NoWordAboutEarlyFrames(PeerMachine):
    """Closes without an Error."""

    def too_early(self, state: State, channel: Channel, frame: Frame) -> PeerStep:
        return without(super().too_early(state, channel, frame), Error)


@shelf.breaks("SBP-HSP-10", role="peer")
class TakesAnyVersion(PeerMachine):
    """Looks at the protocol only."""

    def understands(self, frame: Handshake) -> bool:
        return frame.protocol == "sideband"


@shelf.breaks("SBP-HSP-10", role="peer")
class TakesAnyProtocol(PeerMachine):
    """Looks at the version only."""

    def understands(self, frame: Handshake) -> bool:
        return frame.version == "1"


@shelf.breaks("SBP-HSP-10", role="peer")
class TakesLaterMinorVersions(PeerMachine):
    """Takes 1.0 for 1."""

    def understands(self, frame: Handshake) -> bool:
        return super().understands(replace(frame, version=frame.version.split(".")[0]))


@shelf.breaks("SBP-HSP-10", role="peer")
class MismatchIsAnInvalidFrame(PeerMachine):
    """Says InvalidFrame where the version is another."""

    def reject(self, state: State, id: bytes | None, clause: str, codes: tuple[int, ...], *more: Any) -> PeerStep:
        return super().reject(state, id, clause, (1002,) if codes == (1001,) else codes, *more)


@shelf.breaks("SBP-HSP-10", role="peer")
class NoWordAboutMismatch(PeerMachine):
    """Closes without an Error where the version is another."""

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        return without(super().greeted(state, channel, frame), Error)


@shelf.breaks("SBP-HSP-10", "SBP-CMP-02", role="peer")
class StaysAfterMismatch(PeerMachine):
    """Says UnsupportedVersion, and waits for another Handshake."""

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        step = super().greeted(state, channel, frame)
        return step if self.understands(frame) else still_open(step, state)


@shelf.breaks("SBP-HSP-08", "SBP-HS-01", "SBP-CMP-02", role="peer")
class IgnoresBadHandshake(PeerMachine):
    """Waits for a better one."""

    def bad_handshake(self, state: State, channel: Channel, event: BadHandshake) -> PeerStep:
        return Step(state)


@shelf.breaks("SBP-HSP-03", role="peer")
class TakesAnonymousPeers(Codec):
    """Does not miss a peerId."""

    def payload(self, id: bytes, data: bytes) -> dict[str, Any]:
        return {"peerId": "anonymous"} | super().payload(id, data)


@shelf.breaks("SBP-HSP-04", role="peer")
class NewIdForEachConnection(PeerMachine):
    """Forgets who it is."""

    numbers = itertools.count(1)

    def greeting(self, state: State) -> Handshake:
        return replace(super().greeting(state), peer_id=f"{self.config.peer_id}-{next(self.numbers)}")


@shelf.breaks("SBP-HSP-04", role="peer")
class ForgetsTheIdItChose(PeerMachine):
    """Chooses another id for each connection, unless it was told one."""

    numbers = itertools.count(1)

    def greeting(self, state: State) -> Handshake:
        known = self.config.peer_id.startswith("peer-under")
        return super().greeting(state) if known else replace(super().greeting(state), peer_id=f"p{next(self.numbers)}")


@shelf.breaks("SBP-HSP-04", role="peer")
class EverybodyIsPeer(PeerMachine):
    """Announces the same id whoever it is."""

    def greeting(self, state: State) -> Handshake:
        known = self.config.peer_id.startswith("peer-under")
        return super().greeting(state) if known else replace(super().greeting(state), peer_id="peer")


@shelf.breaks("SBP-HSP-01", role="peer")
class AnnouncesAnotherProtocol(Payload):
    """Greets under another name."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"protocol": "sbp"}


@shelf.breaks("SBP-HSP-02", role="peer")
class AnnouncesNumericVersion(Payload):
    """Greets with version 1 without quotes."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"version": 1}


@shelf.breaks("SBP-HSP-05", role="peer")
class AnnouncesCapsAsText(Payload):
    """Greets with caps joined by commas."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"caps": "a,b"}


@shelf.breaks("SBP-HSP-06", role="peer")
class AnnouncesMetadataAsPairs(Payload):
    """Greets with metadata as an array."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"metadata": [["vendor:x", "1"]]}


@shelf.breaks("SBP-HSP-07", role="peer")
class AnnouncesBareKey(Payload):
    """Greets with metadata outside any namespace."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"metadata": {"hostname": "x"}}


@shelf.breaks("SBP-HSP-07", role="peer")
class AnnouncesAnyKey(Codec):
    """Greets with metadata as it was told, whatever its keys are."""

    def encode_metadata(self, metadata: str) -> Any:
        return json.loads(metadata)


@shelf.breaks("SBP-HSP-07", role="peer")
class AnnouncesAnEmptyNamespace(Payload):
    """Greets with metadata whose key has a second colon, and nothing before its first."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"metadata": {":host:name": "x"}}


@shelf.breaks("SBP-LIM-04", role="peer")
class GreetsAtLength(Payload):
    """Greets with ten kilobytes."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"metadata": {"vendor:x": "x" * 10_000}}


@shelf.breaks("SBP-EXT-04", "SBP-HS-01", role="peer")
class GreetsInCbor(Codec):
    """Writes its Handshake in CBOR without having said so."""

    def encode_handshake(self, frame: Handshake) -> bytes:
        return b"\xa1\x66peerId\x61x"


@shelf.breaks("SBP-HSP-11", role="peer")
class WantsKnownCaps(Refuses):
    """Turns unknown caps away."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return bool(payload.get("caps"))


@shelf.breaks("SBP-HSP-12", role="peer")
class WantsKnownMetadata(Refuses):
    """Turns unknown metadata away."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return bool(payload.get("metadata"))


@shelf.breaks("SBP-EXT-01", role="peer")
class WantsKnownMembers(Refuses):
    """Turns unknown members away."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return bool(set(payload) - {"protocol", "version", "peerId", "caps", "metadata"})


@shelf.breaks("SBP-SES-03", role="peer")
class TurnsPipeliningAway(PeerMachine):
    """Wants something else between the Handshake and the first Message."""

    last: type = Opened

    def receive(self, state: State, channel: Channel, event: object) -> PeerStep:
        before, self.last = self.last, type(event)
        if before is Handshake and isinstance(event, Message):
            return self.reject(state, event.id, "", (1000,))
        return super().receive(state, channel, event)


@shelf.breaks("SBP-SES-05", "SBP-CMP-02", role="peer")
class SecondHandshakeIsAnotherPeer(PeerMachine):
    """Lets a session change hands."""

    def receive(self, state: State, channel: Channel, event: object) -> PeerStep:
        if state.phase is Phase.OPEN and isinstance(event, Handshake):
            return Step(state, (Expectation("", Established(event.peer_id, None, None), HOST),))
        return super().receive(state, channel, event)


@shelf.breaks("SBP-SES-12", role="peer")
class OneConnectionPerPeerId(PeerMachine):
    """Turns a peer id away that it has seen before."""

    met: ClassVar[set[str]] = set()

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        if frame.peer_id in self.met:
            return self.reject(state, frame.id, "", (1000,))
        self.met.add(frame.peer_id)
        return super().greeted(state, channel, frame)


# -- rejection ---------------------------------------------------------------------------------------------------------


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


# -- ids ---------------------------------------------------------------------------------------------------------------


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


# -- traffic -----------------------------------------------------------------------------------------------------------


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


@shelf.breaks("SBP-MSG-04", role="peer")
class DeliversTextOnly(PeerMachine):
    """Cuts data at the first NUL."""

    def deliver(self, state: State, channel: Channel, frame: Message) -> PeerStep:
        return super().deliver(state, channel, replace(frame, data=frame.data.split(b"\x00")[0]))


@shelf.breaks("SBP-TS-01", "SBP-FLAGS-07", role="peer")
class KnowsNoTimestamps(Codec):
    """Takes bit 0 for reserved."""

    def reserved(self, flags: int) -> int:
        return flags


@shelf.breaks("SBP-TS-06", role="peer")
class DropsWhatIsLate(Session):
    """Delivers a Message only if its timestamp is not before the last one."""

    last = -(2**63)

    def read(self, message: str | bytes) -> Input:
        got = super().read(message)
        if isinstance(got, Message) and got.ts is not None:
            if got.ts < self.last:
                return Pong(got.id)
            self.last = got.ts
        return got


@shelf.breaks("SBP-SES-10", role="peer")
class DeliversInPairs(Session):
    """Hands every second Message over before the first."""

    held: HostEvent | None = None

    def turn(self, channel: str, event: object) -> list[object]:
        if isinstance(event, Message):
            if self.held is None:
                self.held = Delivered(event.subject, event.data, event.ts)
                return []
            first, self.held = self.held, None
            done = super().turn(channel, event)
            self._on_event(self, first)
            return done
        return super().turn(channel, event)


@shelf.breaks("SBP-SES-10", "SBP-TS-06", role="peer")
class StampedMessagesWait(Session):
    """Sorts Messages with a timestamp, so that those without overtake them."""

    def turn(self, channel: str, event: object) -> list[object]:
        if isinstance(event, Message) and event.ts is not None:
            asyncio.get_running_loop().call_later(0.02, super().turn, channel, event)
            return []
        return super().turn(channel, event)


@shelf.breaks("SBP-PING-03", "SBP-SES-06", role="peer")
class WantsPingsWithTime(PeerMachine):
    """Answers a Ping only if it has a timestamp."""

    def pong(self, state: State, channel: Channel, frame: Ping) -> PeerStep:
        return Step(state) if frame.ts is None else super().pong(state, channel, frame)


@shelf.breaks("SBP-SES-14", "SBP-MSG-03", role="peer")
class PutsSubjectsIntoANamespace(PeerMachine):
    """Delivers a subject of no namespace under app/."""

    def deliver(self, state: State, channel: Channel, frame: Message) -> PeerStep:
        bare = frame if "/" in frame.subject else replace(frame, subject=f"app/{frame.subject}")
        return super().deliver(state, channel, bare)


@shelf.breaks("SBP-LIM-06", "SBP-MSG-03", role="peer")
class DeliversShortSubjects(PeerMachine):
    """Cuts a subject to 256 letters."""

    def deliver(self, state: State, channel: Channel, frame: Message) -> PeerStep:
        return super().deliver(state, channel, replace(frame, subject=frame.subject[:256]))


@shelf.breaks("SBP-INT-02", "SBP-MSG-01", role="peer")
class BigEndianOverWebSocket(Codec):
    """Reads lengths in network byte order."""

    def length(self, body: bytes) -> int:
        return int.from_bytes(body[:4], "big")


@shelf.breaks("SBP-MSG-02", "SBP-MSG-01", role="peer")
class SendsLettersCounted(Codec):
    """Writes a subject's length in characters."""

    def encode_subject(self, subject: str) -> bytes:
        return len(subject).to_bytes(4, "little") + subject.encode()


@shelf.breaks("SBP-SEM-01", role="peer")
class SendsEventsAsErrors(PeerMachine):
    """Sends an Error beside each Message."""

    def send(self, state: State, channel: Channel, request: Send) -> PeerStep:
        step = super().send(state, channel, request)
        return also(step, Error(fresh_id(state), 2000, request.subject))


@shelf.breaks("SBP-TS-05", "SBP-TS-03", role="peer")
class NeverSendsTheEpoch(Codec):
    """Leaves a timestamp of zero out."""

    def encode_timestamp(self, ts: int | None) -> bytes:
        return super().encode_timestamp(ts or None)


@shelf.breaks("SBP-SES-08", role="peer")
class AlwaysAcks(PeerMachine):
    """Acknowledges without being told to."""

    def deliver(self, state: State, channel: Channel, frame: Message) -> PeerStep:
        return also(super().deliver(state, channel, frame), Ack(fresh_id(state), frame.id))


@shelf.breaks("SBP-ACK-03", "SBP-SEM-02", role="peer")
class AcksEverySecondMessage(PeerMachine):
    """Takes an Ack for cumulative: every second one is enough."""

    count = 0

    def with_receipt(self, step: PeerStep, frame: Frame, level: Level) -> PeerStep:
        self.count += isinstance(frame, Message)
        return super().with_receipt(step, frame, level) if self.count % 2 else step


@shelf.breaks("SBP-ACK-03", role="peer")
class AcksTwice(PeerMachine):
    """Acknowledges each Message twice."""

    def with_receipt(self, step: PeerStep, frame: Frame, level: Level) -> PeerStep:
        return super().with_receipt(super().with_receipt(step, frame, level), frame, level)


@shelf.breaks("SBP-FID-07", "SBP-ACK-03", role="peer")
class AcksItsOwnId(PeerMachine):
    """Names the wrong frame."""

    def with_receipt(self, step: PeerStep, frame: Frame, level: Level) -> PeerStep:
        return super().with_receipt(step, replace(frame, id=bytes(16)), level)


@shelf.breaks("SBP-ACK-04", "SBP-FID-08", role="peer")
class AcksUnderTheAckedId(PeerMachine):
    """Gives an Ack the id that it acknowledges."""

    def with_receipt(self, step: PeerStep, frame: Frame, level: Level) -> PeerStep:
        step = super().with_receipt(step, frame, level)
        *others, last = step.owes
        return replace(step, owes=(*others, replace(last, template=Ack(frame.id, frame.id))))


@shelf.breaks("SBP-SEM-02", role="peer")
class AcksAreCumulative(Session):
    """Tells its host that everything up to the acknowledged frame was received."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.ids: list[bytes] = []

    def send(self, subject: str, data: bytes = b"", ts: int | None = None) -> bytes:
        self.ids.append(super().send(subject, data, ts))
        return self.ids[-1]

    def turn(self, channel: str, event: object) -> list[object]:
        if isinstance(event, Ack) and event.of in self.ids:
            for id in self.ids[: self.ids.index(event.of)]:
                self._on_event(self, Acked(id))
        return super().turn(channel, event)


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


# -- limits ------------------------------------------------------------------------------------------------------------


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
