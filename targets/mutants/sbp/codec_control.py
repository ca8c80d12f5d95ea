"""Codecs that get the kinds or a Control frame wrong."""

from __future__ import annotations

from reference_impl.sbp.codec import Codec, Rejected
from reference_impl.sbp.frames import Close, Frame, Malformed, Message, Ping, Pong
from targets.mutants.sbp.shelf import shelf


@shelf.breaks("SBP-KIND-01", "SBP-ACK-01", role="codec")
class SwapsAckAndError(Codec):
    """Writes kind 3 for an Ack."""

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        return super().framed({2: 3, 3: 2}.get(kind, kind), frame, body)


@shelf.breaks("SBP-KIND-02", "SBP-CMP-01", role="codec")
class UnknownKindsAreErrors(Codec):
    """Reads any kind above 3 as an Error or what else fits."""

    def knows_kind(self, kind: int) -> bool:
        return True

    def body(self, kind: int, id: bytes, ts: int | None, body: bytes) -> Frame:
        return super().body(kind, id, ts, body) if kind <= 3 else Message(id, "unknown", body, ts)


@shelf.breaks("SBP-KIND-02", role="codec")
class LooksAtTwoBitsOfTheKind(Codec):
    """Reads kind 4 as 0, and so on."""

    def header(self, wire: bytes) -> tuple[int, int, bytes]:
        return super().header(bytes([wire[0] & 3]) + wire[1:] if wire else wire)


@shelf.breaks("SBP-CTRL-01", "SBP-REQ-01", role="codec")
class NoOpIsPing(Codec):
    """Takes a Control frame without an op for a Ping."""

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        return super().control(id, ts, body or b"\x01")


@shelf.breaks("SBP-CTRL-02", role="codec")
class SwapsPingAndPong(Codec):
    """Reads op 1 as Pong and op 2 as Ping."""

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        return super().control(id, ts, {b"\x01": b"\x02", b"\x02": b"\x01"}.get(body, body))


@shelf.breaks("SBP-CMP-01", "SBP-CTRL-04", role="codec")
class ReadsOpsModuloFour(Codec):
    """Reads op 5 as a Ping, and so on."""

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        return super().control(id, ts, bytes([body[0] & 3]) + body[1:] if body else body)


@shelf.breaks("SBP-PING-01", role="codec")
class WritesPingsWithData(Codec):
    """Adds a byte to each Ping."""

    def encode(self, frame: Frame) -> bytes:
        return super().encode(frame) + (b"\x00" if isinstance(frame, Ping | Pong) else b"")


@shelf.breaks("SBP-PING-02", role="codec")
class IgnoresPingData(Codec):
    """Takes a Ping with data."""

    def no_data(self, id: bytes, data: bytes) -> None:
        pass


@shelf.breaks("SBP-PING-03", "SBP-FLAGS-07", role="codec")
class PongsHaveNoTime(Codec):
    """Drops the timestamp of a Pong."""

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        return super().control(id, None if body == b"\x02" else ts, body)


@shelf.breaks("SBP-CLOSE-01", "SBP-REQ-02", role="codec")
class WantsReason(Codec):
    """Refuses a Close without a reason."""

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        if body == b"\x03":
            raise Rejected(Malformed("no reason", id))
        return super().control(id, ts, body)


@shelf.breaks("SBP-CLOSE-02", role="codec")
class ReasonsInLatin1(Codec):
    """Writes a reason in Latin-1."""

    def encode(self, frame: Frame) -> bytes:
        raw = super().encode(frame)
        return (
            raw.decode("latin-1").replace("\u00c3\u00a9", "\u00e9").encode("latin-1")
            if isinstance(frame, Close)
            else raw
        )
