"""Section 5: messages of one sender keep their order; nothing is promised across senders."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from harness.catalogue.cases import clauses
from harness.judging.trial import Trial
from reference_impl.peerbus.frames import Deliver, Envelope
from suites.common.names import unique
from suites.peerbus.broker.under_test import BrokerLine, BrokerUnderTest
from suites.peerbus.envelopes import message

MANY = 200


def letter(sender: str, to: str, n: int) -> Envelope:
    """Nothing but when it was sent tells its place: ids are in no order, and later ones carry earlier times."""
    return message(sender, to, ts=f"2026-05-18T12:{59 - n // 60 % 60:02}:{59 - n % 60:02}Z")


def assert_in_order(trial: Trial, sent: list[Envelope], got: Iterable[Deliver], clause: str) -> None:
    """The first delivery of each id comes in the order of sending."""
    ids = [delivery.delivery_key for delivery in got]
    mine = {envelope.id for envelope in sent}
    first = list(dict.fromkeys(id for id in ids if id in mine))
    wanted = [envelope.id for envelope in sent]
    trial.expect(first == wanted, f"{len(wanted)} messages in send order", _first_difference(wanted, first), clause)


def _first_difference(wanted: list[str], got: list[str]) -> str:
    at = next((i for i, (a, b) in enumerate(zip(wanted, got, strict=False)) if a != b), len(got))
    return f"{len(got)} messages; at {at} {got[at : at + 1]} instead of {wanted[at : at + 1]}"


@clauses("PB-5-12")
async def test_live_order(sender: BrokerLine, receiver: BrokerLine, trial: Trial) -> None:
    """200 messages to a connected peer arrive in the order of sending."""
    sent = [letter(sender.name, receiver.name, n) for n in range(MANY)]
    await sender.send(*sent)
    assert_in_order(trial, sent, await receiver.deliveries(MANY, "PB-5-12"), "PB-5-12")


@clauses("PB-5-13")
async def test_flush_order_of_two_senders(broker: BrokerUnderTest, trial: Trial) -> None:
    """Two senders interleave messages to an absent peer; at register each sender's come in order."""
    one, two = await broker.peer(), await broker.peer()
    name = await broker.absent(one)
    sent = {peer.name: [letter(peer.name, name, n) for n in range(MANY // 2)] for peer in (one, two)}
    for first, second in zip(sent[one.name], sent[two.name], strict=True):
        await one.send(first)
        await two.send(second)
    await one.fence()
    await two.fence()
    receiver, _ = await broker.register(name)
    got = await receiver.deliveries(MANY, "PB-5-13")
    for mine in sent.values():
        assert_in_order(trial, mine, got, "PB-5-13")


@clauses("PB-5-13", "PB-5-12")
async def test_direct_and_broadcast_share_one_order(sender: BrokerLine, receiver: BrokerLine, trial: Trial) -> None:
    """A sender's direct messages and broadcasts arrive in the order it sent them."""
    sent = [letter(sender.name, "*" if n % 2 else receiver.name, n) for n in range(40)]
    await sender.send(*sent)
    got = [d.envelope.id for d in await receiver.deliveries(40)]
    trial.expect(got == [e.id for e in sent], "send order", got)


@clauses("PB-5-14")
async def test_order_while_the_recipient_reconnects(broker: BrokerUnderTest, sender: BrokerLine, trial: Trial) -> None:
    """A sender streams while its recipient comes and goes: on every connection its messages are in order, none is lost."""
    name = unique("r")
    sent = [letter(sender.name, name, n) for n in range(MANY)]
    seen: list[list[Deliver]] = []
    first = await broker.peer(name)

    async def come_and_go() -> None:
        peer: BrokerLine = first
        for _ in range(5):
            seen.append(await peer.deliveries(1))
            await peer.close()
            seen[-1] += peer.waiting_deliveries()
            peer, _ = await broker.register(name)

    await asyncio.gather(sender.stream(sent), come_and_go())
    await sender.fence()
    last, _ = await broker.register(name)
    seen.append(await last.deliveries(MANY, "PB-5-14"))
    assert_in_order(trial, sent, seen[-1], "PB-5-14")
    for connection in seen[:-1]:
        positions = [[e.id for e in sent].index(d.delivery_key) for d in connection]
        trial.expect(positions == sorted(positions), "send order", positions, "PB-5-14")


@clauses("PB-2.1-26", "PB-5-12")
async def test_peers_comes_first_while_others_send(broker: BrokerUnderTest, sender: BrokerLine, trial: Trial) -> None:
    """A peer that registers under load hears its ack before any delivery, and then everything in order."""
    name = await broker.absent(sender)
    sent = [letter(sender.name, name, n) for n in range(MANY)]
    streaming = asyncio.create_task(sender.stream(sent))
    receiver, _ = await broker.register(name)  # reads the ack, which must be first
    await streaming
    assert_in_order(trial, sent, await receiver.deliveries(MANY, "PB-5-12"), "PB-5-12")
