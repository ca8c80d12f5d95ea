"""Section 1: WebSocket messages, their kinds and their sizes."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from suites.peerbus.broker.under_test import BrokerLine, BrokerUnderTest
from suites.peerbus.envelopes import codec, message

LIMIT = 1_048_576


@clauses("PB-1-10")
@axis("content", ["envelope", "peers-request", "noise", "empty"])
async def test_binary_message_is_ignored(sender: BrokerLine, receiver: BrokerLine, content: str) -> None:
    """A binary message does nothing, even if it holds a good frame; the session goes on."""
    data = {
        "envelope": codec.encode(message(sender.name, receiver.name)),
        "peers-request": b'{"protocol_version":"v1","type":"peers"}',
        "noise": bytes(range(256)),
        "empty": b"",
    }[content]
    await sender.binary(data)
    await sender.reaches(receiver, clause="PB-1-10")
    await sender.expect_silence("PB-1-10")


@clauses("PB-1-12")
async def test_ping_is_answered_and_means_nothing(broker: BrokerUnderTest) -> None:
    """A ping is ponged, an unsolicited pong ignored, and the session is as before."""
    peer = await broker.peer()
    await peer.expect_pong("PB-1-12")
    await peer.carrier.pong(b"unasked")
    await peer.expect_silence()


def sized(sender: BrokerLine, receiver: BrokerLine, size: int) -> str:
    """An envelope whose message has exactly that many bytes."""
    empty = message(sender.name, receiver.name, b'""')
    room = size - len(codec.encode(empty))
    return codec.encode(message(sender.name, receiver.name, b'"' + b"x" * room + b'"', empty.id)).decode()


@clauses("PB-1-13")
@axis("pieces", {"whole": 1, "fragmented": 7})
async def test_a_mebibyte_is_read(sender: BrokerLine, receiver: BrokerLine, trial: Trial, pieces: int) -> None:
    """A message of exactly 1,048,576 bytes is accepted, in one frame or in fragments."""
    text = sized(sender, receiver, LIMIT)
    trial.expect(len(text) == LIMIT, "a probe of exactly the limit", len(text))
    step = len(text) // pieces + 1
    await sender.text([text[i : i + step] for i in range(0, len(text), step)] if pieces > 1 else text)
    await sender.fence()  # says how the connection was closed, if it was
    [got] = await receiver.deliveries(1, "PB-1-13")
    trial.expect(codec.encode(got.envelope).decode() == text, "the message unchanged", "another one", "PB-1-13")


@clauses("PB-1-13")
@axis("pieces", {"whole": 1, "fragmented": 7})
async def test_one_byte_more_closes(sender: BrokerLine, receiver: BrokerLine, pieces: int) -> None:
    """A message of 1,048,577 bytes closes the connection."""
    text = sized(sender, receiver, LIMIT + 1)
    step = len(text) // pieces + 1
    await sender.text([text[i : i + step] for i in range(0, len(text), step)] if pieces > 1 else text)
    await sender.expect_closed("PB-1-13")
    await receiver.expect_silence("PB-1-13")


@clauses("PB-1-13")
@axis("over", {"at-the-limit": 0, "one-byte-more": 1})
async def test_bytes_are_counted_not_characters(sender: BrokerLine, receiver: BrokerLine, over: int) -> None:
    """A message of two-byte characters is as long as its bytes: the limit is read, and one more closes."""
    plain = sized(sender, receiver, LIMIT + over)
    at = plain.index("xxxx")
    text = plain[:at] + "\u00e9" * 200_000 + plain[at + 400_000 :]
    await sender.text(text)
    if over:
        await sender.expect_closed("PB-1-13")
        await receiver.expect_silence("PB-1-13")
    else:
        await sender.fence()
        await receiver.deliveries(1, "PB-1-13")


@clauses("PB-1-13", "PB-2.3-06")
async def test_others_live_on_after_an_oversize_message(
    broker: BrokerUnderTest, sender: BrokerLine, receiver: BrokerLine
) -> None:
    """Only the connection that sent too much ends; its name becomes free."""
    await sender.text(sized(sender, receiver, LIMIT + 1))
    await sender.expect_closed("PB-1-13")
    await broker.until_gone(sender.name, receiver)


@clauses("PB-1-03", "PB-3-19")
async def test_fragments_make_one_message(sender: BrokerLine, receiver: BrokerLine) -> None:
    """An envelope in many fragments is one frame."""
    envelope = message(sender.name, receiver.name)
    text = codec.encode(envelope).decode()
    await sender.text(list(text))
    await receiver.expect_delivery(envelope)
