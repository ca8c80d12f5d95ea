"""Clients that get frames wrong: how they are written, and what is no frame at all."""

from __future__ import annotations

import struct

from reference_impl.core import Channel, Step
from reference_impl.trueseal.client import ClientMachine, ClientStep, Phase, State
from reference_impl.trueseal.codec import Codec, Reader
from reference_impl.trueseal.frames import (
    Ack,
    Deliver,
    Frame,
    Tag,
    UnknownType,
)
from targets.mutants.trueseal import wire
from targets.mutants.trueseal.codec_header import Reheads
from targets.mutants.trueseal.shelf import broken_client as broken
from targets.mutants.trueseal.steps import also


@broken("TS-FRM-01")
class PushesWithLittleLengths(Reheads):
    """Sends the length of a frame little-endian."""

    def head(self, tag: int, size: int) -> bytes:
        return struct.pack("<BI", tag, size)


@broken("TS-FRM-01")
class PushesWithWholeLengths(Reheads):
    """Sends the length of the whole frame."""

    def head(self, tag: int, size: int) -> bytes:
        return super().head(tag, size + 5)


@broken("TS-FRM-05")
class BeatsForScraps(wire.PadsHeaders):
    """Reads the missing bytes of a header as zeros, and answers a Heartbeat of one byte."""


@broken("TS-FRM-06")
class SurfacesShortBodies(wire.TakesShortBodies):
    """Surfaces what is there of a body that was to be longer."""


@broken("TS-FRM-06")
class SurfacesPaddedBodies(wire.PadsBodies):
    """Fills what is missing of a body with zeros and surfaces it."""


@broken("TS-FRM-06")
class OneReaderForAll(Codec):
    """Gathers the pieces of large frames of all its sessions in one place."""

    def reader(self) -> Reader:
        self.one: Reader = getattr(self, "one", None) or super().reader()
        return self.one


@broken("TS-TYP-02", "TS-TYP-03")
class TellsTagsByThreeBits(wire.TagsOfThreeBits):
    """Looks at the lowest three bits of a tag only."""


@broken("TS-TYP-03")
class PassesOverUnknownTypes(ClientMachine):
    """Passes over a message of an unknown type."""

    def unknown_type(self, state: State, channel: Channel, event: UnknownType) -> ClientStep:
        return Step(state)


@broken("TS-TYP-03")
class UnknownTypesWhilePushing(ClientMachine):
    """Ends a Receive Session for an unknown type, but not a Push Session."""

    def unknown_type(self, state: State, channel: Channel, event: UnknownType) -> ClientStep:
        kept = state.phase(channel) is Phase.PUSHING
        return Step(state) if kept else super().unknown_type(state, channel, event)


@broken("TS-TYP-03")
class UnknownTypesWhileListening(ClientMachine):
    """Ends a Push Session for an unknown type, but not a Receive Session."""

    def unknown_type(self, state: State, channel: Channel, event: UnknownType) -> ClientStep:
        kept = state.phase(channel) is Phase.LISTENING
        return Step(state) if kept else super().unknown_type(state, channel, event)


@broken("TS-TYP-04", "TS-DACK-01")
class AcksWithTheOtherAck(Codec):
    """Acks a delivery under the tag of an Ack."""

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        tag, body = super().parts(frame)
        return (Tag.ACK if tag is Tag.DELIVER_ACK else tag), body


@broken("TS-TYP-04")
class SaysAckToo(ClientMachine):
    """Says Ack behind each DeliverAck."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return also(super().deliver(state, channel, frame), channel, Ack())


@broken("TS-TYP-04")
class SendsDeliversBack(ClientMachine):
    """Sends a delivery back as it came, behind its ack."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return also(super().deliver(state, channel, frame), channel, frame)
