"""Section 2.4: the deliver frame, its key, and the envelope inside."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Broken, Trial
from reference_impl.peerbus.frames import Deliver
from reference_impl.peerbus.signing import Profile
from suites.common.names import unique
from suites.peerbus import wire
from suites.peerbus.broker.under_test import BrokerLine, BrokerUnderTest, PrivateBroker
from suites.peerbus.envelopes import SECRET, codec, message, signed
from suites.peerbus.lint import ENVELOPE_KEYS, RELAYED

BODIES = {
    "object": b'{"text":"hello"}',
    "array": b"[1,[2,[3]]]",
    "string": b'"hello"',
    "empty-string": b'""',
    "number": b"42",
    "true": b"true",
    "null": b"null",
    "member-order": b'{"z":1,"a":2,"m":3}',
    "duplicate-members": b'{"a":1,"a":2}',
    "number-spelling": b"[1.0,1e5,1E+5,-0,0.10,12345678901234567890,1e400]",
    "escape-spelling": b'{"t":"\\/\\u0041\\ud83d\\ude00"}',
    "unicode": '{"t":"żółw 🐢"}'.encode(),
    "newline-escape": b'{"t":"a\\nb"}',
    "deep": b"[" * 100 + b"]" * 100,
}


@clauses("PB-2.4-04", "PB-2.4-01", "PB-2.4-05", "PB-2-01", "PB-2-03", "PB-2-02", "PB-1-02", "PB-1-03", "PB-1-04")
@clauses("PB-3-01", "PB-3-02", "PB-0-02", "PB-6-02", "PB-2.3-04")
async def test_every_frame_has_its_shape(sender: BrokerLine, receiver: BrokerLine) -> None:
    """An ordinary session, each frame linted: text, one object, nothing behind it, the members of its type, "v1"."""
    empty = signed(message(sender.name, receiver.name, b"null", ts="", source=""))
    for envelope in (message(sender.name, receiver.name), empty):
        await sender.send(envelope)
        await receiver.expect_delivery(envelope, clause="PB-2.4-04")
    copy = await sender.broadcast()
    await receiver.expect_copy(copy, "PB-2.4-04")
    await receiver.fence()


@clauses("PB-2.4-06", "PB-2.4-11", "PB-5-18")
@axis("when", ["live", "offline", "reconnect", "takeover"])
async def test_key_of_a_direct_message_is_its_id(
    broker: BrokerUnderTest, sender: BrokerLine, receiver: BrokerLine, when: str
) -> None:
    """delivery_key equals the envelope's id on every path to the recipient."""
    envelope = message(sender.name, receiver.name)
    if when == "offline":
        await broker.leave(receiver, sender)
    await sender.post(envelope)
    if when == "reconnect":
        await receiver.expect_delivery(envelope)
        await broker.leave(receiver, sender)
    if when != "live":
        receiver, _ = await broker.register(receiver.name)
    await receiver.expect_delivery(envelope, envelope.id, "PB-2.4-06")


@clauses("PB-2.4-07", "PB-2.4-11", "PB-5-18")
@axis("when", ["live", "reconnect", "takeover"])
async def test_key_of_a_broadcast_copy_names_its_recipient(broker: BrokerUnderTest, when: str) -> None:
    """delivery_key is "<id>|<recipient>" for each recipient, on every path."""
    sender, *receivers = await broker.peers(3)
    envelope = await sender.broadcast()
    await sender.fence()
    for receiver in receivers:
        await receiver.expect_copy(envelope, "PB-2.4-07")
        if when == "reconnect":
            await broker.leave(receiver, sender)
        if when != "live":
            again, _ = await broker.register(receiver.name)
            await again.expect_delivery(envelope, f"{envelope.id}|{receiver.name}", "PB-2.4-07")


@clauses("PB-2.4-11", "PB-3-29", "PB-5-18")
async def test_keys_survive_a_restart(own_broker: PrivateBroker, trial: Trial) -> None:
    """After a restart each recipient gets its own copy under its own key, and direct messages under their id."""
    sender, *receivers = await own_broker.peers(3)
    copy, direct = message(sender.name, "*"), message(sender.name, receivers[0].name)
    await sender.post(copy, direct)
    await own_broker.restart()
    for receiver in receivers:
        again, _ = await own_broker.register(receiver.name)
        wanted = {f"{copy.id}|{receiver.name}"} | ({direct.id} if receiver is receivers[0] else set())
        got = {d.delivery_key for d in await again.deliveries(len(wanted), "PB-3-29")}
        trial.expect(got == wanted, str(wanted), got, "PB-3-29")


@clauses("PB-3-10", "PB-3-11", "PB-2.4-08")
@axis("body", BODIES)
async def test_body_is_carried_verbatim(sender: BrokerLine, receiver: BrokerLine, trial: Trial, body: bytes) -> None:
    """Every kind of JSON arrives as it was spelled, and verifies."""
    envelope = message(sender.name, receiver.name, body)
    await sender.send(envelope)
    got = await receiver.expect_delivery(envelope, clause="PB-3-11")
    trial.expect(got.envelope.body == body, repr(body), repr(got.envelope.body), "PB-3-11")
    trial.expect(codec.signing.verify(got.envelope, SECRET), "a MAC that verifies", got.envelope.hmac, "PB-3-11")


