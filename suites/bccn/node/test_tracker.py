"""What a node takes for a duplicate (sheet 1.9)."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses, needs
from harness.catalogue.vectors import Vector, load
from harness.judging.trial import Broken, Each, Trial
from suites.bccn.node.under_test import ELSEWHERE, HERE, BroadcastPort, NodeUnderTest, Ports
from suites.bccn.wire import datagram
from suites.common.names import unique

TRACES = load("bccn/tracker")


async def marks(node: NodeUnderTest, src: str, seqs: list[int]) -> str:
    """D for each number that was delivered, - for each that was not."""
    got = await node.hears(*(datagram(src, seq, "c", b"%d" % index) for index, seq in enumerate(seqs)))
    delivered = {said.payload for said in got}
    return "".join("D" if b"%d" % index in delivered else "-" for index in range(len(seqs)))


def misread(seqs: list[int], wanted: str, got: str) -> str:
    """The clause of the first number that was read wrongly."""
    index = next(i for i, (right, told) in enumerate(zip(wanted, got, strict=True)) if right != told)
    heard = [seq for seq, mark in zip(seqs[:index], wanted, strict=False) if mark == "D"]
    if not heard:
        return "BCCN-DUP-09"
    seq, before, last = seqs[index], seqs[index - 1], heard[-1]
    behind_stale = wanted[index - 1] == "-" and before != last
    if wanted[index] == "-":
        if behind_stale and seq > before:  # news for who has counted the one that was dropped
            return "BCCN-DUP-15"
        return "BCCN-DUP-04" if last < max(heard) else "BCCN-DUP-02"
    if seq > last:
        if behind_stale:
            return "BCCN-DUP-15"
        return "BCCN-DUP-04" if seq <= max(heard) else "BCCN-DUP-05"
    return "BCCN-DUP-16" if (last, seq) == (2**64 - 1, 0) else "BCCN-DUP-10"


@clauses(*TRACES.clauses)
async def test_trace(ports: Ports, each: Each) -> None:
    """One sender's numbers: which are news."""

    async def try_one(vector: Vector) -> None:
        given, wanted = vector.input, vector.expected["marks"]
        async with ports() as port:
            node = await port.node(**({"sanity": given["sanity"]} if "sanity" in given else {}))
            got = await marks(node, unique(), [int(seq) for seq in given["seqs"]])
        if got != wanted:
            clause = misread([int(seq) for seq in given["seqs"]], wanted, got)
            own = clause if clause in vector.clauses else vector.clauses[0]
            raise Broken(own, f"{wanted} for {given['seqs']}", got)

    await each(TRACES, try_one)


@clauses("BCCN-DUP-06", "BCCN-DUP-14", "BCCN-SRC-06")
async def test_senders_do_not_collide(node: NodeUnderTest, trial: Trial) -> None:
    """The key is the whole src: prefixes, children and capitals are senders of their own."""
    stem = unique("H")
    names = [stem, f"{stem}/1", f"{stem}/1/9", stem.lower(), f"{stem}1", stem[:-1] + "x", f"{stem}/01"]
    names += [f"{stem}{'x' * (size - len(stem) - 1)}{end}" for size in (33, 65, 128) for end in "ab"]
    got = await node.hears(*(datagram(name, 5, "c") for name in names))
    trial.expect([said.src for said in got] == names, f"{names}", [said.src for said in got])
    again = await node.hears(*(datagram(name, 5, "c") for name in names))
    trial.expect(not again, "duplicates", again, "BCCN-DUP-02")


@clauses("BCCN-DUP-14")
async def test_a_child_is_not_its_parent(node: NodeUnderTest, trial: Trial) -> None:
    """After a fork parent and child may count alike: both are delivered."""
    parent = unique("h/p")
    got = await node.hears(datagram(parent, 5, "c"), datagram(f"{parent}/9", 5, "c"), datagram(parent, 6, "c"))
    trial.expect(len(got) == 3, "all three", got)


@clauses("BCCN-DUP-08", "BCCN-DUP-02")
@axis("chans", {"plain": ("c", "d"), "all": ("c", "!"), "directed": ("!", "!h/p/1"), "the-same": ("c", "c")})
async def test_the_channel_does_not_matter(port: BroadcastPort, trial: Trial, chans: tuple[str, str]) -> None:
    """The same number on another channel is the same message, as it is on the same one."""
    node = await port.node(name="h/p/1")
    src, (one, other) = unique(), chans
    got = await node.hears(datagram(src, 5, one, b"1"), datagram(src, 5, other, b"2"), datagram(src, 6, other, b"3"))
    clause = "BCCN-DUP-02" if one == other else "BCCN-DUP-08"
    trial.expect([said.payload for said in got] == [b"1", b"3"], "the first and the third", got, clause)


