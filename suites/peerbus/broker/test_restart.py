"""Sections 2 to 5 across a restart: what was written is read back as it was, neither less nor more."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from suites.common.names import unique
from suites.peerbus.broker.under_test import BrokerLine, PrivateBroker
from suites.peerbus.envelopes import message

ALIKE = {
    "case": ("kA", "ka"),
    "beginning": ("m1", "m10"),
    "underscore": ("a_c", "abc"),
    "percent": ("a%", "abc"),
    "blank": ("x", "x "),
    "bar": ("b", "b|c"),
}
NAMES = {
    "capitals": "PeerA",
    "100-characters": "n" * 99 + "A",
    "decomposed": "e\u0301",
    "blanks": " a b ",
    "like-a-number": "007",
}


async def queued(sender: BrokerLine, name: str, count: int) -> list[str]:
    """The ids of so many messages to that name, which the broker has read."""
    sent = [message(sender.name, name) for _ in range(count)]
    await sender.post(*sent)
    return [envelope.id for envelope in sent]


@clauses("PB-5-24", "PB-2.2-03")
@axis("ids", ALIKE)
async def test_an_ack_clears_its_own_key_alone(own_broker: PrivateBroker, ids: tuple[str, str]) -> None:
    """Keys that are alike are two keys, also for what is kept on disk."""
    sender, receiver = await own_broker.peer(), await own_broker.peer()
    acked, kept = (message(sender.name, receiver.name, b'{"n":1}', id) for id in ids)
    await sender.send(acked, kept)
    await receiver.deliveries(2)
    await receiver.ack(acked.id)
    await receiver.fence()
    await own_broker.restart()
    again, _ = await own_broker.register(receiver.name)
    await again.expect_delivery(kept, clause="PB-5-24")
    await again.expect_silence("PB-5-24")


@clauses("PB-2.4-10", "PB-3-30", "PB-3-29")
async def test_copies_are_kept_one_by_one(own_broker: PrivateBroker) -> None:
    """One recipient acks its copy of a broadcast; after a restart the others' come, under their own keys."""
    sender, one, two, three = await own_broker.peers(4)
    envelope = await sender.broadcast()
    for receiver in (one, two, three):
        await receiver.expect_copy(envelope, "PB-3-29")
    await one.ack(f"{envelope.id}|{one.name}")
    await one.fence()
    await own_broker.restart()
    for receiver in (two, three):
        again, _ = await own_broker.register(receiver.name)
        again.name = receiver.name
        await again.expect_copy(envelope, "PB-2.4-10")
    again, _ = await own_broker.register(one.name)
    await again.expect_silence("PB-2.4-10")


@clauses("PB-5-13")
async def test_what_comes_after_a_restart_comes_behind(own_broker: PrivateBroker, trial: Trial) -> None:
    """Three queued before a restart and three after it are flushed in the order of sending."""
    sender = await own_broker.peer()
    name = await own_broker.absent(sender)
    wanted = await queued(sender, name, 3)
    await own_broker.restart()
    wanted += await queued(await own_broker.peer(sender.name), name, 3)
    receiver, _ = await own_broker.register(name)
    got = [delivery.delivery_key for delivery in await receiver.deliveries(6, "PB-5-13")]
    trial.expect(got == wanted, f"{wanted}", got)


@clauses("PB-2.1-22", "PB-3-24")
@axis("name", NAMES)
async def test_a_name_is_known_as_it_was_given(own_broker: PrivateBroker, name: str) -> None:
    """Who registered once is known after a restart, under the very same name."""
    await own_broker.peer(name)
    await own_broker.restart()
    await own_broker.expect_known(name, "PB-2.1-22")


@clauses("PB-5-02", "PB-2.1-23", "PB-5-01")
async def test_a_second_restart_loses_nothing(own_broker: PrivateBroker) -> None:
    """What was read back and not delivered is still kept."""
    sender = await own_broker.peer()
    name = await own_broker.absent(sender)
    envelope = message(sender.name, name)
    await sender.post(envelope)
    for _ in range(2):
        await own_broker.restart()
    receiver, _ = await own_broker.register(name)
    await receiver.expect_delivery(envelope, clause="PB-5-02")


@clauses("PB-3-26")
async def test_an_acked_id_is_not_new_after_a_restart(own_broker: PrivateBroker) -> None:
    """The first row stands though it was acked: another message under its id is none."""
    sender, receiver = await own_broker.peer(), await own_broker.peer()
    first = await sender.reaches(receiver)
    await receiver.ack(first.id)
    await receiver.fence()
    await own_broker.restart()
    sender, (again, _) = await own_broker.peer(sender.name), await own_broker.register(receiver.name)
    again.name = receiver.name
    await sender.send(message(sender.name, again.name, b'"second"', first.id))
    await sender.reaches(again, message(sender.name, again.name, b'"third"', unique("third")), "PB-3-26")
