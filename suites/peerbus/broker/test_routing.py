"""Section 3: what becomes of an envelope."""

from __future__ import annotations

import json

from harness.cases import axis, clauses
from harness.trial import Trial
from suites.peerbus import handmade
from suites.peerbus.bus import Bus, Peer, codec, message, unique


async def assert_dropped(sender: Peer, receiver: Peer, text: str, clause: str) -> None:
    """Nothing arrives but the sentinel sent behind it, and the session goes on."""
    await sender.text(text)
    sentinel = message(sender.name, receiver.name)
    await sender.send(sentinel)
    await receiver.expect_delivery(sentinel, clause=clause)
    await sender.expect_silence(clause)


def altered(sender: Peer, receiver: Peer, **changes: object) -> str:
    """An envelope's text with members changed; None leaves one out."""
    members = json.loads(codec.encode(message(sender.name, receiver.name))) | changes
    return json.dumps({key: value for key, value in members.items() if value is not None}, ensure_ascii=False)


@clauses("PB-3-23", "PB-2.1-05")
async def test_connected_recipient_gets_it_now(bus: Bus) -> None:
    """A direct message reaches a connected peer without its doing anything."""
    sender, receiver = await bus.peer(), await bus.peer()
    envelope = message(sender.name, receiver.name)
    await sender.send(envelope)
    await receiver.expect_delivery(envelope, clause="PB-3-23")


@clauses("PB-3-23")
async def test_message_to_oneself_is_delivered(bus: Bus) -> None:
    """Sender and recipient may be the same."""
    peer = await bus.peer()
    envelope = message(peer.name, peer.name)
    await peer.send(envelope)
    await peer.expect_delivery(envelope)


@clauses("PB-3-24")
async def test_offline_recipient_gets_it_at_its_next_register(bus: Bus) -> None:
    """A known but absent peer's message is queued."""
    sender, name = await bus.peer(), unique("r")
    await bus.leave(await bus.peer(name), sender)
    envelope = message(sender.name, name)
    await sender.send(envelope)
    await sender.fence()
    receiver, _ = await bus.register(name)
    await receiver.expect_delivery(envelope, clause="PB-3-24")


@clauses("PB-3-25")
async def test_unknown_recipient_is_dropped(bus: Bus) -> None:
    """A message to a name never seen is not kept for whoever takes that name later."""
    sender, ghost = await bus.peer(), unique("ghost")
    await sender.send(message(sender.name, ghost))
    await sender.fence()
    late = await bus.peer(ghost)
    sentinel = message(sender.name, ghost)
    await sender.send(sentinel)
    await late.expect_delivery(sentinel, clause="PB-3-25")


@clauses("PB-3-26")
async def test_duplicate_id_is_a_no_op(bus: Bus) -> None:
    """The same id again, with another body: no second delivery, and the first body is what comes back."""
    sender, receiver = await bus.peer(), await bus.peer()
    first = message(sender.name, receiver.name, b'"first"')
    await sender.send(first)
    await receiver.expect_delivery(first)
    await sender.send(message(sender.name, receiver.name, b'"second"', first.id))
    sentinel = message(sender.name, receiver.name)
    await sender.send(sentinel)
    await receiver.expect_delivery(sentinel, clause="PB-3-26")
    await receiver.ack(sentinel.id)
    await bus.leave(receiver, sender)
    again, _ = await bus.register(receiver.name)
    await again.expect_delivery(first, clause="PB-3-26")
    await again.expect_silence("PB-3-26")


@clauses("PB-3-26")
async def test_duplicate_id_after_its_ack_is_a_no_op(bus: Bus) -> None:
    """The first row stands also after it was acked."""
    sender, receiver = await bus.peer(), await bus.peer()
    first = message(sender.name, receiver.name)
    await sender.send(first)
    await receiver.expect_delivery(first)
    await receiver.ack(first.id)
    await receiver.fence()
    await assert_dropped(sender, receiver, codec.encode(first).decode(), "PB-3-26")


@clauses("PB-3-17")
@axis("id", {"empty": "", "absent": None})
async def test_envelope_without_id_is_dropped(bus: Bus, id: str | None) -> None:
    """No id, no message."""
    sender, receiver = await bus.peer(), await bus.peer()
    await assert_dropped(sender, receiver, altered(sender, receiver, id=id), "PB-3-17")


