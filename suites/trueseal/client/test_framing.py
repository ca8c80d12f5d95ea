"""Framing and tags: what is no frame is neither surfaced nor acked, nor an answer."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.trueseal.frames import Hangup, Heartbeat
from suites.trueseal import wire
from suites.trueseal.client.under_test import ClientUnderTest
from suites.trueseal.relay.under_test import Device


@clauses("TS-FRM-05")
async def test_what_is_cut_off_is_no_ack(client: ClientUnderTest) -> None:
    """An Ack and an Error of one to four bytes, each in a session of its own: the blob comes again each time."""
    recipient, envelope = Device().public, wire.envelope()
    await client.push(recipient, envelope)
    for scrap in (wire.frame(tag)[:size] for tag in (wire.ACK, wire.ERROR) for size in (1, 4)):
        line = await client.pushing("TS-FRM-05")
        await client.expect_pushed(line, recipient, envelope, "TS-FRM-05")
        await line.plain(scrap)
        await line.close()
    line = await client.pushing("TS-FRM-05")
    await client.expect_pushed(line, recipient, envelope, "TS-FRM-05")


@clauses("TS-TYP-03", "TS-TYP-02")
@axis("tag", {"00": 0, "07": 7, "82": 0x82, "ff": 0xFF})
@axis("body", {"empty": b"", "some": bytes(10)})
async def test_an_unknown_tag_ends_the_session(client: ClientUnderTest, tag: int, body: bytes) -> None:
    """Closed without an ack; then the client dials again."""
    line = await client.receiving()
    await line.plain(wire.frame(tag, body))
    await line.expect(Hangup, "TS-TYP-03")
    await client.expect_handled(await client.receiving(), 1, wire.envelope())


@clauses("TS-TYP-03", "TS-ACK-07")
async def test_an_unknown_tag_ends_a_push_session(client: ClientUnderTest) -> None:
    """Closed; the blob has no answer, so it comes again."""
    recipient, envelope = Device().public, wire.envelope()
    await client.push(recipient, envelope)
    line = await client.pushing()
    await client.expect_pushed(line, recipient, envelope)
    await line.plain(wire.frame(7))
    await line.expect(Hangup, "TS-TYP-03")
    line = await client.pushing("TS-ACK-07")
    await client.expect_pushed(line, recipient, envelope, "TS-ACK-07")


MALFORMED = {
    "nothing": ("TS-FRM-05", b""),
    "four-bytes": ("TS-FRM-05", wire.BEAT[:4]),
    "deliver-of-7": ("TS-FRM-05", wire.frame(wire.DELIVER, bytes(7))),
    "one-byte-missing": ("TS-FRM-06", wire.frame(wire.DELIVER, bytes(20), 21)),
    "half-missing": ("TS-FRM-06", wire.frame(wire.DELIVER, bytes(20), 40)),
    **{f"length-{size:08x}": ("TS-FRM-07", wire.frame(wire.DELIVER, bytes(20), size)) for size in wire.EXTREMES},
}


@clauses("TS-FRM-05", "TS-FRM-06", "TS-FRM-07")
@axis("message", MALFORMED)
async def test_what_is_no_frame_is_not_surfaced(
    client: ClientUnderTest, message: tuple[str, bytes], trial: Trial
) -> None:
    """Neither acked nor surfaced; a client that is asked to dial again still works."""
    clause, said = message
    line = await client.receiving()
    await line.plain(said)
    await line.close()
    heard = [frame for frame in line.inbox.drain() if not isinstance(frame, Hangup | Heartbeat)]
    trial.expect(not heard, "no answer", heard, clause)
    await client.expect_handled(await client.receiving(), 1, wire.envelope(), clause)


@clauses("TS-TYP-04")
@axis("frame", {"push": wire.push(bytes(32), b"x"), "deliver-ack": wire.deliver_ack(1), "ack": wire.frame(4)})
async def test_a_tag_from_the_wrong_direction(client: ClientUnderTest, frame: bytes, trial: Trial) -> None:
    """What has no business in a Receive Session is not surfaced; whether the session ends is recorded."""
    line = await client.receiving()
    await line.plain(frame)
    await line.deliver(1, sentinel := wire.envelope())
    heard = await line.next("a DeliverAck or the end", "TS-TYP-04")
    if isinstance(heard, Hangup):
        line = await client.receiving()
        await line.deliver(1, sentinel)
        await line.expect_ack(1)
    trial.expect(await client.message() == sentinel, "the message behind it alone", heard, "TS-TYP-04")
    trial.info("ended" if isinstance(heard, Hangup) else "passed over")
