"""Keys: what a node with one sends, accepts and is not moved by (sheet 1.3)."""

from __future__ import annotations

import re
import zlib

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Trial
from suites.bccn.node.under_test import BroadcastPort, NodeUnderTest
from suites.bccn.wire import SECRET, body, datagram, framed, mode_of, signed, tag
from suites.common.names import unique

LONG = b"k" * 65


@clauses("BCCN-INT-04", "BCCN-INT-05", "BCCN-INT-07", "BCCN-INT-08", "BCCN-INT-01", "BCCN-INT-20", "BCCN-ENV-14")
@axis("key", {"short": SECRET, "one-block": b"k" * 64, "longer-than-a-block": LONG, "binary": bytes(range(32))})
async def test_a_node_with_a_key_signs(port: BroadcastPort, key: bytes) -> None:
    """Every send of a node with a key carries the first 8 bytes of HMAC-SHA-256 over the body as hmac."""
    node = await port.node(key=key, seq=1)
    await node.send("c", b"in\r\nclear\0", "me")
    await node.expect_sent(datagram("me", 1, "c", b"in\r\nclear\0", key))


@clauses("BCCN-INT-16", "BCCN-ENV-17")
async def test_a_node_without_a_key_does_not(node: NodeUnderTest, port: BroadcastPort, trial: Trial) -> None:
    """Without a key the bracket is the len and nothing else."""
    await node.send("c", b"x", "me")
    (data,) = await port.capture(1)
    trial.expect(bool(re.match(rb"BCCN1\[[0-9]+\]", data)), "BCCN1[len]", data, "BCCN-ENV-17")


@clauses("BCCN-INT-19")
@needs("call_key")
async def test_a_key_per_call(node: NodeUnderTest) -> None:
    """A send with a key of its own is signed with it."""
    await node.set_seq(1)
    await node.send("c", b"x", "me", key=SECRET)
    await node.expect_sent(datagram("me", 1, "c", b"x", SECRET))


@clauses("BCCN-INT-19", "BCCN-ENV-17")
@needs("call_key")
async def test_the_key_of_a_call_is_for_that_call(node: NodeUnderTest) -> None:
    """The send behind it has no tag: the node has no key of its own."""
    await node.set_seq(1)
    await node.send("c", b"signed", "me", key=SECRET)
    await node.expect_sent(datagram("me", 1, "c", b"signed", SECRET))
    await node.send("c", b"unsigned", "me")
    await node.expect_sent(datagram("me", 2, "c", b"unsigned"), "BCCN-ENV-17")


@clauses("BCCN-INT-19")
@needs("call_key")
async def test_which_key_wins(port: BroadcastPort, trial: Trial) -> None:
    """With a key on open and one on the call, either may win: reported."""
    node = await port.node(key=SECRET, seq=1)
    await node.send("c", b"x", "me", key=LONG)
    (data,) = await port.capture(1)
    won = {datagram("me", 1, "c", b"x", LONG): "the call's", datagram("me", 1, "c", b"x", SECRET): "the node's"}
    trial.expect(data in won, "a tag under one of the keys", data, "BCCN-INT-05")
    trial.info(f"{won[data]} key wins")


@clauses("BCCN-INT-09", "BCCN-INT-12", "BCCN-INT-13", "BCCN-ENV-12")
@axis("chan", {"plain": "c", "all": "!", "exact": "!h/p/1", "wildcard": "!h"})
async def test_a_wrong_tag_is_dropped_in_every_form(port: BroadcastPort, trial: Trial, chan: str) -> None:
    """Neither a matching target nor the ALL form saves a forged datagram; the genuine one is delivered."""
    node = await port.node(key=SECRET, name="h/p/1")
    await node.expect_delivered(signed(body(unique(), 1, chan, b"x")), mode_of(chan)[0])
    src = unique()
    await node.expect_dropped(signed(body(src, 1, chan, b"x"), b"wrong"), "BCCN-INT-09")
    said = await node.expect_delivered(signed(body(src, 1, chan, b"x")), "BCCN-INT-13")
    trial.expect(said.message == (src, 1, chan, b"x"), "the genuine one", said)


@clauses("BCCN-INT-09", "BCCN-INT-10", "BCCN-API-03")
@needs("recv")
async def test_recv_verifies_too(port: BroadcastPort, trial: Trial) -> None:
    """A node that is asked for each datagram takes no forgery either, and nothing unsigned."""
    node = await port.node(key=SECRET, manual=True)
    src = unique()
    port.say(signed(body(src, 1, "c"), b"wrong"))
    port.say(framed(body(src, 2, "c")))
    port.say(signed(body(src, 3, "c")))
    numbers = [said.seq for said in await node.received(1)]
    trial.expect(numbers == [3], "the genuine one alone", numbers, "BCCN-INT-10" if 2 in numbers else "BCCN-INT-09")


