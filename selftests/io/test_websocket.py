"""The WebSocket carrier: close codes, fragments, dials that come to nothing, and peers that misbehave."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from reference_impl.io.carrier import LOST, HungUp, NoConnection
from reference_impl.io.websocket import Listener, Settings, WebSocket, dial
from selftests.io.ends import (
    HOST,
    MORE_THAN_BUFFERS_HOLD,
    UPGRADE,
    WAIT_S,
    Accepts,
    accepting,
    deaf,
    end_of,
    over_websocket,
    saying,
    soon,
)


@pytest.mark.parametrize("code", [1000, 1001, 1008, 3000, 4999])
@pytest.mark.parametrize("closer", [0, 1], ids=["dialled", "accepted"])
async def test_a_close_code_is_heard_at_both_ends(code: int, closer: int) -> None:
    async with over_websocket() as ends:
        await soon(ends[closer].close(code))
        assert [(await end_of(end)).code for end in ends] == [code, code]


async def test_a_reset_is_lost() -> None:
    """RST instead of a close frame."""
    accepts = Accepts()
    async with accepting(Listener(accepts), accepts) as port:
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(UPGRADE)
        await soon(reader.readuntil(b"\r\n\r\n"))
        carrier = await accepts.next()
        writer.transport.abort()
        assert (await end_of(carrier)).code == LOST
        with pytest.raises(HungUp):
            await soon(carrier.send("x"))


async def test_half_a_message_is_none() -> None:
    """What breaks off is not heard."""
    async with over_websocket() as (one, other):
        assert isinstance(one, WebSocket)
        await one.send("whole")
        one.cut(tail=b"\x81\x85\x00\x00\x00\x00ha")
        assert await soon(other.receive()) == "whole"
        assert (await end_of(other)).code == LOST


async def test_a_message_in_fragments_is_one_message() -> None:
    """Cut in the middle of a letter, with an empty piece between."""
    letters = "née 😀".encode()
    async with over_websocket() as (one, other):
        await one.send([letters[:2], b"", letters[2:7], letters[7:]])
        assert await soon(other.receive()) == letters
        await other.send(["né", "", "e"])
        assert await soon(one.receive()) == "née"


async def test_one_byte_over_the_limit_is_closed_with_1009() -> None:
    """Who sent it hears the code; who closes does not wait for an answer, and has heard none."""
    async with over_websocket(Settings(max_size=1000)) as (one, other):
        await one.send(bytes(1000))
        assert len(await soon(other.receive())) == 1000
        await one.send(bytes(1001))
        assert (await end_of(other)).code == LOST
        assert (await end_of(one)).code == 1009


async def test_the_subprotocol_is_the_one_both_know() -> None:
    accepts = Accepts()
    async with accepting(Listener(accepts, Settings(subprotocols=("b.2", "a.1"))), accepts) as port:
        dialled = await dial(f"ws://{HOST}:{port}", Settings(subprotocols=("a.1", "c.3")))
        assert dialled.subprotocol == "a.1"
        assert (await accepts.next()).subprotocol == "a.1"
        dialled.cut()


# -- dials that come to nothing ----------------------------------------------------------------------------------------

HTTP = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


@pytest.mark.parametrize("answer", [HTTP, b"", b"220 mail ESMTP\r\n", b"\x16\x03\x01\x00\x05hello", b"\x00" * 70_000])
async def test_what_is_no_websocket_is_no_connection(answer: bytes) -> None:
    async with saying(answer) as port:
        with pytest.raises(NoConnection, match=f"{HOST}:{port}"):
            await soon(dial(f"ws://{HOST}:{port}"))


async def test_an_upgrade_that_nobody_answers_is_no_connection() -> None:
    """The TCP connection stands, and nothing is said on it."""
    async with saying(None) as port:
        with pytest.raises(NoConnection):
            await soon(dial(f"ws://{HOST}:{port}", Settings(open_s=0.2)))


async def test_a_port_where_nobody_listens_is_no_connection() -> None:
    async with saying(b"") as port:
        pass
    with pytest.raises(NoConnection, match=str(port)):
        await soon(dial(f"ws://{HOST}:{port}"))


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "127.0.0.1:80", "ws://", "ws://127.0.0.1:99999", "ws://a..b:1"])
async def test_what_is_no_address_is_no_connection(url: str) -> None:
    with pytest.raises(NoConnection):
        await soon(dial(url))


async def test_who_is_not_admitted_has_no_connection() -> None:
    """The listener looks at the upgrade before it accepts; the dial says with what it was turned away."""

    async def turn_away(connection: Any, request: Any) -> Any:
        return connection.respond(403, "no") if request.headers.get("X-Name") != "ann" else None

    accepts = Accepts()
    async with accepting(Listener(accepts, admit=turn_away), accepts) as port:
        with pytest.raises(NoConnection, match="403"):
            await soon(dial(f"ws://{HOST}:{port}"))
        admitted = await dial(f"ws://{HOST}:{port}", headers={"X-Name": "ann"})
        await accepts.next()
        admitted.cut()


# -- TLS where there is none -------------------------------------------------------------------------------------------


async def test_a_tls_hello_does_not_hurt_the_listener() -> None:
    """Who speaks TLS to a plain port is turned away, and the next is served."""
    accepts = Accepts()
    async with accepting(Listener(accepts), accepts) as port:
        with pytest.raises(NoConnection):
            await soon(dial(f"wss://{HOST}:{port}"))
        dialled = await dial(f"ws://{HOST}:{port}")
        await accepts.next()
        dialled.cut()


# -- who does not read -------------------------------------------------------------------------------------------------


async def test_a_close_does_not_wait_for_who_does_not_read() -> None:
    """After the grace the connection is cut, and who was sending waits no more."""
    accepts = Accepts()
    async with accepting(Listener(accepts, Settings(close_s=0.1)), accepts) as port:
        peer = await deaf(port, UPGRADE)
        carrier = await accepts.next()
        sending = asyncio.create_task(carrier.send(MORE_THAN_BUFFERS_HOLD))
        await soon(carrier.close())
        await soon(asyncio.wait([sending]))
        assert (await end_of(carrier)).code == LOST
        peer.close()


async def test_a_listener_stops_though_somebody_does_not_read() -> None:
    async def handle(carrier: WebSocket) -> None:
        accepted.set()
        await carrier.send(MORE_THAN_BUFFERS_HOLD)

    accepted = asyncio.Event()
    listener = Listener(handle, Settings(close_s=0.1))
    peer = await deaf(await listener.start(), UPGRADE)
    await soon(accepted.wait())
    await soon(listener.stop())
    peer.close()


async def test_a_listener_does_not_wait_for_who_hangs_in_the_handshake() -> None:
    """The library would, for as long as an upgrade may take: a broker that somebody ends has no time."""
    listener = Listener(Accepts(), Settings(open_s=30.0))
    port = await listener.start()
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(UPGRADE[:20])
    async with asyncio.timeout(WAIT_S):
        while not listener.connections:  # noqa: ASYNC110  # nobody tells when one was taken
            await asyncio.sleep(0.001)
    began = asyncio.get_running_loop().time()
    await listener.stop()
    assert asyncio.get_running_loop().time() - began < WAIT_S
    with contextlib.suppress(ConnectionResetError):
        assert await soon(reader.read()) == b""
    writer.close()
