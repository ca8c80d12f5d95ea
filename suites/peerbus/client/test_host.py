"""Sections 2.4 and 4: what a client shows its host is what was sent, whoever sent it."""

from __future__ import annotations

from dataclasses import replace

from harness.catalogue.cases import axis, clauses
from suites.peerbus.client.under_test import ClientLine, ClientUnderTest
from suites.peerbus.envelopes import forged, signed

BODIES = {
    "null-members": b'{"a":null,"b":{"c":null}}',
    "markup": b'{"t":"\\u003cb\\u003e\\u0026amp;\\u003c/b\\u003e"}',
    "decomposed": '{"t":"e\u0301 A\u030a"}'.encode(),
    "blanks": b'"  x \\n\\t"',
    "empty-text": b'""',
    "outside-the-basic-plane": '["\U0001f422"]'.encode(),
    "over-53-bits": b"[9007199254740993,-9007199254740993]",
    "no-value": b"[]",
}
SENDERS = {
    "decomposed": "e\u0301",
    "composed": "\u00e9",
    "blanks": " alice ",
    "capitals": "ALICE",
    "star": "*",
    "100-characters": "a" * 100,
}


@clauses("PB-2.4-17")
@axis("body", BODIES)
async def test_a_body_is_shown_as_it_is(client: ClientUnderTest, line: ClientLine, body: bytes) -> None:
    """The host gets the same JSON value: nothing is left out, trimmed, composed or made safe."""
    await client.handles(line, client.mail(body), clause="PB-2.4-17")


@clauses("PB-2.4-17")
@axis("sender", SENDERS)
async def test_a_sender_is_shown_as_it_is(client: ClientUnderTest, line: ClientLine, sender: str) -> None:
    """The name that was signed, code point by code point."""
    await client.handles(line, client.mail(sender=sender), clause="PB-2.4-17")


@clauses("PB-2.4-17", "PB-2.4-18")
async def test_what_it_sent_itself_is_shown(client: ClientUnderTest, line: ClientLine) -> None:
    """Sender and recipient may be the same: a message like any other."""
    await client.handles(line, client.mail(sender=client.name), clause="PB-2.4-17")


@clauses("PB-4-18", "PB-2.4-15")
@axis("to", {"direct": "", "broadcast": "*"})
async def test_its_own_name_is_no_proof(client: ClientUnderTest, line: ClientLine, to: str) -> None:
    """What says that it comes from this very client is verified like the rest."""
    own = client.mail(sender=client.name)
    if to:
        own = signed(replace(own, to=to, kind="broadcast"))
    await line.deliver(forged(own))
    await client.expect_ignored(line, "PB-4-18")


@clauses("PB-2.4-17", "PB-2.3-05")
async def test_many_messages_may_wait_for_the_host(client: ClientUnderTest, line: ClientLine) -> None:
    """Twenty that nobody has consumed: each is shown, and the last one's ack comes first if it is consumed first."""
    mails = [client.mail() for _ in range(20)]
    if client.serial:  # it shows the next one when the last one is consumed
        for mail in mails:
            await client.handles(line, mail)
        return
    for mail in mails:
        await client.surfaces(line, mail, "PB-2.4-17")
    await client.consume(mails[-1].id)
    await line.expect_ack(mails[-1].id, "PB-2.4-18")
