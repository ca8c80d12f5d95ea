"""Section 2.2: what an ack clears, and what it must not."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from suites.common.names import unique
from suites.peerbus.broker.under_test import ANYBODY_MAY_ACK, BrokerLine, BrokerUnderTest


async def delivered(broker: BrokerUnderTest) -> tuple[BrokerLine, BrokerLine, str]:
    """A sender, a receiver with one delivered message, and that message's key."""
    sender, receiver = await broker.peer(), await broker.peer()
    envelope = await sender.reaches(receiver)
    return sender, receiver, envelope.id


async def reconnected(broker: BrokerUnderTest, receiver: BrokerLine, witness: BrokerLine) -> BrokerLine:
    await broker.leave(receiver, witness)
    return (await broker.register(receiver.name))[0]


@clauses("PB-2.2-04", "PB-5-24")
async def test_acked_message_does_not_come_back(broker: BrokerUnderTest) -> None:
    """After an ack, a reconnect brings `peers` and nothing else."""
    sender, receiver, key = await delivered(broker)
    await receiver.ack(key)
    await receiver.fence()
    again = await reconnected(broker, receiver, sender)
    await again.expect_silence("PB-2.2-04")


@clauses("PB-2.2-06", "PB-2.2-09")
async def test_ack_of_an_unknown_id_is_a_silent_no_op(broker: BrokerUnderTest) -> None:
    """An id nobody knows is not answered and ends nothing."""
    peer = await broker.peer()
    await peer.ack(unique("nope"))
    await peer.expect_silence()


@clauses("PB-2.2-07", "PB-2.2-09")
async def test_second_ack_is_a_silent_no_op(broker: BrokerUnderTest) -> None:
    """The same ack again is not answered and ends nothing."""
    sender, receiver, key = await delivered(broker)
    await receiver.ack(key, key)
    await receiver.expect_silence()
    again = await reconnected(broker, receiver, sender)
    await again.expect_silence()


@clauses("PB-2.2-08")
@axis("id", {"empty": '"id":""', "absent": '"x":1', "null": '"id":null'})
async def test_ack_without_an_id_clears_nothing(broker: BrokerUnderTest, trial: Trial, id: str) -> None:
    """An ack with an empty id is ignored: what is pending stays pending."""
    sender, receiver, key = await delivered(broker)
    await receiver.text(f'{{"protocol_version":"v1","type":"ack",{id}}}')
    await receiver.expect_silence()
    again = await reconnected(broker, receiver, sender)
    [delivery] = await again.deliveries(1, "PB-2.2-08")
    trial.expect(delivery.delivery_key == key, key, delivery)


@clauses("PB-2.2-09")
async def test_ack_is_not_answered(broker: BrokerUnderTest) -> None:
    """The next frame after an ack is the fence's reply."""
    _, receiver, key = await delivered(broker)
    await receiver.ack(key)
    await receiver.expect_silence("PB-2.2-09")


@clauses("PB-2.2-06", "PB-2.2-03")
async def test_ack_by_somebody_else_clears_nothing(broker: BrokerUnderTest, trial: Trial) -> None:
    """A key acked by a peer it was not delivered to stays pending; clearing it lets anybody silence anybody."""
    sender, receiver, key = await delivered(broker)
    receiver = await reconnected(broker, receiver, sender)
    await receiver.deliveries(1, "PB-2.2-03")  # unacked it comes back: if it does not below, the stranger's ack did it
    stranger = await broker.peer()
    await stranger.ack(key)
    await stranger.fence()
    again = await reconnected(broker, receiver, sender)
    await again.fence()
    if not len(again.inbox):
        trial.warn("PB-2.2-06", ANYBODY_MAY_ACK)


@clauses("PB-2.2-03", "PB-5-02")
async def test_broadcast_copy_stays_until_acked(
    broker: BrokerUnderTest, sender: BrokerLine, receiver: BrokerLine
) -> None:
    """An unacked broadcast copy comes back at reconnect, like a direct message."""
    envelope = await sender.broadcast()
    key = f"{envelope.id}|{receiver.name}"
    await receiver.expect_delivery(envelope, key)
    again = await reconnected(broker, receiver, sender)
    await again.expect_delivery(envelope, key, "PB-2.2-03")
    await again.ack(key)
    await again.fence()
    last = await reconnected(broker, again, sender)
    await last.expect_silence("PB-2.2-04")
