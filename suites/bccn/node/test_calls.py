"""The calls of a binding (sheet 1.11), beside those for names and counters."""

from __future__ import annotations

import asyncio
import contextlib
import socket

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Trial
from suites.bccn.node.under_test import BROADCAST, BroadcastPort
from suites.bccn.wire import SECRET, datagram
from suites.common.names import unique

MESSAGES = {
    "text": ("a", "c", b"hello"),
    "empty": ("a", "c", b""),
    "bytes": ("a", "c", bytes(range(256))),
    "bars": ("a", "c", b"|:|[3]"),
    "utf-8": ("a", "c", "\u20ac\U0001f600".encode()),
    "crlf": ("a", "c", b" \r\n "),
    "opaque": ("A-b_c.d@e#f=g[h]!i*", "C.d!e*f?[g]", b"x"),
    "all": ("a", "!", b"x"),
    "directed": ("a", "!h/n/12/*", b"x"),
    "unknown": ("?", "c", b"x"),
}


@clauses("BCCN-API-01", "BCCN-API-14", "BCCN-BODY-01", "BCCN-ENV-18", "BCCN-ENV-10", "BCCN-BODY-05")
@axis("key", {"unsigned": b"", "signed": SECRET})
@axis("message", MESSAGES)
async def test_a_send_builds_the_datagram(port: BroadcastPort, message: tuple[str, str, bytes], key: bytes) -> None:
    """src, chan and payload go out as the caller gave them, in the one datagram that says them."""
    src, chan, payload = message
    node = await port.node(key=key, seq=12)
    await node.send(chan, payload, src)
    await node.expect_sent(datagram(src, 12, chan, payload, key))


@clauses("BCCN-API-14")
@axis("name", {"own": "me/p/1", "none": ""})
async def test_a_callers_src_is_not_replaced(port: BroadcastPort, name: str) -> None:
    """A src that the caller gives is sent, whatever the node's name."""
    node = await port.node(name=name, seq=1)
    await node.send("c", b"x", "other/p/9")
    await node.expect_sent(datagram("other/p/9", 1, "c", b"x"))


@clauses("BCCN-API-03", "BCCN-DLV-04")
@needs("recv")
async def test_recv_handles_one_datagram(port: BroadcastPort, trial: Trial) -> None:
    """Two waiting datagrams take two calls, in order; a third call finds nothing."""
    node = await port.node(manual=True)
    src = unique()
    port.say(datagram(src, 1, "c", b"1"))
    port.say(datagram(src, 2, "c", b"2"))
    numbers = [said.seq for said in await node.received(2)]
    trial.expect(numbers == [1, 2], "1, then 2, then nothing", numbers)


@clauses("BCCN-API-03")
@needs("recv")
async def test_recv_yields_nothing_for_a_malformed_datagram(port: BroadcastPort, trial: Trial) -> None:
    """A dropped datagram costs its call, or none; the good one behind it comes with the next."""
    node = await port.node(manual=True)
    port.say(b"BCCN1[99]a:1:c|x")
    port.say(datagram(unique(), 2, "c", b"2"))
    numbers = [said.seq for said in await node.received(1)]
    trial.expect(numbers == [2], "the good one, once", numbers)


@clauses("BCCN-API-04", "BCCN-TRN-02")
async def test_open_takes_address_port_and_key(port: BroadcastPort) -> None:
    """A node opened with a key signs and verifies with it, on the port it was told."""
    node = await port.node(key=SECRET, seq=1)
    await node.send("c", b"mine", "me")
    await node.expect_sent(datagram("me", 1, "c", b"mine", SECRET))
    await node.expect_delivered(datagram(unique(), 1, "c", b"theirs", SECRET))


@clauses("BCCN-API-05")
@needs("close")
async def test_close_frees_the_port(port: BroadcastPort, trial: Trial) -> None:
    """After close nobody holds the port, and a later send fails cleanly."""
    node = await port.node()
    await node.do("close")
    trial.expect(await node.refuses_send("c", src="me"), "a refusal", "an answer", "BCCN-API-05")
    port.release()
    trial.expect(await free(port.number, trial.patience_s), "the port to be free", "still bound")


async def free(port: int, patience_s: float) -> bool:
    """Can the port be bound exclusively, now or soon?"""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience_s
    while loop.time() < deadline:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
            probe.bind((BROADCAST, port))
            return True
        await asyncio.sleep(0.01)  # not a fence: the port is tried until it is free
    return False
