"""Sections 3 and 5: SIGKILL the broker at any moment; what a recipient had not acked is not lost."""

from __future__ import annotations

import asyncio

from blake3 import blake3

from harness.cases import axis, clauses
from harness.targets import Target
from harness.trial import Trial
from reference_impl.peerbus.frames import Deliver
from suites.peerbus.bus import Peer, PrivateBus, message, unique


@clauses("PB-3-22", "PB-5-01")
async def test_delivered_and_unacked_comes_again_after_a_crash(own_bus: PrivateBus) -> None:
    """Killed the moment the recipient has it: it was persisted before, so it comes again."""
    sender, receiver = await own_bus.peer(), await own_bus.peer()
    envelope = message(sender.name, receiver.name)
    await sender.send(envelope)
    await receiver.expect_delivery(envelope)
    await own_bus.restart()
    again, _ = await own_bus.register(receiver.name)
    await again.expect_delivery(envelope, clause="PB-3-22")


@clauses("PB-5-01", "PB-6-12")
async def test_queued_message_survives_a_crash(own_bus: PrivateBus) -> None:
    """Queued for an absent peer, killed, restarted: delivered at its register."""
    sender, name = await own_bus.peer(), unique("r")
    await own_bus.leave(await own_bus.peer(name), sender)
    envelope = message(sender.name, name)
    await sender.send(envelope)
    await sender.fence()
    await own_bus.restart()
    receiver, _ = await own_bus.register(name)
    await receiver.expect_delivery(envelope, clause="PB-5-01")


@clauses("PB-2.2-04")
async def test_acked_message_stays_acked_after_a_crash(own_bus: PrivateBus) -> None:
    """An ack that was processed is durable too."""
    sender, receiver = await own_bus.peer(), await own_bus.peer()
    envelope = message(sender.name, receiver.name)
    await sender.send(envelope)
    await receiver.expect_delivery(envelope)
    await receiver.ack(envelope.id)
    await receiver.fence()
    await own_bus.restart()
    again, _ = await own_bus.register(receiver.name)
    await again.expect_silence("PB-2.2-04")


@clauses("PB-3-26")
async def test_duplicate_id_is_a_no_op_after_a_crash(own_bus: PrivateBus) -> None:
    """The first row stands across a restart."""
    sender, receiver = await own_bus.peer(), await own_bus.peer()
    first = message(sender.name, receiver.name, b'"first"')
    await sender.send(first)
    await receiver.expect_delivery(first)
    await own_bus.restart()
    sender, (again, _) = await own_bus.peer(sender.name), await own_bus.register(receiver.name)
    await again.expect_delivery(first)
    await sender.send(message(sender.name, receiver.name, b'"second"', first.id))
    sentinel = message(sender.name, receiver.name)
    await sender.send(sentinel)
    await again.expect_delivery(sentinel, clause="PB-3-26")


@clauses("PB-5-13", "PB-5-24")
async def test_order_and_content_survive_a_crash(own_bus: PrivateBus, trial: Trial) -> None:
    """Acked, unacked and queued: exactly the unacked come back, in order."""
    sender, receiver = await own_bus.peer(), await own_bus.peer()
    sent = [message(sender.name, receiver.name) for _ in range(20)]
    await sender.send(*sent)
    await receiver.deliveries(20)
    await receiver.ack(*(e.id for e in sent[::3]))
    await receiver.fence()
    await own_bus.restart()
    again, _ = await own_bus.register(receiver.name)
    wanted = [e.id for n, e in enumerate(sent) if n % 3]
    got = [d.delivery_key for d in await again.deliveries(len(wanted), "PB-5-24")]
    trial.expect(got == wanted, "the unacked ones in order", got, "PB-5-24")
    await again.expect_silence("PB-5-24")


@clauses("PB-5-01", "PB-3-22", "PB-2.4-11")
@axis("moment", [0, 1, 2, 3, 4, 5])
async def test_kill_at_any_moment_loses_nothing_that_was_seen(own_bus: PrivateBus, moment: int) -> None:
    """Killed in the middle of a stream: whatever was delivered and not acked is delivered again."""
    sender, receiver = await own_bus.peer(), await own_bus.peer()
    sent = [message(sender.name, receiver.name) for _ in range(60)]
    streaming = asyncio.create_task(sender.send(*sent))
    seen = [d.delivery_key for d in await receiver.deliveries(1 + moment * 9)]
    await receiver.ack(*seen[: moment * 2])
    await own_bus.kill()
    await asyncio.gather(streaming, return_exceptions=True)
    acked = set(seen[: moment * 2])
    seen += [f.delivery_key for f in waiting_deliveries(receiver)]
    await own_bus.restart()
    again, _ = await own_bus.register(receiver.name)
    owed = set(seen) - acked
    while owed:  # an ack that was under way when it died may not count, so acked ones may come too
        owed.discard((await again.expect(Deliver, "PB-5-01")).delivery_key)


def waiting_deliveries(peer: Peer) -> list[Deliver]:
    return [frame for frame in peer.drained() if isinstance(frame, Deliver)]


@clauses("PB-6-13", "PB-6-14", "PB-6-15")
async def test_audit_chain_is_sound(own_bus: PrivateBus, target: Target, trial: Trial) -> None:
    """send, deliver and ack are recorded, each hash follows from the one before, and a crash breaks nothing."""
    await target.need("peerbus/broker", "audit")
    sender, receiver = await own_bus.peer(), await own_bus.peer()
    envelope = message(sender.name, receiver.name)
    await sender.send(envelope)
    await receiver.expect_delivery(envelope)
    await receiver.ack(envelope.id)
    await receiver.fence()
    before = (await own_bus.instance.do("audit"))["chain"]
    await own_bus.restart()
    after = (await own_bus.instance.do("audit"))["chain"]
    trial.expect(after[: len(before)] == before, "the chain as it was", "rows changed or gone", "PB-6-14")
    previous = blake3(b"").hexdigest()
    for event, hash in after:
        wanted = blake3(previous.encode() + bytes.fromhex(event)).hexdigest()
        trial.expect(hash == wanted, wanted, hash, "PB-6-13")
        previous = hash
    text = b"\n".join(bytes.fromhex(event) for event, _ in before)
    for kind in (b'"deliver"', b'"ack"'):
        trial.expect(kind in text, f"an event {kind.decode()}", text.decode(), "PB-6-15")
