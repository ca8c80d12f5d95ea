"""What a codec, a machine or a Noise session answers to a fixed set of questions, as text to compare with the reference's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from immutables import Map

from reference_impl.core import Machine, Player
from reference_impl.trueseal import client, relay
from reference_impl.trueseal.client import HOST, NETWORK
from reference_impl.trueseal.codec import MAX_PLAINTEXT, Codec
from reference_impl.trueseal.frames import (
    MAX_ENVELOPE,
    Ack,
    BadDeliverAck,
    BadHeartbeat,
    Beat,
    Deliver,
    DeliverAck,
    Error,
    Hangup,
    Heartbeat,
    Malformed,
    Oversize,
    Push,
    PushOpened,
    PushSession,
    ReceiveOpened,
    ShortPush,
    Start,
    Submit,
    UnknownType,
)

KEY, OTHER = bytes(range(1, 33)), bytes(range(33, 65))
NEAR = KEY[:-1] + b"\xff"
FAR = b"\xff" + KEY[1:]
CUT = KEY[:5] + b"\x00" + KEY[6:], KEY[:5] + b"\x00" + KEY[7:] + b"\x07"
BEHIND = b"\x32\x01x\x1a\x20" + OTHER + b"\x08\x05"
"""An Envelope whose fields are in no order, and which names another recipient."""
LARGE = bytes(range(256)) * 800
SIZES = (0, 1, 64, 1_025, 1_537, 4_091, 4_097, 65_482, 65_483, 65_508, 65_536, 131_006, 200_000)


def said(call: Callable[[], object]) -> str:
    """What comes of it, an exception too."""
    try:
        return repr(call())
    except Exception as error:  # a fault may raise anything
        return type(error).__name__


# -- codecs ------------------------------------------------------------------------------------------------------------


def header(tag: int, size: int) -> bytes:
    return bytes([tag]) + size.to_bytes(4, "big")


def questions() -> Iterable[list[bytes]]:
    """Plaintexts to decode."""
    for tag in range(8):
        for body in (
            b"",
            b"\x01",
            bytes(7),
            b"\x81" + bytes(6) + b"\x01",
            bytes(8) + b"\x01",
            KEY[:31],
            KEY,
            KEY + BEHIND,
        ):
            yield [header(tag, len(body)) + body]
            yield [header(tag, len(body) + 1) + body]
            yield [header(tag, len(body)) + body + b"\x05", header(3, 0)]
        yield [header(tag | 0x80, 0)]
    for size in (0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFB, 0xFFFF_FFFF):
        yield from ([header(3, size)], [header(1, size) + KEY])
    yield from ([bytes([3]) + bytes(n)] for n in range(4))
    yield from ([b""], [header(1, 40) + KEY], [header(1, 40) + KEY, bytes(8)])
    for tag, size in ((1, 200_000), (2, 300)):
        yield [header(tag, size), LARGE[: size // 3], header(4, 0) + LARGE[size // 3 + 5 : size]]
    yield [header(1, 65_568) + KEY, LARGE[:65_536]]
    yield [header(2, 12) + bytes(7) + b"\x01\x00\x00x\x00"]
    yield [header(1, MAX_PLAINTEXT - 5) + LARGE[: MAX_PLAINTEXT - 5]]
    most = header(1, 32 + MAX_ENVELOPE) + KEY + bytes(MAX_ENVELOPE)
    yield [most[at : at + MAX_PLAINTEXT] for at in range(0, len(most), MAX_PLAINTEXT)]


def of_codec(codec: Codec) -> list[str]:
    frames: list[Any] = [Heartbeat(), Ack(), Error(), Push(KEY[:31], b""), Push(KEY, BEHIND)]
    frames += [Push(KEY, LARGE[:size]) for size in SIZES] + [Deliver(2**40 + 3, LARGE[:size]) for size in SIZES]
    frames += [Deliver(1, LARGE[:65_506]), Push(b"\xff" * 32, b"")]
    frames += [DeliverAck(id) for id in (0, 1, 2**53 + 1, 2**63, 2**64 - 1, 2**64)]
    written = [said(lambda frame=frame: [message.hex() for message in codec.encode(frame)]) for frame in frames]
    read = [said(lambda messages=messages: codec.decode(messages)) for messages in questions()]
    one, two = codec.reader(), codec.reader()
    mixed = [said(lambda r=r, m=m: r.read(m)) for r, m in ((one, header(1, 40) + KEY), (two, header(3, 0)))]
    return [*written, *read, *mixed]


# -- machines ----------------------------------------------------------------------------------------------------------

Script = list[tuple[Any, Any]]
P, P2, A, A2, A3, A4, A5, B, C = range(1, 10)
SHORT: Script = [(P, ShortPush(size)) for size in (0, 1, 31, 31, 0)]
ODD = [b"", b"a", b"a", b"\r\n", b"\xff\xfe", b"\x00\x00", BEHIND, bytes(1_537), bytes(65_508), bytes(1_000_001)]

OPEN, DEVICE = (P, PushOpened()), (A, ReceiveOpened(KEY))
LIMITED: Script = [OPEN, *((P, Push(KEY, bytes(n))) for n in (68, 69, 64, 99, 100, 101, 102)), DEVICE]
LIMITED += [(P, Push(KEY, bytes(101))), (P, Push(KEY, bytes(101))), (P, Oversize(MAX_ENVELOPE + 1))]
KEYS: Script = [OPEN, *((P, Push(key, b"!")) for key in (KEY, NEAR, FAR, *CUT, bytes(32)))]
KEYS += [(n, ReceiveOpened(key)) for n, key in enumerate((KEY, NEAR, FAR, *CUT, OTHER), A)]
ACKS: Script = [OPEN, *((P, Push(KEY, bytes([n]))) for n in range(70)), DEVICE]
ACKS += [(A, DeliverAck(id)) for id in (3, 3, 2**32 + 5, 99, 7)]
ACKS += [(A, BadDeliverAck(bytes(7) + b"\x09" + bytes(7) + b"\x0a")), (A, Heartbeat()), (A, Hangup())]
ACKS += [(A2, ReceiveOpened(KEY))]
SEVERAL: Script = [OPEN, (P2, PushOpened()), DEVICE, (A2, ReceiveOpened(KEY)), (B, ReceiveOpened(OTHER))]
SEVERAL += [(P, Push(KEY, b"one")), (P, Push(OTHER, b"two")), (B, DeliverAck(1)), (A2, DeliverAck(1)), (A, Heartbeat())]
SEVERAL += [(A, Hangup()), (P, Push(KEY, b"three")), (A3, ReceiveOpened(KEY)), (A2, DeliverAck(3))]
SEVERAL += [(C, ReceiveOpened(NEAR))]
DROPS: Script = [OPEN, (P, Push(KEY, b"again"))]
DROPS += [turn for n in (A, A2, A3, A4, A5) for turn in ((n, ReceiveOpened(KEY)), (n, Hangup()))]
DROPS += [(B, ReceiveOpened(KEY)), (B, DeliverAck(1)), (P, Push(KEY, b"live")), (B, DeliverAck(2))]
DROPS += [(P, Push(KEY, b"after"))]
MANY: Script = [OPEN, DEVICE, *((P, Push(KEY, bytes([n]))) for n in range(20))]
MANY += [(A, DeliverAck(n)) for n in range(1, 21)]
MOST: Script = [OPEN, DEVICE, *((P, Push(OTHER, bytes([n % 256]))) for n in range(260))]
MOST += [(B, ReceiveOpened(OTHER)), (B, DeliverAck(257))]
CROWD: Script = [OPEN, *((20 + n, ReceiveOpened(bytes([n] * 32))) for n in range(20))]
CROWD += [(P, Push(bytes([n] * 32), b"x")) for n in range(20)]
LIVE: Script = [OPEN, DEVICE, *((P, Push(KEY, bytes([n % 256]))) for n in range(260)), (P, Push(KEY, b""))]
LIVE += [(P, Hangup()), (P2, PushOpened()), (P2, Push(KEY, bytes(65_536)))]
LATER: Script = [OPEN, (P, Push(KEY, b"a")), DEVICE, (A, Hangup()), (P, Push(KEY, b"b")), (A2, ReceiveOpened(KEY))]

RELAY: list[Script] = [
    [OPEN, *[(P, Heartbeat())] * 20],
    [OPEN, (P, Heartbeat()), (P, BadHeartbeat(b"x")), (P, Heartbeat()), (P, UnknownType(9)), (P, Heartbeat())],
    [OPEN, (P, UnknownType(9)), (P, Heartbeat())],
    [OPEN, (P, Malformed("short")), (P, Heartbeat())],
    [OPEN, *SHORT, (P, Push(KEY, b"behind"))],
    [OPEN, *((P, Push(KEY, envelope)) for envelope in ODD), DEVICE, (P, Push(KEY, b"a"))],
    [OPEN, (P, Push(KEY, b"alone")), (P, Hangup()), DEVICE, (A, DeliverAck(1))],
    [DEVICE, (A, Heartbeat()), (A, UnknownType(9)), (A, Heartbeat()), (A, Heartbeat())],
    *(LIMITED, KEYS, ACKS, SEVERAL, DROPS, MANY, MOST, CROWD, LIVE, LATER),
]

S1, S2, S3, S4 = (PushSession(n) for n in range(1, 5))
UP: Script = [(HOST, Start()), (A, ReceiveOpened(KEY))]
TWO: Script = [*UP, (HOST, Submit(KEY, b"one")), (HOST, Submit(OTHER, BEHIND)), (S1, PushOpened())]

ANSWERS: Script = [*TWO, (S1, Ack()), (S1, Hangup()), (HOST, Submit(KEY, b"three")), (S2, PushOpened()), (S2, Error())]
ANSWERS += [(S2, Hangup()), (S3, PushOpened()), (S3, Error()), (HOST, Submit(KEY, b"four"))]
MESSAGES: Script = [
    *UP,
    *((A, Deliver(id, b"m%d" % (id % 97))) for id in (0, 1, 2**32 + 1, 2**53 + 1, 2**63, 2**64 - 1)),
]
MESSAGES += [(A, Deliver(1, b"m1")), (A, Deliver(9, b"")), (A, Deliver(1, b"m1")), (A, Hangup())]
MESSAGES += [(A2, ReceiveOpened(KEY)), (A2, Deliver(1, b"m1"))]
MESSAGES += [(A2, Deliver(5, bytes(100) + b"x")), (A2, Deliver(6, bytes(100) + b"y"))]
MESSAGES += [(A2, Deliver(7, b"y" + bytes(100))), (A2, Deliver(8, b"x" + bytes(100)))]
SAME: Script = [*UP, *((A, Deliver(id, b"%d" % id)) for id in range(20)), (A, Deliver(0, b"0")), (A, Deliver(99, b"7"))]
BEATS: Script = [*UP, *[(A, Heartbeat())] * 20, (HOST, Beat()), (A, Hangup()), (A2, ReceiveOpened(KEY))]
BEATS += [(A2, Heartbeat())]

CLIENT: list[Script] = [
    [*TWO, (S1, Error()), (S1, Ack()), (S1, Hangup())],
    [*TWO, (S1, Hangup()), (S2, Hangup()), (S3, Hangup()), (S4, Hangup()), (HOST, Submit(KEY, b"next"))],
    [*TWO, (S1, Heartbeat()), (S1, BadHeartbeat(b"x")), (A, Heartbeat()), (HOST, Beat()), *[(A, Heartbeat())] * 3],
    [*TWO, (HOST, Beat()), (S1, Heartbeat())],
    [*UP, (A, BadHeartbeat(b"x")), (A, Heartbeat())],
    [*TWO, (S1, UnknownType(9)), (A, UnknownType(9)), (A, Hangup()), (NETWORK, Hangup())],
    [*UP, *((HOST, Submit(KEY, bytes(MAX_ENVELOPE + n))) for n in (-983_093, -32, -31, 0, 1, 32, 33))],
    *(ANSWERS, MESSAGES, SAME, BEATS),
]


def of_script(machine: Machine[Any], script: Script, state: Any = None) -> tuple[list[str], Any]:
    player = Player(machine, entropy=bytes, state=state)
    turns = [player.receive(channel, event) for channel, event in script]
    return [f"{turn.effects} {turn.frames}" for turn in turns], player.state


def of_relay(made: type[relay.RelayMachine]) -> list[str]:
    """Each script, then what another relay does with what is left."""
    told: list[str] = []
    for script in RELAY:
        limit = 100 if script is LIMITED else MAX_ENVELOPE
        turns, state = of_script(made(limit), script)
        left = {device: relay.Inbox(Map(blobs(inbox))) for device, inbox in state.durable.inboxes.items()}
        restarted = relay.State(durable=relay.Durable(Map(left), state.durable.next))
        after: Script = [(P, PushOpened()), (P, Push(KEY, b"new")), (A, ReceiveOpened(KEY))]
        told += turns + of_script(made(limit), after, restarted)[0]
    kept = relay.State(durable=relay.Durable(Map({KEY: relay.Inbox(Map({1: bytes(20)}))}), 2))
    return told + of_script(made(10), [DEVICE], kept)[0]  # a lower limit than the one it was stored under


def blobs(inbox: relay.Inbox) -> dict[int, bytes]:
    return {number: envelope for number, _, envelope in inbox.envelopes()}


def of_client(made: type[client.ClientMachine]) -> list[str]:
    told: list[str] = []
    for script in CLIENT:
        turns, state = of_script(made(), script)
        told += turns
        told += of_script(made(), UP, client.State(durable=state.durable))[0]
    outbox = client.Durable(Map({1: Push(KEY, b"one"), 2: Push(KEY, b"two")}), 3)
    return told + of_script(made(), UP, client.State(durable=outbox))[0]
