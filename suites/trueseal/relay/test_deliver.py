"""Deliver and DeliverAck: a blob stays until its own ack, from its own device."""

from __future__ import annotations

import asyncio
import random

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.trueseal.frames import Deliver, DeliverAck
from suites.trueseal import wire
from suites.trueseal.relay.under_test import Device, DeviceLine, RelayUnderTest

ENDS = axis("end", ["fin", "reset"])


async def dropped(line: DeviceLine, end: str) -> None:
    if end == "fin":
        await line.close()
    else:
        line.cut()


async def waiting(relay: RelayUnderTest, count: int) -> tuple[Device, list[bytes]]:
    """A device that is not connected, and blobs in its inbox."""
    device, envelopes = Device(), [wire.blob() for _ in range(count)]
    await (await relay.pusher()).stores(device, *envelopes)
    return device, envelopes


@clauses("TS-SES-09", "TS-DLV-10", "TS-DLV-01", "TS-ERR-06")
@axis("count", [10, 300])
async def test_what_waits_is_delivered_on_connect(relay: RelayUnderTest, count: int) -> None:
    """All of it, however much, without a word from the device."""
    device, envelopes = await waiting(relay, count)
    line = await relay.device(device)
    await line.expect_deliveries(envelopes, "TS-SES-09")
    await line.expect_silence("TS-SES-09")


@clauses("TS-SES-09")
async def test_the_order_of_arrival_is_kept(relay: RelayUnderTest, trial: Trial) -> None:
    """Whether blobs of different sizes, pushed while the device was away, come in the order of their pushes is recorded."""
    device, envelopes = Device(), [wire.blob(size) for size in (900, 40, 700, 1, 300, 60, 8_000, 41)]
    await (await relay.pusher()).stores(device, *envelopes)
    got = [frame.envelope for frame in await (await relay.device(device)).expect_deliveries(envelopes)]
    if got != envelopes:
        trial.info(f"delivered in another order than pushed: {[envelopes.index(e) for e in got]}")


@clauses("TS-DLV-02")
async def test_ids_differ(relay: RelayUnderTest, trial: Trial) -> None:
    """Among the blobs that wait in one inbox."""
    device, envelopes = await waiting(relay, 40)
    got = await (await relay.device(device)).expect_deliveries(envelopes)
    trial.expect(len({frame.blob_id for frame in got}) == 40, "40 ids", sorted(frame.blob_id for frame in got))


@clauses("TS-DLV-02")
async def test_a_blob_keeps_its_id(relay: RelayUnderTest, trial: Trial) -> None:
    """In the next session it is delivered under the same."""
    device, envelopes = await waiting(relay, 3)
    line = await relay.device(device)
    first = {frame.envelope: frame.blob_id for frame in await line.expect_deliveries(envelopes)}
    await line.close()
    again = await (await relay.device(device)).expect_deliveries(envelopes)
    trial.expect({f.envelope: f.blob_id for f in again} == first, f"the ids {first}", again, "TS-DLV-02")


@clauses("TS-DLV-06", "TS-DLV-08", "TS-DACK-05", "TS-SES-07")
@ENDS
async def test_a_drop_before_the_ack_brings_it_again(relay: RelayUnderTest, end: str) -> None:
    """Three times, with FIN or with RST."""
    device, envelopes = await waiting(relay, 2)
    for _ in range(3):
        line = await relay.device(device)
        await line.expect_deliveries(envelopes, "TS-DLV-08")
        await dropped(line, end)
    await (await relay.device(device)).expect_deliveries(envelopes, "TS-DLV-06")


@clauses("TS-DLV-08")
@ENDS
async def test_a_drop_before_anything_was_read_brings_it_again(relay: RelayUnderTest, end: str) -> None:
    """The device is gone as soon as it was there."""
    device, envelopes = await waiting(relay, 3)
    for _ in range(3):
        await dropped(await relay.device(device), end)
    await (await relay.device(device)).expect_deliveries(envelopes, "TS-DLV-08")


@clauses("TS-DACK-04", "TS-DLV-07")
async def test_an_ack_deletes(relay: RelayUnderTest) -> None:
    """In the next session it does not come."""
    device, envelopes = await waiting(relay, 1)
    line = await relay.device(device)
    await line.ack(*await line.expect_deliveries(envelopes))
    await line.close()
    await relay.expect_only(await relay.device(device), clause="TS-DACK-04")


@clauses("TS-DLV-07", "TS-DACK-06")
@axis("acked", {"first": (0,), "middle": (2,), "last": (4,), "every-other": (0, 2, 4), "all-but-one": (0, 1, 3, 4)})
async def test_an_ack_is_for_its_id_alone(relay: RelayUnderTest, acked: tuple[int, ...]) -> None:
    """Of five, these are acked: the others come again, and no more."""
    device, envelopes = await waiting(relay, 5)
    line = await relay.device(device)
    got = {frame.envelope: frame for frame in await line.expect_deliveries(envelopes)}
    await line.ack(*(got[envelopes[n]] for n in acked))
    await line.close()
    again = await relay.device(device)
    await again.expect_deliveries([e for n, e in enumerate(envelopes) if n not in acked], "TS-DACK-06")
    await again.expect_silence("TS-DACK-06")


@clauses("TS-DACK-04")
@axis("count", [12, 300])
async def test_acks_in_any_order(relay: RelayUnderTest, count: int, trial: Trial) -> None:
    """Each deletes its own."""
    device, envelopes = await waiting(relay, count)
    line = await relay.device(device)
    got = await line.expect_deliveries(envelopes)
    random.Random(trial.seed).shuffle(got)
    await line.ack(*got)
    await line.close()
    await relay.expect_only(await relay.device(device), clause="TS-DACK-04")


