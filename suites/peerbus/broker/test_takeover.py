"""Section 2.1: a name claimed twice, and reconnecting under the same name."""

from __future__ import annotations

import asyncio

from harness.catalogue.cases import axis, clauses, race
from harness.judging.trial import Trial
from reference_impl.peerbus.frames import Close, Deliver, Envelope, Peers, Register
from suites.common.names import unique
from suites.peerbus.broker.under_test import BrokerLine, BrokerUnderTest, PrivateBroker
from suites.peerbus.envelopes import message

MOST_STREAMED = 500
"""Messages in the race of a takeover: six registers take far less."""


@clauses("PB-2.1-17", "PB-6-09")
async def test_same_token_closes_the_old_connection(broker: BrokerUnderTest) -> None:
    """A second register under the same name and token ends the first connection at once."""
    old = await broker.peer()
    await broker.register(old.name)
    await old.expect_closed("PB-2.1-17")


@clauses("PB-2.1-18", "PB-2.1-17")
async def test_new_connection_owns_the_name(broker: BrokerUnderTest, trial: Trial) -> None:
    """After a takeover the name is listed once and its messages reach the new connection only."""
    old, sender = await broker.peer(), await broker.peer()
    new = await broker.peer(old.name)
    await old.expect_closed("PB-2.1-17")
    names = (await sender.fence()).names
    trial.expect(names.count(new.name) == 1, f"{new.name} once", names, "PB-2.1-18")
    await sender.reaches(new, clause="PB-2.1-18")


@clauses("PB-2.1-20", "PB-6-09")
async def test_other_token_is_turned_away(broker: BrokerUnderTest, trial: Trial) -> None:
    """A valid token that is not the holder's does not get a name that is connected."""
    if len(broker.tokens) < 2:
        trial.info("the target was given one token only")
        return
    holder = await broker.peer(token=broker.tokens[0])
    claimant = await broker.connect()
    await claimant.send(Register(broker.tokens[1], holder.name))
    await claimant.expect_closed("PB-2.1-20")


@clauses("PB-2.1-21")
async def test_holder_is_untouched_by_a_failed_claim(broker: BrokerUnderTest, trial: Trial) -> None:
    """After a claim under another token the holder still has its name and its messages."""
    if len(broker.tokens) < 2:
        trial.info("the target was given one token only")
        return
    holder, sender = await broker.peer(token=broker.tokens[0]), await broker.peer()
    claimant = await broker.connect()
    await claimant.send(Register(broker.tokens[1], holder.name))
    await claimant.expect_closed("PB-2.1-20")
    trial.expect(holder.name in (await holder.fence()).names, "the holder to be listed", "it is not")
    await sender.reaches(holder, clause="PB-2.1-21")


@clauses("PB-2.1-34", "PB-2.1-17", "PB-2.1-27")
async def test_half_open_connection_is_taken_over(broker: BrokerUnderTest) -> None:
    """A peer whose old socket hangs, unread, gets its name and its backlog on a new one."""
    old, sender = await broker.peer(), await broker.peer()
    old.carrier.connection.transport.pause_reading()
    pending = message(sender.name, old.name)
    await sender.post(pending)
    new, _ = await broker.register(old.name)
    await new.expect_delivery(pending, clause="PB-2.1-34")
    old.cut()  # it does not read, so it would not answer a close


@clauses("PB-2.1-23", "PB-2.2-03", "PB-5-02")
@axis("times", [1, 3])
async def test_unacked_comes_again_at_every_register(broker: BrokerUnderTest, sender: BrokerLine, times: int) -> None:
    """Without an ack the same message is delivered on each reconnect."""
    receiver = await broker.peer(name := unique("r"))
    envelope = message(sender.name, name)
    await sender.send(envelope)
    await receiver.expect_delivery(envelope)
    for _ in range(times):
        await broker.leave(receiver, sender)
        receiver, _ = await broker.register(name)
        await receiver.expect_delivery(envelope, clause="PB-2.2-03")


@clauses("PB-2.1-26", "PB-2.1-27", "PB-5-22")
async def test_backlog_follows_the_ack(broker: BrokerUnderTest, sender: BrokerLine) -> None:
    """With a backlog the first frame is `peers`, and then the whole queue comes, unasked."""
    name = await broker.absent(sender)
    queued = [message(sender.name, name) for _ in range(5)]
    await sender.post(*queued)
    receiver, _ = await broker.register(name)  # reads the ack, which must be first
    for envelope in queued:
        await receiver.expect_delivery(envelope, clause="PB-2.1-27")
    await receiver.expect_silence("PB-2.1-27")


