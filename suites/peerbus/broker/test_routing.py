"""Section 3: what becomes of an envelope."""

from __future__ import annotations

import json

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from suites.common.names import unique
from suites.peerbus import wire
from suites.peerbus.broker.under_test import BrokerLine, BrokerUnderTest
from suites.peerbus.envelopes import codec, message


async def assert_dropped(sender: BrokerLine, receiver: BrokerLine, text: str, clause: str) -> None:
    """Nothing arrives but the sentinel sent behind it, and the session goes on."""
    await sender.text(text)
    sentinel = message(sender.name, receiver.name)
    await sender.send(sentinel)
    await receiver.expect_delivery(sentinel, clause=clause)
    await sender.expect_silence(clause)


def altered(sender: BrokerLine, receiver: BrokerLine, **changes: object) -> str:
    """An envelope's text with members changed; None leaves one out."""
    members = json.loads(codec.encode(message(sender.name, receiver.name))) | changes
    return json.dumps({key: value for key, value in members.items() if value is not None}, ensure_ascii=False)


@clauses("PB-3-23", "PB-2.1-05")
async def test_connected_recipient_gets_it_now(sender: BrokerLine, receiver: BrokerLine) -> None:
    """A direct message reaches a connected peer without its doing anything."""
    await sender.reaches(receiver, clause="PB-3-23")


@clauses("PB-3-23")
async def test_message_to_oneself_is_delivered(broker: BrokerUnderTest) -> None:
    """Sender and recipient may be the same."""
    peer = await broker.peer()
    await peer.reaches(peer)


@clauses("PB-3-24")
async def test_offline_recipient_gets_it_at_its_next_register(broker: BrokerUnderTest, sender: BrokerLine) -> None:
    """A known but absent peer's message is queued."""
    name = await broker.absent(sender)
    envelope = message(sender.name, name)
    await sender.post(envelope)
    receiver, _ = await broker.register(name)
    await receiver.expect_delivery(envelope, clause="PB-3-24")


@clauses("PB-3-25")
async def test_unknown_recipient_is_dropped(broker: BrokerUnderTest) -> None:
    """A message to a name never seen is not kept for whoever takes that name later."""
    sender, ghost = await broker.peer(), unique("ghost")
    await sender.post(message(sender.name, ghost))
    late = await broker.peer(ghost)
    sentinel = message(sender.name, ghost)
    await sender.send(sentinel)
    await late.expect_delivery(sentinel, clause="PB-3-25")


@clauses("PB-3-26")
async def test_duplicate_id_is_a_no_op(broker: BrokerUnderTest, sender: BrokerLine, receiver: BrokerLine) -> None:
    """The same id again, with another body: no second delivery, and the first body is what comes back."""
    first = await sender.reaches(receiver, message(sender.name, receiver.name, b'"first"'))
    await sender.send(message(sender.name, receiver.name, b'"second"', first.id))
    sentinel = await sender.reaches(receiver, clause="PB-3-26")
    await receiver.ack(sentinel.id)
    again = await broker.back(receiver, sender)
    await again.expect_delivery(first, clause="PB-3-26")
    await again.expect_silence("PB-3-26")


@clauses("PB-3-26")
async def test_duplicate_id_after_its_ack_is_a_no_op(sender: BrokerLine, receiver: BrokerLine) -> None:
    """The first row stands also after it was acked."""
    first = await sender.reaches(receiver)
    await receiver.ack(first.id)
    await receiver.fence()
    await assert_dropped(sender, receiver, codec.encode(first).decode(), "PB-3-26")


@clauses("PB-3-17")
@axis("id", {"empty": "", "absent": None})
async def test_envelope_without_id_is_dropped(sender: BrokerLine, receiver: BrokerLine, id: str | None) -> None:
    """No id, no message."""
    await assert_dropped(sender, receiver, altered(sender, receiver, id=id), "PB-3-17")


@clauses("PB-3-18")
@axis("to", {"empty": "", "absent": None})
async def test_envelope_without_to_is_dropped(sender: BrokerLine, receiver: BrokerLine, to: str | None) -> None:
    """No recipient, no message."""
    await assert_dropped(sender, receiver, altered(sender, receiver, to=to), "PB-3-18")