@clauses("BCCN-INT-10", "BCCN-INT-12")
@axis("chan", {"plain": "c", "all": "!", "exact": "!h/p/1"})
async def test_an_unsigned_datagram_is_dropped(port: BroadcastPort, chan: str) -> None:
    """A node with a key does not take what nobody signed."""
    node = await port.node(key=SECRET, name="h/p/1")
    await node.expect_dropped(datagram(unique(), 1, chan, b"x"))


@clauses("BCCN-INT-10", "BCCN-INT-09", "BCCN-INT-12")
@axis(
    "what",
    {"nameless": ("?", "c", b"x"), "heartbeat": ("h/p/9", "heartbeat/h/p/9", b"x"), "empty": ("h/p/9", "c", b"")},
)
async def test_nobody_is_trusted_without_a_tag(port: BroadcastPort, what: tuple[str, str, bytes]) -> None:
    """Whoever says whatever: unsigned or under a wrong tag it is dropped, and the genuine one is delivered."""
    src, chan, payload = what
    node = await port.node(key=SECRET, name="h/p/1")
    content = body(src, 1, chan, payload)
    await node.expect_dropped(framed(content), "BCCN-INT-10")
    await node.expect_dropped(signed(content, b"wrong"), "BCCN-INT-09")
    await node.expect_delivered(signed(content), "BCCN-INT-09")


@clauses("BCCN-INT-11")
@axis("algo", ["crc32", "sig", "md5", "none"])
async def test_no_other_check_stands_in_for_a_key(port: BroadcastPort, algo: str) -> None:
    """A check that needs no key, right or not, does not replace the tag."""
    node = await port.node(key=SECRET)
    content = body(unique(), 1, "c", b"x")
    await node.expect_dropped(framed(content, f":{algo}={zlib.crc32(content):08x}"))
    await node.expect_dropped(framed(content, f":{algo}={tag(content)}"), "BCCN-INT-04")


@clauses("BCCN-INT-13", "BCCN-INT-12", "BCCN-DUP-15")
@axis("forged", {"same-number": 2, "next-number": 3, "far-number": 2**50})
@axis("chan", {"plain": "c", "elsewhere": "!other/p/9"})
async def test_a_forgery_moves_nothing(port: BroadcastPort, trial: Trial, forged: int, chan: str) -> None:
    """A datagram that fails authentication changes no state: the genuine number 2 is still news."""
    node = await port.node(key=SECRET, name="h/p/1")
    src = unique()
    got = await node.hears(
        signed(body(src, 1, "c")), signed(body(src, forged, chan), b"wrong"), signed(body(src, 2, "c"))
    )
    trial.expect([said.seq for said in got] == [1, 2], "1 and 2 delivered", got)
    await node.expect_dropped(signed(body(src, 2, "c")), "BCCN-DUP-02")


@clauses("BCCN-INT-12")
@needs("reasons")
@axis("chan", {"elsewhere": "!other/p/9", "for-me": "!h/p/1", "plain": "c"})
async def test_the_reason_of_a_forgery_is_authentication(port: BroadcastPort, trial: Trial, chan: str) -> None:
    """Where reasons are told, a wrong tag is told as such even if the datagram is meant for somebody else."""
    node = await port.node(key=SECRET, name="h/p/1")
    await node.expect_dropped(signed(body(unique(), 1, chan), b"wrong"))
    trial.expect(node.reasons == ["auth"], "the reason auth", node.reasons)


@clauses("BCCN-INT-09", "BCCN-INT-18")
async def test_only_what_is_verified_is_called_authenticated(port: BroadcastPort, trial: Trial) -> None:
    """A verified datagram may be called authenticated, one without any check never."""
    node, keyless = await port.node(key=SECRET), await port.node()
    said = await node.expect_delivered(signed(body(unique(), 1, "c", b"x")))
    trial.info(f"a verified datagram is {'' if said.authenticated else 'not '}called authenticated")
    got = await keyless.hears(datagram(unique(), 1, "c", b"x"))
    trial.expect(not any(said.authenticated for said in got), "not authenticated", got, "BCCN-INT-18")


@clauses("BCCN-INT-14", "BCCN-INT-09")
async def test_two_nodes_with_different_keys(port: BroadcastPort, trial: Trial) -> None:
    """Nodes of different keys on one port do not hear each other; nodes of one key do."""
    one, same, other = [await port.node(key=key, name=unique("n")) for key in (SECRET, SECRET, LONG)]
    await one.send("c", b"mine")
    await port.capture(1)
    heard = [[said.payload for said in await node.fence()] for node in (same, other)]
    trial.expect(heard == [[b"mine"], []], "the same key to hear it, the other not", heard, "BCCN-INT-09")
