"""Section 5: each id reaches the host once, each delivery is acked, and the memory for it is bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.catalogue.cases import axis, clauses, needs
from harness.errors import TargetFailed, TargetRefused, TargetUnsupported
from reference_impl.peerbus.frames import Deliver
from suites.common.names import unique
from suites.peerbus.client.under_test import ClientLine, ClientUnderTest
from suites.peerbus.envelopes import forged, message


@clauses("PB-5-03", "PB-5-07", "PB-5-09", "PB-2.4-16")
async def test_a_repeat_is_suppressed_and_acked(client: ClientUnderTest, line: ClientLine) -> None:
    """Delivered three times, surfaced once; each repeat of a consumed message is acked at once."""
    mail = client.mail()
    await client.handles(line, mail)
    for _ in range(2):
        await client.suppresses(line, mail)
    await client.expect_ignored(line, "PB-5-07")


@clauses("PB-5-07", "PB-5-03")
async def test_a_repeat_before_consumption_is_not_surfaced(client: ClientUnderTest, line: ClientLine) -> None:
    """The host sees one message, also while it has not consumed it yet."""
    mail = client.mail()
    await line.send(Deliver(mail.id, mail), Deliver(mail.id, mail), Deliver(mail.id, mail))
    await client.expect_handled(line, mail)
    await client.expect_ignored(line)


@clauses("PB-2.2-05", "PB-2.2-02", "PB-5-17", "PB-5-09")
async def test_a_repeat_before_consumption_is_not_acked(client: ClientUnderTest, line: ClientLine) -> None:
    """Seen is not consumed: a repeat under another key waits for the host like the first, then both are acked."""
    mail, other, last = client.mail(), unique("key"), client.mail()
    await client.surfaces(line, mail)
    await line.deliver(mail, other)
    if not client.serial:  # a serial client has read neither
        await client.surfaces(line, last)  # so it has read the repeat
    await client.expect_unacked(line)
    await client.consume(mail.id)
    await line.deliver(mail, other)  # a client may have left the repeat to its return
    await line.expect_acks(mail.id, other, clause="PB-5-09")


@clauses("PB-5-05", "PB-5-09", "PB-2.4-16")
async def test_one_id_under_two_keys_is_one_message(client: ClientUnderTest, line: ClientLine) -> None:
    """What is signed is the id: another key does not make another message, but wants its own ack."""
    mail, other = client.mail(), unique("key")
    await client.handles(line, mail, unique("key"))
    await client.suppresses(line, mail, other)
    await client.expect_ignored(line)


@clauses("PB-5-05", "PB-4-25")
async def test_a_broadcast_and_its_repeat_are_one_message(client: ClientUnderTest, line: ClientLine) -> None:
    """A broadcast copy has the sender's id; its repeat is acked by the recipient's key."""
    mail = message("alice", "*")
    key = f"{mail.id}|{client.name}"
    await client.handles(line, mail, key)
    await client.suppresses(line, mail, key, "PB-4-25")
    await client.expect_ignored(line)


@clauses("PB-5-08")
async def test_two_ids_under_one_key_are_two_messages(client: ClientUnderTest, line: ClientLine) -> None:
    """The delivery key plays no part in telling messages apart."""
    key = unique("key")
    await client.handles(line, client.mail(), key)
    await client.handles(line, client.mail(), key)


@clauses("PB-5-05")
@axis("change", {"case": str.upper, "prefix": lambda id: id + "0", "space": lambda id: id + " "})
async def test_ids_are_compared_whole(client: ClientUnderTest, line: ClientLine, change: Callable[[str], str]) -> None:
    """Ids that look alike are different messages."""
    mail = client.mail()
    await client.handles(line, mail)
    await client.handles(line, client.mail(id=change(mail.id)))


@clauses("PB-5-05", "PB-5-07")
async def test_the_id_alone_counts(client: ClientUnderTest, line: ClientLine) -> None:
    """The same id from another sender with another body, properly signed, was seen before."""
    mail = client.mail()
    await client.handles(line, mail)
    await client.suppresses(line, message("bob", client.name, b'"other"', mail.id))
    await client.expect_ignored(line)


@clauses("PB-5-11")
@axis("forgery", {"before": 1, "thrice": 3})
async def test_a_forgery_is_not_remembered(client: ClientUnderTest, line: ClientLine, forgery: int) -> None:
    """Only what verified counts as seen: a forged copy does not suppress the genuine message."""
    mail = client.mail()
    for _ in range(forgery):
        await line.deliver(forged(replace(mail, body=b'"forged"')))
    await client.handles(line, mail)


@clauses("PB-4-22", "PB-5-11")
async def test_a_forged_repeat_is_not_acked(client: ClientUnderTest, line: ClientLine) -> None:
    """A forgery under a known id is still a forgery: verification comes before dedupe."""
    mail = client.mail()
    await client.handles(line, mail)
    await line.deliver(forged(replace(mail, body=b'"forged"')), unique("key"))
    await client.expect_ignored(line)


@clauses("PB-4-22", "PB-2.4-15")
async def test_a_forged_copy_is_not_acked_along(client: ClientUnderTest, line: ClientLine) -> None:
    """While the genuine one waits for its host, a forgery under its id comes: the host's ack is not the forgery's."""
    mail = client.mail()
    await client.surfaces(line, mail)
    await line.deliver(forged(replace(mail, body=b'"forged"')), unique("key"))
    await client.expect_unacked(line)
    await client.consume(mail.id)
    await line.expect_ack(mail.id, "PB-4-22")
    await client.expect_ignored(line, "PB-4-22")


@clauses("PB-5-10", "PB-5-23", "PB-5-09", "PB-2.4-16")
@axis("how", ["close", "cut"])
async def test_the_memory_survives_a_reconnect(client: ClientUnderTest, line: ClientLine, how: str) -> None:
    """Redelivered on the next connection: acked there, and the host hears nothing of it."""
    mail, key = client.mail(), unique("key")
    await client.surfaces(line, mail)
    await line.close() if how == "close" else line.cut()
    again = await client.registering_consumed(mail.id)
    again.acked.add(mail.id)  # a late ack is welcome, and not what is looked for
    await client.answer(again)
    await client.suppresses(again, mail, key)
    await client.expect_ignored(again, "PB-5-10")


@clauses("PB-5-23", "PB-5-10")
async def test_every_connection_has_the_same_memory(client: ClientUnderTest) -> None:
    """Three connections, three deliveries: surfaced on the first only."""
    mail = client.mail()
    await client.handles(await client.online(), mail)
    client.broker.lines[-1].cut()
    for _ in range(2):
        line = await client.online()
        await client.suppresses(line, mail)
        await client.expect_ignored(line)
        line.cut()


@clauses("PB-5-07")
async def test_a_hundred_ids_are_remembered(client: ClientUnderTest, line: ClientLine) -> None:
    """All of a fair number of messages are suppressed when they come again."""
    mails = [client.mail() for _ in range(100)]
    for mail in mails:
        await client.handles(line, mail)
    await line.send(*(Deliver(mail.id, mail) for mail in mails))
    for mail in mails:
        await line.expect_ack(mail.id, "PB-5-09")
    await client.expect_ignored(line)


@clauses("PB-5-04", "PB-5-06")
@needs("cache_size")
@axis("size", [1, 3])
async def test_the_memory_has_the_configured_size(clients: Callable[..., ClientUnderTest], size: int) -> None:
    """With room for `size` ids the last `size` are suppressed and one that has dropped out is a new message."""
    client = await clients().start(cache_size=size)
    line = await client.online()
    mails = [client.mail() for _ in range(size + 1)]
    for mail in mails:
        await client.handles(line, mail)
    for mail in mails[1:]:
        await client.suppresses(line, mail, clause="PB-5-06")
    await client.handles(line, mails[0], clause="PB-5-04")


@clauses("PB-5-07", "PB-5-04", "PB-5-11")
@needs("cache_size")
@axis("crowd", ["repeats", "forgeries"])
async def test_only_what_is_new_takes_room(clients: Callable[..., ClientUnderTest], crowd: str) -> None:
    """Neither repeats nor forgeries make the memory forget a message: it has room for three, and was shown three."""
    client = await clients().start(cache_size=3)
    line = await client.online()
    mails = [client.mail() for _ in range(3)]
    for mail in mails:
        await client.handles(line, mail)
    for _ in range(5):
        if crowd == "repeats":
            await client.suppresses(line, mails[-1])
        else:
            await line.deliver(forged(client.mail()))
    await client.suppresses(line, mails[0], clause="PB-5-11" if crowd == "forgeries" else "PB-5-07")


@clauses("PB-2.4-18", "PB-5-04")
@needs("cache_size")
async def test_a_full_memory_forgets_no_ack(clients: Callable[..., ClientUnderTest]) -> None:
    """The bound is on what is remembered, not on what waits for its host: each consumed message is acked."""
    client = await clients().start(cache_size=1)
    if client.serial:
        raise TargetUnsupported("it hands out one message at a time")
    line = await client.online()
    mails = [client.mail() for _ in range(3)]
    for mail in mails:
        await client.surfaces(line, mail)
    for mail in mails:
        await client.consume(mail.id)
        await line.expect_ack(mail.id)


@clauses("PB-5-06")
@needs("cache_size")
@axis("size", [0, -1])
async def test_a_memory_without_room_is_refused_or_kept(clients: Callable[..., ClientUnderTest], size: int) -> None:
    """No size at all cannot suppress anything: refused, or replaced by one that can."""
    try:
        client = await clients().start(cache_size=size)
    except (TargetRefused, TargetFailed):
        return
    line = await client.online()
    mail = client.mail()
    await client.handles(line, mail)
    await client.suppresses(line, mail)
    await client.expect_ignored(line)
