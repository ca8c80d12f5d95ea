"""What is said to a relay: keys that are much alike, envelopes that are easily taken for something else, and what is no frame."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from suites.trueseal import wire
from suites.trueseal.relay.under_test import LOWERED, Device

ANN, BOB = (Device(hashlib.sha256(b"device %d" % n).digest()) for n in (28_742, 50_999))
"""Their public keys both begin with e5 00; ann's ends with 00, so that 31 bytes of it are easily filled up."""
DEVICES = {device.public: device for device in (ANN, BOB)}
NEIGHBOURS = (
    *(bytes(byte ^ (at == place) * 0x41 for at, byte in enumerate(ANN.public)) for place in (31, 0, 1, 15)),
    *(ANN.public[:2] + bytes(30), ANN.public[:31] + b"\x01", ANN.public[::-1], bytes(32), b"\xff" * 32),
)
"""Keys that nobody has, and that are easily taken for ann's."""

MISSHAPEN: tuple[Callable[[bytes, bytes], bytes], ...] = (
    lambda oldest, newest: oldest[-1:],
    lambda oldest, newest: bytes(8) + oldest + newest,
    lambda oldest, newest: oldest[1:],
    lambda oldest, newest: b"",
    lambda oldest, newest: b"\x00" + newest,
    lambda oldest, newest: newest[-4:],
)
"""Shorter or longer than an id. The first eight bytes may be taken for one, and are none of ann's."""

UNKNOWN = tuple(wire.frame(tag, body) for tag in (0, 7, 0x81, 0xFF, 0x0B, 0x43) for body in (b"", b"x" * 8))
"""They end a session, whatever is in it."""


ODD = (
    wire.frame(wire.HEARTBEAT, b"x"), wire.deliver(1, b"x"), wire.frame(wire.ACK), wire.frame(wire.ERROR),
    wire.frame(wire.ACK, b"x"), wire.frame(wire.HEARTBEAT, wire.BEAT), b"", wire.frame(wire.PUSH)[:1],
    wire.frame(wire.PUSH)[:4],
)  # fmt: skip
"""Messages that have no business in either session, at least not with such a body."""
NO_FRAME = (
    wire.BEAT + b"\x00", wire.push(ANN.public, b"too short", 42),
    wire.push(ANN.public, b"", 0xFFFF_FFFF), wire.push(ANN.public, b"", 0x7FFF_FFFF), wire.BEAT + wire.BEAT,
    wire.frame(wire.DELIVER_ACK, bytes(8), 7), wire.frame(wire.ACK, b"", 1),
)  # fmt: skip
"""Nobody knows where the next frame begins."""


def pushes(at: int) -> list[bytes]:
    """What belongs in a Push Session, for a Receive Session: too short, for the device itself, too large for a strict relay."""
    own = wire.push(ANN.public, b"%d|" % at), wire.push(ANN.public, bytes(LOWERED - 5) + b"%6d" % at)
    return [wire.frame(wire.PUSH, ANN.public[:31]), own[0], wire.frame(wire.PUSH), own[1]]


def envelope(at: int, room: int) -> bytes:
    """Bytes that are easily taken for something else. The same ones come again after a while, and sometimes at once."""
    mark = b"%d|" % (at * 7919 % 251)
    to_bob = wire.field(3, BOB.public)
    spellings = (
        wire.field(6, mark) + to_bob + wire.varint(8) + b"\x07",  # an Envelope, its fields in no order
        mark + b"\r\n\x00\xff\xfe a\nb\x00\x00",
        (mark + bytes(range(256)) * 4)[:room],
        b"",
        wire.push(BOB.public, mark),
        to_bob + wire.field(6, mark) + wire.field(2, bytes(32)),
        to_bob + wire.field(6, mark) + wire.field(2, bytes(32)),
        (mark + bytes(range(255, -1, -1)) * 4)[: room - 1],
        mark[:1],
        wire.deliver_ack(at % 7) + mark + b"\xc3\x28",
    )
    return spellings[at % len(spellings)]
