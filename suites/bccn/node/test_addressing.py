"""Whom a directed channel reaches (sheet 1.8): the truth table on real nodes, and whose name counts."""

from __future__ import annotations

from dataclasses import dataclass

from harness.catalogue.cases import axis, clauses
from harness.catalogue.vectors import Vector, load
from harness.errors import TargetRefused, TargetUnsupported
from harness.judging.trial import Broken, Each, Trial
from suites.bccn.node.under_test import BroadcastPort, NodeUnderTest, Ports
from suites.bccn.odd_names import ODD
from suites.bccn.wire import datagram, like_a_wildcard, mistaken
from suites.common.names import unique

TABLE = load("bccn/addressing")


@dataclass(frozen=True)
class Column:
    """One name of the pool, with every target."""

    name: str
    own: str
    vectors: tuple[Vector, ...]
    clauses: tuple[str, ...]


def columns() -> list[Column]:
    pool = [v for v in TABLE.vectors if v.name.startswith("pool")]
    return [
        Column(f"name-{number}", own, tuple(pool), TABLE.clauses)
        for number, own in enumerate(pool[0].input["names"], 1)
        if own != "?"
    ]


async def reached(node: NodeUnderTest, vectors: tuple[Vector, ...]) -> set[str]:
    """Which of the targets the node takes for itself; each comes from a sender of its own."""
    src, got = unique(), []
    for number, vector in enumerate(vectors, 1):
        target = vector.input["target"]
        node.port.say(datagram(f"{src}/{number}", 1, f"!{target}", target.encode()))
        if number % 40 == 0:
            got += await node.fence()
    return {said.payload.decode() for said in got + await node.fence()}


async def named(port: BroadcastPort, own: str) -> NodeUnderTest:
    """A node of that name; one that no node should have may be refused (BCCN-SRC-09)."""
    try:
        return await port.node(name="" if own == "?" else own)
    except TargetRefused as refused:
        if like_a_wildcard(own):
            raise TargetUnsupported(f"the name {own} is refused") from refused
        raise


def judge(own: str, vector: Vector, taken: bool) -> None:
    wanted, target = own in vector.expected["matches"], vector.input["target"]
    if own not in vector.expected["open"] and taken != wanted:
        outcome = "delivered" if wanted else "dropped"
        told = "delivered" if taken else "dropped"
        raise Broken.of(vector, f"!{target} {outcome} by {own}", told, "" if own == "?" else mistaken(own, target))


@clauses(*TABLE.clauses)
async def test_sheet(ports: Ports, each: Each) -> None:
    """The sheet's rows, each on a node of that name."""

    async def try_one(vector: Vector) -> None:
        (own,) = vector.input["names"]
        async with ports() as port:
            judge(own, vector, bool(await reached(await named(port, own), (vector,))))

    await each([v for v in TABLE.vectors if v.name.startswith("sheet")], try_one)


@clauses(*TABLE.clauses)
async def test_table(ports: Ports, each: Each) -> None:
    """The whole pool of names with the whole pool of targets; a name that a node refuses says nothing."""

    async def try_one(column: Column) -> None:
        async with ports() as port:
            taken = await reached(await named(port, column.own), column.vectors)
        for vector in column.vectors:
            judge(column.own, vector, vector.input["target"] in taken)

    await each(columns(), try_one)


@clauses(*dict.fromkeys(clause for clause, *_ in ODD.values()))
@axis("row", ODD)
async def test_odd_names(port: BroadcastPort, trial: Trial, row: tuple[str, str, str, bool]) -> None:
    """Tokens are bytes: no number has a value, no character a meaning but `/` and a last `/*`."""
    clause, name, meant, wanted = row
    node = await named(port, name)
    got = await node.hears(datagram(unique(), 1, f"!{meant}", b"x"))
    trial.expect(bool(got) is wanted, f"!{meant} {'delivered' if wanted else 'dropped'} by {name}", got, clause)


@clauses("BCCN-DIR-14", "BCCN-DIR-15")
@axis("aim", ["?", "?/*", "?/x", "x", "*", "/*", "h/p/1"])
async def test_a_nameless_node_takes_nothing_directed(node: NodeUnderTest, aim: str) -> None:
    """A node that does not know its name matches no target, not even "?"."""
    await node.expect_dropped(datagram(unique(), 1, f"!{aim}", b"x"))


