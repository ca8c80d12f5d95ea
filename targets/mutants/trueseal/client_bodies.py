"""Clients that get the inside of a frame wrong: keys, envelopes and ids."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Channel
from reference_impl.trueseal.client import ClientMachine, ClientStep, State
from reference_impl.trueseal.codec import Codec
from reference_impl.trueseal.frames import (
    ID_SIZE,
    KEY_SIZE,
    Deliver,
    DeliverAck,
    Frame,
    Malformed,
    Push,
    Tag,
)
from targets.mutants.trueseal.protobuf import sorted_fields
from targets.mutants.trueseal.shelf import broken_client as broken


class Rewrites(Codec):
    """Writes another Push than it was given."""

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        return super().parts(self.rewritten(frame) if isinstance(frame, Push) else frame)

    def rewritten(self, push: Push) -> Push:
        return push


@broken("TS-PUSH-01")
class PushesTheKeyLast(Codec):
    """Pushes the envelope in front of the recipient's key."""

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        tag, body = super().parts(frame)
        return tag, body[KEY_SIZE:] + body[:KEY_SIZE] if isinstance(frame, Push) else body


@broken("TS-PUSH-09", "TS-PUSH-01")
class ReversesKeys(Rewrites):
    """Pushes to the recipient's key with its bytes in the order of the number that they are."""

    def rewritten(self, push: Push) -> Push:
        return replace(push, recipient=push.recipient[::-1])


@broken("TS-PUSH-09")
class ClampsKeys(Rewrites):
    """Clamps the recipient's public key as if it were a private one."""

    def rewritten(self, push: Push) -> Push:
        first, *middle, last = push.recipient
        return replace(push, recipient=bytes([first & 0xF8, *middle, (last & 0x7F) | 0x40]))


@broken("TS-PUSH-10")
class EnvelopesWithALength(Rewrites):
    """Pushes an envelope behind its length, as protobuf streams have it."""

    def rewritten(self, push: Push) -> Push:
        return replace(push, envelope=len(push.envelope).to_bytes(4, "big") + push.envelope)


@broken("TS-PUSH-10")
class PushesSerializedAgain(Rewrites):
    """Parses an Envelope and pushes its fields in the order of their numbers."""

    def rewritten(self, push: Push) -> Push:
        return replace(push, envelope=sorted_fields(push.envelope))


@broken("TS-DACK-01")
class AcksWithShortIds(Codec):
    """Acks with an id of 4 bytes."""

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        tag, body = super().parts(frame)
        return tag, body[4:] if isinstance(frame, DeliverAck) else body


@broken("TS-DACK-01")
class AcksWithTheEnvelope(ClientMachine):
    """Acks with the id and a part of what came behind it."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        step = super().deliver(state, channel, frame)
        owes = tuple(replace(d, template=frame) if isinstance(d.template, DeliverAck) else d for d in step.owes)
        return replace(step, owes=owes)


@broken("TS-DACK-03", "TS-DACK-01")
class AcksLittleEndian(Codec):
    """Writes the id of a DeliverAck little-endian."""

    def id(self, blob_id: int) -> bytes:
        return super().id(blob_id)[::-1]


class OtherAcks(ClientMachine):
    """Acks another id than it was sent."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        step = super().deliver(state, channel, frame)
        acked = DeliverAck(self.echoed(frame.blob_id))
        owes = tuple(replace(d, template=acked) if isinstance(d.template, DeliverAck) else d for d in step.owes)
        return replace(step, owes=owes)

    def echoed(self, id: int) -> int:
        return id


@broken("TS-DACK-03")
class AcksAsDoubles(OtherAcks):
    """Holds ids in floating-point numbers."""

    def echoed(self, id: int) -> int:
        return min(int(float(id)), 2**64 - 1)


@broken("TS-DACK-03")
class AcksIn63Bits(OtherAcks):
    """Drops the highest bit of an id."""

    def echoed(self, id: int) -> int:
        return id & (2**63 - 1)


@broken("TS-DACK-03")
class AcksIn32Bits(OtherAcks):
    """Drops the upper half of an id."""

    def echoed(self, id: int) -> int:
        return id & (2**32 - 1)


@broken("TS-DLV-04")
class DoesNotStrip(Codec):
    """Surfaces the id together with the envelope."""

    def deliver(self, body: bytes) -> Deliver | Malformed:
        frame = super().deliver(body)
        return replace(frame, envelope=body) if isinstance(frame, Deliver) else frame


@broken("TS-DLV-04")
class StripsZerosOnly(Codec):
    """Strips the id by its leading zeros and one byte behind them."""

    def deliver(self, body: bytes) -> Deliver | Malformed:
        frame = super().deliver(body)
        if not isinstance(frame, Deliver):
            return frame
        zeros = ID_SIZE - len(body[:ID_SIZE].lstrip(b"\x00"))
        return replace(frame, envelope=body[min(zeros + 1, ID_SIZE) :])
