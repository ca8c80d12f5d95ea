"""The convention layer, for targets that have one (sheet 1.12)."""

from __future__ import annotations

import re
from typing import Any

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Trial
from suites.bccn.node.under_test import BroadcastPort, NodeUnderTest
from suites.bccn.wire import SECRET, datagram
from suites.common.names import unique

PATTERNS = {  # sheet: pattern, channels that it matches, channels that it does not; what is free is in neither
    "exact": ("BCCN-CNV-02", "a/b", ["a/b"], ["a", "a/x", "A/b", "b/a"]),
    "exact-whole": ("BCCN-CNV-02", "a/b", ["a/b"], ["a/b/c", "xa/b", "a/bc"]),
    "one-token": ("BCCN-CNV-03", "a/*/e", ["a/x/e", "a/yy/e"], ["a/e", "a/x/y/e", "a/x/f", "b/x/e", "a/x/e/g"]),
    "last-token": ("BCCN-CNV-03", "a/*", ["a/x"], ["a", "a/x/y", "b/x"]),
    "first-token": ("BCCN-CNV-03", "*/b", ["a/b", "x/b"], ["b", "a/x/b", "a/c"]),
    "rest": ("BCCN-CNV-04", "a/>", ["a/b", "a/b/c"], ["b/c", "ab/c", "b"]),
    "token-and-rest": ("BCCN-CNV-04", "a/*/>", ["a/b/c", "a/b/c/d"], ["b/b/c"]),
}
SHORTHANDS = {  # operation: its clause, its arguments, the channel of the send that it is short for
    "send_all": ("BCCN-CNV-05", {}, "!"),
    "send_to": ("BCCN-CNV-06", {"target": "host/name/*"}, "!host/name/*"),
    "send_topic": ("BCCN-CNV-07", {"topic": "a/b"}, "a/b"),
}
NUMBER = re.compile(rb"\]h/p/1:([0-9]+):")
OWN = "h/p/1"


async def speaker(port: BroadcastPort, **config: Any) -> NodeUnderTest:
    await port.trial.need("conventions")
    return await port.node(name=OWN, seq=1, **config)


# -- listeners ---------------------------------------------------------------------------------------------------------


@clauses("BCCN-CNV-01", "BCCN-CNV-02", "BCCN-CNV-03", "BCCN-CNV-04")
@axis("row", PATTERNS)
async def test_patterns(port: BroadcastPort, trial: Trial, row: tuple[str, str, list[str], list[str]]) -> None:
    """A callback runs once for each channel that its pattern matches, and for no other."""
    clause, pattern, wanted, unwanted = row
    if row is not PATTERNS["exact"]:  # a glob or a regular expression agrees on that one alone (L932)
        await trial.need("patterns")
    node = await speaker(port)
    await node.do("listen", pattern=pattern)
    got = await node.hears(*(datagram(unique(), 1, chan, b"x") for chan in [*wanted, *unwanted]))
    trial.expect(len(got) == len(wanted + unwanted), "every one of them to be received", got, "BCCN-DLV-01")
    called = sorted(call.chan for call in await node.calls(len(wanted)))
    trial.expect(called == sorted(wanted), f"{pattern} to be called for {wanted}", called, clause)


@clauses("BCCN-CNV-04")
@needs("patterns")
async def test_does_rest_match_the_stem(port: BroadcastPort, trial: Trial) -> None:
    """Whether `a/>` matches `a` is a convention's choice: reported."""
    node = await speaker(port)
    await node.do("listen", pattern="a/>")
    await node.hears(datagram(unique(), 1, "a", b"x"), datagram(unique(), 1, "a/b", b"x"))
    called = {call.chan for call in await node.calls(1)}
    trial.expect("a/b" in called, "a call for a/b", called)
    trial.info(f"a/> {'matches' if 'a' in called else 'does not match'} a")


@clauses("BCCN-CNV-11")
@needs("recv")
async def test_dispatch_handles_all_that_waits(port: BroadcastPort, trial: Trial) -> None:
    """Forty waiting datagrams, one dispatch, forty callbacks."""
    node = await speaker(port, manual=True)
    await node.do("listen", pattern="c")
    src = unique()
    for seq in range(1, 41):
        port.say(datagram(src, seq, "c", b"x"))
    await node.do("dispatch")
    called = sorted(call.seq for call in await node.calls(40))
    trial.expect(called == list(range(1, 41)), "forty callbacks", called)