@clauses("PB-3-18")
@axis("to", {"empty": "", "absent": None})
async def test_envelope_without_to_is_dropped(bus: Bus, to: str | None) -> None:
    """No recipient, no message."""
    sender, receiver = await bus.peer(), await bus.peer()
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
async def test_unparsable_frame_does_not_end_the_session(bus: Bus, text: str) -> None:
    """Garbage on a registered connection is dropped; the connection lives on."""
    sender, receiver = await bus.peer(), await bus.peer()
    await assert_dropped(sender, receiver, text, "PB-3-19")


@clauses("PB-3-14", "PB-2-03")
@axis("type", {"unknown": "chat", "empty": "", "null": None, "number": 7, "capital": "ACK"})
async def test_unrecognised_type_is_an_envelope(bus: Bus, trial: Trial, type: object) -> None:
    """An envelope with a `type` that is no control type is delivered like any other; by the profile, with it or without."""
    sender, receiver = await bus.peer(), await bus.peer()
    envelope = message(sender.name, receiver.name)
    text = codec.encode(envelope).decode()[:-1] + f',"type":{json.dumps(type)}}}'
    await sender.text(text)
    await receiver.expect_delivery(envelope, clause="PB-3-14")


@clauses("PB-3-14")
@axis("order", ["shuffled", "spaced"])
async def test_member_order_and_spacing_do_not_matter(bus: Bus, order: str) -> None:
    """The same envelope, written differently, is the same message; its body stays compact, since spaces in it may count."""
    sender, receiver = await bus.peer(), await bus.peer()
    envelope = message(sender.name, receiver.name)
    texts = {
        name: json.dumps(value, separators=(",", ":")) for name, value in json.loads(codec.encode(envelope)).items()
    }
    if order == "shuffled":
        await sender.text(handmade.object_text(texts, sorted(texts, reverse=True)))
    else:
        await sender.text("{\n " + " ,\r\n\t".join(f'"{name}" : {text}' for name, text in texts.items()) + "\n}")
    await receiver.expect_delivery(envelope)


@clauses("PB-3-20", "PB-3-21")
async def test_routing_goes_by_the_bound_name(bus: Bus, trial: Trial) -> None:
    """A broadcast signed `from` another peer still reaches that peer, and not its sender."""
    sender, victim = await bus.peer(), await bus.peer()
    spoofed = message(victim.name, "*")
    await sender.send(spoofed)
    got = await victim.expect_delivery(spoofed, f"{spoofed.id}|{victim.name}", "PB-3-20")
    trial.expect(got.envelope.sender == victim.name, victim.name, got.envelope.sender, "PB-3-21")
    await sender.expect_silence("PB-3-20")


@clauses("PB-3-09")
@axis("pair", {"star-msg": ("*", "msg"), "name-broadcast": ("", "broadcast"), "star-other": ("*", "other")})
async def test_kind_and_to_that_disagree_are_dropped(bus: Bus, pair: tuple[str, str]) -> None:
    """`*` goes with broadcast and a name does not."""
    sender, receiver = await bus.peer(), await bus.peer()
    to, kind = pair
    text = altered(sender, receiver, to=to or receiver.name, kind=kind)
    await assert_dropped(sender, receiver, text, "PB-3-09")


@clauses("PB-3-09")
async def test_another_kind_to_a_name_is_recorded(bus: Bus, trial: Trial) -> None:
    """The code routes it, the document names two kinds only: recorded, not judged."""
    sender, receiver = await bus.peer(), await bus.peer()
    odd = message(sender.name, receiver.name, kind="other")
    sentinel = message(sender.name, receiver.name)
    await sender.send(odd, sentinel)
    got = await receiver.deliveries(1)
    trial.info(f"a message of another kind is {'routed' if got[0].delivery_key == odd.id else 'dropped'}")


@clauses("PB-3-03", "PB-6-03")
async def test_envelope_of_another_version_is_recorded(bus: Bus, trial: Trial) -> None:
    """The document says reject, the code does not look: recorded, never a plain failure."""
    sender, receiver = await bus.peer(), await bus.peer()
    odd = message(sender.name, receiver.name, protocol_version="v2")
    sentinel = message(sender.name, receiver.name)
    await sender.send(odd, sentinel)
    got = await receiver.deliveries(1)
    trial.info(f"an envelope of version v2 is {'routed' if got[0].delivery_key == odd.id else 'dropped'}")
