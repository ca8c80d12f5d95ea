"""Sections 3 and 5: one message for everybody who is there."""

from __future__ import annotations

from harness.catalogue.cases import clauses
from harness.judging.trial import Trial
from suites.peerbus.broker.under_test import BrokerLine, BrokerUnderTest, PrivateBroker
from suites.peerbus.envelopes import SECRET, codec, message


@clauses("PB-3-27", "PB-5-16")
async def test_everybody_connected_gets_a_copy(broker: BrokerUnderTest) -> None:
    """Four peers online: the three others get one copy each."""
    sender, *others = await broker.peers(4)
    envelope = await sender.broadcast()
    await sender.fence()
    for other in others:
        await other.expect_copy(envelope, "PB-3-27")
        await other.expect_silence("PB-3-27")


@clauses("PB-3-28")
async def test_sender_gets_no_copy(broker: BrokerUnderTest) -> None:
    """A broadcast does not come back to who sent it."""
    sender, other = await broker.peer(), await broker.peer()
    envelope = await sender.broadcast()
    await other.expect_copy(envelope)
    await sender.expect_silence("PB-3-28")


@clauses("PB-3-28")
async def test_broadcast_to_nobody_is_a_no_op(own_broker: PrivateBroker) -> None:
    """Alone on the broker, a broadcast does nothing."""
    sender = await own_broker.peer()
    await sender.broadcast()
    await sender.expect_silence()


@clauses("PB-3-33", "PB-5-16")
async def test_no_backfill_for_a_later_peer(broker: BrokerUnderTest, sender: BrokerLine) -> None:
    """Who registers after the broadcast does not get it."""
    await sender.broadcast()
    await sender.fence()
    late, _ = await broker.register()
    await sender.reaches(late, clause="PB-3-33")


@clauses("PB-3-35", "PB-5-16")
async def test_known_but_offline_peer_gets_no_copy(broker: BrokerUnderTest, sender: BrokerLine) -> None:
    """Registered at send time means connected: who was away finds nothing."""
    name = await broker.absent(sender)
    await sender.broadcast()
    await sender.fence()
    back, _ = await broker.register(name)
    await back.expect_silence("PB-3-35")


@clauses("PB-2.4-10", "PB-3-30")
async def test_copies_are_acked_one_by_one(broker: BrokerUnderTest) -> None:
    """One recipient acks its copy: the other's copy stays."""
    sender, one, two = await broker.peers(3)
    envelope = await sender.broadcast()
    await one.expect_copy(envelope)
    await two.expect_copy(envelope)
    await one.ack(f"{envelope.id}|{one.name}")
    await one.fence()
    await broker.leave(one, sender)
    await broker.leave(two, sender)
    one, _ = await broker.register(one.name)
    await one.expect_silence("PB-2.4-10")
    two, _ = await broker.register(two.name)
    await two.expect_copy(envelope, "PB-2.4-10")


@clauses("PB-2.4-09", "PB-2.4-10")
async def test_ack_of_the_bare_id_does_not_clear_a_copy(broker: BrokerUnderTest) -> None:
    """A copy is acked by its key; the envelope's id is not it."""
    sender, one = await broker.peer(), await broker.peer()
    envelope = await sender.broadcast()
    await one.expect_copy(envelope)
    await one.ack(envelope.id)
    await one.fence()
    one = await broker.back(one, sender)
    await one.expect_copy(envelope, "PB-2.4-10")


@clauses("PB-3-30", "PB-3-26")
async def test_same_broadcast_again_yields_no_second_copy(broker: BrokerUnderTest) -> None:
    """A broadcast id used before is a no-op for who already has a row."""
    sender, other = await broker.peer(), await broker.peer()
    envelope = message(sender.name, "*")
    await sender.send(envelope, envelope)
    await other.expect_copy(envelope)
    await sender.reaches(other, clause="PB-3-30")


@clauses("PB-3-34", "PB-2.4-08", "PB-4-23", "PB-3-32")
async def test_signature_verifies_on_every_copy(broker: BrokerUnderTest, trial: Trial) -> None:
    """to, id and hmac are the sender's, and the MAC, which does not cover the key, verifies."""
    sender, *others = await broker.peers(3)
    envelope = message(sender.name, "*", b'{"z":1,"a":[2]}')
    await sender.send(envelope)
    for other in others:
        [got] = await other.deliveries(1)
        trial.expect(got.envelope == envelope, str(envelope), got.envelope, "PB-2.4-08")
        trial.expect(codec.signing.verify(got.envelope, SECRET), "a MAC that verifies", got.envelope.hmac, "PB-3-34")


@clauses("PB-3-31", "PB-3-29")
async def test_copy_after_a_restart_is_the_signed_one(own_broker: PrivateBroker, trial: Trial) -> None:
    """What was persisted is the sender's envelope too."""
    sender, other = await own_broker.peer(), await own_broker.peer()
    envelope = await sender.broadcast()
    live = await other.expect_copy(envelope)
    await own_broker.restart()
    again, _ = await own_broker.register(other.name)
    stored = await again.expect_delivery(envelope, f"{envelope.id}|{other.name}", "PB-3-31")
    trial.expect(codec.signing.verify(stored.envelope, SECRET) and stored == live, str(live), stored, "PB-3-31")
