"""Sections 3 and 5: one message for everybody who is there."""

from __future__ import annotations

from harness.cases import clauses
from harness.trial import Trial
from suites.peerbus.bus import SECRET, Bus, PrivateBus, codec, message, unique


@clauses("PB-3-27", "PB-5-16")
async def test_everybody_connected_gets_a_copy(bus: Bus) -> None:
    """Four peers online: the three others get one copy each."""
    sender, *others = [await bus.peer() for _ in range(4)]
    envelope = message(sender.name, "*")
    await sender.send(envelope)
    await sender.fence()
    for other in others:
        await other.expect_delivery(envelope, f"{envelope.id}|{other.name}", "PB-3-27")
        await other.expect_silence("PB-3-27")


@clauses("PB-3-28")
async def test_sender_gets_no_copy(bus: Bus) -> None:
    """A broadcast does not come back to who sent it."""
    sender, other = await bus.peer(), await bus.peer()
    envelope = message(sender.name, "*")
    await sender.send(envelope)
    await other.expect_delivery(envelope, f"{envelope.id}|{other.name}")
    await sender.expect_silence("PB-3-28")


@clauses("PB-3-28")
async def test_broadcast_to_nobody_is_a_no_op(own_bus: PrivateBus) -> None:
    """Alone on the broker, a broadcast does nothing."""
    sender = await own_bus.peer()
    await sender.send(message(sender.name, "*"))
    await sender.expect_silence()


@clauses("PB-3-33", "PB-5-16")
async def test_no_backfill_for_a_later_peer(bus: Bus) -> None:
    """Who registers after the broadcast does not get it."""
    sender = await bus.peer()
    await sender.send(message(sender.name, "*"))
    await sender.fence()
    late, _ = await bus.register()
    sentinel = message(sender.name, late.name)
    await sender.send(sentinel)
    await late.expect_delivery(sentinel, clause="PB-3-33")


@clauses("PB-3-35", "PB-5-16")
async def test_known_but_offline_peer_gets_no_copy(bus: Bus) -> None:
    """Registered at send time means connected: who was away finds nothing."""
    sender, name = await bus.peer(), unique("r")
    await bus.leave(await bus.peer(name), sender)
    await sender.send(message(sender.name, "*"))
    await sender.fence()
    back, _ = await bus.register(name)
    await back.expect_silence("PB-3-35")


@clauses("PB-2.4-10", "PB-3-30")
async def test_copies_are_acked_one_by_one(bus: Bus) -> None:
    """One recipient acks its copy: the other's copy stays."""
    sender, one, two = [await bus.peer() for _ in range(3)]
    envelope = message(sender.name, "*")
    await sender.send(envelope)
    await one.expect_delivery(envelope, f"{envelope.id}|{one.name}")
    await two.expect_delivery(envelope, f"{envelope.id}|{two.name}")
    await one.ack(f"{envelope.id}|{one.name}")
    await one.fence()
    await bus.leave(one, sender)
    await bus.leave(two, sender)
    one, _ = await bus.register(one.name)
    await one.expect_silence("PB-2.4-10")
    two, _ = await bus.register(two.name)
    await two.expect_delivery(envelope, f"{envelope.id}|{two.name}", "PB-2.4-10")


@clauses("PB-2.4-09", "PB-2.4-10")
async def test_ack_of_the_bare_id_does_not_clear_a_copy(bus: Bus) -> None:
    """A copy is acked by its key; the envelope's id is not it."""
    sender, one = await bus.peer(), await bus.peer()
    envelope = message(sender.name, "*")
    await sender.send(envelope)
    await one.expect_delivery(envelope, f"{envelope.id}|{one.name}")
    await one.ack(envelope.id)
    await one.fence()
    await bus.leave(one, sender)
    one, _ = await bus.register(one.name)
    await one.expect_delivery(envelope, f"{envelope.id}|{one.name}", "PB-2.4-10")


@clauses("PB-3-30", "PB-3-26")
async def test_same_broadcast_again_yields_no_second_copy(bus: Bus) -> None:
    """A broadcast id used before is a no-op for who already has a row."""
    sender, other = await bus.peer(), await bus.peer()
    envelope = message(sender.name, "*")
    await sender.send(envelope, envelope)
    await other.expect_delivery(envelope, f"{envelope.id}|{other.name}")
    sentinel = message(sender.name, other.name)
    await sender.send(sentinel)
    await other.expect_delivery(sentinel, clause="PB-3-30")


@clauses("PB-3-34", "PB-2.4-08", "PB-4-23", "PB-3-32")
async def test_signature_verifies_on_every_copy(bus: Bus, trial: Trial) -> None:
    """to, id and hmac are the sender's, and the MAC, which does not cover the key, verifies."""
    sender, *others = [await bus.peer() for _ in range(3)]
    envelope = message(sender.name, "*", b'{"z":1,"a":[2]}')
    await sender.send(envelope)
    for other in others:
        [got] = await other.deliveries(1)
        trial.expect(got.envelope == envelope, str(envelope), got.envelope, "PB-2.4-08")
        trial.expect(codec.signing.verify(got.envelope, SECRET), "a MAC that verifies", got.envelope.hmac, "PB-3-34")


@clauses("PB-3-31", "PB-3-29")
async def test_copy_after_a_restart_is_the_signed_one(own_bus: PrivateBus, trial: Trial) -> None:
    """What was persisted is the sender's envelope too."""
    sender, other = await own_bus.peer(), await own_bus.peer()
    envelope = message(sender.name, "*")
    await sender.send(envelope)
    live = await other.expect_delivery(envelope, f"{envelope.id}|{other.name}")
    await own_bus.restart()
    again, _ = await own_bus.register(other.name)
    stored = await again.expect_delivery(envelope, f"{envelope.id}|{other.name}", "PB-3-31")
    trial.expect(codec.signing.verify(stored.envelope, SECRET) and stored == live, str(live), stored, "PB-3-31")
