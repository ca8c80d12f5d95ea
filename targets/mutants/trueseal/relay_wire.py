"""Relays that get frames wrong: how they are written, and what is no frame at all."""

from __future__ import annotations

import struct

from reference_impl.core import Channel, Step
from reference_impl.trueseal.codec import HEADER, Codec, Reader
from reference_impl.trueseal.frames import (
    ID_SIZE,
    MAX_ENVELOPE,
    Ack,
    Deliver,
    DeliverAck,
    Error,
    Frame,
    Hangup,
    Heartbeat,
    Malformed,
    Push,
    Tag,
    UnknownType,
)
from reference_impl.trueseal.relay import Phase, RelayMachine, RelayStep, State
from reference_impl.trueseal.relay_io import Relay
from targets.mutants.trueseal import wire
from targets.mutants.trueseal.codec_bodies import Fills
from targets.mutants.trueseal.codec_header import Reheads
from targets.mutants.trueseal.shelf import broken_relay as broken
from targets.mutants.trueseal.steps import also


@broken("TS-FRM-01", "TS-ACK-02")
class AnswersWithATagAlone(Codec):
    """Sends Ack and Error as a type without a length."""

    def encode(self, frame: Frame) -> list[bytes]:
        messages = super().encode(frame)
        return [messages[0][:1]] if isinstance(frame, Ack | Error) else messages


@broken("TS-FRM-01", "TS-DLV-01")
class DeliversWithLittleLengths(Reheads):
    """Sends the length of a frame little-endian."""

    def head(self, tag: int, size: int) -> bytes:
        return struct.pack("<BI", tag, size)


@broken("TS-FRM-05")
class AnswersScraps(wire.PadsHeaders):
    """Reads the missing bytes of a header as zeros, and answers what comes of it."""


@broken("TS-FRM-05")
class AcksScraps(RelayMachine):
    """Acks a message that is shorter than a header."""

    def malformed(self, state: State, channel: Channel, event: object) -> RelayStep:
        scrap = isinstance(event, Malformed) and event.tag is None
        return also(Step(state), channel, Ack()) if scrap else super().malformed(state, channel, event)


@broken("TS-FRM-06")
class StoresShortBodies(wire.TakesShortBodies):
    """Stores what is there of a body that was to be longer."""


@broken("TS-FRM-06")
class StoresPaddedBodies(wire.PadsBodies):
    """Fills what is missing of a body with zeros and stores it."""


@broken("TS-FRM-06")
class StoresWhatHasCome(Relay):
    """Stores as much of a large Push as had come when its session ended."""

    def __init__(self, *given: object, **told: object) -> None:
        super().__init__(*given, **told)  # type: ignore[arg-type]  # what it is given is handed on
        self.readers: dict[Channel, Reader] = {}

    def heard(self, channel: Channel, reader: Reader, message: bytes) -> None:
        self.readers[channel] = reader
        super().heard(channel, reader, message)

    def turn(self, channel: Channel, event: object) -> None:
        reader = self.readers.get(channel)
        if isinstance(event, Hangup) and reader and reader.inside and reader._tag == Tag.PUSH:
            part = self.codec.push(b"".join(reader._pieces))
            if isinstance(part, Push):
                super().turn(channel, part)
        super().turn(channel, event)


@broken("TS-FRM-07")
class ReadsSignedLengths(wire.SignedLengths):
    """Reads a length as a signed number, and answers a Heartbeat of minus one bytes."""


@broken("TS-FRM-07")
class ReadsLengthsOf31Bits(wire.LengthsOf31Bits):
    """Drops the highest bit of a length, and answers what is left."""


@broken("TS-FRM-07")
class ReadsWrappingLengths(wire.WrappingLengths):
    """Adds the header to a length in 32 bits, so that the highest ones are small."""


@broken("TS-FRM-07")
class TakesWhatIsThere(wire.ClampsLengths):
    """Takes an absurd length for what is there, and stores it."""