@clauses("BCCN-DUP-06", "BCCN-DUP-02")
async def test_a_named_sender_is_one_wherever_it_is(node: NodeUnderTest) -> None:
    """For a known name the address is no part of the key."""
    src = unique()
    await node.expect_delivered(datagram(src, 5, "c", b"1"), ip=HERE)
    await node.expect_dropped(datagram(src, 5, "c", b"2"), "BCCN-DUP-02")
    await node.expect_dropped(datagram(src, 5, "c", b"3"), ip=ELSEWHERE)


@clauses("BCCN-DUP-07", "BCCN-SRC-07")
async def test_how_unknown_senders_are_told_apart(node: NodeUnderTest, trial: Trial) -> None:
    """By src, by address or by both: reported. The first one of each address is never taken for its own duplicate."""
    first = await node.hears(datagram("?", 5, "c", b"1"), ip=HERE)
    trial.expect(len(first) == 1, "the first unknown sender to be delivered", first, "BCCN-SRC-07")
    other = await node.hears(datagram("?", 5, "c", b"2"), ip=ELSEWHERE)
    again = await node.hears(datagram("?", 5, "c", b"3"), ip=HERE)
    trial.expect(not again, "a duplicate from the same address", again, "BCCN-DUP-02")
    later = await node.hears(datagram("?", 6, "c", b"4"), ip=HERE)
    trial.expect(len(later) == 1, "the next number to be delivered", later, "BCCN-DUP-05")
    trial.info(f"unknown senders are told apart {'by their address' if other else 'by src alone: not at all'}")


@clauses("BCCN-DUP-02", "BCCN-DUP-07")
async def test_a_port_is_no_part_of_an_unknown_sender(node: NodeUnderTest, port: BroadcastPort, trial: Trial) -> None:
    """By src, by IP address or by both, "?" is the same sender on another port of its address."""
    await node.expect_delivered(datagram("?", 5, "c", b"1"), "BCCN-SRC-07")
    port.say(datagram("?", 5, "c", b"2"), mouth=1)
    got = await node.fence()
    trial.expect(not got, "a duplicate from another port of one address", got)


@clauses("BCCN-DUP-11", "BCCN-DUP-02")
@needs("clock")
async def test_one_is_forgotten_and_the_others_are_not(port: BroadcastPort) -> None:
    """Each sender has a time of its own: whoever was heard since is remembered."""
    node = await port.node(ttl=100)
    early, late = unique(), unique()
    await node.expect_delivered(datagram(early, 5, "c"))
    await node.do("advance_clock", seconds=60)
    await node.expect_delivered(datagram(late, 5, "c"))
    await node.do("advance_clock", seconds=50)
    await node.expect_dropped(datagram(late, 5, "c"), "BCCN-DUP-02")
    await node.expect_delivered(datagram(early, 5, "c"))


@clauses("BCCN-DUP-11")
@needs("clock")
async def test_a_silent_sender_is_forgotten(port: BroadcastPort) -> None:
    """After the configured time a sender's old number is news again, and not before."""
    node = await port.node(ttl=100)
    early, late = unique(), unique()
    await node.hears(datagram(early, 5, "c"), datagram(late, 5, "c"))
    await node.do("advance_clock", seconds=50)
    await node.expect_dropped(datagram(early, 5, "c"), "BCCN-DUP-02")
    await node.do("advance_clock", seconds=60)
    await node.expect_delivered(datagram(late, 5, "c"))
    await node.expect_dropped(datagram(late, 5, "c"), "BCCN-DUP-02")


@clauses("BCCN-DUP-12")
@needs("heartbeat_expiry", "clock")
async def test_missed_heartbeats_end_a_sender_sooner(port: BroadcastPort, trial: Trial) -> None:
    """A sender that has sent heartbeats is forgotten after some missed ones; whether one that never did is: reported."""
    node = await port.node(ttl=1000, heartbeat_interval=10, heartbeats_missed=3)
    beating, other = unique("b"), unique("o")
    await node.hears(datagram(beating, 5, f"heartbeat/{beating}"), datagram(other, 5, "c"))
    await node.do("advance_clock", seconds=15)
    await node.expect_dropped(datagram(beating, 5, "c"), "BCCN-DUP-02")
    await node.do("advance_clock", seconds=40)
    await node.expect_delivered(datagram(beating, 5, "c"))
    forgotten = await node.hears(datagram(other, 5, "c"))  # no heartbeat for N intervals: it sent none at all
    trial.info(f"a sender without heartbeats is {'forgotten like one that missed them' if forgotten else 'kept'}")


