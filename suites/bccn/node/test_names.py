"""A node's name, and the names of others (sheet 1.5, 1.11)."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.errors import TargetRefused
from harness.judging.trial import Trial
from suites.bccn.node.under_test import ELSEWHERE, BroadcastPort, NodeUnderTest
from suites.bccn.wire import datagram
from suites.common.names import unique

BAD = {
    "colon": "a:b",
    "bar": "a|b",
    "blank": "a b",
    "tab": "a\tb",
    "lf": "a\nb",
    "cr": "a\rb",
    "trailing-lf": "a\n",
    "too-long": "s" * 129,
}
CLAUSE = {"a:b": "BCCN-SRC-04", "a|b": "BCCN-SRC-04", "s" * 129: "BCCN-SRC-01"}


@clauses("BCCN-API-08", "BCCN-CNV-13")
async def test_a_fresh_node_is_unknown(node: NodeUnderTest, trial: Trial) -> None:
    """Without a name a node is "?", and says so rather than guess or skip."""
    trial.expect((name := await node.name()) == "?", "?", name)
    await node.set_seq(3)
    await node.send("c", b"x")
    await node.expect_sent(datagram("?", 3, "c", b"x"))


@clauses("BCCN-API-07", "BCCN-API-10")
@axis("name", ["a", "h/p/1", "a-b_c.d@e#f=g[h]", "s" * 128, "??", "a?b"])
async def test_a_name_is_kept_and_sent(node: NodeUnderTest, trial: Trial, name: str) -> None:
    """get_name is what set_name was told, and the default src of every send."""
    await node.set_name(name)
    trial.expect((told := await node.name()) == name, name, told)
    await node.set_seq(3)
    await node.send("c", b"x")
    await node.expect_sent(datagram(name, 3, "c", b"x"), "BCCN-API-10")


@clauses("BCCN-API-09", "BCCN-API-02")
@axis("empty", {"empty": "", "null": None})
async def test_no_name_is_the_unknown_one(node: NodeUnderTest, trial: Trial, empty: str | None) -> None:
    """set_name with nothing goes back to "?"."""
    await node.set_name("x")
    await node.set_name(empty)
    trial.expect((told := await node.name()) == "?", "?", told)
    await node.set_seq(3)
    await node.send("c", b"x")
    await node.expect_sent(datagram("?", 3, "c", b"x"))


@clauses("BCCN-API-02")
@axis("src", {"empty": "", "null": None})
async def test_no_src_is_the_default_one(node: NodeUnderTest, src: str | None) -> None:
    """A send without src from a node without a name comes from "?"."""
    await node.set_seq(3)
    await node.send("c", b"x", src)
    await node.expect_sent(datagram("?", 3, "c", b"x"))


@clauses("BCCN-SRC-04", "BCCN-SRC-03", "BCCN-SRC-01", "BCCN-API-13")
@axis("src", BAD)
async def test_an_impossible_src_is_never_sent(node: NodeUnderTest, trial: Trial, src: str) -> None:
    """A src that no datagram can carry is refused: nothing is sent and no number taken."""
    await node.set_seq(3)
    refused = await node.refuses("send", src=src, chan="c", payload=b"refused".hex())
    trial.expect(refused, "a refusal", "sent", CLAUSE.get(src, "BCCN-SRC-03"))
    await node.expect_unmoved(3, "BCCN-API-13")


@clauses("BCCN-SRC-04", "BCCN-SRC-03", "BCCN-SRC-01")
@axis("name", BAD)
async def test_an_impossible_name_is_never_sent(node: NodeUnderTest, trial: Trial, name: str) -> None:
    """Refused when set or when sent, but never the src of a malformed datagram."""
    await node.set_seq(3)
    clause = CLAUSE.get(name, "BCCN-SRC-03")
    if not await node.refuses("set_name", name=name):
        trial.expect(await node.refuses_send("c", b"refused"), "a refusal of the name or of the send", "sent", clause)
        await node.set_name("me")  # under the other name it may refuse whatever it is told to send
    await node.expect_unmoved(3, clause)


@clauses("BCCN-SRC-09")
@axis("name", {"star": "a/*", "star-inside": "a*b", "trailing-slash": "a/"})
async def test_a_name_like_a_wildcard(node: NodeUnderTest, trial: Trial, name: str) -> None:
    """Such a name should not be chosen; whether a node takes it is reported. From others it is delivered."""
    said = await node.expect_delivered(datagram(name, 1, "c", b"x"), "BCCN-SRC-05")
    trial.expect(said.src == name, name, said, "BCCN-SRC-05")
    try:
        await node.set_name(name)
        trial.info(f"set_name takes {name}")
    except TargetRefused:
        trial.info(f"set_name refuses {name}")


@clauses("BCCN-SRC-06", "BCCN-DUP-06", "BCCN-DUP-02")
async def test_names_are_compared_byte_for_byte(node: NodeUnderTest, trial: Trial) -> None:
    """Names that differ in case alone are two senders."""
    lower = unique("name")
    upper = lower.replace("name", "NAME")
    got = await node.hears(datagram(lower, 5, "c"), datagram(upper, 5, "c"), datagram(lower, 5, "c"))
    trial.expect(len(got) < 3, "the third to be a duplicate of the first", got, "BCCN-DUP-02")
    trial.expect([said.src for said in got] == [lower, upper], f"{lower} and {upper}, once each", got)


@clauses("BCCN-SRC-07", "BCCN-DLV-04")
async def test_unknown_senders_are_delivered(node: NodeUnderTest, port: BroadcastPort, trial: Trial) -> None:
    """src "?" is delivered like any other, with the address that tells its sender."""
    said = await node.expect_delivered(datagram("?", 1, "c", b"x"), ip=ELSEWHERE)
    trial.expect(said.src == "?", "src ?", said)
    trial.expect(said.peer == port.address(ELSEWHERE), f"peer {port.address(ELSEWHERE)}", said, "BCCN-DLV-04")


@clauses("BCCN-SRC-08", "BCCN-DUP-02", "BCCN-DUP-06")
@axis("src", ["a?b", "??", "?x", "x?"])
async def test_a_question_mark_in_a_name_is_a_letter(node: NodeUnderTest, trial: Trial, src: str) -> None:
    """Such a name is tracked by itself, from whatever address it comes, like a name without."""
    for name, clause in ((src.replace("?", "q"), "BCCN-DUP-06"), (src, "BCCN-SRC-08")):
        first = await node.hears(datagram(name, 5, "c", b"x"))
        await node.expect_dropped(datagram(name, 5, "c", b"z"), "BCCN-DUP-02")
        again = await node.hears(datagram(name, 5, "c", b"y"), ip=ELSEWHERE)
        trial.expect((len(first), len(again)) == (1, 0), "delivered once, then a duplicate", (first, again), clause)
