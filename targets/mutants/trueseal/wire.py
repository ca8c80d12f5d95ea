"""Codecs with one fault that more than one role can have; each role's module says which."""

from __future__ import annotations

from reference_impl.trueseal.codec import HEADER, MAX_PLAINTEXT, Codec, Reader
from reference_impl.trueseal.frames import Frame, NoFrame, Trailing

Read = Frame | NoFrame | None


class PaddingReader(Reader):
    """Reads the missing bytes of a header as zeros."""

    def read(self, message: bytes) -> Read:
        return super().read(message if self.inside else message.ljust(HEADER.size, b"\x00"))


class PadsHeaders(Codec):
    def reader(self) -> Reader:
        return PaddingReader(self)


class HastyReader(Reader):
    """A frame that would fit into one message is complete with its first one, whatever is missing."""

    def read(self, message: bytes) -> Read:
        event = super().read(message)
        if event is not None or HEADER.size + self._size > MAX_PLAINTEXT:
            return event
        self.inside = False
        return self._codec.body(self._tag, self.filled(b"".join(self._pieces)))

    def filled(self, body: bytes) -> bytes:
        return body


class TakesShortBodies(Codec):
    def reader(self) -> Reader:
        return HastyReader(self)


class FillingReader(HastyReader):
    """And what is missing is zero."""

    def filled(self, body: bytes) -> bytes:
        return body.ljust(self._size, b"\x00")


class PadsBodies(Codec):
    def reader(self) -> Reader:
        return FillingReader(self)


class GreedyReader(Reader):
    """The body is whatever is left of the message."""

    def read(self, message: bytes) -> Read:
        event = super().read(message)
        if not isinstance(event, Trailing):
            return event
        return self._codec.body(self._tag, b"".join(self._pieces) + event.extra)


class TakesTrailingBytes(Codec):
    def reader(self) -> Reader:
        return GreedyReader(self)


class SignedLengths(Codec):
    def header(self, message: bytes) -> tuple[int, int]:
        tag, size = super().header(message)
        return tag, size - 2**32 if size >= 2**31 else size


class LengthsOf31Bits(Codec):
    def header(self, message: bytes) -> tuple[int, int]:
        tag, size = super().header(message)
        return tag, size & 0x7FFF_FFFF


class WrappingLengths(Codec):
    """Adds the header to the length in 32 bits."""

    def header(self, message: bytes) -> tuple[int, int]:
        tag, size = super().header(message)
        return tag, max((size + HEADER.size) % 2**32 - HEADER.size, 0)


class LengthsOf16Bits(Codec):
    def header(self, message: bytes) -> tuple[int, int]:
        tag, size = super().header(message)
        return tag, size & 0xFFFF


class ClampsLengths(Codec):
    """What is absurdly long is as long as what is there."""

    def header(self, message: bytes) -> tuple[int, int]:
        tag, size = super().header(message)
        return tag, size if size < 0x7FFF_FFFF else len(message) - HEADER.size


class TagsOfThreeBits(Codec):
    """Looks at the lowest bits of a tag only."""

    def header(self, message: bytes) -> tuple[int, int]:
        tag, size = super().header(message)
        return tag & 0x07, size


class CutsAt(Codec):
    """Cuts frames at another size than that of a Noise message."""

    at = MAX_PLAINTEXT

    def encode(self, frame: Frame) -> list[bytes]:
        wire = b"".join(super().encode(frame))
        return [wire[at : at + self.at] for at in range(0, len(wire), self.at)]


class EndsWithAnEmptyMessage(Codec):
    """Cuts once too often where the last piece is full."""

    def encode(self, frame: Frame) -> list[bytes]:
        messages = super().encode(frame)
        return [*messages, b""] if len(messages[-1]) == MAX_PLAINTEXT else messages


class RepeatsTheHeader(Codec):
    """Puts the header in front of every piece."""

    def encode(self, frame: Frame) -> list[bytes]:
        wire = b"".join(super().encode(frame))
        header, body, room = wire[: HEADER.size], wire[HEADER.size :], MAX_PLAINTEXT - HEADER.size
        return [header + body[at : at + room] for at in range(0, max(len(body), 1), room)]