@clauses("BCCN-DUP-12")
@needs("heartbeat_expiry", "clock")
async def test_a_sender_that_beats_may_say_more(port: BroadcastPort) -> None:
    """What it says between its heartbeats does not make it one that has none."""
    node = await port.node(ttl=1000, heartbeat_interval=10, heartbeats_missed=3)
    beating = unique("b")
    await node.expect_delivered(datagram(beating, 5, f"heartbeat/{beating}"))
    await node.expect_delivered(datagram(beating, 6, "c"))
    await node.do("advance_clock", seconds=55)
    await node.expect_delivered(datagram(beating, 6, "c"))


@clauses("BCCN-DUP-15", "BCCN-DLV-07")
async def test_a_malformed_datagram_moves_nothing(node: NodeUnderTest, trial: Trial) -> None:
    """What is no message has no number."""
    src = unique()
    bad = f"BCCN1[99]{src}:9:c|x".encode()
    got = await node.hears(datagram(src, 1, "c"), bad, datagram(src, 2, "c"))
    trial.expect([said.seq for said in got] == [1, 2], "1 and 2", got)


@clauses("BCCN-DUP-02", "BCCN-DIR-13")
async def test_does_a_message_for_others_count(port: BroadcastPort, trial: Trial) -> None:
    """Whether a directed message for another node moves the tracker is free: reported."""
    node = await port.node(name="me/p/1")
    src = unique()
    await node.hears(datagram(src, 4, "c"), datagram(src, 6, "!other/p/2"))
    got = await node.hears(datagram(src, 5, "c"))
    trial.info(f"a message for others {'does not move' if got else 'moves'} the tracker")


@clauses("BCCN-DUP-13", "BCCN-DUP-02")
async def test_each_datagram_twice_is_each_message_once(node: NodeUnderTest, trial: Trial) -> None:
    """A sender that doubles everything is delivered once each, in order."""
    src = unique()
    got = await node.hears(*(datagram(src, seq, "c") for seq in range(1, 16) for _ in range(2)))
    trial.expect([said.seq for said in got] == list(range(1, 16)), "1 to 15, once each", got)


@clauses("BCCN-DUP-01", "BCCN-DUP-06")
async def test_senders_are_tracked_side_by_side(node: NodeUnderTest, trial: Trial) -> None:
    """Interleaved senders do not disturb one another's numbers."""
    names = [unique() for _ in range(8)]
    await node.hears(*(datagram(name, 10 * index + n, "c") for n in (1, 2) for index, name in enumerate(names)))
    stale = await node.hears(*(datagram(name, 10 * index + 1, "c") for index, name in enumerate(names)))
    trial.expect(not stale, "no stale number to be delivered", stale)
    fresh = await node.hears(*(datagram(name, 10 * index + 3, "c") for index, name in enumerate(names)))
    trial.expect(len(fresh) == 8, "eight fresh ones", fresh)


@clauses("BCCN-DUP-01", "BCCN-DUP-02", "BCCN-DUP-06", "BCCN-DUP-14")
async def test_many_senders_are_remembered(node: NodeUnderTest, trial: Trial) -> None:
    """Sixty-four senders with the same number: each is news once, and none makes another forgotten."""
    names = [unique(f"many/{number**5}") for number in range(64)]  # of several lengths: no simple hash tells all apart
    for first in (names[:32], names[32:]):
        got = [said.src for said in await node.hears(*(datagram(name, 5, "c") for name in first))]
        trial.expect(got == first, "each of them, once", f"{len(got)} of {len(first)}", "BCCN-DUP-06")
    for again in (names[:32], names[32:]):
        stale = await node.hears(*(datagram(name, 5, "c") for name in again))
        trial.expect(not stale, "no number twice", [said.src for said in stale], "BCCN-DUP-02")


GAPS = {
    "restarts": ([2**64 - 1, 1, 2**64 - 1, 1, 1, 2, 2**64 - 1, 0, 0], "DDDD-DDD-"),
    "gap-of-31-bits": ([5, 5 + 2**31, 5 + 2**31, 6 + 2**31], "DD-D"),
    "gap-of-32-bits": ([5, 5 + 2**32, 5 + 2**32, 6 + 2**32, 5 + 2**33], "DD-DD"),
    "gap-of-63-bits": ([5, 5 + 2**63, 5 + 2**63, 6 + 2**63], "DD-D"),
}


@clauses("BCCN-DUP-05", "BCCN-DUP-10", "BCCN-DUP-04", "BCCN-DUP-02", "BCCN-DUP-16", "BCCN-SEQ-02")
@axis("numbers", GAPS)
async def test_numbers_far_apart(node: NodeUnderTest, trial: Trial, numbers: tuple[list[int], str]) -> None:
    """A sender may start again as often as it likes, and leap as far as 64 bits go."""
    seqs, wanted = numbers
    got = await marks(node, unique(), seqs)
    trial.expect(got == wanted, f"{wanted} for {seqs}", got, "" if got == wanted else misread(seqs, wanted, got))
