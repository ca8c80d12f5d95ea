"""Section 1: WebSocket text messages, one JSON object each, up to 1 MiB."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from harness.catalogue.cases import axis, clauses
from harness.errors import TargetFailed, TargetRefused
from harness.judging.trial import Trial
from reference_impl.io import tcp
from reference_impl.io.tcp import Stream
from reference_impl.peerbus.frames import MAX_MESSAGE, Deliver, Envelope, Peers
from suites.common.connect import Port
from suites.common.line import ByteLine
from suites.peerbus.client.under_test import ClientLine, ClientUnderTest
from suites.peerbus.envelopes import codec, message


@clauses("PB-1-01")
async def test_dials_the_url(client: ClientUnderTest, trial: Trial) -> None:
    """A ws:// URL of host and port alone is dialled as it is."""
    line = await client.accept("PB-1-01")
    trial.expect(line.asked_for.startswith("/ "), "an upgrade of /", line.asked_for)


@clauses("PB-1-01")
async def test_speaks_tls_to_a_wss_url(clients: Callable[..., ClientUnderTest], trial: Trial) -> None:
    """A wss:// URL is accepted: what arrives first is a TLS handshake record."""
    port: Port[Stream] = Port(tcp.Listener)
    client = await clients().start(url=f"wss://127.0.0.1:{await port.open()}")
    try:
        dialled = await trial.next_of(port.arrivals, "the client to dial", "PB-1-01", client.redial_s)
        first = await ByteLine(trial, dialled).next("a TLS handshake", "PB-1-01")
    finally:
        await port.close()
    trial.expect(first[:2] == b"\x16\x03", "a TLS handshake", first)


@clauses("PB-1-02", "PB-1-03", "PB-1-04", "PB-0-02", "PB-2-01", "PB-2-02", "PB-2-03", "PB-6-02", "PB-2.4-02", "PB-5-20")
@clauses("PB-2.1-04", "PB-6-10", "PB-3-01", "PB-3-02")
async def test_every_frame_is_well_formed(client: ClientUnderTest, line: ClientLine) -> None:
    """Whatever a client says is one text message with one v1 object of a known shape; `lint` looks at each."""
    await client.handles(line, client.mail())
    await client.send("bob")
    await line.expect(Envelope)
    await client.broadcast("null")
    await line.expect(Envelope)
    asking = asyncio.create_task(client.peers(line))
    await line.expect(Peers)
    await line.send(Peers((client.name,)))
    await asking
    line.cut()
    again = await client.online()
    await client.handles(again, message("bob", "*"), "key-1")
    await client.send("bob")
    await again.expect(Envelope)


BINARY: dict[str, Callable[[bytes], bytes]] = {
    "deliver": lambda deliver: deliver,
    "garbage": lambda _: b"\x00\xff\x01",
    "empty": lambda _: b"",
    "close-like": lambda _: codec.encode(Peers(("nobody",))),
}


@clauses("PB-1-11")
@axis("data", BINARY)
async def test_binary_is_ignored(client: ClientUnderTest, line: ClientLine, data: Callable[[bytes], bytes]) -> None:
    """A binary message is neither surfaced nor acked, and does not end the session."""
    mail = client.mail()
    await line.binary(data(codec.encode(Deliver(mail.id, mail))))
    await client.expect_ignored(line)


@clauses("PB-1-12")
async def test_ping_is_answered_and_means_nothing(client: ClientUnderTest, line: ClientLine) -> None:
    """A ping gets its pong; the session goes on."""
    await line.expect_pong("PB-1-12")
    await client.expect_ignored(line)


@clauses("PB-1-12")
async def test_unasked_pong_means_nothing(client: ClientUnderTest, line: ClientLine) -> None:
    """A pong that nobody asked for is ignored."""
    await line.carrier.pong(b"stone")
    await client.expect_ignored(line)


@clauses("PB-1-02")
@axis("pieces", [2, 7])
async def test_a_fragmented_message_is_one_message(client: ClientUnderTest, line: ClientLine, pieces: int) -> None:
    """A text message may come in continuation frames."""
    mail = client.mail()
    text = codec.encode(Deliver(mail.id, mail)).decode()
    size = -(-len(text) // pieces)
    await line.text([text[at : at + size] for at in range(0, len(text), size)])
    await client.expect_handled(line, mail)


def delivery_of(client: ClientUnderTest, size: int) -> tuple[Envelope, str]:
    """A deliver frame of exactly that many bytes."""
    empty = client.mail(b'""')
    room = size - len(codec.encode(Deliver(empty.id, empty)))
    mail = client.mail(b'"%s"' % (b"x" * room), id=empty.id)
    return mail, codec.encode(Deliver(mail.id, mail)).decode()


@clauses("PB-1-14")
async def test_a_message_of_1_mib_is_read(client: ClientUnderTest, line: ClientLine) -> None:
    """The limit is 1,048,576 bytes, and that many are read."""
    mail, text = delivery_of(client, MAX_MESSAGE)
    await line.text(text)
    await client.expect_handled(line, mail)


@clauses("PB-1-14")
async def test_one_byte_more_closes(client: ClientUnderTest, line: ClientLine) -> None:
    """A longer message closes the connection, and the client redials."""
    _, text = delivery_of(client, MAX_MESSAGE + 1)
    await line.text(text)
    await line.expect_closed()
    await client.expect_ignored(await client.online())


OVER_BUDGET = {
    "by-itself": '"%s"' % ("x" * MAX_MESSAGE),
    "in-its-frame": '"%s"' % ("x" * (MAX_MESSAGE - 52)),
    "in-bytes": '"%s"' % ("\u00e9" * (MAX_MESSAGE // 2)),
}


@clauses("PB-1-15")
@axis("body", OVER_BUDGET)
async def test_a_body_over_budget_is_refused(client: ClientUnderTest, line: ClientLine, body: str) -> None:
    """A body that no broker would read, alone or with the eight other fields, fails at the sender, which keeps its connection."""
    try:
        await client.send("bob", body)
    except (TargetRefused, TargetFailed) as error:
        client.trial.said("client", "host", "note", f"refused: {error}"[:200])
    id = await client.send("bob")
    envelope = await line.expect(Envelope)
    client.trial.expect(envelope.id == id, f"only the message {id}", f"a message of {len(envelope.body)} bytes")