@clauses("PB-3-19")
@axis(
    "text",
    {
        "broken": "{nope",
        "empty": "",
        "array": "[]",
        "null": "null",
        "number": "17",
        "two-objects": "{}{}",
        "number-id": '{"id":1,"to":"x"}',
        "unknown-control": '{"type":"subscribe"}',
        "ack-number": '{"type":"ack","id":7}',
    },
)
async def test_unparsable_frame_does_not_end_the_session(sender: BrokerLine, receiver: BrokerLine, text: str) -> None:
    """Garbage on a registered connection is dropped; the connection lives on."""
    await assert_dropped(sender, receiver, text, "PB-3-19")


@clauses("PB-3-14", "PB-2-03")
@axis("type", {"unknown": "chat", "empty": "", "null": None, "number": 7, "capital": "ACK"})
async def test_unrecognised_type_is_an_envelope(sender: BrokerLine, receiver: BrokerLine, type: object) -> None:
    """An envelope with a `type` that is no control type is delivered like any other; by the profile, with it or without."""
    envelope = message(sender.name, receiver.name)
    text = codec.encode(envelope).decode()[:-1] + f',"type":{json.dumps(type)}}}'
    await sender.text(text)
    await receiver.expect_delivery(envelope, clause="PB-3-14")


@clauses("PB-3-14")
@axis("order", ["shuffled", "spaced"])
async def test_member_order_and_spacing_do_not_matter(sender: BrokerLine, receiver: BrokerLine, order: str) -> None:
    """The same envelope, written differently, is the same message; its body stays compact, since spaces in it may count."""
    envelope = message(sender.name, receiver.name)
    texts = {
        name: json.dumps(value, separators=(",", ":")) for name, value in json.loads(codec.encode(envelope)).items()
    }
    if order == "shuffled":
        await sender.text(wire.object_text(texts, sorted(texts, reverse=True)))
    else:
        await sender.text("{\n " + " ,\r\n\t".join(f'"{name}" : {text}' for name, text in texts.items()) + "\n}")
    await receiver.expect_delivery(envelope)


@clauses("PB-3-20", "PB-3-21")
async def test_routing_goes_by_the_bound_name(broker: BrokerUnderTest, trial: Trial) -> None:
    """A broadcast signed `from` another peer still reaches that peer, and not its sender."""
    sender, victim = await broker.peer(), await broker.peer()
    spoofed = message(victim.name, "*")
    await sender.send(spoofed)
    got = await victim.expect_copy(spoofed, "PB-3-20")
    trial.expect(got.envelope.sender == victim.name, victim.name, got.envelope.sender, "PB-3-21")
    await sender.expect_silence("PB-3-20")


@clauses("PB-3-09")
@axis("pair", {"star-msg": ("*", "msg"), "name-broadcast": ("", "broadcast"), "star-other": ("*", "other")})
async def test_kind_and_to_that_disagree_are_dropped(
    sender: BrokerLine, receiver: BrokerLine, pair: tuple[str, str]
) -> None:
    """`*` goes with broadcast and a name does not."""
    to, kind = pair
    text = altered(sender, receiver, to=to or receiver.name, kind=kind)
    await assert_dropped(sender, receiver, text, "PB-3-09")


async def fate(sender: BrokerLine, receiver: BrokerLine, **odd: str) -> str:
    """What becomes of an envelope with these fields, seen by what comes first: it or the one behind it."""
    envelope = message(sender.name, receiver.name, **odd)
    await sender.send(envelope, message(sender.name, receiver.name))
    [first] = await receiver.deliveries(1)
    return "routed" if first.delivery_key == envelope.id else "dropped"


@clauses("PB-3-09")
async def test_another_kind_to_a_name_is_recorded(sender: BrokerLine, receiver: BrokerLine, trial: Trial) -> None:
    """The code routes it, the document names two kinds only: recorded, not judged."""
    trial.info(f"a message of another kind is {await fate(sender, receiver, kind='other')}")


@clauses("PB-3-03", "PB-6-03")
async def test_envelope_of_another_version_is_recorded(sender: BrokerLine, receiver: BrokerLine, trial: Trial) -> None:
    """The document says reject, the code does not look: recorded, never a plain failure."""
    trial.info(f"an envelope of version v2 is {await fate(sender, receiver, protocol_version='v2')}")
