"""Codecs that get the framing of a byte stream wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from reference_impl.peerbus.codec import Codec, LineDecoder
from reference_impl.peerbus.frames import Envelope, Frame, Garbage
from targets.mutants.peerbus.shelf import shelf

L = TypeVar("L", bound=type[LineDecoder])


def reads_lines_wrongly(*clauses: str) -> Callable[[L], L]:
    """A codec with this line decoder breaks the clauses."""

    def shelve(decoder: L) -> L:
        members = {"__doc__": decoder.__doc__, "lines": lambda self: decoder(self)}
        shelf.breaks(*clauses, role="codec")(type(decoder.__name__, (Codec,), members))
        return decoder

    return shelve


@shelf.breaks("PB-1-05", role="codec")
class LinesEndWithCrLf(Codec):
    """Ends a line with CR LF."""

    def encode_line(self, frame: Frame) -> bytes:
        return self.encode(frame) + b"\r\n"


@shelf.breaks("PB-1-05", role="codec")
class BlankLinesBetween(Codec):
    """Ends a line with two LF."""

    def encode_line(self, frame: Frame) -> bytes:
        return self.encode(frame) + b"\n\n"


@shelf.breaks("PB-1-05", role="codec")
class NoLineFeed(Codec):
    """Writes objects one behind the other."""

    def encode_line(self, frame: Frame) -> bytes:
        return self.encode(frame)


@reads_lines_wrongly("PB-1-06")
class FirstObjectOfALine(LineDecoder):
    """Reads the first object of a line and ignores what stands behind it."""

    def line(self, line: bytes) -> Frame | Garbage:
        text = line.decode(errors="replace").strip()
        try:
            _, end = json.JSONDecoder().raw_decode(text)
        except ValueError:
            return super().line(line)
        return super().line(text[:end].encode())


@reads_lines_wrongly("PB-1-06")
class ChunksAreLines(LineDecoder):
    """Forgets the half line that a chunk ends with."""

    def feed(self, data: bytes) -> Iterator[Frame | Garbage]:
        self._buffer.clear()
        yield from super().feed(data)


@reads_lines_wrongly("PB-1-06")
class ObjectBeforeItsLineEnds(LineDecoder):
    """Takes what a chunk ends with for a line as soon as it is an object."""

    def feed(self, data: bytes) -> Iterator[Frame | Garbage]:
        yield from super().feed(data)
        if self._buffer and not isinstance(frame := self.line(bytes(self._buffer)), Garbage):
            self._buffer.clear()
            yield frame


@reads_lines_wrongly("PB-1-06")
class BadLinesVanish(LineDecoder):
    """Reads a line that is no object as an empty envelope."""

    def line(self, line: bytes) -> Frame | Garbage:
        frame = super().line(line)
        return Envelope() if isinstance(frame, Garbage) else frame


@reads_lines_wrongly("PB-1-07")
class ShortLines(LineDecoder):
    """Gives up on a line of more than 64 KiB."""

    longest = 65_536


@reads_lines_wrongly("PB-1-07")
class LineLimitCountsTheLineFeed(LineDecoder):
    """Reads lines up to one byte less than it must."""

    longest = 1_048_574


@shelf.breaks("PB-1-08", role="codec")
class BodyAsItCame(Codec):
    """Writes a pretty-printed body with its line feeds."""

    def encode_line(self, frame: Frame) -> bytes:
        return self.encode(frame) + b"\n"

    def encode_envelope(self, envelope: Envelope) -> bytes:
        compact = b'"body":' + self.signing.body(envelope.body)
        return super().encode_envelope(envelope).replace(compact, b'"body":' + envelope.body)


@shelf.breaks("PB-1-08", role="codec")
class RawLineFeedInStrings(Codec):
    """Writes a line feed inside a string as it is."""

    def encode_line(self, frame: Frame) -> bytes:
        return self.encode(frame).replace(b"\\n", b"\n") + b"\n"


@shelf.breaks("PB-1-09", role="codec")
class LinesAreWrapped(Codec):
    """Wraps each object in another one on byte streams."""

    def encode_line(self, frame: Frame) -> bytes:
        return b'{"frame":' + self.encode(frame) + b"}\n"


@shelf.breaks("PB-1-09", role="codec")
class LinesOmitTheVersion(Codec):
    """Leaves the version out on byte streams."""

    def encode_line(self, frame: Frame) -> bytes:
        return self.encode(frame).replace(b'"protocol_version":"v1",', b"", 1) + b"\n"


@shelf.breaks("PB-3-11", role="codec")
class WritesNumbersAnew(Codec):
    """Decodes and encodes the body when it writes an envelope."""

    def encode_envelope(self, envelope: Envelope) -> bytes:
        body = json.dumps(json.loads(envelope.body.decode()), separators=(",", ":")).encode()
        return super().encode_envelope(replace(envelope, body=body))