@clauses("PB-3-08", "PB-3-07", "PB-3-21")
@axis("field", ["source", "ts", "sender"])
@axis("text", {"unicode": "źródło 🐢", "spaces": "  two  ", "quotes": 'a"b\\c', "empty": "", "control": "a\tb\u0001"})
async def test_header_strings_are_carried_verbatim(
    sender: BrokerLine, receiver: BrokerLine, field: str, text: str
) -> None:
    """source, ts and from reach the recipient as the sender chose them."""
    await sender.reaches(receiver, message(sender.name, receiver.name, **{field: text}), clause="PB-3-08")


@clauses("PB-3-11")
@axis("hmac", {"forged": "00" * 32, "upper": "AB" * 32, "text": "not hex at all", "empty": ""})
async def test_broker_neither_checks_nor_changes_the_mac(sender: BrokerLine, receiver: BrokerLine, hmac: str) -> None:
    """The broker relays whatever the sender signed, or did not; the recipient decides."""
    envelope = replace(message(sender.name, receiver.name), hmac=hmac)
    await sender.send(envelope)
    await receiver.expect_delivery(envelope)


@clauses("PB-4-27")
@axis("text", {"html": "<a&b>", "line-separators": "a\u2028b\u2029"})
async def test_contested_characters_arrive_equal(
    sender: BrokerLine, receiver: BrokerLine, trial: Trial, text: str
) -> None:
    """Characters that the two profiles spell differently on the wire still mean the same string."""
    envelope = message(sender.name, receiver.name, source=text)
    await sender.send(envelope)
    got = await receiver.expect(Deliver)
    trial.expect(got.envelope.source == text, repr(text), repr(got.envelope.source), "PB-3-08")


@clauses("PB-2.4-03")
@axis("shape", ["plain", "with-id-and-to"])
async def test_deliver_from_a_client_is_ignored(sender: BrokerLine, receiver: BrokerLine, shape: str) -> None:
    """A client's deliver routes nothing and ends nothing; the sentinel arrives first."""
    smuggled = message(sender.name, receiver.name)
    text = codec.encode(Deliver(smuggled.id, smuggled)).decode()
    if shape == "with-id-and-to":
        text = text[:-1] + f',"id":"{unique("x")}","to":"{receiver.name}","kind":"msg"}}'
    await sender.text(text)
    await sender.reaches(receiver, clause="PB-2.4-03")


@clauses("PB-6-10")
async def test_secret_is_never_on_the_wire(sender: BrokerLine, receiver: BrokerLine, trial: Trial) -> None:
    """The broker does not know the HMAC secret and so cannot say it, raw, in hex or in base64."""
    await sender.send(message(sender.name, receiver.name), message(sender.name, "*"))
    await receiver.deliveries(2)
    heard = b"".join(bytes.fromhex(entry.raw) for entry in trial.timeline if entry.sender == "broker")
    forms = (SECRET, SECRET.hex().encode(), base64.b64encode(SECRET))
    trial.expect(not any(form in heard for form in forms), "no form of the secret", "it is there")


SPELLINGS = {
    "html": {"body": '{"t":"<a&b>\u2028"}'},
    "html-header": {"source": '"<a&b>"'},
    "spaces": {"body": '{ "a" : [ 1 , 2 ] }'},
    "escapes": {"source": r'"\u0041\/\ud83d\ude00"'},
    "missing": {"ts": "", "source": ""},
    "no-body": {"body": ""},
    "beyond-the-nine": {"extra": '{"k":[1.0]}'},
}


@clauses("PB-3-11", "PB-3-31")
@axis("spelling", SPELLINGS)
@axis("when", ["live", "restart"])
async def test_a_message_is_relayed_as_it_was_spelled(
    own_broker: PrivateBroker, spelling: dict[str, str], when: str
) -> None:
    """The document relays the very text; the original writes the nine fields anew, which mean the same."""
    sender, receiver = await own_broker.peers(2)
    text = spelled(receiver.name, spelling)
    await sender.text(text)
    await expect_relayed(receiver, text, "PB-3-11")
    if when == "restart":
        await own_broker.restart()
        receiver, _ = await own_broker.register(receiver.name)
        await expect_relayed(receiver, text, "PB-3-11")


@clauses("PB-2.4-08", "PB-3-31", "PB-4-23")
@axis("spelling", SPELLINGS)
async def test_a_broadcast_is_relayed_as_it_was_spelled(broker: BrokerUnderTest, spelling: dict[str, str]) -> None:
    """Every copy, at once and when it comes again: byte-identical to what the sender signed, says the document."""
    sender, *receivers = await broker.peers(3)
    text = spelled("*", {**spelling, "kind": '"broadcast"'})
    await sender.text(text)
    for receiver in receivers:
        await expect_relayed(receiver, text, "PB-2.4-08")
    await expect_relayed(await broker.back(receivers[0], sender), text, "PB-2.4-08")


def spelled(to: str, spelling: dict[str, str]) -> str:
    """A signed envelope, its members as they are spelled there; empty ones are left out."""
    texts = wire.signed(wire.members(to, **spelling))
    return wire.object_text({name: value for name, value in texts.items() if value})


async def expect_relayed(receiver: BrokerLine, text: str, clause: str) -> None:
    """The next delivery means what was sent, and by the document it is the very text."""
    got = (await receiver.expect(Deliver, clause)).envelope.wire
    receiver.trial.expect(meaning(got) == meaning(text), text, got.decode(), clause)
    if receiver.broker.profile is Profile.DOCUMENT and got != text.encode():
        raise Broken(clause, text, got.decode(), RELAYED)


def meaning(text: str | bytes) -> dict[str, object]:
    """The nine members; those that are left out read as empty."""
    value = json.loads(text)
    return {name: value.get(name, None if name == "body" else "") for name in ENVELOPE_KEYS}
