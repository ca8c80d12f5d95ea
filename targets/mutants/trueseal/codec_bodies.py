"""Codecs that get the inside of a frame wrong: keys, ids, bodies that are to be empty."""

from __future__ import annotations

import struct

from reference_impl.trueseal.codec import Codec, Reader
from reference_impl.trueseal.frames import (
    ID_SIZE,
    KEY_SIZE,
    Ack,
    BadDeliverAck,
    BadHeartbeat,
    Deliver,
    DeliverAck,
    Error,
    Frame,
    Heartbeat,
    Malformed,
    NoFrame,
    Push,
    ShortPush,
    Tag,
)
from targets.mutants.trueseal.shelf import broken_codec as broken


@broken("TS-PUSH-01")
class WritesTheKeyLast(Codec):
    """Writes a Push with the envelope in front."""

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        tag, body = super().parts(frame)
        return (tag, body[KEY_SIZE:] + body[:KEY_SIZE]) if isinstance(frame, Push) else (tag, body)


@broken("TS-PUSH-01")
class ReadsTheKeyLast(Codec):
    """Looks for the recipient behind the envelope."""

    def push(self, body: bytes) -> Push | ShortPush:
        front = super().push(body)
        return Push(body[-KEY_SIZE:], body[:-KEY_SIZE]) if isinstance(front, Push) else front


@broken("TS-PUSH-01")
class AKeyWithItsLength(Codec):
    """Writes the recipient's key behind its length."""

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        tag, body = super().parts(frame)
        return (tag, bytes([KEY_SIZE]) + body) if isinstance(frame, Push) else (tag, body)


@broken("TS-PUSH-01")
class PadsKeys(Codec):
    """Fits a key of any length into 32 bytes."""

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        if isinstance(frame, Push):
            frame = Push(frame.recipient[:KEY_SIZE].ljust(KEY_SIZE, b"\x00"), frame.envelope)
        return super().parts(frame)


@broken("TS-PUSH-06")
class AKeyMayBeAByteShort(Codec):
    """Takes a Push body of 31 bytes for a key."""

    def push(self, body: bytes) -> Push | ShortPush:
        return super().push(body.ljust(KEY_SIZE, b"\x00") if len(body) == KEY_SIZE - 1 else body)


@broken("TS-PUSH-06")
class AnEmptyPushIsAPush(Codec):
    """Takes a Push without a body for one to nobody."""

    def push(self, body: bytes) -> Push | ShortPush:
        return super().push(body or bytes(KEY_SIZE))


@broken("TS-DLV-01", "TS-DACK-01")
class IdsLittleEndian(Codec):
    """Writes ids little-endian."""

    def id(self, blob_id: int) -> bytes:
        return super().id(blob_id)[::-1]


@broken("TS-DLV-01")
class ReadsIdsLittleEndian(Codec):
    """Reads the id of a Deliver little-endian."""

    def deliver(self, body: bytes) -> Deliver | Malformed:
        frame = super().deliver(body)
        return (
            Deliver(int.from_bytes(body[:ID_SIZE], "little"), frame.envelope) if isinstance(frame, Deliver) else frame
        )


@broken("TS-DLV-01")
class WritesTheIdLast(Codec):
    """Writes a Deliver with the envelope in front."""

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        tag, body = super().parts(frame)
        return (tag, body[ID_SIZE:] + body[:ID_SIZE]) if isinstance(frame, Deliver) else (tag, body)


@broken("TS-DLV-01", "TS-DACK-01")
class IdsOf32Bits(Codec):
    """Reads the lower half of an id only."""

    def deliver(self, body: bytes) -> Deliver | Malformed:
        frame = super().deliver(body)
        return Deliver(frame.blob_id & 0xFFFF_FFFF, frame.envelope) if isinstance(frame, Deliver) else frame

    def deliver_ack(self, body: bytes) -> DeliverAck | BadDeliverAck:
        frame = super().deliver_ack(body)
        return DeliverAck(frame.blob_id & 0xFFFF_FFFF) if isinstance(frame, DeliverAck) else frame


@broken("TS-DLV-01", "TS-DACK-01")
class SignedIds(Codec):
    """Holds an id in 64 bits with a sign, and has none for the upper half."""

    def id(self, blob_id: int) -> bytes:
        try:
            return struct.pack(">q", blob_id)
        except struct.error:
            return super().id(min(blob_id, 2**63 - 1))


@broken("TS-DLV-01")
class IdsAsDoubles(Codec):
    """Holds an id in a floating-point number."""

    def deliver(self, body: bytes) -> Deliver | Malformed:
        frame = super().deliver(body)
        return Deliver(int(float(frame.blob_id)), frame.envelope) if isinstance(frame, Deliver) else frame


@broken("TS-DLV-01")
class PadsDelivers(Codec):
    """Takes a Deliver that is shorter than an id for one with an empty envelope."""

    def deliver(self, body: bytes) -> Deliver | Malformed:
        return super().deliver(body.rjust(ID_SIZE, b"\x00"))


@broken("TS-DACK-01")
class AcksWithAStatus(Codec):
    """Writes a status byte behind the id of a DeliverAck."""

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        tag, body = super().parts(frame)
        return (tag, body + b"\x00") if isinstance(frame, DeliverAck) else (tag, body)


@broken("TS-DACK-01")
class ShortIdsAreShort(Codec):
    """Writes the id of a DeliverAck without its leading zeros."""

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        tag, body = super().parts(frame)
        return (tag, body.lstrip(b"\x00")) if isinstance(frame, DeliverAck) else (tag, body)


@broken("TS-DACK-08")
class PadsShortDeliverAcks(Codec):
    """Reads an id that is too short as a small one."""

    def deliver_ack(self, body: bytes) -> DeliverAck | BadDeliverAck:
        return super().deliver_ack(body.rjust(ID_SIZE, b"\x00"))


@broken("TS-DACK-08")
class LastBytesOfLongDeliverAcks(Codec):
    """Reads an id that is too long by its last 8 bytes."""

    def deliver_ack(self, body: bytes) -> DeliverAck | BadDeliverAck:
        return super().deliver_ack(body[-ID_SIZE:] if len(body) > ID_SIZE else body)


class Fills(Codec):
    """Writes a body into one kind of frame that has none."""

    kind: type = type(None)
    filling = b"\x00"

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        tag, body = super().parts(frame)
        return tag, self.filling if isinstance(frame, self.kind) else body


@broken("TS-HB-03")
class HeartbeatsWithATime(Fills):
    """Writes a time into its Heartbeats."""

    kind, filling = Heartbeat, bytes(8)


@broken("TS-ACK-02")
class AcksWithANumber(Fills):
    """Writes into an Ack which Push it answers."""

    kind, filling = Ack, bytes(4)


@broken("TS-ERR-02")
class ErrorsWithAReason(Fills):
    """Writes a reason code into an Error."""

    kind, filling = Error, b"\x01"


@broken("TS-HB-04")
class LeavesHeartbeatBodiesUnread(Codec):
    """Does not read the body of a Heartbeat, so that the next message begins with it."""

    def reader(self) -> Reader:
        class Lagging(Reader):
            left = b""

            def read(self, message: bytes) -> Frame | NoFrame | None:
                message, self.left = self.left + message, b""
                event = super().read(message)
                if not isinstance(event, BadHeartbeat):
                    return event
                self.left = event.body
                return Heartbeat()

        return Lagging(self)
