"""One datagram per notification, to everybody on the port, and never an answer (sheet 1.1)."""

from __future__ import annotations

from harness.cases import axis, clauses
from harness.targets import Target
from harness.trial import Trial
from suites.bccn.segment import ROLE, Node, Segment, unique
from suites.bccn.wire import SECRET, datagram, framed, signed


@clauses("BCCN-TRN-01", "BCCN-TRN-02", "BCCN-TRN-03")
async def test_one_send_is_one_datagram_to_the_broadcast_address(node: Node, segment: Segment, trial: Trial) -> None:
    """Each send is one datagram, and everybody on the broadcast address and port hears it."""
    await node.set_seq(7)
    await node.send("c", b"first", "me")
    await node.send("c", b"second", "me")
    got = await segment.capture(2, "BCCN-TRN-02")
    wanted = [datagram("me", 7, "c", b"first"), datagram("me", 8, "c", b"second")]
    trial.expect(got == wanted, str(wanted), got)


@clauses("BCCN-TRN-04", "BCCN-DLV-04")
async def test_the_port_is_bound(node: Node, segment: Segment, trial: Trial) -> None:
    """A datagram from any port of any sender is heard, and its sender's address is told."""
    said = await node.expect_delivered(datagram(unique(), 1, "c", b"x"))
    trial.expect(said.peer == segment.address(), f"peer {segment.address()}", said.peer, "BCCN-DLV-04")


ANSWERABLE = {
    "good": datagram("a", 1, "c", b"x"),
    "all": datagram("b", 1, "!", b"x"),
    "directed-elsewhere": datagram("c", 1, "!nobody/p/1", b"x"),
    "wrong-len": b"BCCN1[99]d:1:c|x",
    "malformed": framed(b"no body"),
    "other-version": b"BCCN2[3]abc",
    "noise": b"hello?",
    "empty": b"",
}


@clauses("BCCN-TRN-05", "BCCN-DLV-06")
@axis("said", ANSWERABLE)
async def test_nothing_is_ever_answered(node: Node, segment: Segment, trial: Trial, said: bytes) -> None:
    """No acknowledgement, no reply, no error: neither to the sender nor to everybody."""
    await node.hears(said)
    await node.hears(said)
    trial.expect(not (back := segment.replies()), "nothing back", back)
    trial.expect(not (heard := segment.captured()), "nothing broadcast", heard)


@clauses("BCCN-TRN-05", "BCCN-DLV-06")
async def test_a_forgery_is_not_answered(segment: Segment, trial: Trial) -> None:
    """Under a key neither good nor bad tags are answered."""
    node = await segment.start(key=SECRET)
    await node.hears(signed(b"a:1:c|x"), signed(b"a:2:c|x", b"wrong"), framed(b"a:3:c|x"))
    trial.expect(not (back := segment.replies() + segment.captured()), "nothing back", back)


@clauses("BCCN-TRN-06")
@axis("count", [2, 3, 5])
async def test_nodes_share_a_port(segment: Segment, trial: Trial, count: int) -> None:
    """Several nodes on one port each hear every broadcast."""
    nodes = [await segment.start() for _ in range(count)]
    probe = datagram(src := unique(), 1, "c", b"x")
    segment.say(probe)
    for index, node in enumerate(nodes):
        got = [said.message for said in await node.fence()]
        trial.expect(got == [(src, 1, "c", b"x")], f"node {index + 1} of {count} to deliver it once", got)


@clauses("BCCN-TRN-06", "BCCN-TRN-02")
async def test_nodes_hear_one_another(segment: Segment, trial: Trial) -> None:
    """What one node sends, the others on its port deliver."""
    speaker, listener = await segment.start(name="h/speaker/1"), await segment.start(name="h/listener/2")
    await speaker.set_seq(1)
    await speaker.send("c", b"plain")
    await speaker.send("!h/listener", b"directed")
    await speaker.send("!h/nobody", b"elsewhere")
    await speaker.send("!", b"all")
    await segment.capture(4)
    got = [(said.src, said.seq, said.mode, said.payload) for said in await listener.fence()]
    wanted = [("plain", 1), ("directed", 2), ("all", 4)]
    trial.expect(got == [("h/speaker/1", n, m, m.encode()) for m, n in wanted], f"{wanted} by mode and number", got)


@clauses("BCCN-TRN-08", "BCCN-API-06")
async def test_the_descriptor_becomes_readable(target: Target, segment: Segment, trial: Trial) -> None:
    """select says readable once a datagram waits, and not before."""
    await target.need(ROLE, "fd")
    await target.need(ROLE, "recv")
    node = await segment.start(manual=True)
    trial.expect((await node.do("readable"))["readable"] is False, "not readable yet", "readable")
    segment.say(datagram(unique(), 1, "c", b"x"))
    trial.expect((await node.do("readable"))["readable"] is True, "readable", "not readable")
    await node.do("recv")
    trial.expect((await node.do("readable"))["readable"] is False, "not readable any more", "readable")


@clauses("BCCN-DUP-13")
async def test_duplicate_send_mode(target: Target, segment: Segment, trial: Trial) -> None:
    """In duplicate-send mode a notification is two identical datagrams of one number, and is delivered once."""
    await target.need(ROLE, "duplicate_send")
    node, listener = await segment.start(duplicate_send=True), await segment.start()
    await node.set_seq(5)
    await node.send("c", b"first", "me")
    await node.send("c", b"second", "me")
    got = await segment.capture(4)
    first, second = datagram("me", 5, "c", b"first"), datagram("me", 6, "c", b"second")
    trial.expect(sorted(got) == sorted([first, second] * 2), f"{first!r} and {second!r} twice each", got)
    delivered = [said.payload for said in await listener.fence()]
    trial.expect(delivered == [b"first", b"second"], "each delivered once", delivered)
