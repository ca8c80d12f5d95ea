"""SIGKILL at any moment, and start again on the same store: what was Acked is there, what was acked is gone."""

from __future__ import annotations

import asyncio

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Broken, Trial
from reference_impl.trueseal.frames import Ack, Deliver
from suites.trueseal import wire
from suites.trueseal.relay.under_test import LOWERED, Device, PrivateRelay


@clauses("TS-ACK-03", "TS-SES-09")
async def test_what_was_acked_survives_a_kill(own_relay: PrivateRelay) -> None:
    """Killed the moment the Ack is there."""
    device, envelope = Device(), wire.blob()
    await (await own_relay.pusher()).stores(device, envelope)
    await own_relay.restart()
    await (await own_relay.device(device)).expect_delivery(envelope, "TS-ACK-03")


@clauses("TS-ACK-03", "TS-PUSH-02")
async def test_every_inbox_survives(own_relay: PrivateRelay) -> None:
    """Many blobs, several devices, one session."""
    devices = [Device() for _ in range(4)]
    sent = {device: [wire.blob(200 + n) for n in range(10)] for device in devices}
    pusher = await own_relay.pusher()
    for device, envelopes in sent.items():
        await pusher.stores(device, *envelopes)
    await own_relay.restart()
    for device, envelopes in sent.items():
        line = await own_relay.device(device)
        await line.expect_deliveries(envelopes, "TS-ACK-03")
        await line.expect_silence("TS-PUSH-02")


@clauses("TS-DLV-05", "TS-ACK-03", "TS-PUSH-04", "TS-PUSH-05")
async def test_envelopes_survive_byte_for_byte(own_relay: PrivateRelay) -> None:
    """Whatever they hold, and those that hold nothing."""
    device, envelopes = Device(), [b"", *wire.ODD_ENVELOPES.values()]
    await (await own_relay.pusher()).stores(device, *envelopes)
    await own_relay.restart()
    await (await own_relay.device(device)).expect_deliveries(envelopes, "TS-DLV-05")


@clauses("TS-DLV-05", "TS-ACK-03")
@axis("size", [65_536, wire.LIMIT])
@needs("large_frames")
async def test_a_large_envelope_survives(own_relay: PrivateRelay, size: int) -> None:
    """All of its bytes."""
    device, envelope = Device(), wire.blob(size)
    await (await own_relay.pusher()).stores(device, envelope)
    await own_relay.restart()
    await (await own_relay.device(device)).expect_delivery(envelope, "TS-DLV-05")


@clauses("TS-SES-02", "TS-SES-06")
async def test_the_relay_keeps_its_key(own_relay: PrivateRelay) -> None:
    """Whoever knew it before the restart opens sessions of both kinds after it."""
    await (await own_relay.pusher()).fence()
    await own_relay.restart()
    await (await own_relay.pusher()).fence("TS-SES-02")
    await (await own_relay.device()).fence("TS-SES-06")


@clauses("TS-DLV-02")
async def test_a_blob_keeps_its_id_over_a_restart(own_relay: PrivateRelay) -> None:
    """Of three the first was acked; the others come again under the ids that they had."""
    device, envelopes = await own_relay.device(), [wire.blob() for _ in range(3)]
    await (await own_relay.pusher()).stores(device.device, *envelopes)
    first = {frame.envelope: frame for frame in await device.expect_deliveries(envelopes)}
    await device.ack(first.pop(envelopes[0]))
    await own_relay.restart()
    again = await (await own_relay.device(device.device)).expect_deliveries(first)
    own_relay.trial.expect({frame.envelope: frame for frame in again} == first, "the same ids", again, "TS-DLV-02")


@clauses("TS-DACK-04")
async def test_an_ack_of_what_was_restored_survives_a_kill(own_relay: PrivateRelay) -> None:
    """Stored in one life, acked in the next, by a device that is all alone: in the third it does not come."""
    device, envelope = Device(), wire.blob()
    await (await own_relay.pusher()).stores(device, envelope)
    await own_relay.restart()
    line = await own_relay.device(device)
    await line.ack(await line.expect_delivery(envelope))
    await own_relay.restart()
    await own_relay.expect_only(await own_relay.device(device), clause="TS-DACK-04")


@clauses("TS-DLV-08", "TS-DLV-06", "TS-DACK-05")
async def test_delivered_and_unacked_comes_again(own_relay: PrivateRelay) -> None:
    """The relay dies instead of the device."""
    device, envelope = await own_relay.device(), wire.blob()
    await (await own_relay.pusher()).stores(device.device, envelope)
    await device.expect_delivery(envelope)
    await own_relay.restart()
    await (await own_relay.device(device.device)).expect_delivery(envelope, "TS-DLV-08")