# -- shorthands of send ------------------------------------------------------------------------------------------------


@clauses("BCCN-CNV-05")
async def test_send_all(port: BroadcastPort) -> None:
    """send_all is a send on "!" from the own name."""
    node = await speaker(port)
    await node.do("send_all", payload=b"x".hex())
    await node.expect_sent(datagram(OWN, 1, "!", b"x"))


@clauses("BCCN-CNV-06")
@axis("dst", ["host/name/12", "host/name/*", "host/*", "host"])
async def test_send_to(port: BroadcastPort, dst: str) -> None:
    """send_to is a send on "!" and the destination, from the own name."""
    node = await speaker(port)
    await node.do("send_to", target=dst, payload=b"x".hex())
    await node.expect_sent(datagram(OWN, 1, f"!{dst}", b"x"))


@clauses("BCCN-CNV-06")
async def test_send_to_nobody(port: BroadcastPort, trial: Trial) -> None:
    """An empty destination should be an error: as "!" it would reach everybody. Reported; it is no other channel."""
    node = await speaker(port)
    if await node.refuses("send_to", target="", payload=b"x".hex()):
        trial.info("send_to without a destination is refused")
        return
    await node.expect_sent(datagram(OWN, 1, "!", b"x"))
    trial.info("hazard: send_to without a destination reaches everybody")


@clauses("BCCN-CNV-07")
async def test_send_topic(port: BroadcastPort) -> None:
    """send_topic is a send on the topic, from the own name."""
    node = await speaker(port)
    await node.do("send_topic", topic="a/b", payload=b"x".hex())
    await node.expect_sent(datagram(OWN, 1, "a/b", b"x"))


@clauses("BCCN-CHN-09")
@axis("topic", ["!", "!x"])
async def test_a_topic_with_a_bang(port: BroadcastPort, trial: Trial, topic: str) -> None:
    """A plain channel should not begin with "!": refused or sent as it is, reported."""
    node = await speaker(port)
    if await node.refuses("send_topic", topic=topic, payload=b"x".hex()):
        trial.info(f"send_topic refuses {topic}")
        return
    await node.expect_sent(datagram(OWN, 1, topic, b"x"))
    trial.info(f"hazard: send_topic sends on {topic}")


@clauses("BCCN-INT-08", "BCCN-CNV-05", "BCCN-CNV-06", "BCCN-CNV-07")
@axis("op", list(SHORTHANDS))
async def test_a_shorthand_signs_like_a_send(port: BroadcastPort, op: str) -> None:
    """Short for a send, so under the node's key it carries a tag like any send."""
    clause, given, chan = SHORTHANDS[op]
    node = await speaker(port, key=SECRET)
    await node.do(op, payload=b"x".hex(), **given)
    await node.expect_sent(datagram(OWN, 1, chan, b"x", SECRET), clause)  # a bracket that is wrong names its own clause


@clauses("BCCN-SEQ-08")
@axis("op", list(SHORTHANDS))
async def test_a_shorthand_counts_like_a_send(port: BroadcastPort, trial: Trial, op: str) -> None:
    """Short for a send, so it takes the node's next number, and the send behind it the one after."""
    _, given, _ = SHORTHANDS[op]
    node = await speaker(port)
    await node.send("c", b"before")
    await node.do(op, payload=b"short".hex(), **given)
    await node.send("c", b"behind")
    got = await port.capture(3)
    numbers = [int(found[1]) for data in got if (found := NUMBER.search(data))]
    trial.expect(numbers == [1, 2, 3], "the numbers 1, 2, 3", got)


@clauses("BCCN-CNV-12")
@needs("identity")
async def test_own_name(port: BroadcastPort, trial: Trial) -> None:
    """The conventional name is host/program/pid, with a tag or without."""
    node = await port.node()
    name = str((await node.do("own_name"))["name"])
    trial.expect(bool(re.fullmatch(r"[^/\s:|]+/[^/\s:|]+/[0-9]+(/[^/\s:|]+)?", name)), "host/program/pid[/tag]", name)
