"""One datagram per notification, to everybody on the port, and never an answer (sheet 1.1)."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses, needs
from harness.judging.trial import Trial
from suites.bccn.node.under_test import BroadcastPort, NodeUnderTest
from suites.bccn.wire import SECRET, datagram, framed, signed
from suites.common.names import unique


@clauses("BCCN-TRN-01", "BCCN-TRN-02", "BCCN-TRN-03")
async def test_one_send_is_one_datagram_to_the_broadcast_address(
    node: NodeUnderTest, port: BroadcastPort, trial: Trial
) -> None:
    """Each send is one datagram, and everybody on the broadcast address and port hears it."""
    await node.set_seq(7)
    await node.send("c", b"first", "me")
    await node.send("c", b"second", "me")
    got = await port.capture(2, "BCCN-TRN-02")
    wanted = [datagram("me", 7, "c", b"first"), datagram("me", 8, "c", b"second")]
    trial.expect(got == wanted, str(wanted), got)


@clauses("BCCN-TRN-04", "BCCN-DLV-04")
async def test_the_port_is_bound(node: NodeUnderTest, port: BroadcastPort, trial: Trial) -> None:
    """A datagram from any port of any sender is heard, and its sender's address is told."""
    said = await node.expect_delivered(datagram(unique(), 1, "c", b"x"))
    trial.expect(said.peer == port.address(), f"peer {port.address()}", said.peer, "BCCN-DLV-04")


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
async def test_nothing_is_ever_answered(node: NodeUnderTest, port: BroadcastPort, trial: Trial, said: bytes) -> None:
    """No acknowledgement, no reply, no error: neither to the sender nor to everybody."""
    await node.hears(said)
    await node.hears(said)
    trial.expect(not (back := port.replies()), "nothing back", back)
    trial.expect(not (heard := port.captured()), "nothing broadcast", heard)


@clauses("BCCN-TRN-05", "BCCN-DLV-06")
async def test_a_forgery_is_not_answered(port: BroadcastPort, trial: Trial) -> None:
    """Under a key neither good nor bad tags are answered."""
    node = await port.node(key=SECRET)
    await node.hears(signed(b"a:1:c|x"), signed(b"a:2:c|x", b"wrong"), framed(b"a:3:c|x"))
    trial.expect(not (back := port.replies() + port.captured()), "nothing back", back)


@clauses("BCCN-TRN-06")
@axis("count", [2, 3, 5])
async def test_nodes_share_a_port(port: BroadcastPort, trial: Trial, count: int) -> None:
    """Several nodes on one port each hear every broadcast."""
    nodes = [await port.node() for _ in range(count)]
    probe = datagram(src := unique(), 1, "c", b"x")
    port.say(probe)
    for index, node in enumerate(nodes):
        got = [said.message for said in await node.fence()]
        trial.expect(got == [(src, 1, "c", b"x")], f"node {index + 1} of {count} to deliver it once", got)


@clauses("BCCN-TRN-06", "BCCN-TRN-02", "BCCN-DIR-07", "BCCN-DIR-13", "BCCN-CHN-06", "BCCN-DLV-05", "BCCN-DLV-04")
async def test_nodes_hear_one_another(port: BroadcastPort, trial: Trial) -> None:
    """What one node sends, the others on its port deliver."""
    speaker, listener = await port.node(name="h/speaker/1"), await port.node(name="h/listener/2")
    await speaker.set_seq(1)
    await speaker.send("c", b"plain")
    await speaker.send("!h/listener", b"directed")
    await speaker.send("!h/nobody", b"elsewhere")
    await speaker.send("!", b"all")
    sent = await port.capture(4)
    got = {said.payload: said for said in await listener.fence()}
    trial.expect(b"elsewhere" not in got, "nothing that is for others", got, "BCCN-DIR-13")
    for mode, clause in (("plain", ""), ("directed", "BCCN-DIR-07"), ("all", "BCCN-CHN-06")):
        trial.expect(mode.encode() in got, f"the {mode} one to be delivered", got, clause)
        said = got[mode.encode()]
        told = datagram(said.src, said.seq, said.chan, said.payload)
        trial.expect(told in sent, f"what was sent: {sent}", said, "BCCN-DLV-04")
        trial.expect(said.mode == mode, mode, said, "BCCN-DLV-05")


@clauses("BCCN-TRN-08", "BCCN-API-06")
@needs("fd", "recv")
async def test_the_descriptor_becomes_readable(port: BroadcastPort, trial: Trial) -> None:
    """select says readable once a datagram waits, and not before."""
    node = await port.node(manual=True)
    trial.expect((await node.do("readable"))["readable"] is False, "not readable yet", "readable")
    port.say(datagram(unique(), 1, "c", b"x"))
    trial.expect((await node.do("readable"))["readable"] is True, "readable", "not readable")
    await node.do("recv")
    trial.expect((await node.do("readable"))["readable"] is False, "not readable any more", "readable")


@clauses("BCCN-DUP-13")
@needs("duplicate_send")
@axis("key", {"unsigned": b"", "signed": SECRET})
async def test_duplicate_send_mode(port: BroadcastPort, trial: Trial, key: bytes) -> None:
    """In duplicate-send mode a notification is two identical datagrams of one number, and is delivered once."""
    node, listener = await port.node(key=key, duplicate_send=True), await port.node(key=key)
    await node.set_seq(5)
    await node.send("c", b"first", "me")
    await node.send("c", b"second", "me")
    got = await port.capture(4)
    first, second = datagram("me", 5, "c", b"first", key), datagram("me", 6, "c", b"second", key)
    trial.expect(sorted(got) == sorted([first, second] * 2), f"{first!r} and {second!r} twice each", got)
    delivered = [said.payload for said in await listener.fence()]
    trial.expect(delivered == [b"first", b"second"], "each delivered once", delivered)
