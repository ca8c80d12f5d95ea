"""Framing and tags on the wire: what is no frame is never Acked, never stored, and never the end of the relay."""

from __future__ import annotations

import asyncio

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.io.tcp import Stream
from reference_impl.trueseal.frames import Ack, Deliver, Hangup, Heartbeat
from suites.trueseal import wire
from suites.trueseal.line import TruesealLine
from suites.trueseal.relay.under_test import Device, RelayUnderTest

SESSIONS = axis("session", ["push", "receive"])
LIES = {f"{length:08x}": [wire.frame(wire.HEARTBEAT, b"", length)] * 3 for length in wire.EXTREMES}
UNKNOWN = axis("tag", {"00": 0, "07": 7, "80": 0x80, "81": 0x81, "ff": 0xFF})


async def opened(relay: RelayUnderTest, session: str) -> TruesealLine:
    return await relay.pusher() if session == "push" else await relay.device()


async def expect_nothing_stored(relay: RelayUnderTest, line: TruesealLine, device: Device, clause: str) -> None:
    """No Ack came on the line, and a sentinel is all that the device gets; what became of the line is recorded."""
    receiver = await relay.device(device)
    await relay.expect_only(receiver, clause=clause)
    heard = line.inbox.drain()
    line.trial.expect(not any(isinstance(frame, Ack) for frame in heard), "no Ack", heard, clause)
    line.trial.info("closed" if any(isinstance(frame, Hangup) for frame in heard) else f"still open, said {heard}")


@clauses("TS-FRM-02", "TS-FRM-03", "TS-FRM-01", "TS-PUSH-01", "TS-PUSH-04", "TS-DLV-01", "TS-DLV-05", "TS-ACK-01")
@axis("size", [1, 223, 224, 226, 268, 4_096, *(2**n - 37 for n in range(9, 16)), wire.FITS])
async def test_exactly_the_pushed_bytes_arrive(relay: RelayUnderTest, size: int) -> None:
    """A body of 32 + n bytes is n bytes of envelope, whichever bytes of the length are in use and whatever buffer it fills."""
    device, pusher = await relay.device(), await relay.pusher()
    envelope = wire.blob(size)
    await pusher.plain(wire.push(device.device.public, envelope))
    await pusher.expect(Ack, "TS-FRM-02")
    await device.expect_delivery(envelope, "TS-FRM-03")


@clauses("TS-FRM-05")
@SESSIONS
@axis("size", [0, 1, 2, 3, 4])
async def test_less_than_a_header_is_malformed(relay: RelayUnderTest, session: str, size: int) -> None:
    """Noise messages of 0 to 4 bytes of plaintext: nothing is Acked or stored."""
    device, line = Device(), await opened(relay, session)
    await line.plain(wire.push(device.public, wire.blob())[:size])
    await expect_nothing_stored(relay, line, device, "TS-FRM-05")


@clauses("TS-FRM-05", "TS-FRM-07")
@SESSIONS
@axis("lies", {"too-short": [wire.BEAT[:size] for size in (4, 3, 1)], **LIES})
async def test_what_is_no_heartbeat_is_not_answered(relay: RelayUnderTest, session: str, lies: list[bytes]) -> None:
    """Three that are cut off, or claim a body of gigabytes: one answer may be a Heartbeat of the relay's own, three are not."""
    line, clause = await opened(relay, session), "TS-FRM-05" if len(lies[0]) < 5 else "TS-FRM-07"
    await line.fence(clause)
    await line.plain(*lies)
    await relay.alive(clause)
    beats = [frame for frame in line.inbox.drain() if isinstance(frame, Heartbeat)]
    line.trial.expect(len(beats) < len(lies), "no answer", beats, clause)


@clauses("TS-FRM-06")
@axis("missing", [1, 2, 31, 32, 48])
async def test_a_body_shorter_than_declared_is_no_push(relay: RelayUnderTest, missing: int) -> None:
    """Neither Acked nor delivered, neither cut off nor padded."""
    device, pusher = Device(), await relay.pusher()
    whole = wire.push(device.public, wire.blob(48))
    await pusher.plain(whole[:-missing])
    await expect_nothing_stored(relay, pusher, device, "TS-FRM-06")


@clauses("TS-FRM-06")
async def test_a_body_that_never_ends_is_no_push(relay: RelayUnderTest) -> None:
    """The connection ends in the middle of it."""
    device, pusher = Device(), await relay.pusher()
    await pusher.plain(wire.push(device.public, wire.blob(48))[:-1])
    await pusher.close()
    await relay.expect_only(await relay.device(device), clause="TS-FRM-06")


@clauses("TS-FRM-07", "TS-FRM-06")
@SESSIONS
@axis("length", {f"{length:08x}": length for length in wire.EXTREMES})
async def test_extreme_lengths_hurt_nobody(relay: RelayUnderTest, session: str, length: int) -> None:
    """A Push, a Heartbeat and a DeliverAck that claim gigabytes: nothing comes of them, and the relay lives."""
    for tag, body in ((wire.PUSH, b"lie"), (wire.HEARTBEAT, b""), (wire.DELIVER_ACK, bytes(8))):
        device, line = Device(), await opened(relay, session)
        await line.plain(wire.frame(tag, device.public + body if tag == wire.PUSH else body, length))
        await expect_nothing_stored(relay, line, device, "TS-FRM-07")


