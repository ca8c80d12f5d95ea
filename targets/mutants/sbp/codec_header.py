"""Codecs that get byte order, header or id wrong."""

from __future__ import annotations

import struct

from reference_impl.sbp.codec import Codec, Rejected
from reference_impl.sbp.frames import Ack, Frame, Kind, Malformed, NoFrame, Ping
from targets.mutants.sbp.shelf import shelf


@shelf.breaks("SBP-INT-01", "SBP-MSG-06", role="codec")
class ReadsLengthsBigEndian(Codec):
    """Reads lengths in network byte order."""

    def length(self, body: bytes) -> int:
        return int.from_bytes(body[:4], "big")


@shelf.breaks("SBP-INT-01", "SBP-MSG-01", role="codec")
class WritesLengthsBigEndian(Codec):
    """Writes lengths in network byte order."""

    def sized(self, text: str) -> bytes:
        return struct.pack(">I", len(text.encode())) + text.encode()


@shelf.breaks("SBP-VER-01", "SBP-HDR-01", role="codec")
class WritesVersionByte(Codec):
    """Puts a version in front of each frame."""

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        return b"\x01" + super().framed(kind, frame, body)


@shelf.breaks("SBP-HDR-01", "SBP-FID-06", "SBP-FID-01", "SBP-REQ-01", role="codec")
class PadsShortFrames(Codec):
    """Reads missing header and id bytes as zero, and what is left of a Control frame as a Ping."""

    def decode(self, wire: bytes) -> Frame | NoFrame:
        return super().decode(wire if len(wire) >= 18 else wire.ljust(18, b"\x00") + b"\x01")


@shelf.breaks("SBP-HDR-02", "SBP-FID-04", role="codec")
class IdStartsAtTheFlags(Codec):
    """Takes the flags for the first byte of the id."""

    def frame_id(self, wire: bytes) -> bytes:
        return wire[1:17]


@shelf.breaks("SBP-FID-01", "SBP-FLAGS-02", role="codec")
class LeavesThePingIdOut(Codec):
    """Writes a Ping without its id."""

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        raw = super().framed(kind, frame, body)
        return raw[:2] + raw[18:] if isinstance(frame, Ping) else raw


@shelf.breaks("SBP-FID-03", role="codec")
class TrimsIds(Codec):
    """Takes trailing spaces of an id for padding and writes zeros instead."""

    def sixteen(self, id: bytes) -> bytes:
        return super().sixteen(id).rstrip(b" ").ljust(16, b"\x00")


@shelf.breaks("SBP-FID-04", role="codec")
class ReadsIdsAsText(Codec):
    """Decodes an id as UTF-8, so that what is none is replaced."""

    def frame_id(self, wire: bytes) -> bytes:
        return wire[2:18].decode("utf-8", "replace").encode()[:16]


@shelf.breaks("SBP-FID-05", role="codec")
class RefusesTheZeroId(Codec):
    """Takes the all-zero id for a missing one."""

    def header(self, wire: bytes) -> tuple[int, int, bytes]:
        kind, flags, id = super().header(wire)
        if not any(id):
            raise Rejected(Malformed("no id", id))
        return kind, flags, id


@shelf.breaks("SBP-FID-05", role="codec")
class RefusesIdsThatAreNoUuid(Codec):
    """Wants an id to be a UUID of a known version."""

    def header(self, wire: bytes) -> tuple[int, int, bytes]:
        kind, flags, id = super().header(wire)
        if id[6] >> 4 > 8:
            raise Rejected(Malformed("no UUID", id))
        return kind, flags, id


@shelf.breaks("SBP-FID-06", role="codec")
class PadsIds(Codec):
    """Fits an id of any length into sixteen bytes."""

    def sixteen(self, id: bytes) -> bytes:
        return id[:16].ljust(16, b"\x00")


@shelf.breaks("SBP-FID-06", role="codec")
class AcksOfAnyLength(Codec):
    """Looks at the length of an Ack's own id only."""

    def encode(self, frame: Frame) -> bytes:
        if isinstance(frame, Ack):
            return self.framed(Kind.ACK, frame, frame.of)
        return super().encode(frame)
