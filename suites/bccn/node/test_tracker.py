"""What a node takes for a duplicate (sheet 1.9)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from harness.cases import axis, clauses
from harness.targets import Target
from harness.trial import Broken, Trial
from harness.vectors import Vector, load
from suites.bccn.segment import ELSEWHERE, HERE, ROLE, Node, Segment, unique
from suites.bccn.wire import datagram

TRACES = load("bccn/tracker")
Each = Callable[..., Awaitable[None]]


async def marks(node: Node, src: str, seqs: list[int]) -> str:
    """D for each number that was delivered, - for each that was not."""
    got = await node.hears(*(datagram(src, seq, "c", b"%d" % index) for index, seq in enumerate(seqs)))
    delivered = {int(said.payload) for said in got}
    return "".join("D" if index in delivered else "-" for index in range(len(seqs)))


@clauses(*TRACES.clauses)
async def test_trace(trial: Trial, target: Target, each: Each) -> None:
    """One sender's numbers: which are news."""
    known = "sanity" in await target.capabilities(ROLE)

    async def try_one(vector: Vector) -> None:
        segment = Segment(trial)
        try:
            given = vector.input
            node = await segment.start(**({"sanity": given["sanity"]} if "sanity" in given else {}))
            got = await marks(node, unique(), [int(seq) for seq in given["seqs"]])
            if got != vector.expected["marks"]:
                raise Broken(vector.clauses[0], f"{vector.expected['marks']} for {given['seqs']}", got)
        finally:
            await segment.close()

    await each([v for v in TRACES.vectors if known or not v.needs], try_one)


@clauses("BCCN-DUP-06", "BCCN-DUP-14", "BCCN-SRC-06")
async def test_senders_do_not_collide(node: Node, trial: Trial) -> None:
    """The key is the whole src: prefixes, children and capitals are senders of their own."""
    stem = unique("H")
    names = [stem, f"{stem}/1", f"{stem}/1/9", stem.lower(), f"{stem}1", stem[:-1] + "x"]
    got = await node.hears(*(datagram(name, 5, "c") for name in names))
    trial.expect([said.src for said in got] == names, f"{names}", [said.src for said in got])
    again = await node.hears(*(datagram(name, 5, "c") for name in names))
    trial.expect(not again, "duplicates", again, "BCCN-DUP-02")


@clauses("BCCN-DUP-14")
async def test_a_child_is_not_its_parent(node: Node, trial: Trial) -> None:
    """After a fork parent and child may count alike: both are delivered."""
    parent = unique("h/p")
    got = await node.hears(datagram(parent, 5, "c"), datagram(f"{parent}/9", 5, "c"), datagram(parent, 6, "c"))
    trial.expect(len(got) == 3, "all three", got)


@clauses("BCCN-DUP-08")
@axis("chans", {"plain": ("c", "d"), "all": ("c", "!"), "directed": ("!", "!h/p/1"), "payload": ("c", "c")})
async def test_the_channel_does_not_matter(segment: Segment, trial: Trial, chans: tuple[str, str]) -> None:
    """The same number on another channel is the same message."""
    node = await segment.start(name="h/p/1")
    src, (one, other) = unique(), chans
    got = await node.hears(datagram(src, 5, one, b"1"), datagram(src, 5, other, b"2"), datagram(src, 6, other, b"3"))
    trial.expect([said.payload for said in got] == [b"1", b"3"], "the first and the third", got)


@clauses("BCCN-DUP-06", "BCCN-DUP-02")
async def test_a_named_sender_is_one_wherever_it_is(node: Node, trial: Trial) -> None:
    """For a known name the address is no part of the key."""
    src = unique()
    await node.expect_delivered(datagram(src, 5, "c", b"1"), ip=HERE)
    await node.expect_dropped(datagram(src, 5, "c", b"2"), "BCCN-DUP-02", ip=ELSEWHERE)


@clauses("BCCN-DUP-07", "BCCN-SRC-07")
async def test_how_unknown_senders_are_told_apart(node: Node, trial: Trial) -> None:
    """By src, by address or by both: reported. The first one of each address is never taken for its own duplicate."""
    first = await node.hears(datagram("?", 5, "c", b"1"), ip=HERE)
    trial.expect(len(first) == 1, "the first unknown sender to be delivered", first, "BCCN-SRC-07")
    other = await node.hears(datagram("?", 5, "c", b"2"), ip=ELSEWHERE)
    again = await node.hears(datagram("?", 5, "c", b"3"), ip=HERE)
    trial.expect(not again, "a duplicate from the same address", again, "BCCN-DUP-02")
    later = await node.hears(datagram("?", 6, "c", b"4"), ip=HERE)
    trial.expect(len(later) == 1, "the next number to be delivered", later, "BCCN-DUP-05")
    trial.info(f"unknown senders are told apart {'by their address' if other else 'by src alone: not at all'}")