@clauses("TS-FRM-08")
async def test_bytes_behind_a_frame_are_no_part_of_it(relay: RelayUnderTest, trial: Trial) -> None:
    """One byte behind a good Push: whatever is done with it, no other envelope than the pushed one is delivered."""
    device, pusher, envelope = Device(), await relay.pusher(), wire.blob()
    await pusher.plain(wire.push(device.public, envelope) + b"\x01")
    receiver, sentinel = await relay.device(device), wire.blob()
    await (await relay.pusher()).stores(device, sentinel)
    got: list[bytes] = []
    while sentinel not in got:
        got.append((await receiver.expect(Deliver, "TS-FRM-08")).envelope)
    trial.expect(set(got) <= {envelope, sentinel}, "the pushed envelope or nothing", got, "TS-PUSH-04")
    trial.info(f"the frame was {'taken' if envelope in got else 'not taken'}; heard {pusher.inbox.drain()}")


@clauses("TS-TYP-03", "TS-TYP-02")
@SESSIONS
@axis("body", {"empty": b"", "id": bytes(8), "push": bytes(40)})
@UNKNOWN
async def test_an_unknown_tag_ends_the_connection(relay: RelayUnderTest, session: str, body: bytes, tag: int) -> None:
    """Closed without an answer."""
    line = await opened(relay, session)
    await line.plain(wire.frame(tag, body))
    await line.expect_hangup("TS-TYP-03")


@clauses("TS-TYP-03", "TS-TYP-02")
async def test_nothing_behind_an_unknown_tag_is_read(relay: RelayUnderTest) -> None:
    """A good Push behind it in the same session is neither Acked nor stored."""
    device, pusher = Device(), await relay.pusher()
    await pusher.plain(wire.frame(7), wire.push(device.public, wire.blob()), wire.BEAT)
    await pusher.expect_hangup("TS-TYP-03")
    await relay.expect_only(await relay.device(device), clause="TS-TYP-03")


@clauses("TS-TYP-03")
async def test_other_sessions_outlive_a_bad_one(relay: RelayUnderTest) -> None:
    """Only the connection with the unknown tag is closed."""
    device, other, bad = await relay.device(), await relay.pusher(), await relay.pusher()
    await bad.plain(wire.frame(0xFF))
    await bad.expect_hangup("TS-TYP-03")
    envelope = wire.blob()
    await other.stores(device.device, envelope)
    await device.expect_delivery(envelope)


@clauses("TS-TYP-04")
@SESSIONS
@axis("frame", {"deliver": wire.deliver(1, b"x"), "ack": wire.frame(4), "error": wire.frame(5)})
async def test_a_tag_from_the_wrong_direction(relay: RelayUnderTest, session: str, frame: bytes, trial: Trial) -> None:
    """What only a relay says: nothing is stored or answered; whether the session ends is recorded."""
    line = await opened(relay, session)
    await line.plain(frame, wire.BEAT)
    heard = await line.next("a Heartbeat or the end", "TS-TYP-04", beats=True)
    trial.expect(not isinstance(heard, Ack | Deliver), "no answer to it", heard, "TS-TYP-04")
    trial.info(f"{heard}")


@clauses("TS-TYP-04", "TS-SES-12")
async def test_an_ack_in_a_push_session_deletes_nothing(relay: RelayUnderTest) -> None:
    """Nobody knows who sends it: the blob stays."""
    device, envelope = await relay.device(), wire.blob()
    await (await relay.pusher()).stores(device.device, envelope)
    delivered = await device.expect_delivery(envelope)
    stranger = await relay.pusher()
    await stranger.plain(wire.deliver_ack(delivered.blob_id), wire.BEAT)
    await stranger.next("a Heartbeat or the end", beats=True)
    await device.close()
    await (await relay.device(device.device)).expect_delivery(envelope, "TS-TYP-04")


class OneByOne(Stream):
    """A connection that sends each byte by itself, and lets the loop come round in between."""

    def __init__(self, stream: Stream) -> None:
        self.__dict__.update(stream.__dict__)

    async def send(self, data: bytes) -> None:
        for at in range(len(data)):
            await super().send(data[at : at + 1])
            await asyncio.sleep(0)


@clauses("TS-FRM-01", "TS-SES-01", "TS-SES-06")
async def test_any_segmentation_of_the_stream(relay: RelayUnderTest) -> None:
    """Handshakes, a Push and an ack, one byte to a segment."""
    device = await relay.device(stream=OneByOne(await relay.stream("receive")))
    pusher = await relay.pusher(OneByOne(await relay.stream("push")))
    envelope = wire.blob()
    await pusher.stores(device.device, envelope, clause="TS-FRM-01")
    await device.ack(await device.expect_delivery(envelope, "TS-FRM-01"))
