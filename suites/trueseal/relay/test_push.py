"""Push, Ack and Error: what is stored, for whom, and which answer comes when."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Trial
from reference_impl.trueseal.frames import Ack, Error, Hangup
from suites.trueseal import wire
from suites.trueseal.relay.under_test import Device, PrivateRelay, RelayUnderTest, device_with


@clauses("TS-ACK-01", "TS-ACK-02", "TS-PUSH-01", "TS-SES-08")
async def test_a_push_is_acked_and_delivered(relay: RelayUnderTest) -> None:
    """One Push, one Ack, one delivery."""
    device, pusher, envelope = await relay.device(), await relay.pusher(), wire.envelope()
    await pusher.stores(device.device, envelope)
    await device.expect_delivery(envelope)
    await pusher.expect_silence("TS-ACK-01")
    await device.expect_silence("TS-PUSH-01")


@clauses("TS-PUSH-04", "TS-DLV-05")
@axis("envelope", wire.ODD_ENVELOPES)
async def test_the_envelope_is_opaque(relay: RelayUnderTest, envelope: bytes) -> None:
    """Whatever it holds, it arrives byte for byte."""
    device, pusher = await relay.device(), await relay.pusher()
    await pusher.stores(device.device, envelope, clause="TS-PUSH-04")
    await device.expect_delivery(envelope, "TS-PUSH-04")


@clauses("TS-PUSH-05")
async def test_an_empty_envelope_is_an_envelope(relay: RelayUnderTest) -> None:
    """A body of exactly 32 bytes is Acked, and delivered as 8 bytes of id."""
    device, pusher = await relay.device(), await relay.pusher()
    await pusher.stores(device.device, b"", clause="TS-PUSH-05")
    await device.expect_delivery(b"", "TS-PUSH-05")


@clauses("TS-PUSH-02", "TS-DLV-10", "TS-SES-04")
async def test_each_inbox_gets_its_own(relay: RelayUnderTest) -> None:
    """Two recipients, pushes in turn in one session: neither gets what is the other's."""
    one, other, pusher = await relay.device(), await relay.device(), await relay.pusher()
    mine, theirs = [wire.blob() for _ in range(5)], [wire.blob() for _ in range(5)]
    for pair in zip(mine, theirs, strict=True):
        await pusher.push(one.device, pair[0])
        await pusher.push(other.device, pair[1])
    await pusher.expect_answers(*[Ack] * 10)
    await one.expect_deliveries(mine, "TS-PUSH-02")
    await other.expect_deliveries(theirs, "TS-PUSH-02")
    await one.expect_silence("TS-PUSH-02")
    await other.expect_silence("TS-PUSH-02")


@clauses("TS-PUSH-02")
@axis("byte", [0, 1, 15, 16, 30, 31])
async def test_keys_that_differ_in_one_byte_are_two(relay: RelayUnderTest, byte: int) -> None:
    """The whole key selects the inbox: a neighbour's blob does not come."""
    device, pusher = await relay.device(), await relay.pusher()
    key = bytearray(device.device.public)
    key[byte] ^= 1
    await pusher.stores(bytes(key), wire.blob())
    await relay.expect_only(device, clause="TS-PUSH-02")


@clauses("TS-PUSH-03", "TS-DLV-10")
async def test_the_prefix_alone_routes(relay: RelayUnderTest) -> None:
    """An Envelope that names another recipient goes to the key in front of it."""
    one, other, pusher = await relay.device(), await relay.device(), await relay.pusher()
    envelope = wire.envelope(recipient=other.device.public)
    await pusher.stores(one.device, envelope)
    await one.expect_delivery(envelope, "TS-PUSH-03")
    await relay.expect_only(other, clause="TS-PUSH-03")


@clauses("TS-PUSH-06", "TS-PUSH-07", "TS-ERR-01", "TS-ERR-02")
@axis("size", [0, 1, 8, 31])
async def test_a_short_body_is_rejected(relay: RelayUnderTest, size: int) -> None:
    """One Error, and no Ack before or after it."""
    pusher = await relay.pusher()
    await pusher.plain(wire.frame(wire.PUSH, Device().public[:size]))
    await pusher.expect(Error, "TS-PUSH-06")
    await pusher.plain(wire.BEAT)
    heard = await pusher.next("a Heartbeat or the end", beats=True)
    pusher.trial.expect(not isinstance(heard, Ack | Error), "no second answer", heard, "TS-PUSH-07")


@clauses("TS-PUSH-08", "TS-ERR-03")
async def test_nothing_of_a_short_push_is_stored(relay: RelayUnderTest) -> None:
    """31 bytes of a key that ends with a zero: nothing arrives under it, though it is what they would be when filled up."""
    device = await relay.device(device_with(lambda key: key[-1] == 0))
    pusher = await relay.pusher()
    await pusher.plain(wire.frame(wire.PUSH, device.device.public[:31]))
    await pusher.expect(Error, "TS-PUSH-06")
    await device.close()
    await relay.expect_only(await relay.device(device.device), clause="TS-PUSH-08")


@clauses("TS-ERR-07", "TS-ERR-01")
async def test_a_rejection_is_repeatable(relay: RelayUnderTest) -> None:
    """The same short Push, three times in new sessions: an Error each time."""
    for _ in range(3):
        pusher = await relay.pusher()
        await pusher.plain(wire.frame(wire.PUSH, bytes(31)))
        await pusher.expect(Error, "TS-ERR-07")


