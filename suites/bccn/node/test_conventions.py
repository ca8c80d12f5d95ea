"""The convention layer, for targets that have one (sheet 1.12)."""

from __future__ import annotations

import re

from harness.cases import axis, clauses
from harness.targets import Target
from harness.trial import Trial
from suites.bccn.segment import ROLE, Node, Segment, unique
from suites.bccn.wire import datagram

PATTERNS = {  # sheet: pattern, channels that it matches, channels that it does not; what is free is in neither
    "exact": ("BCCN-CNV-02", "a/b", ["a/b"], ["a", "a/b/c", "a/x", "A/b", "xa/b", "a/bc"]),
    "one-token": ("BCCN-CNV-03", "a/*/e", ["a/x/e", "a/yy/e"], ["a/e", "a/x/y/e", "a/x/f", "b/x/e", "a/x/e/g"]),
    "last-token": ("BCCN-CNV-03", "a/*", ["a/x"], ["a", "a/x/y", "b/x"]),
    "first-token": ("BCCN-CNV-03", "*/b", ["a/b", "x/b"], ["b", "a/x/b", "a/c"]),
    "rest": ("BCCN-CNV-04", "a/>", ["a/b", "a/b/c"], ["b/c", "ab/c", "b"]),
    "token-and-rest": ("BCCN-CNV-04", "a/*/>", ["a/b/c", "a/b/c/d"], ["b/b/c"]),
}


async def speaker(target: Target, segment: Segment, name: str = "h/p/1", **config: object) -> Node:
    await target.need(ROLE, "conventions")
    node = await segment.start(name=name, **config)
    await node.set_seq(1)
    return node


@clauses("BCCN-CNV-01", "BCCN-CNV-02", "BCCN-CNV-03", "BCCN-CNV-04")
@axis("row", PATTERNS)
async def test_patterns(
    target: Target, segment: Segment, trial: Trial, row: tuple[str, str, list[str], list[str]]
) -> None:
    """A callback runs once for each channel that its pattern matches, and for no other."""
    clause, pattern, wanted, unwanted = row
    node = await speaker(target, segment)
    await node.do("listen", pattern=pattern)
    got = await node.hears(*(datagram(unique(), 1, chan, b"x") for chan in [*wanted, *unwanted]))
    trial.expect(len(got) == len(wanted + unwanted), "every one of them to be received", got, "BCCN-DLV-01")
    called = [call.chan for call in node.called]
    trial.expect(called == wanted, f"{pattern} to be called for {wanted}", called, clause)


@clauses("BCCN-CNV-04")
async def test_does_rest_match_the_stem(target: Target, segment: Segment, trial: Trial) -> None:
    """Whether `a/>` matches `a` is a convention's choice: reported."""
    node = await speaker(target, segment)
    await node.do("listen", pattern="a/>")
    await node.expect_delivered(datagram(unique(), 1, "a", b"x"), "BCCN-DLV-01")
    trial.info(f"a/> {'matches' if node.called else 'does not match'} a")


@clauses("BCCN-CNV-05")
async def test_send_all(target: Target, segment: Segment) -> None:
    """send_all is a send on "!" from the own name."""
    node = await speaker(target, segment)
    await node.do("send_all", payload=b"x".hex())
    await node.expect_sent(datagram("h/p/1", 1, "!", b"x"))


@clauses("BCCN-CNV-06")
@axis("dst", ["host/name/12", "host/name/*", "host", "*"])
async def test_send_to(target: Target, segment: Segment, dst: str) -> None:
    """send_to is a send on "!" and the destination, from the own name."""
    node = await speaker(target, segment)
    await node.do("send_to", target=dst, payload=b"x".hex())
    await node.expect_sent(datagram("h/p/1", 1, f"!{dst}", b"x"))