@broken("TS-FRM-07")
class DiesOfALength(Relay):
    """Dies of a length with its highest bit set."""

    def heard(self, channel: Channel, reader: Reader, message: bytes) -> None:
        if not reader.inside and len(message) >= HEADER.size and message[1] >= 0x80:
            self.kill()
            return
        super().heard(channel, reader, message)


@broken("TS-FRM-08")
class StoresTrailingBytes(wire.TakesTrailingBytes):
    """Stores bytes behind the body of a Push with it."""


@broken("TS-TYP-02", "TS-TYP-03")
class KnowsTagsByThreeBits(wire.TagsOfThreeBits):
    """Looks at the lowest three bits of a tag only."""


@broken("TS-TYP-03")
class IgnoresUnknownTypes(RelayMachine):
    """Passes over a message of an unknown type."""

    def unknown_type(self, state: State, channel: Channel, event: UnknownType) -> RelayStep:
        return Step(state)


@broken("TS-TYP-03")
class RejectsUnknownTypes(RelayMachine):
    """Answers an unknown type with an Error, and goes on."""

    def unknown_type(self, state: State, channel: Channel, event: UnknownType) -> RelayStep:
        return also(Step(state), channel, Error())


@broken("TS-TYP-03")
class UnknownTypesToReceivers(RelayMachine):
    """Ends a Push Session for an unknown type, but not a Receive Session."""

    def unknown_type(self, state: State, channel: Channel, event: UnknownType) -> RelayStep:
        kept = state.phase(channel) is Phase.RECEIVE
        return Step(state) if kept else super().unknown_type(state, channel, event)


@broken("TS-TYP-03")
class EndsAtTheNextFrame(RelayMachine):
    """Ends the session for an unknown type only once it has answered the next frame."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(limit)
        self.doomed: set[Channel] = set()

    def receive(self, state: State, channel: Channel, event: object) -> RelayStep:
        last = channel in self.doomed and not isinstance(event, Hangup)
        step = super().receive(state, channel, event)
        return also(step, channel, Hangup()) if last else step

    def unknown_type(self, state: State, channel: Channel, event: UnknownType) -> RelayStep:
        first = channel not in self.doomed
        self.doomed.add(channel)
        return Step(state) if first else super().unknown_type(state, channel, event)


@broken("TS-TYP-03", "TS-TYP-02")
class UpperTagsAreReserved(Codec):
    """Takes the tags from 80 on for reserved ones, and passes over their messages."""

    def reader(self) -> Reader:
        class Reserving(Reader):
            def read(self, message: bytes) -> wire.Read:
                if not self.inside and len(message) >= HEADER.size and message[0] >= 0x80:
                    return None
                return super().read(message)

        return Reserving(self)


@broken("TS-TYP-04")
class AnswersAcks(RelayMachine):
    """Answers a DeliverAck with one."""

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        return also(super().deliver_ack(state, channel, frame), channel, frame)


@broken("TS-TYP-04", "TS-DLV-01")
class DeliversAsPush(Codec):
    """Forwards a blob to its device under the tag of a Push."""

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        tag, body = super().parts(frame)
        return (Tag.PUSH if tag is Tag.DELIVER else tag), body


@broken("TS-DLV-01")
class DeliversShortIds(Codec):
    """Delivers with an id of 4 bytes."""

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        tag, body = super().parts(frame)
        return tag, body[4:] if isinstance(frame, Deliver) else body


@broken("TS-DLV-01")
class DeliversTheIdLast(Codec):
    """Delivers with the id behind the envelope."""

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        tag, body = super().parts(frame)
        return tag, body[ID_SIZE:] + body[:ID_SIZE] if isinstance(frame, Deliver) else body


@broken("TS-HB-03")
class BeatsWithABody(Fills):
    """Answers a Heartbeat with one that carries a byte."""

    kind = Heartbeat


@broken("TS-ACK-02")
class AcksWithABody(Fills):
    """Sends a byte in each Ack."""

    kind = Ack


@broken("TS-ERR-02")
class RejectsWithAReason(Fills):
    """Sends a reason in each Error."""

    kind, filling = Error, b"\x02"
