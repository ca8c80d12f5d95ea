"""The size limit: exactly so many bytes of envelope, the protocol's or the operator's."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Trial
from reference_impl.trueseal.frames import Ack, Error, Hangup
from suites.trueseal import wire
from suites.trueseal.relay.under_test import LOWERED, RelayUnderTest


@clauses("TS-SIZE-01", "TS-ACK-01")
@needs("large_frames")
async def test_the_largest_envelope_goes_through(relay: RelayUnderTest) -> None:
    """Exactly 1,048,576 bytes are Acked and delivered."""
    device, pusher, envelope = await relay.device(), await relay.pusher(), wire.blob(wire.LIMIT)
    await pusher.stores(device.device, envelope, clause="TS-SIZE-01")
    await device.expect_delivery(envelope, "TS-SIZE-01")


@clauses("TS-SIZE-01", "TS-SIZE-05", "TS-SIZE-06", "TS-SIZE-07", "TS-SIZE-09")
@axis("over", [1, 2, 1_000, 300_000])
@needs("large_frames")
async def test_an_envelope_over_the_limit_is_rejected(relay: RelayUnderTest, over: int) -> None:
    """One byte more, and many more: an Error, no Ack, nothing stored."""
    device, pusher = await relay.device(), await relay.pusher()
    await pusher.plain(*wire.cut(wire.push(device.device.public, wire.blob(wire.LIMIT + over))))
    heard = await pusher.next("an Error", "TS-SIZE-05")
    pusher.trial.expect(not isinstance(heard, Ack), "no Ack", heard, "TS-SIZE-01")
    pusher.trial.expect(isinstance(heard, Error), "an Error", heard, "TS-SIZE-05")
    await relay.expect_only(device, clause="TS-SIZE-07")


@clauses("TS-FRM-02", "TS-FRM-01", "TS-DLV-01")
@axis("size", [wire.FITS + 1, 65_504, 65_505, 65_506, 65_507, 131_025, 131_038, 700_000])
@needs("large_frames")
async def test_envelopes_around_a_noise_message(relay: RelayUnderTest, size: int) -> None:
    """What does not fit into one Noise message goes on in the next, both ways."""
    device, pusher, envelope = await relay.device(), await relay.pusher(), wire.blob(size)
    await pusher.stores(device.device, envelope, clause="TS-FRM-02")
    await device.expect_delivery(envelope, "TS-FRM-02")
    await device.expect_silence("TS-FRM-01")


@clauses("TS-DLV-01", "TS-FRM-01")
@needs("large_frames")
async def test_nothing_comes_between_the_messages_of_a_frame(relay: RelayUnderTest) -> None:
    """Heartbeats and other blobs, while a large one is on its way: each frame is whole."""
    device, pusher = await relay.device(), await relay.pusher()
    envelopes = [wire.blob(size) for size in (300_000, 50, 200_000, 60)]
    for envelope in envelopes:
        await pusher.push(device.device, envelope)
        await device.plain(wire.BEAT)
    await device.expect_deliveries(envelopes, "TS-DLV-01")
    await pusher.expect_answers(*[Ack] * 4)


@clauses("TS-FRM-06")
@needs("large_frames")
async def test_a_frame_in_small_messages(relay: RelayUnderTest, trial: Trial) -> None:
    """The header alone, then the body in pieces: one Push, or none. A frame that fits travels in one message (sheet 2.2)."""
    device, pusher, envelope = await relay.device(), await relay.pusher(), wire.blob(3_000)
    whole = wire.push(device.device.public, envelope)
    await pusher.plain(whole[:5], whole[5:6], whole[6:40], whole[40:2_000], whole[2_000:])
    if isinstance(await pusher.next("an Ack, or the end", "TS-FRM-06"), Ack):
        await device.expect_delivery(envelope, "TS-FRM-06")
        return
    trial.info("refuses a frame that would fit into one message and comes in several")
    await device.expect_silence("TS-FRM-06")


@clauses("TS-SIZE-02", "TS-SIZE-08")
@axis("under", [0, 1, 31, 32, 36, 37])
async def test_the_limit_counts_the_envelope_alone(strict_relay: RelayUnderTest, under: int) -> None:
    """Up to the operator's limit every envelope is taken: neither key nor header counts."""
    device, pusher = await strict_relay.device(), await strict_relay.pusher()
    envelope = wire.blob(LOWERED - under)
    await pusher.stores(device.device, envelope, clause="TS-SIZE-02")
    await device.expect_delivery(envelope, "TS-SIZE-02")


@clauses("TS-SIZE-05", "TS-SIZE-02", "TS-SIZE-06", "TS-SIZE-07", "TS-SIZE-08", "TS-SIZE-09", "TS-ERR-01", "TS-ERR-03")
@axis("over", [1, 2, 32, 50_000])
async def test_an_envelope_over_the_operators_limit_is_rejected(strict_relay: RelayUnderTest, over: int) -> None:
    """An Error, no Ack, nothing stored."""
    device, pusher = await strict_relay.device(), await strict_relay.pusher()
    await pusher.push(device.device, wire.blob(LOWERED + over))
    heard = await pusher.next("an Error", "TS-SIZE-05")
    pusher.trial.expect(not isinstance(heard, Ack), "no Ack", heard, "TS-SIZE-06")
    pusher.trial.expect(isinstance(heard, Error), "an Error", heard, "TS-SIZE-05")
    await strict_relay.expect_only(device, clause="TS-SIZE-07")


@clauses("TS-ERR-07")
async def test_an_envelope_over_the_limit_is_rejected_each_time(strict_relay: RelayUnderTest) -> None:
    """The same blob, three times in new sessions."""
    envelope = wire.blob(LOWERED + 1)
    device = await strict_relay.device()
    for _ in range(3):
        pusher = await strict_relay.pusher()
        await pusher.push(device.device, envelope)
        await pusher.expect(Error, "TS-ERR-07")


@clauses("TS-ERR-08", "TS-ACK-06")
async def test_a_session_outlives_a_rejected_size(strict_relay: RelayUnderTest, trial: Trial) -> None:
    """Too large, then good: an Error, then an Ack."""
    device, pusher, envelope = await strict_relay.device(), await strict_relay.pusher(), wire.blob(LOWERED)
    await pusher.push(device.device, wire.blob(LOWERED + 1), envelope)
    await pusher.expect(Error, "TS-SIZE-05")
    heard = await pusher.next("an Ack", "TS-ERR-08")
    trial.expect(isinstance(heard, Ack), "an Ack", heard, "TS-ERR-08" if isinstance(heard, Hangup) else "TS-ACK-06")
    await device.expect_delivery(envelope, "TS-ERR-08")
