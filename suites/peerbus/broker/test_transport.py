"""Section 1: WebSocket messages, their kinds and their sizes."""

from __future__ import annotations

import asyncio

from websockets.exceptions import ConnectionClosed

from harness.cases import axis, clauses
from harness.trial import Broken, Trial
from suites.peerbus.bus import Bus, Peer, codec, message

LIMIT = 1_048_576


@clauses("PB-1-10")
@axis("content", ["envelope", "peers-request", "noise", "empty"])
async def test_binary_message_is_ignored(bus: Bus, content: str) -> None:
    """A binary message does nothing, even if it holds a good frame; the session goes on."""
    sender, receiver = await bus.peer(), await bus.peer()
    data = {
        "envelope": codec.encode(message(sender.name, receiver.name)),
        "peers-request": b'{"protocol_version":"v1","type":"peers"}',
        "noise": bytes(range(256)),
        "empty": b"",
    }[content]
    await sender.binary(data)
    sentinel = message(sender.name, receiver.name)
    await sender.send(sentinel)
    await receiver.expect_delivery(sentinel, clause="PB-1-10")
    await sender.expect_silence("PB-1-10")


@clauses("PB-1-12")
async def test_ping_is_answered_and_means_nothing(bus: Bus) -> None:
    """A ping is ponged, an unsolicited pong ignored, and the session is as before."""
    peer = await bus.peer()
    try:
        await asyncio.wait_for(await peer.websocket.ping(), bus.trial.patience_s)
        await peer.websocket.pong(b"unasked")
    except (ConnectionClosed, TimeoutError) as error:
        raise Broken("PB-1-12", "a pong on an open connection", repr(error)) from None
    await peer.expect_silence()


def sized(sender: Peer, receiver: Peer, size: int) -> str:
    """An envelope whose message has exactly that many bytes."""
    empty = message(sender.name, receiver.name, b'""')
    room = size - len(codec.encode(empty))
    return codec.encode(message(sender.name, receiver.name, b'"' + b"x" * room + b'"', empty.id)).decode()


@clauses("PB-1-13")
@axis("pieces", {"whole": 1, "fragmented": 7})
async def test_a_mebibyte_is_read(bus: Bus, trial: Trial, pieces: int) -> None:
    """A message of exactly 1,048,576 bytes is accepted, in one frame or in fragments."""
    sender, receiver = await bus.peer(), await bus.peer()
    text = sized(sender, receiver, LIMIT)
    trial.expect(len(text) == LIMIT, "a probe of exactly the limit", len(text))
    step = len(text) // pieces + 1
    await sender.text([text[i : i + step] for i in range(0, len(text), step)] if pieces > 1 else text)
    await sender.fence()  # says how the connection was closed, if it was
    [got] = await receiver.deliveries(1, "PB-1-13")
    trial.expect(codec.encode(got.envelope).decode() == text, "the message unchanged", "another one", "PB-1-13")


@clauses("PB-1-13")
@axis("pieces", {"whole": 1, "fragmented": 7})
async def test_one_byte_more_closes(bus: Bus, pieces: int) -> None:
    """A message of 1,048,577 bytes closes the connection."""
    sender, receiver = await bus.peer(), await bus.peer()
    text = sized(sender, receiver, LIMIT + 1)
    step = len(text) // pieces + 1
    await sender.text([text[i : i + step] for i in range(0, len(text), step)] if pieces > 1 else text)
    await sender.expect_closed("PB-1-13")
    await receiver.expect_silence("PB-1-13")


@clauses("PB-1-13", "PB-2.3-06")
async def test_others_live_on_after_an_oversize_message(bus: Bus) -> None:
    """Only the connection that sent too much ends; its name becomes free."""
    sender, receiver = await bus.peer(), await bus.peer()
    await sender.text(sized(sender, receiver, LIMIT + 1))
    await sender.expect_closed("PB-1-13")
    await bus.until_gone(sender.name, receiver)


@clauses("PB-1-03", "PB-3-19")
async def test_fragments_make_one_message(bus: Bus) -> None:
    """An envelope in many fragments is one frame."""
    sender, receiver = await bus.peer(), await bus.peer()
    envelope = message(sender.name, receiver.name)
    text = codec.encode(envelope).decode()
    await sender.text(list(text))
    await receiver.expect_delivery(envelope)