async def renamed(port: BroadcastPort, old: str, new: str) -> NodeUnderTest:
    """A node that was meant by its old name, and is not any more."""
    node = await port.node(name=old)
    await node.expect_delivered(datagram(unique(), 1, f"!{old}", b"x"), "BCCN-DIR-08")
    await node.set_name(new)
    await node.expect_dropped(datagram(unique(), 1, f"!{old}", b"x"))
    return node


@clauses("BCCN-DIR-14", "BCCN-API-09", "BCCN-DIR-17")
async def test_a_node_that_loses_its_name_takes_nothing_directed(port: BroadcastPort) -> None:
    """Back to "?", a node matches nothing any more."""
    node = await renamed(port, "h/p/1", "")
    await node.expect_dropped(datagram(unique(), 1, "!?", b"x"))


@clauses("BCCN-DIR-17")
async def test_the_current_name_counts(port: BroadcastPort) -> None:
    """After set_name the new name is matched and the old one is not."""
    node = await renamed(port, "old/p/1", "new/p/2")
    await node.expect_delivered(datagram(unique(), 1, "!new/p/2", b"x"))


@clauses("BCCN-DIR-20")
async def test_the_senders_name_does_not_count(port: BroadcastPort) -> None:
    """A message whose own src matches its target is still for another node."""
    node = await port.node(name="me/p/1")
    await node.expect_dropped(datagram("other/p/9", 1, "!other/p/9", b"x"))
    await node.expect_delivered(datagram("other/p/9", 2, "!me/p/1", b"x"), "BCCN-DIR-08")  # 1 may count as heard (A19c)


@clauses("BCCN-DIR-20", "BCCN-API-10")
async def test_a_send_under_another_src_does_not_rename(port: BroadcastPort) -> None:
    """A src given to one send is not the node's name."""
    node = await port.node(name="me/p/1")
    await node.do("send", src="other/p/9", chan="c", payload=b"sent".hex())
    await port.capture(1)
    await node.expect_dropped(datagram(unique(), 1, "!other/p/9", b"x"))
    await node.expect_delivered(datagram(unique(), 1, "!me/p/1", b"x"), "BCCN-DIR-08")


FAMILY = ("h/p/12", "h/p/12/7", "h/p/12/7/9", "h/p/123", "h/q/12")
MEANT = {  # the target: who of them is meant, and the clauses of one who is left out and of one too many
    "h/p/12": (FAMILY[:1], "BCCN-DIR-08", "BCCN-DIR-08"),
    "h/p/12/*": (FAMILY[:3], "BCCN-DIR-09", "BCCN-DIR-10"),
    "h/p/12/7/*": (FAMILY[1:3], "BCCN-DIR-09", "BCCN-DIR-10"),
    "h/p": (FAMILY[:4], "BCCN-DIR-07", "BCCN-DIR-10"),
    "h": (FAMILY, "BCCN-DIR-07", "BCCN-DIR-10"),
}


@clauses("BCCN-DIR-08", "BCCN-DIR-09", "BCCN-DIR-07", "BCCN-DIR-10", "BCCN-CNV-16")
async def test_parents_and_children(port: BroadcastPort, trial: Trial) -> None:
    """A pid means the parent alone, a pid with /* the parent and its children, a word the whole family."""
    nodes = {name: await port.node(name=name) for name in FAMILY}
    for target in MEANT:
        port.say(datagram(unique(), 1, f"!{target}", target.encode()))
    heard = {name: {said.payload.decode() for said in await node.fence()} for name, node in nodes.items()}
    for target, (meant, missing, too_many) in MEANT.items():
        got = tuple(name for name in FAMILY if target in heard[name])
        trial.expect(got == meant, f"!{target} for {meant}", got, missing if {*meant} - {*got} else too_many)


@clauses("BCCN-DIR-15")
async def test_a_target_that_begins_with_a_question_mark(port: BroadcastPort, trial: Trial) -> None:
    """`!?abc` for a node `?abc`: the text says both, so it is reported."""
    node = await port.node()
    if await node.refuses("set_name", name="?abc"):
        trial.info("the name ?abc is refused")
        return
    got = await node.hears(datagram(unique(), 1, "!?abc", b"x"))
    trial.info(f"!?abc is {'delivered' if got else 'dropped'} by ?abc")
