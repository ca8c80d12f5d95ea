"""Codecs that stumble where a frame ends with a message, or has many."""

from __future__ import annotations

from reference_impl.trueseal.codec import HEADER, Codec, Reader
from reference_impl.trueseal.frames import Frame, Malformed, NoFrame, Tag
from targets.mutants.trueseal.shelf import broken_codec as broken


@broken("TS-FRM-01", "TS-FRM-06")
class AHeaderAlone(Codec):
    """Takes a message that is a header and nothing else for a frame whose body is missing."""

    def reader(self) -> Reader:
        class Hasty(Reader):
            def read(self, message: bytes) -> Frame | NoFrame | None:
                begins = not self.inside
                got = super().read(message)
                if got is None and begins and len(message) == HEADER.size:
                    self.inside = False
                    return Malformed("no body", message[0])
                return got

        return Hasty(self)


@broken("TS-SIZE-01", "TS-FRM-06")
class SixteenPieces(Codec):
    """Gives up on a frame in more than sixteen messages."""

    def reader(self) -> Reader:
        class Tired(Reader):
            def read(self, message: bytes) -> Frame | NoFrame | None:
                got = super().read(message)
                many = self.inside and len(self._pieces) >= 16
                self.inside = self.inside and not many
                return Malformed("too many pieces", self._tag) if many else got

        return Tired(self)


@broken("TS-PUSH-04", "TS-FRM-03")
class BodiesOfZerosAreEmpty(Codec):
    """Takes a Push whose envelope is all zeros for one with an empty envelope."""

    def body(self, tag: int, body: bytes) -> Frame | NoFrame:
        return super().body(tag, body[:32] if tag == Tag.PUSH and not any(body[32:]) else body)


@broken("TS-DLV-01", "TS-DLV-04")
class StripsZerosBehindTheId(Codec):
    """Strips zeros behind the id of a Deliver as if they were a part of it."""

    def body(self, tag: int, body: bytes) -> Frame | NoFrame:
        return super().body(tag, body[:8] + body[8:].lstrip(b"\0") if tag == Tag.DELIVER else body)


@broken("TS-FRM-02", "TS-FRM-07")
class LengthsOf24Bits(Codec):
    """Looks at the lower three bytes of a length."""

    def header(self, message: bytes) -> tuple[int, int]:
        tag, size = super().header(message)
        return tag, size & 0xFF_FFFF