@clauses("PB-2.1-28", "PB-5-22", "PB-5-24")
async def test_unacked_and_queued_come_together(broker: BrokerUnderTest, sender: BrokerLine, trial: Trial) -> None:
    """Two unacked and three queued, one acked: exactly the five come back."""
    receiver = await broker.peer(name := unique("r"))
    live = [message(sender.name, name) for _ in range(3)]
    await sender.send(*live)
    await receiver.deliveries(3)
    await receiver.ack(live[1].id)
    await receiver.fence()
    await broker.leave(receiver, sender)
    queued = [message(sender.name, name) for _ in range(3)]
    await sender.post(*queued)
    receiver, _ = await broker.register(name)
    wanted = {e.id for e in (live[0], live[2], *queued)}
    got = {d.delivery_key for d in await receiver.deliveries(5)}
    trial.expect(got == wanted, str(wanted), got, "PB-5-24")
    await receiver.expect_silence("PB-5-24")


@clauses("PB-2.1-19", "PB-2.1-26")
@race()
async def test_nothing_is_lost_while_a_name_is_taken_over_under_load(
    broker: BrokerUnderTest, sender: BrokerLine, trial: Trial
) -> None:
    """A sender streams as long as the name changes hands: the last to have it gets all, each hears `peers` first."""
    name = unique("r")
    holder, _ = await broker.register(name)
    holders, sent, settled = [holder], list[Envelope](), asyncio.Event()

    async def stream() -> None:
        while len(sent) < MOST_STREAMED and not settled.is_set():
            sent.append(message(sender.name, name))
            await sender.send(sent[-1])
            await asyncio.sleep(0)

    async def take_over() -> None:
        for _ in range(6):
            holders.append((await broker.register(name))[0])
        settled.set()

    await asyncio.gather(stream(), take_over())
    *displaced, last = holders  # and nobody registers any more: what was not delivered to the last one is stranded
    got = {d.delivery_key for d in await last.deliveries(len(sent), "PB-2.1-19")}
    trial.expect(got == {e.id for e in sent}, "every id, unacked as they all are", f"{len(got)} ids", "PB-2.1-19")
    for old in displaced:
        await assert_only_deliveries_then_close(old, trial)


async def assert_only_deliveries_then_close(peer: BrokerLine, trial: Trial) -> None:
    """What a displaced connection heard after its ack: deliveries, then its end."""
    while not isinstance(frame := await peer.next("a close", "PB-2.1-17"), Close):
        trial.expect(isinstance(frame, Deliver), "a deliver or a close", frame, "PB-2.1-26")


@clauses("PB-2.1-19", "PB-2.4-10")
async def test_what_is_acked_before_a_takeover_does_not_come_back(
    broker: BrokerUnderTest, sender: BrokerLine, trial: Trial
) -> None:
    """Acks of the old connection count for the name: only the rest is flushed to the new one."""
    old = await broker.peer(name := unique("r"))
    sent = [message(sender.name, name) for _ in range(4)]
    await sender.send(*sent)
    await old.deliveries(4)
    await old.ack(sent[0].id, sent[2].id)
    await old.fence()
    new, _ = await broker.register(name)
    got = {d.delivery_key for d in await new.deliveries(2)}
    trial.expect(got == {sent[1].id, sent[3].id}, "the two unacked", got)
    await new.expect_silence()


@clauses("PB-2.1-22")
async def test_a_name_is_known_after_a_restart(own_broker: PrivateBroker) -> None:
    """A peer is recorded durably: after a restart its messages are queued, not dropped."""
    name = await own_broker.absent(await own_broker.peer())
    await own_broker.restart()
    await own_broker.expect_known(name, "PB-2.1-22")


@clauses("PB-2.1-20")
async def test_another_token_may_claim_an_offline_name(broker: BrokerUnderTest, trial: Trial) -> None:
    """The tie of name and token lasts while the name is connected; what happens afterwards is recorded only."""
    if len(broker.tokens) < 2:
        trial.info("the target was given one token only")
        return
    witness = await broker.peer()
    first = await broker.peer(token=broker.tokens[0])
    await broker.leave(first, witness)
    claimant = await broker.connect()
    await claimant.send(Register(broker.tokens[1], first.name))
    answer = await claimant.next()
    kept = "is free once offline" if isinstance(answer, Peers) else "stays with its first token"
    trial.info(f"a name {kept}")
