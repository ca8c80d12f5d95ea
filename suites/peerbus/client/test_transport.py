"""Section 1: WebSocket text messages, one JSON object each, up to 1 MiB."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from websockets.exceptions import ConnectionClosed

from harness.cases import axis, clauses
from harness.errors import TargetFailed, TargetRefused
from harness.trial import Broken, Trial
from reference_impl.peerbus.frames import MAX_MESSAGE, Deliver, Envelope, Peers
from suites.peerbus.adapter import Adapter, Link
from suites.peerbus.bus import codec, message


@clauses("PB-1-01")
async def test_dials_the_url(adapter: Adapter, trial: Trial) -> None:
    """A ws:// URL of host and port alone is dialled as it is."""
    link = await adapter.accept("PB-1-01")
    request = link.websocket.request
    assert request, "a connection has been asked for"
    trial.expect(request.path == "/", "an upgrade of /", request.path)


@clauses("PB-1-01")
async def test_speaks_tls_to_a_wss_url(adapters: Callable[..., Adapter], trial: Trial) -> None:
    """A wss:// URL is accepted: what arrives first is a TLS handshake record."""
    greeting: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def arrived(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.read(3)
        writer.close()
        if not greeting.done():
            greeting.set_result(first)

    server = await asyncio.start_server(arrived, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    adapter = await adapters().start(url=f"wss://127.0.0.1:{port}")
    try:
        first = await asyncio.wait_for(greeting, adapter.redial_s)
    except TimeoutError:
        raise Broken("PB-1-01", "the client to dial", "no connection") from None
    finally:
        server.close()
    trial.expect(first[:2] == b"\x16\x03", "a TLS handshake", first)


@clauses(
    "PB-1-02", "PB-1-03", "PB-1-04", "PB-0-02", "PB-2-01", "PB-2-02", "PB-2-03", "PB-6-02", "PB-2.4-02", "PB-5-20",
    "PB-2.1-04", "PB-6-10", "PB-3-01", "PB-3-02",
)  # fmt: skip
async def test_every_frame_is_well_formed(adapter: Adapter, link: Link) -> None:
    """Whatever a client says is one text message with one v1 object of a known shape; `lint` looks at each."""
    await adapter.handles(link, adapter.mail())
    await adapter.send("bob")
    await link.expect(Envelope)
    await adapter.broadcast("null")
    await link.expect(Envelope)
    asking = asyncio.create_task(adapter.peers(link))
    await link.expect(Peers)
    await link.send(Peers((adapter.name,)))
    await asking
    link.cut()
    again = await adapter.online()
    await adapter.handles(again, message("bob", "*"), "key-1")
    await adapter.send("bob")
    await again.expect(Envelope)


BINARY: dict[str, Callable[[bytes], bytes]] = {
    "deliver": lambda deliver: deliver,
    "garbage": lambda _: b"\x00\xff\x01",
    "empty": lambda _: b"",
    "close-like": lambda _: codec.encode(Peers(("nobody",))),
}


@clauses("PB-1-11")
@axis("data", BINARY)
async def test_binary_is_ignored(adapter: Adapter, link: Link, data: Callable[[bytes], bytes]) -> None:
    """A binary message is neither surfaced nor acked, and does not end the session."""
    mail = adapter.mail()
    await link.binary(data(codec.encode(Deliver(mail.id, mail))))
    await adapter.expect_ignored(link)


@clauses("PB-1-12")
async def test_ping_is_answered_and_means_nothing(adapter: Adapter, link: Link, trial: Trial) -> None:
    """A ping gets its pong; the session goes on."""
    try:
        async with asyncio.timeout(trial.patience_s):
            await (await link.websocket.ping(b"touch"))
    except (TimeoutError, ConnectionClosed) as error:
        raise Broken("PB-1-12", "a pong", repr(error)) from None
    await adapter.expect_ignored(link)


@clauses("PB-1-12")
async def test_unasked_pong_means_nothing(adapter: Adapter, link: Link) -> None:
    """A pong that nobody asked for is ignored."""
    await link.websocket.pong(b"stone")
    await adapter.expect_ignored(link)


@clauses("PB-1-02")
@axis("pieces", [2, 7])
async def test_a_fragmented_message_is_one_message(adapter: Adapter, link: Link, pieces: int) -> None:
    """A text message may come in continuation frames."""
    mail = adapter.mail()
    text = codec.encode(Deliver(mail.id, mail)).decode()
    size = -(-len(text) // pieces)
    await link.text([text[at : at + size] for at in range(0, len(text), size)])
    await adapter.expect_handled(link, mail)


def delivery_of(adapter: Adapter, size: int) -> tuple[Envelope, str]:
    """A deliver frame of exactly that many bytes."""
    empty = adapter.mail(b'""')
    room = size - len(codec.encode(Deliver(empty.id, empty)))
    mail = adapter.mail(b'"%s"' % (b"x" * room), id=empty.id)
    return mail, codec.encode(Deliver(mail.id, mail)).decode()


@clauses("PB-1-14")
async def test_a_message_of_1_mib_is_read(adapter: Adapter, link: Link) -> None:
    """The limit is 1,048,576 bytes, and that many are read."""
    mail, text = delivery_of(adapter, MAX_MESSAGE)
    await link.text(text)
    await adapter.expect_handled(link, mail)


@clauses("PB-1-14")
async def test_one_byte_more_closes(adapter: Adapter, link: Link) -> None:
    """A longer message closes the connection, and the client redials."""
    _, text = delivery_of(adapter, MAX_MESSAGE + 1)
    await link.text(text)
    await link.expect_closed()
    await adapter.expect_ignored(await adapter.online())


@clauses("PB-1-15")
@axis("size", {"over-by-itself": MAX_MESSAGE + 2, "over-in-its-frame": MAX_MESSAGE - 50})
async def test_a_body_over_budget_is_refused(adapter: Adapter, link: Link, size: int) -> None:
    """A body that no broker would read, alone or with the eight other fields, fails at the sender, which keeps its connection."""
    try:
        await adapter.send("bob", '"%s"' % ("x" * (size - 2)))
    except (TargetRefused, TargetFailed) as error:
        adapter.trial.said("client", "host", "note", f"refused: {error}"[:200])
    id = await adapter.send("bob")
    envelope = await link.expect(Envelope)
    adapter.trial.expect(envelope.id == id, f"only the message {id}", f"a message of {len(envelope.body)} bytes")