@clauses("TS-DACK-04", "TS-DACK-06")
async def test_an_ack_survives_a_kill(own_relay: PrivateRelay) -> None:
    """Of three the second was acked: the others come again, and it does not."""
    device, envelopes = await own_relay.device(), [wire.blob() for _ in range(3)]
    await (await own_relay.pusher()).stores(device.device, *envelopes)
    got = {frame.envelope: frame for frame in await device.expect_deliveries(envelopes)}
    await device.ack(got[envelopes[1]])
    await own_relay.restart()
    again = await own_relay.device(device.device)
    await again.expect_deliveries([envelopes[0], envelopes[2]], "TS-DACK-06")
    await again.expect_silence("TS-DACK-04")


@clauses("TS-DACK-04")
@axis("end", ["fin", "forged"])
async def test_an_ack_in_the_last_words_survives_a_kill(own_relay: PrivateRelay, end: str) -> None:
    """Ten devices ack and end in one breath. Where the next session shows that it was read, it is so in the next life."""
    pusher, read = await own_relay.pusher(), []
    for _ in range(10):
        line, envelope = await own_relay.device(), wire.blob()
        await pusher.stores(line.device, envelope)
        ack = wire.deliver_ack((await line.expect_delivery(envelope)).blob_id)
        await (line.forged(wire.BEAT, behind=ack) if end == "forged" else line.plain(ack))
        await line.close()
        again = await own_relay.device(line.device)
        await again.fence()
        if not any(isinstance(frame, Deliver) for frame in again.inbox.drain()):
            read.append(line.device)
    await own_relay.restart()
    for device in read:
        await own_relay.expect_only(await own_relay.device(device), clause="TS-DACK-04")


@clauses("TS-ACK-03", "TS-DLV-08")
async def test_a_lower_limit_holds_nothing_back(own_relay: PrivateRelay, trial: Trial) -> None:
    """Acked under one limit, it will be delivered, whatever limit the relay is started with again."""
    await trial.need("limit")
    device, envelopes = Device(), [wire.blob(size) for size in (LOWERED, LOWERED + 1, 50_000)]
    await (await own_relay.pusher()).stores(device, *envelopes)
    await own_relay.restart(limit=LOWERED)
    line = await own_relay.device(device)
    await line.expect_deliveries(envelopes, "TS-ACK-03")


@clauses("TS-DLV-02")
async def test_ids_do_not_collide_over_a_restart(own_relay: PrivateRelay) -> None:
    """A blob of the first life and one of the second wait in one inbox: an ack of one leaves the other."""
    device, old, new = Device(), wire.blob(), wire.blob()
    await (await own_relay.pusher()).stores(device, old)
    await own_relay.restart()
    await (await own_relay.pusher()).stores(device, new)
    line = await own_relay.device(device)
    got = {frame.envelope: frame for frame in await line.expect_deliveries([old, new], "TS-DLV-02")}
    own_relay.trial.expect(got[old].blob_id != got[new].blob_id, "two ids", got, "TS-DLV-02")
    await line.ack(got[new])
    await line.close()
    await own_relay.expect_only(await own_relay.device(device), old, clause="TS-DLV-02")


@clauses("TS-ACK-03", "TS-ACK-05")
@axis("moment", [1, 5, 20, 60, 119])
async def test_a_kill_in_a_stream_of_pushes(own_relay: PrivateRelay, moment: int) -> None:
    """Killed behind so many Acks: all that were Acked come, and what comes was pushed."""
    device, envelopes, pusher = Device(), [wire.blob(300) for _ in range(120)], await own_relay.pusher()
    streaming = asyncio.create_task(pusher.push(device, *envelopes))
    for _ in range(moment):
        await pusher.expect(Ack, "TS-ACK-01")
    await own_relay.kill()
    await asyncio.gather(streaming, return_exceptions=True)
    acked = moment + sum(isinstance(frame, Ack) for frame in pusher.inbox.drain())
    await own_relay.restart()
    line, owed = await own_relay.device(device), set(envelopes[:acked])
    while owed:
        frame = await line.expect(Deliver, "TS-ACK-03")
        if frame.envelope not in envelopes:
            raise Broken("TS-DLV-05", "a blob that was pushed", str(frame))
        owed.discard(frame.envelope)
