"""Section 5: each id reaches the host once, each delivery is acked, and the memory for it is bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.cases import axis, clauses
from harness.errors import TargetFailed, TargetRefused, TargetUnsupported
from harness.targets import Target
from harness.trial import Trial
from reference_impl.peerbus.frames import Deliver
from suites.peerbus.adapter import ROLE, Adapter, Link, forged
from suites.peerbus.bus import message, unique


@clauses("PB-5-03", "PB-5-07", "PB-5-09", "PB-2.4-16")
async def test_a_repeat_is_suppressed_and_acked(adapter: Adapter, link: Link) -> None:
    """Delivered three times, surfaced once; each repeat of a consumed message is acked at once."""
    mail = adapter.mail()
    await adapter.handles(link, mail)
    for _ in range(2):
        await adapter.suppresses(link, mail)
    await adapter.expect_ignored(link, "PB-5-07")


@clauses("PB-5-07", "PB-5-03")
async def test_a_repeat_before_consumption_is_not_surfaced(adapter: Adapter, link: Link) -> None:
    """The host sees one message, also while it has not consumed it yet."""
    mail = adapter.mail()
    await link.send(Deliver(mail.id, mail), Deliver(mail.id, mail), Deliver(mail.id, mail))
    await adapter.expect_handled(link, mail)
    await adapter.expect_ignored(link)


@clauses("PB-2.2-05", "PB-2.2-02", "PB-5-17", "PB-5-09")
async def test_a_repeat_before_consumption_is_not_acked(adapter: Adapter, link: Link) -> None:
    """Seen is not consumed: a repeat under another key waits for the host like the first, then both are acked."""
    mail, other, last = adapter.mail(), unique("key"), adapter.mail()
    await link.deliver(mail)
    await adapter.expect_surfaced(mail)
    await link.deliver(mail, other)
    if not adapter.serial:  # a serial client has read neither
        await link.deliver(last)
        await adapter.expect_surfaced(last)  # so it has read the repeat
    await adapter.expect_unacked(link)
    await adapter.consume(mail.id)
    await link.deliver(mail, other)  # a client may have left the repeat to its return
    await link.expect_acks(mail.id, other, clause="PB-5-09")


@clauses("PB-5-05", "PB-5-09", "PB-2.4-16")
async def test_one_id_under_two_keys_is_one_message(adapter: Adapter, link: Link) -> None:
    """What is signed is the id: another key does not make another message, but wants its own ack."""
    mail, other = adapter.mail(), unique("key")
    await adapter.handles(link, mail, unique("key"))
    await adapter.suppresses(link, mail, other)
    await adapter.expect_ignored(link)


@clauses("PB-5-05", "PB-4-25")
async def test_a_broadcast_and_its_repeat_are_one_message(adapter: Adapter, link: Link) -> None:
    """A broadcast copy has the sender's id; its repeat is acked by the recipient's key."""
    mail = message("alice", "*")
    key = f"{mail.id}|{adapter.name}"
    await adapter.handles(link, mail, key)
    await adapter.suppresses(link, mail, key, "PB-4-25")
    await adapter.expect_ignored(link)


@clauses("PB-5-08")
async def test_two_ids_under_one_key_are_two_messages(adapter: Adapter, link: Link) -> None:
    """The delivery key plays no part in telling messages apart."""
    key = unique("key")
    await adapter.handles(link, adapter.mail(), key)
    await adapter.handles(link, adapter.mail(), key)


@clauses("PB-5-05")
@axis("change", {"case": str.upper, "prefix": lambda id: id + "0", "space": lambda id: id + " "})
async def test_ids_are_compared_whole(adapter: Adapter, link: Link, change: Callable[[str], str]) -> None:
    """Ids that look alike are different messages."""
    mail = adapter.mail()
    await adapter.handles(link, mail)
    await adapter.handles(link, adapter.mail(id=change(mail.id)))


@clauses("PB-5-05", "PB-5-07")
async def test_the_id_alone_counts(adapter: Adapter, link: Link) -> None:
    """The same id from another sender with another body, properly signed, was seen before."""
    mail = adapter.mail()
    await adapter.handles(link, mail)
    await adapter.suppresses(link, message("bob", adapter.name, b'"other"', mail.id))
    await adapter.expect_ignored(link)


@clauses("PB-5-11")
@axis("forgery", {"before": 1, "thrice": 3})
async def test_a_forgery_is_not_remembered(adapter: Adapter, link: Link, forgery: int) -> None:
    """Only what verified counts as seen: a forged copy does not suppress the genuine message."""
    mail = adapter.mail()
    for _ in range(forgery):
        await link.deliver(forged(replace(mail, body=b'"forged"')))
    await adapter.handles(link, mail)


@clauses("PB-4-22", "PB-5-11")
async def test_a_forged_repeat_is_not_acked(adapter: Adapter, link: Link) -> None:
    """A forgery under a known id is still a forgery: verification comes before dedupe."""
    mail = adapter.mail()
    await adapter.handles(link, mail)
    await link.deliver(forged(replace(mail, body=b'"forged"')), unique("key"))
    await adapter.expect_ignored(link)


@clauses("PB-5-10", "PB-5-23", "PB-5-09", "PB-2.4-16")
@axis("how", ["close", "cut"])
async def test_the_memory_survives_a_reconnect(adapter: Adapter, link: Link, how: str) -> None:
    """Redelivered on the next connection: acked there, and the host hears nothing of it."""
    mail, key = adapter.mail(), unique("key")
    await link.deliver(mail)
    await adapter.expect_surfaced(mail)
    await link.close() if how == "close" else link.cut()
    again = await adapter.registering_consumed(mail.id)
    again.acked.add(mail.id)  # a late ack is welcome, and not what is looked for
    await adapter.answer(again)
    await adapter.suppresses(again, mail, key)
    await adapter.expect_ignored(again, "PB-5-10")


@clauses("PB-5-23", "PB-5-10")
async def test_every_connection_has_the_same_memory(adapter: Adapter) -> None:
    """Three connections, three deliveries: surfaced on the first only."""
    mail = adapter.mail()
    await adapter.handles(await adapter.online(), mail)
    adapter.broker.links[-1].cut()
    for _ in range(2):
        link = await adapter.online()
        await adapter.suppresses(link, mail)
        await adapter.expect_ignored(link)
        link.cut()


@clauses("PB-5-07")
async def test_a_hundred_ids_are_remembered(adapter: Adapter, link: Link) -> None:
    """All of a fair number of messages are suppressed when they come again."""
    mails = [adapter.mail() for _ in range(100)]
    for mail in mails:
        await adapter.handles(link, mail)
    await link.send(*(Deliver(mail.id, mail) for mail in mails))
    for mail in mails:
        await link.expect_ack(mail.id, "PB-5-09")
    await adapter.expect_ignored(link)


@clauses("PB-5-04", "PB-5-06")
@axis("size", [1, 3])
async def test_the_memory_has_the_configured_size(
    target: Target, adapters: Callable[..., Adapter], trial: Trial, size: int
) -> None:
    """With room for `size` ids the last `size` are suppressed and one that has dropped out is a new message."""
    await target.need(ROLE, "cache_size")
    adapter = await adapters().start(cache_size=size)
    link = await adapter.online()
    mails = [adapter.mail() for _ in range(size + 1)]
    for mail in mails:
        await adapter.handles(link, mail)
    for mail in mails[1:]:
        await adapter.suppresses(link, mail, clause="PB-5-06")
    await adapter.handles(link, mails[0], clause="PB-5-04")


@clauses("PB-2.4-18", "PB-5-04")
async def test_a_full_memory_forgets_no_ack(target: Target, adapters: Callable[..., Adapter]) -> None:
    """The bound is on what is remembered, not on what waits for its host: each consumed message is acked."""
    await target.need(ROLE, "cache_size")
    adapter = await adapters().start(cache_size=1)
    if adapter.serial:
        raise TargetUnsupported("it hands out one message at a time")
    link = await adapter.online()
    mails = [adapter.mail() for _ in range(3)]
    for mail in mails:
        await link.deliver(mail)
        await adapter.expect_surfaced(mail)
    for mail in mails:
        await adapter.consume(mail.id)
        await link.expect_ack(mail.id)


@clauses("PB-5-06")
@axis("size", [0, -1])
async def test_a_memory_without_room_is_refused_or_kept(
    target: Target, adapters: Callable[..., Adapter], trial: Trial, size: int
) -> None:
    """No size at all cannot suppress anything: refused, or replaced by one that can."""
    await target.need(ROLE, "cache_size")
    try:
        adapter = await adapters().start(cache_size=size)
    except (TargetRefused, TargetFailed):
        return
    link = await adapter.online()
    mail = adapter.mail()
    await adapter.handles(link, mail)
    await adapter.suppresses(link, mail)
    await adapter.expect_ignored(link)
