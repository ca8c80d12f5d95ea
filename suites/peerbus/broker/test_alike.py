"""Sections 2 and 3: names and ids that are alike, and members that a broker carries and does not read."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import replace

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from reference_impl.peerbus.frames import Envelope
from suites.common.names import unique
from suites.peerbus.broker.under_test import BrokerLine, BrokerUnderTest
from suites.peerbus.envelopes import message

IDS: dict[str, Callable[[str], str]] = {
    "case": str.swapcase,
    "blank-behind": lambda id: f"{id} ",
    "blank-before": lambda id: f" {id}",
    "tab-behind": lambda id: f"{id}\t",
    "last-character": lambda id: id[:-1] + "y",
}
NAMES: dict[str, Callable[[str], str]] = {
    "case": str.lower,
    "blank-behind": lambda name: f"{name} ",
    "blank-before": lambda name: f" {name}",
    "line-feed": lambda name: f"{name}\n",
    "decomposed": lambda name: unicodedata.normalize("NFD", name),
    "beginning": lambda name: name[:-1],
    "star-behind": lambda name: f"{name}*",
}
CARRIED: dict[str, tuple[str, Callable[[Envelope], Envelope]]] = {
    "decomposed-sender": ("PB-3-21", lambda e: replace(e, sender="e\u0301 and \u00e9")),
    "capital-tag": ("PB-2.4-08", lambda e: replace(e, hmac=e.hmac.upper())),
    "wrong-tag": ("PB-3-31", lambda e: replace(e, hmac="0f" * 32)),
    "short-tag": ("PB-3-31", lambda e: replace(e, hmac=e.hmac[:63])),
    "no-tag": ("PB-3-31", lambda e: replace(e, hmac="")),
    "tag-of-no-digits": ("PB-3-31", lambda e: replace(e, hmac="zz")),
    "time-with-offset": ("PB-3-07", lambda e: replace(e, ts="2026-05-18T12:00:00+00:00")),
    "time-of-no-form": ("PB-3-07", lambda e: replace(e, ts=" yesterday+00:00")),
    "decomposed-source": ("PB-3-31", lambda e: replace(e, source=" A\u030a\t")),
}


@clauses("PB-3-26", "PB-3-23")
@axis("other", IDS)
async def test_ids_are_compared_whole(sender: BrokerLine, receiver: BrokerLine, other: Callable[[str], str]) -> None:
    """Ids that look alike are two messages, each under its own key."""
    id = unique("Id").ljust(80, "x")
    for mine in (id, other(id)):
        await sender.reaches(receiver, message(sender.name, receiver.name, b'{"n":1}', mine), "PB-3-26")


@clauses("PB-3-25", "PB-2.1-05")
@axis("other", NAMES)
async def test_names_are_compared_whole(
    broker: BrokerUnderTest, sender: BrokerLine, other: Callable[[str], str]
) -> None:
    """A message to a name that nobody has is dropped, whoever has one that looks like it."""
    receiver = await broker.peer(unique("Bob-\u00e9"))
    await sender.send(message(sender.name, other(receiver.name), b'"lost"'))
    await sender.reaches(receiver, clause="PB-3-25")


@clauses("PB-2.1-05", "PB-2.1-18")
async def test_names_that_are_alike_are_two_peers(broker: BrokerUnderTest, sender: BrokerLine) -> None:
    """Composed and decomposed, both registered at once: neither takes the other's name or messages."""
    name = unique("\u00e9")
    one, two = await broker.peer(name), await broker.peer(unicodedata.normalize("NFD", name))
    for receiver in (one, two, one):
        await sender.reaches(receiver, clause="PB-2.1-05")


@clauses("PB-2.1-05", "PB-3-23")
@axis("name", ["*ops", "**", "* "])
async def test_a_name_may_begin_with_a_star(broker: BrokerUnderTest, sender: BrokerLine, name: str) -> None:
    """Only the star alone is everybody: such a peer gets its messages, and nobody else does."""
    receiver, bystander = await broker.peer(name + unique("star")), await broker.peer()
    await sender.reaches(receiver, clause="PB-3-23")
    await bystander.expect_silence("PB-3-23")


@clauses("PB-2.1-16", "PB-2.1-05")
@axis("size", [64, 128, 255, 256, 300, 1000])
async def test_a_name_may_be_long(broker: BrokerUnderTest, sender: BrokerLine, size: int) -> None:
    """No length is too long for a name: it registers, and gets its messages."""
    receiver = await broker.peer(unique("long").ljust(size, "n"))
    await sender.reaches(receiver, clause="PB-2.1-16")


@clauses("PB-3-31", "PB-3-21", "PB-3-07", "PB-2.4-08", "PB-3-23")
@axis("to", {"direct": False, "broadcast": True})
@axis("what", CARRIED)
async def test_what_is_not_the_brokers_to_read_is_carried(
    broker: BrokerUnderTest, trial: Trial, to: bool, what: tuple[str, Callable[[Envelope], Envelope]]
) -> None:
    """Neither tag nor times nor texts are judged or put right: they come as they were sent, at once and later."""
    sender, receiver = await broker.peers(2)
    clause, changed = what
    envelope = changed(message(sender.name, "*" if to else receiver.name))
    await sender.send(envelope)
    key = f"{envelope.id}|{receiver.name}" if to else envelope.id
    await receiver.expect_delivery(envelope, key, clause)
    again = await broker.back(receiver, sender)
    await again.expect_delivery(envelope, key, clause)


@clauses("PB-3-28", "PB-2.1-18")
async def test_who_took_over_does_not_hear_itself(broker: BrokerUnderTest) -> None:
    """The sender of a broadcast is a name, on whichever connection it is."""
    first, other = await broker.peers(2)
    second = await broker.peer(first.name)
    envelope = await second.broadcast()
    await other.expect_copy(envelope, "PB-3-28")
    await second.expect_silence("PB-3-28")


@clauses("PB-2.1-14", "PB-2.1-21", "PB-2.1-11")
async def test_a_holder_is_untouched_by_another_version(broker: BrokerUnderTest, sender: BrokerLine) -> None:
    """A register of another version is turned away, and does not take over although name and token are right."""
    holder = await broker.peer()
    claimant = await broker.connect()
    text = f'{{"protocol_version":"v2","type":"register","token":"{broker.tokens[0]}","name":"{holder.name}"}}'
    await claimant.text(text)
    await claimant.expect_closed("PB-2.1-11")
    await sender.reaches(holder, clause="PB-2.1-14")


@clauses("PB-3-19")
async def test_garbage_may_come_again_and_again(sender: BrokerLine, receiver: BrokerLine) -> None:
    """Ten frames that are none, one behind the other: each is ignored, and the connection stays."""
    for garbage in ("{nope", "[]", '"x"', "", "nul", '{"a":1', "[[", "0x10", "}", "{]"):
        await sender.text(garbage)
    await sender.reaches(receiver, clause="PB-3-19")
    await sender.expect_silence("PB-3-19")
