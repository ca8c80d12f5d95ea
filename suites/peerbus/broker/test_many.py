"""Sections 2, 3 and 5: many peers, many messages, large bodies; the text sets no limit but the mebibyte."""

from __future__ import annotations

import asyncio

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.peerbus.frames import Close, Deliver
from suites.common.names import unique
from suites.peerbus.broker.under_test import BrokerLine, BrokerUnderTest, PrivateBroker
from suites.peerbus.envelopes import message

PEERS, BACKLOG = 20, 300
UNREAD, LARGE = 120, 80_000
"""So many messages of so many bytes are more than what the kernel keeps for a connection that nobody reads."""


@clauses("PB-2.3-02", "PB-2.1-25", "PB-3-27")
async def test_everybody_of_many_is_listed_and_served(broker: BrokerUnderTest, trial: Trial) -> None:
    """Twenty peers: each is on the list of the last to register, and gets its copy of a broadcast."""
    sender, *others = await broker.peers(PEERS)
    last, acked = await broker.register()
    wanted = {peer.name for peer in (sender, *others, last)}
    for names in (acked.names, (await sender.fence()).names):
        missing = sorted(wanted - set(names))
        trial.expect(not missing, f"all of {len(wanted)}", f"without {missing}", "PB-2.1-25")
    envelope = await sender.broadcast()
    for other in others:
        await other.expect_copy(envelope, "PB-3-27")


@clauses("PB-2.1-27", "PB-3-24", "PB-5-02")
async def test_a_long_backlog_comes_whole(broker: BrokerUnderTest, sender: BrokerLine, trial: Trial) -> None:
    """Three hundred messages for a peer that is away: all come at its register, the first too, though none is acked."""
    name = await broker.absent(sender)
    sent = [message(sender.name, name) for _ in range(BACKLOG)]
    await sender.post(*sent)
    receiver, _ = await broker.register(name)
    got = [delivery.delivery_key for delivery in await receiver.deliveries(BACKLOG, "PB-2.1-27")]
    missing = [at for at, envelope in enumerate(sent) if envelope.id not in got]
    trial.expect(not missing, f"all {BACKLOG}", f"without the messages at {missing[:5]}", "PB-3-24")


@clauses("PB-3-10", "PB-3-23")
@axis("size", [1023, 1024, 4096, 65_535, 65_536, 70_000])
async def test_a_large_body_comes_whole(sender: BrokerLine, receiver: BrokerLine, size: int) -> None:
    """A body may be any JSON value that fits into a message."""
    body = b'"%s"' % (b"x" * (size - 2))
    await sender.reaches(receiver, message(sender.name, receiver.name, body), "PB-3-10")


@clauses("PB-3-24", "PB-2.2-03", "PB-5-01", "PB-3-10")
@axis("size", [4096, 65_536, 1_000_000])
async def test_a_large_body_waits_as_a_small_one_does(own_broker: PrivateBroker, size: int) -> None:
    """Queued for a peer that is away, then unacked, then behind a crash: the whole of it comes each time."""
    sender = await own_broker.peer()
    name = await own_broker.absent(sender)
    envelope = message(sender.name, name, b'"%s"' % b"".join(b"%08x" % n for n in range(size // 8)))
    await sender.post(envelope)
    receiver, _ = await own_broker.register(name)
    await receiver.expect_delivery(envelope, clause="PB-3-24")
    again = await own_broker.back(receiver, sender)
    await again.expect_delivery(envelope, clause="PB-2.2-03")
    await own_broker.restart()
    last, _ = await own_broker.register(name)
    await last.expect_delivery(envelope, clause="PB-5-01")


@clauses("PB-3-23", "PB-5-12", "PB-5-02")
async def test_who_reads_late_gets_all(broker: BrokerUnderTest, sender: BrokerLine, trial: Trial) -> None:
    """Megabytes for a peer that does not read: once it does all come, in order; where the broker has hung up on it, when it
    is back. The sender may be held up meanwhile."""
    receiver = await broker.peer(name := unique("late"))
    sent = [message(sender.name, name, b'"%s"' % (b"%d " % n * (LARGE // 4))) for n in range(UNREAD)]
    receiver.carrier.connection.transport.pause_reading()
    sending = asyncio.create_task(sender.post(*sent))
    await asyncio.wait([sending], timeout=trial.patience_s)  # which only a broker takes that holds the sender up
    receiver.carrier.connection.transport.resume_reading()
    got: list[str] = []
    while len(got) < len(sent):
        match await receiver.next("a delivery", "PB-3-23"):
            case Close():
                receiver, _ = await broker.register(name)
                got = []
            case Deliver(key) if key not in got:
                got.append(key)
    await sending
    wanted = [envelope.id for envelope in sent]
    trial.expect(got == wanted, "all in send order", [wanted.index(key) for key in got], "PB-5-12")


@clauses("PB-5-13", "PB-5-14")
async def test_the_order_is_the_senders_not_its_connections(
    broker: BrokerUnderTest, receiver: BrokerLine, trial: Trial
) -> None:
    """Three messages on one connection and three on the next, to a peer that is away: flushed as they were sent."""
    sender = await broker.peer()
    name, ids = await broker.absent(receiver), []
    for line in (sender, None):
        line = line or await broker.back(sender, receiver)
        sent = [message(sender.name, name) for _ in range(3)]
        ids += [envelope.id for envelope in sent]
        await line.post(*sent)
    back, _ = await broker.register(name)
    got = [delivery.delivery_key for delivery in await back.deliveries(6, "PB-5-13")]
    trial.expect(got == ids, f"{ids}", got, "PB-5-13")


@clauses("PB-5-13")
async def test_copies_and_messages_keep_their_order(
    broker: BrokerUnderTest, sender: BrokerLine, receiver: BrokerLine, trial: Trial
) -> None:
    """A broadcast, a direct message and a broadcast, none acked: they come again in this order."""
    sent = [message(sender.name, to) for to in ("*", receiver.name, "*")]
    await sender.post(*sent)
    await receiver.deliveries(3)
    again = await broker.back(receiver, sender)
    got = [delivery.envelope.id for delivery in await again.deliveries(3, "PB-5-13")]
    wanted = [envelope.id for envelope in sent]
    trial.expect(got == wanted, f"{wanted}", got, "PB-5-13")
