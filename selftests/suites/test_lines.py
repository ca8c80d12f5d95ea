"""The suites' own end of a connection: whatever the target does to it, nobody but the target is blamed, and never in silence."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import socket
import time
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from harness.errors import TargetCrashed
from harness.judging.inbox import Inbox
from harness.judging.result import Verdict
from harness.judging.trial import Broken, Nothing, Trial
from harness.judging.verdict import judge
from reference_impl.io import tcp
from reference_impl.io.carrier import HungUp
from reference_impl.io.tcp import Stream
from reference_impl.io.websocket import WebSocket
from suites.common.connect import Port, WebSocketPort, dial_tcp, dial_websocket
from suites.common.line import ByteLine, Line, WebSocketLine
from suites.common.played import Played

Serve = Callable[[Stream], Awaitable[None]]

GUARD_S = 120
"""A flood that nobody ends ends the test; a busy machine with every allocation traced takes its time."""


@asynccontextmanager
async def server(handle: Serve) -> AsyncIterator[int]:
    listener = tcp.Listener(handle)
    port = await listener.start()
    try:
        yield port
    finally:
        await listener.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def hangs_up(stream: Stream) -> None:
    """Without a word."""


async def says_half(stream: Stream) -> None:
    await stream.send(b"\x00\x10half")


async def says_nothing(stream: Stream) -> None:
    """And listens to the end."""
    with suppress(HungUp):
        while True:
            await stream.receive()


async def resets(stream: Stream) -> None:
    stream.cut()


@pytest.mark.parametrize("scheme", ["ws", "wss"])
@pytest.mark.parametrize("handle", [hangs_up, says_half, resets, says_nothing], ids=lambda handle: handle.__name__)
async def test_who_does_not_answer_an_upgrade_has_crashed(trial: Trial, scheme: str, handle: Serve) -> None:
    """Whatever comes instead, in clear or under TLS; and a dial is as patient as its trial, no longer."""
    async with server(handle) as port:
        began = time.monotonic()
        with pytest.raises(TargetCrashed, match="no WebSocket connection"):
            await dial_websocket(trial, f"{scheme}://127.0.0.1:{port}")
        assert time.monotonic() - began < 5


async def test_who_is_not_there_has_crashed(trial: Trial) -> None:
    with pytest.raises(TargetCrashed, match="no WebSocket connection"):
        await dial_websocket(trial, f"ws://127.0.0.1:{free_port()}")
    with pytest.raises(TargetCrashed, match="no TCP connection"):
        await dial_tcp(trial, "127.0.0.1", free_port())


@pytest.mark.parametrize(("handle", "last"), [(hangs_up, []), (says_half, [b"\x00\x10half"]), (resets, [])])
async def test_the_end_of_a_byte_stream_is_the_last_thing_heard(trial: Trial, handle: Serve, last: list[bytes]) -> None:
    """FIN, FIN in the middle of a message, RST: heard like any frame, and never raised."""
    async with server(handle) as port:
        line = ByteLine(trial, await dial_tcp(trial, "127.0.0.1", port))
        heard = [await line.next() for _ in range(len(last) + 1)]
        assert heard == [*last, b""]
        await line.say(b"more", "more", b"more")  # into the void: the inbox has said that it is over
        await line.leave()


class Prefixed(Line[Stream, bytes]):
    """Messages behind their length, which is one byte."""

    other = "target"

    def __init__(self, trial: Trial, carrier: Stream) -> None:
        super().__init__(trial, carrier)
        self._rest = b""

    def messages(self, piece: bytes) -> list[bytes]:
        found, self._rest = [], self._rest + piece
        while self._rest and len(self._rest) > self._rest[0]:
            size = 1 + self._rest[0]
            found.append(self._rest[1:size])
            self._rest = self._rest[size:]
        return found

    def decoded(self, message: bytes) -> bytes:
        if message == b"bad":
            raise Broken("TOY-2", "good", "bad")
        return [message][message == b"ours"]  # no such index: a fault of ours

    def ended(self, end: HungUp) -> bytes:
        return b"end %d" % end.code


async def test_a_line_says_where_messages_end(trial: Trial) -> None:
    """However they are cut, and what is broken waits in its place."""

    async def speak(stream: Stream) -> None:
        for piece in (b"\x03on", b"e\x03two\x03b", b"ad\x03end"):
            await stream.send(piece)
            await asyncio.sleep(0.01)

    async with server(speak) as port:
        line = Prefixed(trial, await dial_tcp(trial, "127.0.0.1", port))
        assert [await line.next(), await line.next()] == [b"one", b"two"]
        with pytest.raises(Broken, match="expected good"):
            await line.next()
        assert [await line.next(), await line.next()] == [b"end", b"end 0"]


async def test_a_fault_of_ours_is_no_silence_of_the_target(trial: Trial) -> None:
    """A decoder that raises is found by whoever waits, as an error and not as nothing within the patience."""

    async def speak(stream: Stream) -> None:
        await stream.send(b"\x04ours")
        await says_nothing(stream)

    async with server(speak) as port:
        line = Prefixed(trial, await dial_tcp(trial, "127.0.0.1", port))
        with pytest.raises(IndexError) as raised:
            await line.next()
        assert judge(trial, raised.value)[0] is Verdict.ERROR


class TextLine(WebSocketLine[str]):
    other = "target"

    def decoded(self, message: str) -> str:
        return message

    def ended(self, end: HungUp) -> str:
        return f"end {end.code}"


async def test_a_port_hands_out_connections_in_order_and_turns_upgrades_away(trial: Trial) -> None:
    """The target dials us: what it says is heard, also what it said before anybody looked."""
    port = WebSocketPort(trial)
    url, port.turn_away = await port.url(), 1
    with pytest.raises(TargetCrashed, match="503"):
        await dial_websocket(trial, url)
    dialled = [await dial_websocket(trial, url) for _ in range(2)]
    for number, carrier in enumerate(dialled):
        await carrier.send(f"from {number}")
    lines = [TextLine(trial, await trial.next_of(port.arrivals, "a connection")) for _ in dialled]
    assert [await line.next() for line in lines] == ["from 0", "from 1"]
    await lines[0].text(["in ", "pieces"])
    assert await dialled[0].receive() == "in pieces"
    await dialled[1].close(1008)
    assert await lines[1].next() == "end 1008"
    await port.close()
    with pytest.raises(Nothing):
        await trial.next_of(port.arrivals, "another connection")


class RoleLine(TextLine):
    other = "role"


class RolePort(Played[RoleLine]):
    def line(self, carrier: WebSocket, number: int) -> RoleLine:
        return RoleLine(self.trial, carrier, f"line{number}")


async def test_silence_says_how_connections_went_since_the_target_was_spoken_to(trial: Trial) -> None:
    """Whoever waits in vain for what a hang-up made impossible is told of it; that we hung up ourselves is no news."""
    port = RolePort(trial, WebSocketPort(trial), Inbox())
    url = await port.port.url()
    dialled = [await dial_websocket(trial, url) for _ in range(2)]
    left, lost = [await trial.next_of(port.arrivals, "a connection") for _ in dialled]
    await left.close()
    await lost.text("hello")
    await dialled[1].close(1000)
    await lost.over()
    await dial_websocket(trial, url)
    await trial.next_of(port.arrivals, "a connection")
    with pytest.raises(Nothing) as raised:
        await trial.next_of(Inbox[str](), "a message")
    assert raised.value.observed == "nothing within 0.5 s; line2: close 1000; line3: connected"
    await port.close()


async def test_a_byte_streams_port(trial: Trial) -> None:
    port: Port[Stream] = Port(tcp.Listener)
    dialled = await dial_tcp(trial, "127.0.0.1", await port.open())
    line = ByteLine(trial, await trial.next_of(port.arrivals, "a connection"))
    await dialled.send(b"hello")
    assert await line.next() == b"hello"
    await port.close()


async def test_a_hang_up_where_the_case_needed_the_target_breaks_its_clause(trial: Trial) -> None:
    """Also where a case uses the carrier itself."""
    port = WebSocketPort(trial)
    dialled = await dial_websocket(trial, await port.url())
    accepted = await trial.next_of(port.arrivals, "a connection")
    assert isinstance(accepted, WebSocket)
    accepted.cut()
    with pytest.raises(HungUp) as raised:
        await dialled.receive()
    verdict, failure, _ = judge(trial, raised.value)
    assert (verdict, failure and failure.clause) == (Verdict.FAIL, "TOY-1")
    await port.close()


async def upgrade(stream: Stream) -> None:
    """As RFC 6455 has it, and nothing of the library's."""
    key = next(
        line for line in (await stream.receive()).split(b"\r\n") if line.lower().startswith(b"sec-websocket-key")
    )
    accept = base64.b64encode(hashlib.sha1(key.split(b": ")[1] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    answer = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    await stream.send(answer + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")


async def pings_and_never_reads(stream: Stream) -> None:
    """As fast as the transport takes it, for ever."""
    await upgrade(stream)
    pings = b"\x89\x7d" + bytes(125)
    with suppress(HungUp):
        while True:
            await stream.send(pings * 500)


async def announces_a_terabyte(stream: Stream) -> None:
    """In the header of one frame."""
    await upgrade(stream)
    await stream.send(b"\x82\x7f" + (2**40).to_bytes(8))
    with suppress(HungUp):
        while True:
            await stream.send(bytes(2**16))


async def speaks_unasked(stream: Stream) -> None:
    await upgrade(stream)
    with suppress(HungUp):
        while True:
            await stream.send((b"\x81\x7f" + (2**20).to_bytes(8) + b"x" * 2**20) * 4)


async def speaks_in_crumbs(stream: Stream) -> None:
    """A message that is short enough, and would take fifty times as much once it is read."""
    await upgrade(stream)
    crumbs = b"[" + b"[]," * 2**18 + b"1]"
    await stream.send(b"\x81\x7f" + len(crumbs).to_bytes(8) + crumbs)
    with suppress(HungUp):
        await stream.receive()


@pytest.mark.parametrize(
    ("flood", "bound"),
    [
        (pings_and_never_reads, "it does not read"),
        (announces_a_terabyte, "a message of more than"),
        (speaks_in_crumbs, "a message of so many values"),
        (speaks_unasked, "that nobody asked for"),
    ],
)
async def test_who_floods_is_told_which_bound_was_met(trial: Trial, flood: Serve, bound: str) -> None:
    """And the harness hangs up before its memory is full."""
    async with server(flood) as port, asyncio.timeout(GUARD_S):
        tracemalloc.start()
        line = TextLine(trial, await dial_websocket(trial, f"ws://127.0.0.1:{port}"))
        await line.over()
        heard = line.inbox.drain()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        await line.leave()
    assert isinstance(heard[-1], TargetCrashed)
    assert bound in str(heard[-1])
    assert peak < 100 * 2**20


async def test_the_lines_of_a_case_share_one_bound(trial: Trial) -> None:
    """However many there are."""
    async with server(speaks_unasked) as port, asyncio.timeout(GUARD_S):
        tracemalloc.start()
        lines = [TextLine(trial, await dial_websocket(trial, f"ws://127.0.0.1:{port}")) for _ in range(8)]
        await asyncio.gather(*(line.over() for line in lines))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        for line in lines:
            await line.leave()
    assert trial.unread == 0
    assert peak < 160 * 2**20


async def test_who_was_left_is_not_read_any_more(trial: Trial) -> None:
    """To judge a flood while hanging up on it would cost as much as the case."""

    class Counting(TextLine):
        read = 0

        def decoded(self, message: str) -> str:
            self.read += 1
            return message

    async with server(speaks_unasked) as port, asyncio.timeout(GUARD_S):
        line = Counting(trial, await dial_websocket(trial, f"ws://127.0.0.1:{port}"))
        await line.next()
        before = line.read
        await line.leave()
    assert line.read == before


async def test_a_message_that_breaks_a_rule_does_not_keep_what_was_read_of_it(trial: Trial) -> None:
    """The frames of a traceback would, for as long as the fault waits to be looked at."""

    class Strict(TextLine):
        def decoded(self, message: str) -> str:
            try:
                json.loads(message)
            except ValueError:
                raise Broken("TOY-1", "JSON", message) from None
            return message

    port = WebSocketPort(trial)
    dialled = await dial_websocket(trial, await port.url())
    line = Strict(trial, await trial.next_of(port.arrivals, "a connection"))
    await dialled.send("{")
    [fault] = [await line.inbox.get()]
    assert isinstance(fault, Broken)
    assert fault.__traceback__ is None
    assert fault.__context__ is None
    await line.leave()
    await port.close()
