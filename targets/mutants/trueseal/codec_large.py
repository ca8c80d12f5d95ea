"""Codecs that cut or join large frames wrongly."""

from __future__ import annotations

from reference_impl.trueseal.codec import Codec, Reader, Unencodable
from reference_impl.trueseal.frames import Frame, NoFrame
from targets.mutants.trueseal import wire
from targets.mutants.trueseal.shelf import broken_codec as broken


@broken("TS-FRM-01")
class CutsAt65535(wire.CutsAt):
    """Fills a Noise message with 65,535 bytes of plaintext, and has no room for its tag."""

    at = 65_535


@broken("TS-FRM-01")
class CutsAt65507(wire.CutsAt):
    """Cuts at the size of the largest datagram, so that a frame which fits goes out in two messages."""

    at = 65_507


@broken("TS-FRM-01")
class CutsAt4096(wire.CutsAt):
    """Cuts at the size of a page."""

    at = 4_096


@broken("TS-FRM-01")
class EndsWithAnEmptyMessage(wire.EndsWithAnEmptyMessage):
    """Writes an empty message behind a frame that fills its last one."""


@broken("TS-FRM-01")
class RepeatsTheHeader(wire.RepeatsTheHeader):
    """Puts the header in front of every piece of a large frame."""


@broken("TS-FRM-02")
class NothingOver65535(Codec):
    """Has no bytes for a body over 65,535 bytes."""

    def encode(self, frame: Frame) -> list[bytes]:
        if len(self.parts(frame)[1]) > 65_535:
            raise Unencodable("too long")
        return super().encode(frame)


@broken("TS-FRM-06", "TS-FRM-01")
class ForgetsTheMiddle(Codec):
    """Keeps the first and the last piece of a large frame."""

    def reader(self) -> Reader:
        class Forgetting(Reader):
            def _complete(self) -> Frame | NoFrame:
                self._pieces[1:-1] = []
                return super()._complete()

        return Forgetting(self)


@broken("TS-FRM-06")
class AHeaderInEveryMessage(Codec):
    """Takes each message that looks like the beginning of a frame for one, in the middle of another too."""

    def reader(self) -> Reader:
        class Hopeful(Reader):
            def read(self, message: bytes) -> Frame | NoFrame | None:
                self.inside = self.inside and Reader(self._codec)._begin(message) is not None
                return super().read(message)

        return Hopeful(self)