@clauses("BCCN-CNV-06")
async def test_send_to_nobody(target: Target, segment: Segment, trial: Trial) -> None:
    """An empty destination should be an error: as "!" it would reach everybody. Reported."""
    node = await speaker(target, segment)
    if await node.refuses("send_to", target="", payload=b"x".hex()):
        trial.info("send_to without a destination is refused")
        return
    await node.expect_sent(datagram("h/p/1", 1, "!", b"x"))
    trial.info("hazard: send_to without a destination reaches everybody")


@clauses("BCCN-CNV-07")
async def test_send_topic(target: Target, segment: Segment) -> None:
    """send_topic is a send on the topic, from the own name."""
    node = await speaker(target, segment)
    await node.do("send_topic", topic="a/b", payload=b"x".hex())
    await node.expect_sent(datagram("h/p/1", 1, "a/b", b"x"))


@clauses("BCCN-CHN-09")
@axis("topic", ["!", "!x"])
async def test_a_topic_with_a_bang(target: Target, segment: Segment, trial: Trial, topic: str) -> None:
    """A plain channel should not begin with "!": refused or sent as it is, reported."""
    node = await speaker(target, segment)
    if await node.refuses("send_topic", topic=topic, payload=b"x".hex()):
        trial.info(f"send_topic refuses {topic}")
        return
    await node.expect_sent(datagram("h/p/1", 1, topic, b"x"))
    trial.info(f"hazard: send_topic sends on {topic}")


@clauses("BCCN-CNV-08", "BCCN-CNV-09", "BCCN-CNV-10")
async def test_heartbeat(target: Target, segment: Segment, trial: Trial) -> None:
    """A heartbeat goes out on heartbeat/<name> once per interval, with an empty or short payload."""
    await target.need(ROLE, "heartbeat")
    virtual = "clock" in await target.capabilities(ROLE)
    node = await segment.start(name="h/p/1")
    await node.set_seq(1)
    interval = 7.0 if virtual else 0.2
    await node.do("heartbeat", interval=interval)
    heard: list[bytes] = []
    while len(heard) < 4:
        if virtual:
            await node.do("advance_clock", seconds=interval + 0.001)
        heard += await segment.capture(1, "BCCN-CNV-09")
    shape = re.compile(rb"BCCN1\[[0-9]+\]h/p/1:([0-9]+):heartbeat/h/p/1\|(.{0,100})", re.DOTALL)
    found = [shape.fullmatch(data) for data in heard]
    trial.expect(all(found), "heartbeat/h/p/1 with a short payload", heard, "BCCN-CNV-08")
    numbers = [int(match[1]) for match in found if match]
    trial.expect(numbers == list(range(1, len(numbers) + 1)), "consecutive numbers", numbers, "BCCN-SEQ-08")
    trial.expect(len(heard) <= 6, "about one per interval", f"{len(heard)} in four intervals", "BCCN-CNV-09")


@clauses("BCCN-CNV-11")
async def test_dispatch_handles_all_that_waits(target: Target, segment: Segment, trial: Trial) -> None:
    """Ten waiting datagrams, one dispatch, ten callbacks."""
    await target.need(ROLE, "recv")
    node = await speaker(target, segment, manual=True)
    await node.do("listen", pattern="c/*")
    src = unique()
    for seq in range(10):
        segment.say(datagram(src, seq, f"c/{seq}", b"x"))
    await node.do("dispatch")
    called = [call.chan for call in node.calls_so_far()]
    trial.expect(called == [f"c/{seq}" for seq in range(10)], "ten callbacks", called)


@clauses("BCCN-CNV-12")
async def test_own_name(target: Target, segment: Segment, trial: Trial) -> None:
    """The conventional name is host/program/pid, with a tag or without."""
    await target.need(ROLE, "identity")
    node = await segment.start()
    name = str((await node.do("own_name"))["name"])
    trial.expect(bool(re.fullmatch(r"[^/\s:|]+/[^/\s:|]+/[0-9]+(/[^/\s:|]+)?", name)), "host/program/pid[/tag]", name)
