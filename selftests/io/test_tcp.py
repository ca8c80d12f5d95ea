"""The TCP carrier: EOF, RST, TLS that breaks, dials that come to nothing, and peers that do not read."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import ExitStack

import pytest

from reference_impl.io import tcp
from reference_impl.io.carrier import ENDED, LOST, HungUp, NoConnection
from reference_impl.io.tcp import Listener, Stream, dial
from selftests.io.ends import HOST, MORE_THAN_BUFFERS_HOLD, Accepts, accepting, deaf, end_of, over_tcp, saying, soon


async def test_eof_is_the_end_of_what_is_heard_alone() -> None:
    """A half-closed connection still carries the other way."""
    async with over_tcp() as (one, other):
        assert isinstance(one, Stream)
        await one.finish()
        assert (await end_of(other)).code == ENDED
        await other.send(b"still here")
        assert await soon(one.receive()) == b"still here"


async def test_a_reset_is_lost_at_once() -> None:
    """Also for who was about to send."""
    async with over_tcp() as (one, other):
        one.cut()
        assert (await end_of(other)).code == LOST
        with pytest.raises(HungUp, match="1006"):
            await soon(other.send(b"x"))


async def test_a_stream_in_single_bytes_is_the_same_stream() -> None:
    async with over_tcp() as (one, other):
        sent = bytes(range(256))
        for byte in sent:
            await one.send(bytes([byte]))
        await one.close()
        got = b""
        while len(got) < 256:
            got += await soon(other.receive())
        assert got == sent
        assert (await end_of(other)).code == ENDED


# -- TLS ---------------------------------------------------------------------------------------------------------------


def anonymous(side: int) -> ssl.SSLContext:
    """TLS without certificates, so that none has to be made."""
    context = ssl.SSLContext(side)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("AECDH-AES128-SHA:@SECLEVEL=0")
    return context


async def test_a_fault_of_tls_is_lost() -> None:
    """A record that does not decrypt ends the stream like a reset."""
    raw: asyncio.Queue[socket.socket] = asyncio.Queue()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raw.put_nowait(writer.get_extra_info("socket"))
        await reader.read()
        writer.close()

    server = await asyncio.start_server(handle, HOST, 0, ssl=anonymous(ssl.PROTOCOL_TLS_SERVER))
    port = server.sockets[0].getsockname()[1]
    stream = Stream(*await asyncio.open_connection(HOST, port, ssl=anonymous(ssl.PROTOCOL_TLS_CLIENT)))
    below = socket.socket(fileno=socket.dup((await soon(raw.get())).fileno()))
    below.send(b"\x17\x03\x03\x00\x20" + bytes(32))
    below.close()
    end = await end_of(stream)
    assert end.code == LOST
    assert "SSL" in end.reason
    stream.cut()
    server.close()


# -- dials that come to nothing ----------------------------------------------------------------------------------------


async def test_a_port_where_nobody_listens_is_no_connection() -> None:
    async with saying(b"") as port:
        pass
    with pytest.raises(NoConnection, match=str(port)):
        await soon(dial(HOST, port))


async def test_a_dial_that_nobody_answers_is_no_connection() -> None:
    """A queue of connections that is full drops whoever comes next without a word."""
    with socket.socket() as listener, ExitStack() as waiting:
        listener.bind((HOST, 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        for _ in range(4):
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex((HOST, port))
        with pytest.raises(NoConnection, match="no answer within"):
            await soon(dial(HOST, port, open_s=0.2))


@pytest.mark.parametrize(("host", "port"), [(HOST, 99_999), ("a..b", 1), ("no.such.name.invalid", 1)])
async def test_what_is_no_address_is_no_connection(host: str, port: int) -> None:
    with pytest.raises(NoConnection, match=str(port)):
        await soon(dial(host, port))


# -- listeners, and who does not read ----------------------------------------------------------------------------------


async def test_a_close_does_not_wait_for_who_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the grace the connection is cut, and who was sending waits no more."""
    monkeypatch.setattr(tcp, "CLOSE_S", 0.1)
    accepts = Accepts()
    async with accepting(Listener(accepts), accepts) as port:
        peer = await deaf(port)
        carrier = await accepts.next()
        sending = asyncio.create_task(carrier.send(MORE_THAN_BUFFERS_HOLD))
        await soon(carrier.close())
        await soon(asyncio.wait([sending]))
        assert (await end_of(carrier)).code == LOST
        peer.close()


async def test_a_listener_that_stops_ends_every_connection_and_waits_for_its_handler() -> None:
    """Handlers hear the end and may still do what they do then."""
    done: list[int] = []

    async def handle(stream: Stream) -> None:
        accepted.release()
        end = await end_of(stream)
        await asyncio.sleep(0.01)  # what a handler has to do in the end may take a while
        done.append(end.code)

    accepted = asyncio.Semaphore(0)
    listener = Listener(handle)
    port = await listener.start()
    peers = [await dial(HOST, port) for _ in range(3)]
    for _ in peers:
        await soon(accepted.acquire())
    await soon(listener.stop())
    assert done == [ENDED] * 3
    assert [(await end_of(peer)).code for peer in peers] == [ENDED] * 3
    with pytest.raises(NoConnection):
        await soon(dial(HOST, port))


async def test_a_listener_that_is_killed_says_nothing_and_handles_no_more() -> None:
    """As a power cut: handlers end where they stand."""
    handling: asyncio.Queue[asyncio.Task[None] | None] = asyncio.Queue()

    async def handle(stream: Stream) -> None:
        handling.put_nowait(asyncio.current_task())
        await asyncio.Event().wait()

    listener = Listener(handle)
    peer = await dial(HOST, await listener.start())
    task = await soon(handling.get())
    assert task
    listener.kill()
    assert (await end_of(peer)).code == LOST
    await soon(asyncio.wait([task]))
    assert task.cancelled()


async def test_who_was_accepted_too_late_is_not_handled() -> None:
    """The kernel may accept what a listener that stops gets to see only afterwards."""
    accepts = Accepts()
    listener = Listener(accepts)
    await listener.start()
    await soon(listener.stop())
    async with over_tcp() as (stream, _):
        assert isinstance(stream, Stream)
        await soon(listener.accepted(stream))


async def test_a_close_that_was_given_up_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancelling a wait for the end does not cancel the end."""
    monkeypatch.setattr(tcp, "CLOSE_S", 0.1)
    accepts = Accepts()
    async with accepting(Listener(accepts), accepts) as port:
        peer = await deaf(port)
        carrier = await accepts.next()
        sending = asyncio.create_task(carrier.send(MORE_THAN_BUFFERS_HOLD))
        await asyncio.sleep(0)
        closing = asyncio.create_task(carrier.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait([closing])
        await soon(carrier.close())
        await soon(asyncio.wait([sending]))
        peer.close()
