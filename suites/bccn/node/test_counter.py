"""The sender's counter (sheet 1.6, 1.11)."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses, needs
from harness.errors import TargetRefused
from harness.judging.trial import Trial
from suites.bccn.node.under_test import BroadcastPort, NodeUnderTest
from suites.bccn.wire import datagram

TOP = 2**64 - 1


@clauses("BCCN-API-12", "BCCN-API-11", "BCCN-SEQ-04")
async def test_a_send_takes_the_number_and_then_counts(node: NodeUnderTest, trial: Trial) -> None:
    """set_seq(41), send: the datagram has 41 and the counter 42."""
    await node.set_seq(41)
    trial.expect((told := await node.seq()) == 41, "41", told, "BCCN-API-11")
    await node.send("c", b"x", "me")
    await node.expect_sent(datagram("me", 41, "c", b"x"))
    trial.expect((told := await node.seq()) == 42, "42", told)


@clauses("BCCN-SEQ-04", "BCCN-SEQ-02")
@axis(
    "start", {"zero": 0, "epoch": 1_700_000_000, **{f"over-{bits}-bits": 2**bits - 3 for bits in (16, 31, 32, 53, 63)}}
)
async def test_numbers_grow_by_one(node: NodeUnderTest, port: BroadcastPort, trial: Trial, start: int) -> None:
    """k sends carry n, n+1, ... n+k-1."""
    await node.set_seq(start)
    for i in range(6):
        await node.send("c", b"%d" % i, "me")
    wanted = [datagram("me", start + i, "c", b"%d" % i) for i in range(6)]
    trial.expect((got := await port.capture(6)) == wanted, str(wanted), got)


@clauses("BCCN-SEQ-08")
async def test_one_counter_for_all_channels_and_sources(node: NodeUnderTest, port: BroadcastPort, trial: Trial) -> None:
    """Plain, ALL and directed sends, whatever their src, share one counter."""
    await node.set_seq(10)
    sends = [("me", "c"), ("me", "d"), ("me", "!"), ("me", "!x"), ("you", "c"), ("me", "c")]
    for src, chan in sends:
        await node.send(chan, b"x", src)
    wanted = [datagram(src, 10 + i, chan, b"x") for i, (src, chan) in enumerate(sends)]
    trial.expect((got := await port.capture(6)) == wanted, str(wanted), got)


@clauses("BCCN-SEQ-07", "BCCN-API-11", "BCCN-SEQ-02")
@axis("seq", {"over-53-bits": 2**53 + 1, "sign-bit": 2**63, "top": TOP})
async def test_all_64_bits_are_sent_and_told(node: NodeUnderTest, trial: Trial, seq: int) -> None:
    """No number loses precision."""
    await node.set_seq(seq)
    trial.expect((told := await node.seq()) == seq, str(seq), told)
    await node.send("c", b"x", "me")
    await node.expect_sent(datagram("me", seq, "c", b"x"))


@clauses("BCCN-SEQ-08", "BCCN-SEQ-02")
async def test_after_the_last_number(node: NodeUnderTest, port: BroadcastPort, trial: Trial) -> None:
    """Behind 2^64-1 a sender wraps or refuses, but never writes what is no number."""
    await node.set_seq(TOP)
    await node.send("c", b"last", "me")
    await node.expect_sent(datagram("me", TOP, "c", b"last"))
    try:
        await node.send("c", b"next", "me")
    except TargetRefused:
        trial.info("the counter ends at 2^64-1")
        return
    (data,) = await port.capture(1)
    allowed = [datagram("me", n, "c", b"next") for n in (0, 1)]
    trial.expect(data in allowed, "a number after the wrap", data, "BCCN-SEQ-02")
    trial.info("the counter wraps")


@clauses("BCCN-SEQ-02")
@axis("seq", {"minus-one": "-1", "two-to-the-64": str(2**64)})
async def test_no_other_number_is_sent(node: NodeUnderTest, trial: Trial, seq: str) -> None:
    """A counter outside 64 bits is refused when set or when sent, and never on the wire."""
    await node.set_seq(7)
    if not await node.refuses("set_seq", seq=seq):
        trial.expect(await node.refuses_send("c"), "a refusal of the counter or of the send", "sent")
        await node.set_seq(7)
    await node.expect_unmoved(7, counted="BCCN-SEQ-02")


@clauses("BCCN-SEQ-05", "BCCN-SEQ-02")
async def test_the_first_number_is_free(node: NodeUnderTest, trial: Trial) -> None:
    """Where a counter begins is the sender's choice: reported."""
    first = await node.seq()
    trial.expect(0 <= first <= TOP, "a 64-bit number", first, "BCCN-SEQ-02")
    trial.info(f"a fresh node begins with {first}")


REFUSED = {
    "blank": ("BCCN-CHN-03", "a b"),
    "colon": ("BCCN-CHN-04", "a:b"),
    "bar": ("BCCN-CHN-04", "a|b"),
    "empty": ("BCCN-CHN-01", ""),
    "too-long": ("BCCN-CHN-01", "c" * 1025),
}


@clauses("BCCN-API-13", "BCCN-CHN-01", "BCCN-CHN-03", "BCCN-CHN-04")
@axis("chan", REFUSED)
async def test_a_refused_send_takes_no_number(node: NodeUnderTest, trial: Trial, chan: tuple[str, str]) -> None:
    """After a refusal the next send has the number that the refused one would have had."""
    await node.set_seq(5)
    clause, text = chan
    trial.expect(await node.refuses_send(text), "a refusal", "sent", clause)
    trial.expect((told := await node.seq()) == 5, "5", told)
    await node.expect_unmoved(5)


@clauses("BCCN-CNV-17", "BCCN-CNV-15", "BCCN-CNV-14", "BCCN-CNV-16")
@needs("fork")
async def test_a_fork_changes_nothing_by_itself(port: BroadcastPort, trial: Trial) -> None:
    """A child has its parent's name and counter until the application says otherwise."""
    node, listener = await port.node(name="h/p/1"), await port.node()
    await node.set_seq(100)
    same = await node.do("fork", chan="c", payload=b"same".hex())
    trial.expect((same["name"], same["seq"]) == ("h/p/1", "100"), "h/p/1 and 100 in the child", same)
    await node.expect_sent(datagram("h/p/1", 100, "c", b"same"))
    child = await node.do("fork", chan="c", payload=b"b".hex(), name="h/p/1/{pid}")
    await node.expect_sent(datagram(f"h/p/1/{child['pid']}", 100, "c", b"b"), "BCCN-CNV-15")
    fresh = await node.do("fork", chan="c", payload=b"a".hex(), name="h/p/1/{pid}", seq="1")
    await node.expect_sent(datagram(f"h/p/1/{fresh['pid']}", 1, "c", b"a"), "BCCN-CNV-14")
    got = [said.payload for said in await listener.fence()]
    trial.expect(got == [b"same", b"b", b"a"], "all three delivered", got, "BCCN-CNV-14")
