"""Codecs that get the flags or the timestamp wrong."""

from __future__ import annotations

from reference_impl.sbp.codec import Codec, Rejected
from reference_impl.sbp.frames import Ack, Frame, Malformed
from targets.mutants.sbp.shelf import shelf


@shelf.breaks("SBP-TS-01", "SBP-FLAGS-07", role="codec")
class NoTimestampOnControl(Codec):
    """Knows timestamps on Messages only."""

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        if ts is not None:
            raise Rejected(Malformed("a timestamp on a Control frame", id))
        return super().control(id, ts, body)


@shelf.breaks("SBP-FLAGS-07", "SBP-TS-01", role="codec")
class NoTimestampOnAcks(Codec):
    """Refuses an Ack with a timestamp."""

    def ack(self, id: bytes, ts: int | None, body: bytes) -> Ack:
        if ts is not None:
            raise Rejected(Malformed("a timestamp on an Ack", id))
        return super().ack(id, ts, body)


@shelf.breaks("SBP-TS-02", "SBP-PAY-01", role="codec")
class TimestampBehindTheBody(Codec):
    """Looks for the timestamp at the end of the frame."""

    def timestamp(self, flags: int, id: bytes, rest: bytes) -> tuple[int | None, bytes]:
        return super().timestamp(flags, id, rest[-8:] + rest[:-8] if len(rest) >= 8 else rest)


@shelf.breaks("SBP-TS-02", "SBP-FLAGS-01", role="codec")
class WritesTheTimestampBeforeTheId(Codec):
    """Puts the timestamp right behind the header."""

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        raw = super().framed(kind, frame, body)
        return raw[:2] + raw[18:26] + raw[2:18] + raw[26:] if raw[1] else raw


@shelf.breaks("SBP-TS-03", role="codec")
class UnsignedTimestamps(Codec):
    """Reads a timestamp as unsigned."""

    def timestamp(self, flags: int, id: bytes, rest: bytes) -> tuple[int | None, bytes]:
        ts, body = super().timestamp(flags, id, rest)
        return ts if ts is None else ts % 2**64, body


@shelf.breaks("SBP-TS-03", role="codec")
class TimestampsAsDoubles(Codec):
    """Keeps 53 bits of a timestamp."""

    def timestamp(self, flags: int, id: bytes, rest: bytes) -> tuple[int | None, bytes]:
        ts, body = super().timestamp(flags, id, rest)
        return ts if ts is None else int(float(ts)), body


@shelf.breaks("SBP-TS-03", "SBP-INT-01", role="codec")
class TimestampsBigEndian(Codec):
    """Reads a timestamp in network byte order."""

    def timestamp(self, flags: int, id: bytes, rest: bytes) -> tuple[int | None, bytes]:
        return super().timestamp(flags, id, rest[:8][::-1] + rest[8:] if flags & 1 else rest)


@shelf.breaks("SBP-TS-03", role="codec")
class WrapsTimestamps(Codec):
    """Writes what is left of a timestamp that does not fit."""

    def encode_timestamp(self, ts: int | None) -> bytes:
        return super().encode_timestamp(None if ts is None else (ts + 2**63) % 2**64 - 2**63)


@shelf.breaks("SBP-TS-04", role="codec")
class PadsTimestamps(Codec):
    """Reads missing bytes of a timestamp as zero."""

    def timestamp(self, flags: int, id: bytes, rest: bytes) -> tuple[int | None, bytes]:
        if flags & 1 and len(rest) < 8:
            return super().timestamp(flags, id, rest.ljust(8, b"\x00") + b"\x01")
        return super().timestamp(flags, id, rest)


@shelf.breaks("SBP-TS-05", role="codec")
class ZeroIsNoTimestamp(Codec):
    """Leaves a timestamp of zero out."""

    def encode_timestamp(self, ts: int | None) -> bytes:
        return super().encode_timestamp(ts or None)


@shelf.breaks("SBP-FLAGS-01", "SBP-TS-05", role="codec")
class ForgetsTheTimestampBit(Codec):
    """Writes a timestamp without saying so."""

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        raw = super().framed(kind, frame, body)
        return raw[:1] + b"\x00" + raw[2:]


@shelf.breaks("SBP-FLAGS-02", role="codec")
class AlwaysStamps(Codec):
    """Writes a timestamp of zero where none was given."""

    def encode_timestamp(self, ts: int | None) -> bytes:
        return super().encode_timestamp(ts or 0)


@shelf.breaks("SBP-FLAGS-03", role="codec")
class WritesReservedFlag(Codec):
    """Marks stamped frames with a bit of its own."""

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        raw = super().framed(kind, frame, body)
        return raw[:1] + bytes([raw[1] and 0x81]) + raw[2:]


@shelf.breaks("SBP-FLAGS-04", role="codec")
class IgnoresReservedFlags(Codec):
    """Does not look at the reserved bits."""

    def reserved(self, flags: int) -> int:
        return 0


@shelf.breaks("SBP-FLAGS-04", role="codec")
class OverlooksTheHighestFlag(Codec):
    """Checks bits 1 to 6."""

    def reserved(self, flags: int) -> int:
        return flags & 0x7E


@shelf.breaks("SBP-FLAGS-04", role="codec")
class FlagsAreFineWithTimestamp(Codec):
    """Checks the reserved bits only if bit 0 is clear."""

    def reserved(self, flags: int) -> int:
        return 0 if flags & 1 else flags
