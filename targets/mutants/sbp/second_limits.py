"""Peers and codecs with a limit that the text does not give, or one that is counted wrongly."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Channel
from reference_impl.sbp.codec import I64, U32, Codec, Rejected
from reference_impl.sbp.frames import (
    ID_SIZE,
    MAX_HANDSHAKE,
    Ack,
    Frame,
    Handshake,
    Input,
    Malformed,
    Message,
    Oversize,
    Ping,
)
from reference_impl.sbp.peer import VIOLATION, PeerMachine, PeerStep, State
from reference_impl.sbp.peer_io import Session
from targets.mutants.sbp.shelf import shelf


class Trips(Session):
    """Base of sessions that stumble over a frame which fills a buffer to the last byte."""

    buffer = 0

    def read(self, message: str | bytes) -> Input:
        full = isinstance(message, bytes) and len(message) == self.buffer
        return Malformed("no room", bytes(message[2:18])) if full else super().read(message)  # type: ignore[arg-type]


@shelf.breaks("SBP-CMP-01", "SBP-LIM-01", role="peer")
class TripsAt1024(Trips):
    """Rejects a frame of 1,024 bytes, which fills its buffer."""

    buffer = 1024


@shelf.breaks("SBP-CMP-01", "SBP-LIM-01", role="peer")
class TripsAt4096(Trips):
    """Rejects a frame of 4,096 bytes, which fills its buffer."""

    buffer = 4096


@shelf.breaks("SBP-CMP-01", "SBP-LIM-01", role="peer")
class TripsAt65536(Trips):
    """Rejects a frame of 65,536 bytes, which fills its buffer."""

    buffer = 65_536


@shelf.breaks("SBP-MSG-04", "SBP-LIM-01", role="peer")
class CutsAt65535(Session):
    """Reads 65,535 bytes of a frame, and loses the rest of its data."""

    def read(self, message: str | bytes) -> Input:
        return super().read(message[:65_535] if isinstance(message, bytes) and len(message) <= self.limit else message)


@shelf.breaks("SBP-LIM-01", role="peer")
class StopsAtTheLimit(Session):
    """Takes one byte less than its limit."""

    def read(self, message: str | bytes) -> Input:
        if isinstance(message, bytes) and len(message) == self.limit:
            return Oversize(len(message), message[2:18])
        return super().read(message)


@shelf.breaks("SBP-LIM-03", role="peer")
class LimitsMessagesOnly(Session):
    """Holds Messages against its limit, and no other frames."""

    def read(self, message: str | bytes) -> Input:
        long = isinstance(message, bytes) and len(message) > self.limit and message[0] != 1
        return self.codec.decode(message) if long else super().read(message)  # type: ignore[arg-type]


@shelf.breaks("SBP-LIM-03", role="peer")
class LimitsTheData(Session):
    """Holds what follows header and id against its limit."""

    def read(self, message: str | bytes) -> Input:
        long = isinstance(message, bytes) and self.limit < len(message) <= self.limit + 18
        return self.codec.decode(message) if long else super().read(message)  # type: ignore[arg-type]


class SmallHandshakes(PeerMachine):
    """Base of machines that take no large Handshake."""

    most = 0

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        if frame.size > self.most:
            return self.reject(state, frame.id, "SBP-LIM-04", VIOLATION)
        return super().greeted(state, channel, frame)


@shelf.breaks("SBP-LIM-04", "SBP-CMP-01", role="peer")
class HandshakesOf4096(SmallHandshakes):
    """Turns away a Handshake of more than 4,096 bytes."""

    most = 4096


@shelf.breaks("SBP-LIM-04", "SBP-CMP-01", role="peer")
class HandshakesBelow8192(SmallHandshakes):
    """Turns away a Handshake of 8,192 bytes."""

    most = MAX_HANDSHAKE - 1


@shelf.breaks("SBP-HSP-05", "SBP-HSP-11", role="peer")
class SixteenCaps(PeerMachine):
    """Turns away a Handshake with more than sixteen capabilities."""

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        if len(frame.caps or ()) > 16:
            return self.reject(state, frame.id, "SBP-HSP-05", VIOLATION)
        return super().greeted(state, channel, frame)


@shelf.breaks("SBP-HSP-03", "SBP-CMP-01", role="peer")
class PeerIdsOf64(PeerMachine):
    """Tells its host the first 64 characters of a peer id."""

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        return super().greeted(state, channel, replace(frame, peer_id=frame.peer_id[:64]))


# -- codecs ------------------------------------------------------------------------------------------------------------


@shelf.breaks("SBP-MSG-06", "SBP-ERR-03", role="codec")
class LengthsOfTwoBytes(Codec):
    """Looks at the lower half of a length."""

    def length(self, body: bytes) -> int:
        return super().length(body) & 0xFFFF


@shelf.breaks("SBP-MSG-06", "SBP-ERR-03", role="codec")
class LengthsOfThreeBytes(Codec):
    """Looks at the lower three bytes of a length."""

    def length(self, body: bytes) -> int:
        return super().length(body) & 0xFF_FFFF


@shelf.breaks("SBP-MSG-06", "SBP-ERR-03", role="codec")
class SignedLengths(Codec):
    """Reads a length as signed, and takes one below zero for none."""

    def length(self, body: bytes) -> int:
        size = super().length(body)
        return 0 if size >= 1 << 31 else size

    def message(self, id: bytes, ts: int | None, body: bytes) -> Message:
        if len(body) >= U32.size and U32.unpack_from(body)[0] >= 1 << 31:
            return Message(id, "-", body[U32.size :], ts)
        return super().message(id, ts, body)


@shelf.breaks("SBP-MSG-06", role="codec")
class ChecksWithOverflow(Codec):
    """Adds four to a length before it compares, in 32 bits."""

    def length(self, body: bytes) -> int:
        size = super().length(body)
        return len(body) - U32.size if (size + U32.size) & 0xFFFF_FFFF <= len(body) < size else size


@shelf.breaks("SBP-TS-03", role="codec")
class TimesOfADate(Codec):
    """Refuses a timestamp that its date type cannot hold."""

    def timestamp(self, flags: int, id: bytes, rest: bytes) -> tuple[int | None, bytes]:
        ts, body = super().timestamp(flags, id, rest)
        if ts is not None and abs(ts) > 8_640_000_000_000_000:
            raise Rejected(Malformed("no such date", id))
        return ts, body


@shelf.breaks("SBP-TS-03", role="codec")
class SwapsTheSmallest(Codec):
    """Writes the smallest timestamp as the largest, having changed its sign twice."""

    def encode_timestamp(self, ts: int | None) -> bytes:
        return I64.pack((1 << 63) - 1) if ts == -(1 << 63) else super().encode_timestamp(ts)


@shelf.breaks("SBP-FID-03", "SBP-FID-04", role="codec")
class ReadsIdsAsNumbers(Codec):
    """Reads an id as a number, whose leading zeros it writes behind."""

    def frame_id(self, wire: bytes) -> bytes:
        return super().frame_id(wire).lstrip(b"\0").ljust(ID_SIZE, b"\0")


@shelf.breaks("SBP-FID-05", "SBP-ACK-01", role="codec")
class RefusesAnAckOfZero(Codec):
    """Takes an Ack of the all-zero id for an Ack of nothing."""

    def ack(self, id: bytes, ts: int | None, body: bytes) -> Ack:
        if body == bytes(ID_SIZE):
            raise Rejected(Malformed("an Ack of nothing", id))
        return super().ack(id, ts, body)


@shelf.breaks("SBP-KIND-02", role="codec")
class ReadsSignedKinds(Codec):
    """Reads a kind as signed: from 128 on it is below what is reserved."""

    def knows_kind(self, kind: int) -> bool:
        return kind >= 128 or super().knows_kind(kind)

    def body(self, kind: int, id: bytes, ts: int | None, body: bytes) -> Frame:
        return super().body(kind, id, ts, body) if kind < 128 else Ping(id, ts)


@shelf.breaks("SBP-ERR-04", "SBP-MSG-02", role="codec")
class CountsCesu(Codec):
    """Counts six bytes for a character outside the basic plane, and writes four."""

    def sized(self, text: str) -> bytes:
        raw = super().sized(text)
        astral = sum(ord(letter) > 0xFFFF for letter in text)
        return U32.pack(len(raw) - U32.size + 2 * astral) + raw[U32.size :]