@clauses("TS-ERR-08", "TS-PUSH-07")
async def test_a_session_outlives_an_error(relay: RelayUnderTest) -> None:
    """The rejection is of one blob: a good Push behind it gets its own Ack."""
    device, pusher, envelope = await relay.device(), await relay.pusher(), wire.blob()
    await pusher.plain(wire.frame(wire.PUSH, bytes(31)))
    await pusher.expect(Error, "TS-PUSH-06")
    await pusher.push(device.device, envelope)
    heard = await pusher.next("an Ack", "TS-ERR-08")
    pusher.trial.expect(isinstance(heard, Ack), "an Ack", heard, "TS-ERR-08")
    await device.expect_delivery(envelope, "TS-ERR-08")


@clauses("TS-ACK-06", "TS-SES-08")
@axis("count", [2, 20, 100])
async def test_each_push_of_a_pipeline_is_answered_once(relay: RelayUnderTest, count: int) -> None:
    """So many pushes at once, so many Acks, and not one more."""
    device, pusher = await relay.device(), await relay.pusher()
    envelopes = [wire.blob() for _ in range(count)]
    await pusher.push(device.device, *envelopes)
    await pusher.expect_answers(*[Ack] * count, clause="TS-ACK-06")
    await pusher.expect_silence("TS-ACK-06")
    await device.expect_deliveries(envelopes, "TS-ACK-06")


@clauses("TS-ACK-06", "TS-ERR-08")
async def test_answers_come_in_the_order_of_the_pushes(relay: RelayUnderTest) -> None:
    """Good, short, good, short, short, good: the answers in the same order."""
    device, pusher = Device(), await relay.pusher()
    for good in (True, False, True, False, False, True):
        await pusher.plain(wire.push(device.public, wire.blob()) if good else wire.frame(wire.PUSH, bytes(31)))
    wanted = (Ack, Error, Ack, Error, Error, Ack)
    for n, kind in enumerate(wanted):
        heard = await pusher.next(kind.__name__, "TS-ACK-06")
        clause = "TS-ERR-08" if n > 1 and isinstance(heard, Hangup) else "TS-ACK-06"
        pusher.trial.expect(isinstance(heard, kind), f"{kind.__name__} as answer {n + 1}", heard, clause)


@clauses("TS-ACK-04")
async def test_the_ack_does_not_wait_for_the_recipient(relay: RelayUnderTest) -> None:
    """Nobody has ever been connected under this key."""
    await (await relay.pusher()).stores(Device(), wire.blob(), clause="TS-ACK-04")


@clauses("TS-ACK-04")
async def test_a_recipient_that_does_not_read_holds_nobody_up(relay: RelayUnderTest) -> None:
    """Megabytes wait for a device that is connected and deaf: each Push is Acked, and another device is served."""
    deaf, other, pusher = await relay.device(), await relay.device(), await relay.pusher()
    deaf.stop_reading()
    for _ in range(100):
        await pusher.stores(deaf.device, wire.blob(60_000), clause="TS-ACK-04")
    await relay.expect_only(other, clause="TS-ACK-04")


@clauses("TS-ACK-05", "TS-SES-09")
async def test_what_is_acked_is_there(relay: RelayUnderTest) -> None:
    """Whoever connects at once behind the Ack gets it, thirty times over."""
    pusher = await relay.pusher()
    for _ in range(30):
        device, envelope = Device(), wire.blob()
        await pusher.stores(device, envelope, clause="TS-ACK-05")
        line = await relay.device(device)
        await line.expect_delivery(envelope, "TS-ACK-05")
        await line.close()


@clauses("TS-ACK-05", "TS-ERR-06")
@needs("store_failure")
async def test_a_store_that_fails_gives_no_answer(own_relay: PrivateRelay) -> None:
    """Neither Ack, since it is not stored, nor Error, since it is not rejected: the session ends."""
    pusher = await own_relay.pusher()
    await own_relay.instance.do("break_store")
    await pusher.push(Device(), wire.blob())
    heard = await pusher.next("the end of the session", "TS-ACK-05")
    pusher.trial.expect(not isinstance(heard, Ack), "no Ack", heard, "TS-ACK-05")
    pusher.trial.expect(isinstance(heard, Hangup), "the end of the session", heard, "TS-ERR-06")


@clauses("TS-ERR-06")
async def test_nothing_else_is_rejected(relay: RelayUnderTest) -> None:
    """A key that is no point of the curve, a zero key, a blob pushed before, a device that is its own sender: all stored."""
    pusher, device = await relay.pusher(), await relay.device()
    envelope = wire.blob()
    for key in (bytes(32), b"\xff" * 32, device.device.public, device.device.public):
        await pusher.stores(key, envelope, clause="TS-ERR-06")
    await device.expect_deliveries([envelope, envelope], "TS-ERR-06")


@clauses("TS-SES-12", "TS-DLV-02")
async def test_the_same_blob_twice_is_two(relay: RelayUnderTest, trial: Trial) -> None:
    """In two sessions: two Acks, two deliveries, two ids."""
    device, envelope = await relay.device(), wire.blob()
    for _ in range(2):
        await (await relay.pusher()).stores(device.device, envelope, clause="TS-SES-12")
    got = await device.expect_deliveries([envelope, envelope], "TS-SES-12")
    trial.expect(got[0].blob_id != got[1].blob_id, "two ids", got, "TS-DLV-02")