@clauses("BCCN-DUP-11")
async def test_a_silent_sender_is_forgotten(target: Target, segment: Segment, trial: Trial) -> None:
    """After the configured time a sender's old number is news again, and not before."""
    await target.need(ROLE, "clock")
    node = await segment.start(ttl=100)
    early, late = unique(), unique()
    await node.hears(datagram(early, 5, "c"), datagram(late, 5, "c"))
    await node.do("advance_clock", seconds=50)
    await node.expect_dropped(datagram(early, 5, "c"), "BCCN-DUP-02")
    await node.do("advance_clock", seconds=60)
    await node.expect_delivered(datagram(late, 5, "c"))
    await node.expect_dropped(datagram(late, 5, "c"), "BCCN-DUP-02")


@clauses("BCCN-DUP-12")
async def test_missed_heartbeats_end_a_sender_sooner(target: Target, segment: Segment, trial: Trial) -> None:
    """A sender that has sent heartbeats is forgotten after some missed ones; whether one that never did is: reported."""
    await target.need(ROLE, "heartbeat_expiry")
    await target.need(ROLE, "clock")
    node = await segment.start(ttl=1000, heartbeat_interval=10, heartbeats_missed=3)
    beating, other = unique("b"), unique("o")
    await node.hears(datagram(beating, 5, f"heartbeat/{beating}"), datagram(other, 5, "c"))
    await node.do("advance_clock", seconds=15)
    await node.expect_dropped(datagram(beating, 5, "c"), "BCCN-DUP-02")
    await node.do("advance_clock", seconds=40)
    await node.expect_delivered(datagram(beating, 5, "c"))
    forgotten = await node.hears(datagram(other, 5, "c"))  # no heartbeat for N intervals: it sent none at all
    trial.info(f"a sender without heartbeats is {'forgotten like one that missed them' if forgotten else 'kept'}")


@clauses("BCCN-DUP-15", "BCCN-DLV-07")
async def test_a_malformed_datagram_moves_nothing(node: Node, trial: Trial) -> None:
    """What is no message has no number."""
    src = unique()
    bad = f"BCCN1[99]{src}:9:c|x".encode()
    got = await node.hears(datagram(src, 1, "c"), bad, datagram(src, 2, "c"))
    trial.expect([said.seq for said in got] == [1, 2], "1 and 2", got)


@clauses("BCCN-DUP-02", "BCCN-DIR-13")
async def test_does_a_message_for_others_count(segment: Segment, trial: Trial) -> None:
    """Whether a directed message for another node moves the tracker is free: reported."""
    node = await segment.start(name="me/p/1")
    src = unique()
    await node.hears(datagram(src, 4, "c"), datagram(src, 6, "!other/p/2"))
    got = await node.hears(datagram(src, 5, "c"))
    trial.info(f"a message for others {'does not move' if got else 'moves'} the tracker")


@clauses("BCCN-DUP-13", "BCCN-DUP-02")
async def test_each_datagram_twice_is_each_message_once(node: Node, trial: Trial) -> None:
    """A sender that doubles everything is delivered once each, in order."""
    src = unique()
    got = await node.hears(*(datagram(src, seq, "c") for seq in range(1, 16) for _ in range(2)))
    trial.expect([said.seq for said in got] == list(range(1, 16)), "1 to 15, once each", got)


@clauses("BCCN-DUP-01", "BCCN-DUP-06")
async def test_senders_are_tracked_side_by_side(node: Node, trial: Trial) -> None:
    """Interleaved senders do not disturb one another's numbers."""
    names = [unique() for _ in range(8)]
    await node.hears(*(datagram(name, 10 * index + n, "c") for n in (1, 2) for index, name in enumerate(names)))
    stale = await node.hears(*(datagram(name, 10 * index + 1, "c") for index, name in enumerate(names)))
    trial.expect(not stale, "no stale number to be delivered", stale)
    fresh = await node.hears(*(datagram(name, 10 * index + 3, "c") for index, name in enumerate(names)))
    trial.expect(len(fresh) == 8, "eight fresh ones", fresh)
