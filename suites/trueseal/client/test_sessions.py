"""Receive Sessions: who proves what to whom, again and again, and for how long."""

from __future__ import annotations

import asyncio
import contextlib
import secrets

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Broken, Trial
from reference_impl.io.carrier import HungUp
from reference_impl.trueseal.frames import Ack, DeliverAck, Hangup
from reference_impl.trueseal.noise import LENGTH, Pattern, Secured
from suites.common.line import ByteLine
from suites.trueseal import wire
from suites.trueseal.client.under_test import ClientUnderTest, PushLine, ReceiveLine
from suites.trueseal.line import Laden, understood
from suites.trueseal.relay.under_test import Device, device_with

SILENT_S = 0.05
"""A relay says nothing for so long; under --slow eight hundred times."""


@clauses("TS-SES-06")
async def test_the_client_dials_again(client: ClientUnderTest) -> None:
    """Hung up on, reset, and turned away before the handshake: there is another Receive Session each time."""
    line = await client.receiving()
    await line.close()
    line = await client.receiving()
    line.cut()
    (await client.arrival("receive", "TS-SES-06")).cut()
    await client.expect_handled(await client.receiving(), 1, wire.envelope())


@clauses("TS-SES-06")
async def test_a_relay_that_says_nothing_is_dialled_again(client: ClientUnderTest, trial: Trial) -> None:
    """A handshake without an answer: the client gives it up, or is hung up on in the end, and there is another session."""
    stream = await client.arrival("receive", "TS-SES-06")
    with contextlib.suppress(HungUp, TimeoutError):
        async with asyncio.timeout(SILENT_S * (800 if trial.slow else 1)):
            while True:  # the time itself is what is tried
                await stream.receive()
    stream.cut()
    await client.expect_handled(await client.receiving(), 1, wire.envelope())


@clauses("TS-SES-06")
@axis("same", {"nothing": slice(0), "first-byte": slice(1), "last-byte": slice(31, 32)})
async def test_another_relay_is_shown_nothing(client: ClientUnderTest, same: slice, trial: Trial) -> None:
    """XX with another static key in the second message, much like it or not: the client ends it before it shows its own."""
    other = device_with(lambda key: key[same] == client.relay.public[same])
    impostor = client.relay.responder(Pattern.XX, other.private)
    stream = await client.arrival("receive", "TS-SES-06")
    line, first = ByteLine(trial, stream), b""
    while len(first) < 34:
        piece = await line.next("XX's first message", "TS-SES-06")
        if not piece:
            raise Broken("TS-SES-06", "XX's first message", "the end of the connection")
        first += piece
    second = understood(impostor, first, "TS-SES-06")
    await line.say(second, "XX's second message, with another static key", second)
    said = await line.next("the end", "TS-SES-06")
    trial.expect(said == b"", "no third message", said.hex(), "TS-SES-06")
    await client.expect_handled(await client.receiving(), 1, wire.envelope())


@clauses("TS-SES-06")
async def test_xx_has_its_sizes(client: ClientUnderTest, trial: Trial) -> None:
    """32 bytes, and behind the relay's 96 another 64."""
    relay = client.relay.responder(Pattern.XX)
    line = ByteLine(trial, await client.arrival("receive", "TS-SES-06"))
    said = b""
    while len(said) < 34:
        said += await line.next("XX's first message", "TS-SES-06")
    trial.expect(
        said[:2] == LENGTH.pack(32) and len(said) == 34, "32 bytes behind their length", said.hex(), "TS-SES-06"
    )
    second = understood(relay, said, "TS-SES-06")
    await line.say(second, "XX's second message", second)
    said = b""
    while len(said) < 66:
        said += await line.next("XX's third message", "TS-SES-06")
    trial.expect(said[:2] == LENGTH.pack(64), "64 bytes behind their length", said[:2].hex(), "TS-SES-06")
    understood(relay, said, "TS-SES-06")
    trial.expect(relay.noise.remote_static == client.public, client.public.hex(), said.hex(), "TS-SES-06")


@clauses("TS-SES-06", "TS-SES-01")
@axis("payload", {"unknown-tag": wire.frame(7), "deliver": wire.deliver(3, b"in a handshake"), "text": b"hello"})
@axis("port", {"push": Pattern.NK, "receive": Pattern.XX})
async def test_a_payload_in_a_handshake_is_ignored(client: ClientUnderTest, payload: bytes, port: Pattern) -> None:
    """It is read, and nothing comes of it: neither the end of the session nor a message."""
    recipient, envelope = Device().public, wire.envelope()
    stream = await client.arrival("receive", "TS-SES-06")
    if port is Pattern.NK:
        await client.push(recipient, envelope)
        stream = await client.arrival("push", "TS-SES-01")
    noise = Laden(port, initiator=False, entropy=secrets.token_bytes, static=client.relay.private)
    noise.carries = payload
    sealed = await client.relay.shaken(stream, port, "TS-SES-06", Secured(noise))
    if port is Pattern.NK:
        line = client.relay.line(PushLine, sealed)
        await client.expect_pushed(line, recipient, envelope, "TS-SES-01")
        await line.answer(Ack())
        await line.expect(Hangup, "TS-SES-05")
    else:
        await client.expect_handled(client.relay.line(ReceiveLine, sealed), 4, envelope, "TS-SES-06")


@clauses("TS-SES-06")
async def test_a_session_of_many_messages(client: ClientUnderTest) -> None:
    """Three hundred each way: the counter of a Noise session has more than a byte."""
    line = await client.receiving()
    for _ in range(300):
        await line.fence("TS-SES-06")


@clauses("TS-FRM-01", "TS-SES-06")
async def test_any_segmentation_of_the_stream(client: ClientUnderTest) -> None:
    """A delivery, one byte to a segment; and two in one segment."""
    line = await client.receiving()
    one, two, three = (wire.envelope() for _ in range(3))
    sealed = line.carrier.secured.seal(wire.deliver(1, one))
    for at in range(len(sealed)):
        await line.carrier.stream.send(sealed[at : at + 1])
    await line.carrier.stream.send(
        line.carrier.secured.seal(wire.deliver(2, two)) + line.carrier.secured.seal(wire.deliver(3, three))
    )
    got = {await client.message("TS-FRM-01") for _ in range(3)}
    client.trial.expect(got == {one, two, three}, "three messages", len(got), "TS-FRM-01")
    acked = {(await line.expect(DeliverAck, "TS-FRM-01")).blob_id for _ in range(3)}
    client.trial.expect(acked == {1, 2, 3}, "their acks", acked, "TS-FRM-01")


@clauses("TS-SES-06")
async def test_a_forged_delivery_is_not_read(client: ClientUnderTest, trial: Trial) -> None:
    """What does not authenticate is neither acked nor surfaced."""
    line = await client.receiving()
    await line.forged(wire.deliver(1, wire.envelope()))
    await line.close()
    await client.expect_handled(await client.receiving(), 2, wire.envelope())
    heard = line.inbox.drain()
    trial.expect(not any(isinstance(frame, DeliverAck) for frame in heard), "no ack", heard)
