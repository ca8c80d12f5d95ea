"""Sections 3 and 5: SIGKILL the broker at any moment; what a recipient had not acked is not lost."""

from __future__ import annotations

import asyncio

from blake3 import blake3

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Trial
from reference_impl.peerbus.frames import Deliver
from suites.peerbus.broker.under_test import PrivateBroker
from suites.peerbus.envelopes import message


@clauses("PB-3-22", "PB-5-01")
async def test_delivered_and_unacked_comes_again_after_a_crash(own_broker: PrivateBroker) -> None:
    """Killed the moment the recipient has it: it was persisted before, so it comes again."""
    sender, receiver = await own_broker.peer(), await own_broker.peer()
    envelope = await sender.reaches(receiver)
    await own_broker.restart()
    again, _ = await own_broker.register(receiver.name)
    await again.expect_delivery(envelope, clause="PB-3-22")


@clauses("PB-5-01", "PB-6-12")
async def test_queued_message_survives_a_crash(own_broker: PrivateBroker) -> None:
    """Queued for an absent peer, killed, restarted: delivered at its register."""
    sender = await own_broker.peer()
    name = await own_broker.absent(sender)
    envelope = message(sender.name, name)
    await sender.post(envelope)
    await own_broker.restart()
    receiver, _ = await own_broker.register(name)
    await receiver.expect_delivery(envelope, clause="PB-5-01")


@clauses("PB-2.2-04")
async def test_acked_message_stays_acked_after_a_crash(own_broker: PrivateBroker) -> None:
    """An ack that was processed is durable too."""
    sender, receiver = await own_broker.peer(), await own_broker.peer()
    envelope = await sender.reaches(receiver)
    await receiver.ack(envelope.id)
    await receiver.fence()
    await own_broker.restart()
    again, _ = await own_broker.register(receiver.name)
    await again.expect_silence("PB-2.2-04")


@clauses("PB-3-26")
async def test_duplicate_id_is_a_no_op_after_a_crash(own_broker: PrivateBroker) -> None:
    """The first row stands across a restart."""
    sender, receiver = await own_broker.peer(), await own_broker.peer()
    first = await sender.reaches(receiver, message(sender.name, receiver.name, b'"first"'))
    await own_broker.restart()
    sender, (again, _) = await own_broker.peer(sender.name), await own_broker.register(receiver.name)
    await again.expect_delivery(first)
    await sender.send(message(sender.name, receiver.name, b'"second"', first.id))
    await sender.reaches(again, clause="PB-3-26")


@clauses("PB-5-13", "PB-5-24")
async def test_order_and_content_survive_a_crash(own_broker: PrivateBroker, trial: Trial) -> None:
    """Acked, unacked and queued: exactly the unacked come back, in order."""
    sender, receiver = await own_broker.peer(), await own_broker.peer()
    sent = [message(sender.name, receiver.name) for _ in range(20)]
    await sender.send(*sent)
    await receiver.deliveries(20)
    await receiver.ack(*(e.id for e in sent[::3]))
    await receiver.fence()
    await own_broker.restart()
    again, _ = await own_broker.register(receiver.name)
    wanted = [e.id for n, e in enumerate(sent) if n % 3]
    got = [d.delivery_key for d in await again.deliveries(len(wanted), "PB-5-24")]
    trial.expect(got == wanted, "the unacked ones in order", got, "PB-5-24")
    await again.expect_silence("PB-5-24")


@clauses("PB-5-01", "PB-3-22", "PB-2.4-11")
@axis("moment", [0, 1, 2, 3, 4, 5])
async def test_kill_at_any_moment_loses_nothing_that_was_seen(own_broker: PrivateBroker, moment: int) -> None:
    """Killed in the middle of a stream: whatever was delivered and not acked is delivered again."""
    sender, receiver = await own_broker.peer(), await own_broker.peer()
    sent = [message(sender.name, receiver.name) for _ in range(60)]
    streaming = asyncio.create_task(sender.send(*sent))
    seen = [d.delivery_key for d in await receiver.deliveries(1 + moment * 9)]
    await receiver.ack(*seen[: moment * 2])
    await own_broker.kill()
    await asyncio.gather(streaming, return_exceptions=True)
    acked = set(seen[: moment * 2])
    seen += [f.delivery_key for f in receiver.waiting_deliveries()]
    await own_broker.restart()
    again, _ = await own_broker.register(receiver.name)
    owed = set(seen) - acked
    while owed:  # an ack that was under way when it died may not count, so acked ones may come too
        owed.discard((await again.expect(Deliver, "PB-5-01")).delivery_key)


@clauses("PB-6-13", "PB-6-14", "PB-6-15")
@needs("audit")
async def test_audit_chain_is_sound(own_broker: PrivateBroker, trial: Trial) -> None:
    """send, deliver and ack are recorded, each hash follows from the one before, and a crash breaks nothing."""
    sender, receiver = await own_broker.peer(), await own_broker.peer()
    envelope = await sender.reaches(receiver)
    await receiver.ack(envelope.id)
    await receiver.fence()
    before = (await own_broker.instance.do("audit"))["chain"]
    await own_broker.restart()
    after = (await own_broker.instance.do("audit"))["chain"]
    trial.expect(after[: len(before)] == before, "the chain as it was", "rows changed or gone", "PB-6-14")
    previous = blake3(b"").hexdigest()
    for event, hash in after:
        wanted = blake3(previous.encode() + bytes.fromhex(event)).hexdigest()
        trial.expect(hash == wanted, wanted, hash, "PB-6-13")
        previous = hash
    text = b"\n".join(bytes.fromhex(event) for event, _ in before)
    for kind in (b'"deliver"', b'"ack"'):
        trial.expect(kind in text, f"an event {kind.decode()}", text.decode(), "PB-6-15")
