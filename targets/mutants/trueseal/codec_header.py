"""Codecs that get type, length or what they frame wrong."""

from __future__ import annotations

import struct

from reference_impl.trueseal.codec import HEADER, Codec, Reader
from reference_impl.trueseal.frames import Frame, Malformed, NoFrame, Tag
from targets.mutants.trueseal import wire
from targets.mutants.trueseal.shelf import broken_codec as broken


def reheaded(messages: list[bytes], header: bytes) -> list[bytes]:
    """The same pieces behind another header."""
    return [header + messages[0][HEADER.size :], *messages[1:]]


class Reheads(Codec):
    """Writes another header than it should; which one is its subclass's fault."""

    def encode(self, frame: Frame) -> list[bytes]:
        tag, body = self.parts(frame)
        return reheaded(super().encode(frame), self.head(tag, len(body)))

    def head(self, tag: int, size: int) -> bytes:
        return HEADER.pack(tag, size)


@broken("TS-FRM-01")
class LengthBeforeType(Reheads):
    """Puts the length before the type, and expects it there."""

    def head(self, tag: int, size: int) -> bytes:
        return struct.pack(">IB", size, tag)

    def header(self, message: bytes) -> tuple[int, int]:
        size, tag = struct.unpack_from(">IB", message)
        return tag, size


@broken("TS-FRM-02", "TS-FRM-01")
class WritesLengthsLittleEndian(Reheads):
    """Writes lengths little-endian."""

    def head(self, tag: int, size: int) -> bytes:
        return struct.pack("<BI", tag, size)


@broken("TS-FRM-02", "TS-FRM-01")
class ReadsLengthsLittleEndian(Codec):
    """Reads lengths little-endian."""

    def header(self, message: bytes) -> tuple[int, int]:
        tag, size = struct.unpack_from("<BI", message)
        return tag, size


@broken("TS-FRM-02")
class WritesLengthsOf16Bits(Reheads):
    """Writes the lower half of a length only."""

    def head(self, tag: int, size: int) -> bytes:
        return HEADER.pack(tag, size & 0xFFFF)


@broken("TS-FRM-02")
class ReadsLengthsOf16Bits(wire.LengthsOf16Bits):
    """Reads the lower half of a length only."""


@broken("TS-FRM-03", "TS-FRM-01")
class CountsTheHeader(Reheads):
    """Writes the length of the whole frame."""

    def head(self, tag: int, size: int) -> bytes:
        return HEADER.pack(tag, HEADER.size + size)


@broken("TS-FRM-03", "TS-FRM-06")
class ExpectsTheHeaderCounted(Codec):
    """Reads a length as that of the whole frame."""

    def header(self, message: bytes) -> tuple[int, int]:
        tag, size = super().header(message)
        return tag, max(0, size - HEADER.size)


@broken("TS-FRM-04")
class RefusesEmptyBodies(Codec):
    """Takes a frame of five bytes for one that lacks its body."""

    def body(self, tag: int, body: bytes) -> Frame | NoFrame:
        return super().body(tag, body) if body else Malformed("no body", tag)


@broken("TS-FRM-04")
class WritesNoEmptyBody(Codec):
    """Writes a frame without a body as its type alone."""

    def encode(self, frame: Frame) -> list[bytes]:
        messages = super().encode(frame)
        return [messages[0][:1]] if len(messages[0]) == HEADER.size else messages


@broken("TS-FRM-05")
class PadsHeaders(wire.PadsHeaders):
    """Reads the missing bytes of a header as zeros."""


@broken("TS-FRM-05")
class SkipsScraps(Codec):
    """Passes over a message that is shorter than a header as if it had not come."""

    def reader(self) -> Reader:
        class Skipping(Reader):
            def read(self, message: bytes) -> Frame | NoFrame | None:
                return super().read(message) if self.inside or len(message) >= HEADER.size else None

        return Skipping(self)


@broken("TS-FRM-05")
class AHeaderOfFourBytes(Codec):
    """Takes four bytes for a header whose length is of three."""

    def reader(self) -> Reader:
        class OffByOne(Reader):
            def read(self, message: bytes) -> Frame | NoFrame | None:
                short = not self.inside and len(message) == HEADER.size - 1
                return super().read(message[:1] + b"\x00" + message[1:] if short else message)

        return OffByOne(self)


@broken("TS-FRM-06")
class TakesShortBodies(wire.TakesShortBodies):
    """Takes what is there of a body for all of it."""


@broken("TS-FRM-06")
class PadsBodies(wire.PadsBodies):
    """Fills what is missing of a body with zeros."""


@broken("TS-FRM-06")
class ForgivesAnIncompleteEnd(Codec):
    """Leaves a frame that is not complete at the end out, as if it had not begun."""

    def decode(self, messages: object) -> list[Frame | NoFrame]:
        events = super().decode(messages)  # type: ignore[arg-type]  # what it is given is handed on
        return events[:-1] if events and events[-1] == Malformed("the last frame is not complete") else events


@broken("TS-FRM-07")
class SignedLengths(wire.SignedLengths):
    """Reads a length as a signed number, so that the highest ones are under nothing."""


@broken("TS-FRM-07")
class LengthsOf31Bits(wire.LengthsOf31Bits):
    """Drops the highest bit of a length."""


@broken("TS-FRM-07")
class WrappingLengths(wire.WrappingLengths):
    """Adds the header's five bytes to a length in 32 bits."""


@broken("TS-FRM-07")
class ClampsLengths(wire.ClampsLengths):
    """Takes an absurd length for what is there."""


@broken("TS-FRM-08")
class TakesTrailingBytes(wire.TakesTrailingBytes):
    """Takes bytes behind the body for a part of it."""


class Retags(Reheads):
    """Other numbers for the types, both ways."""

    tags: dict[int, int]

    def head(self, tag: int, size: int) -> bytes:
        return HEADER.pack(self.tags.get(tag, tag), size)

    def header(self, message: bytes) -> tuple[int, int]:
        tag, size = super().header(message)
        return {new: old for old, new in self.tags.items()}.get(tag, tag), size


@broken("TS-TYP-01")
class SwapsAckAndError(Retags):
    """Takes 04 for Error and 05 for Ack."""

    tags = {Tag.ACK: Tag.ERROR, Tag.ERROR: Tag.ACK}  # noqa: RUF012  # nobody changes it


@broken("TS-TYP-01")
class DeliverAckIsTheFourth(Retags):
    """Numbers the types as the text describes them: Ack, DeliverAck, Error."""

    tags = {Tag.DELIVER_ACK: 5, Tag.ERROR: 6}  # noqa: RUF012


@broken("TS-TYP-01", "TS-TYP-02")
class CountsTypesFromZero(Retags):
    """Numbers the types from 00."""

    tags = {tag: tag - 1 for tag in range(1, 8)}  # noqa: RUF012


@broken("TS-TYP-02")
class TagsOfThreeBits(wire.TagsOfThreeBits):
    """Looks at the lowest three bits of a tag only."""


@broken("TS-TYP-02")
class UnknownIsAHeartbeat(Codec):
    """Takes 07 and what follows it for extensions that need no more than an answer."""

    def knows(self, tag: int) -> bool:
        return tag > 0

    def body(self, tag: int, body: bytes) -> Frame | NoFrame:
        return super().body(tag if super().knows(tag) else Tag.HEARTBEAT, b"" if tag > Tag.DELIVER_ACK else body)


@broken("TS-TYP-02")
class ZeroIsAType(Codec):
    """Takes 00 for an Error, as the rest of a chain of cases does."""

    def knows(self, tag: int) -> bool:
        return tag <= Tag.DELIVER_ACK