@clauses("TS-DACK-07")
async def test_a_device_acks_its_own_blobs_only(relay: RelayUnderTest) -> None:
    """A stranger acks every id that the victim was delivered: the victim still gets everything."""
    device, envelopes = await waiting(relay, 3)
    victim = await relay.device(device)
    got = await victim.expect_deliveries(envelopes)
    await (await relay.device()).ack(*got)
    await victim.close()
    await (await relay.device(device)).expect_deliveries(envelopes, "TS-DACK-07")


@clauses("TS-DACK-07")
async def test_guessed_ids_delete_nothing(relay: RelayUnderTest) -> None:
    """Small ids, and those around an id that the stranger was given: what nobody has received yet stays."""
    device, envelopes = await waiting(relay, 3)
    stranger = await relay.device()
    own = wire.blob()
    await (await relay.pusher()).stores(stranger.device, own)
    given = await stranger.expect_delivery(own)
    near = [(given.blob_id + step) % 2**64 for step in range(-64, 64)]
    await stranger.send(*(DeliverAck(id) for id in {*range(200), *near}))
    await stranger.fence("TS-DACK-07")
    await (await relay.device(device)).expect_deliveries(envelopes, "TS-DACK-07")


@clauses("TS-DACK-08")
@axis("ack", ["unknown", "repeated", "empty", "short", "long"])
async def test_an_ack_that_fits_nothing_changes_nothing(relay: RelayUnderTest, ack: str, trial: Trial) -> None:
    """The session goes on, and the other blob stays."""
    device, envelopes = await waiting(relay, 2)
    line = await relay.device(device)
    one, other = await line.expect_deliveries(envelopes)
    await line.ack(one)
    odd = {
        "unknown": wire.deliver_ack(one.blob_id ^ other.blob_id ^ 0x5555_0000_0000_0000),
        "repeated": wire.deliver_ack(one.blob_id),
        "empty": wire.frame(wire.DELIVER_ACK),
        "short": wire.frame(wire.DELIVER_ACK, other.blob_id.to_bytes(8, "big")[:7]),
        "long": wire.frame(wire.DELIVER_ACK, one.blob_id.to_bytes(8, "big") + b"\x00"),
    }[ack]
    await line.plain(odd)
    await line.fence("TS-DACK-08")
    await line.close()
    again = await relay.device(device)
    await again.expect_delivery(other.envelope, "TS-DACK-06")
    await again.expect_silence("TS-DACK-04")


@clauses("TS-DLV-11")
async def test_an_unacked_blob_comes_once_in_a_session(relay: RelayUnderTest, trial: Trial) -> None:
    """A second blob arrives, a Heartbeat is answered: the first is not delivered again."""
    device, pusher = await relay.device(), await relay.pusher()
    first, second = wire.blob(), wire.blob()
    await pusher.stores(device.device, first)
    await device.expect_delivery(first)
    await pusher.stores(device.device, second)
    await device.fence()
    await device.fence()
    got = [frame.envelope for frame in device.inbox.drain() if isinstance(frame, Deliver)]
    trial.expect(got == [second], "the second blob alone", got, "TS-DLV-11")


@clauses("TS-SES-08")
async def test_a_silent_device_gets_its_blob_at_once(relay: RelayUnderTest, trial: Trial) -> None:
    """It has said nothing since its handshake."""
    device, envelope = await relay.device(), wire.blob()
    began = asyncio.get_running_loop().time()
    await (await relay.pusher()).stores(device.device, envelope)
    await device.expect_delivery(envelope, "TS-SES-08")
    trial.measures["delivery_s"] = asyncio.get_running_loop().time() - began


@clauses("TS-SES-08", "TS-ACK-06", "TS-SES-10")
async def test_a_stream_of_pushes_arrives_whole(relay: RelayUnderTest) -> None:
    """Three hundred from two sessions to a device that acks as it goes."""
    device, pushers = await relay.device(), [await relay.pusher() for _ in range(2)]
    envelopes = [[wire.blob(100 + n) for n in range(150)] for _ in pushers]
    pushing = [asyncio.create_task(p.stores(device.device, *mine)) for p, mine in zip(pushers, envelopes, strict=True)]
    missing = {envelope for mine in envelopes for envelope in mine}
    while missing:
        frame = await device.expect(Deliver, "TS-SES-08")
        missing.discard(frame.envelope)
        await device.send(DeliverAck(frame.blob_id))
    await asyncio.gather(*pushing)
    await device.fence()
    await device.close()
    await relay.expect_only(await relay.device(device.device), clause="TS-DACK-04")


@clauses("TS-SES-07", "TS-DLV-08")
async def test_two_sessions_of_one_device(relay: RelayUnderTest, trial: Trial) -> None:
    """At least one of them gets the blob; which, and whether the older stays, is recorded."""
    older = await relay.device()
    newer, envelope = await relay.device(older.device), wire.blob()
    await (await relay.pusher()).stores(older.device, envelope)
    await newer.fence("TS-SES-07")
    heard = [
        any(isinstance(f, Deliver) and f.envelope == envelope for f in line.inbox.drain()) for line in (older, newer)
    ]
    if not any(heard):
        await newer.expect_delivery(envelope, "TS-SES-07")
    trial.info(f"older got it: {heard[0]}, newer: {heard[1]}")
