"""The three forms of a channel, and what a delivery tells (sheet 1.7)."""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Trial
from suites.bccn.node.under_test import ELSEWHERE, HERE, BroadcastPort, NodeUnderTest
from suites.bccn.wire import datagram, mode_of
from suites.common.names import unique

LISTENING = ("a/b", "c/d/e", "x")  # exact: every binding has at least those (L932)
INTERESTS = {"exact": ("a/b", "a/b"), "one-token": ("c/d/e", "c/*/e"), "rest": ("x/y/z", "x/>")}
FORMS = {
    "plain": ("c", "plain"),
    "bang-behind": ("c!", "plain"),
    "bang-in-token": ("a/!", "plain"),
    "star": ("a/*", "plain"),
    "question": ("?", "plain"),
    "all": ("!", "all"),
    "exact": ("!h/p/1", "directed"),
    "wildcard": ("!h/*", "directed"),
    "by-name": ("!h/p", "directed"),
}
IMPOSSIBLE = {
    "empty": ("BCCN-CHN-01", ""),
    "too-long": ("BCCN-CHN-01", "c" * 1025),
    "blank": ("BCCN-CHN-03", "a b"),
    "tab": ("BCCN-CHN-03", "a\tb"),
    "lf": ("BCCN-CHN-03", "a\n"),
    "cr": ("BCCN-CHN-03", "\ra"),
    "colon": ("BCCN-CHN-04", "a:b"),
    "bar": ("BCCN-CHN-04", "a|b"),
    "directed-colon": ("BCCN-CHN-04", "!a:b"),
}


async def listening(port: BroadcastPort, *patterns: str) -> NodeUnderTest:
    await port.trial.need("conventions")
    node = await port.node(name="h/p/1")
    for pattern in patterns:
        await node.do("listen", pattern=pattern)
    return node


@clauses("BCCN-DLV-05", "BCCN-CHN-08", "BCCN-CHN-06", "BCCN-CHN-07", "BCCN-CHN-05")
@axis("form", FORMS)
async def test_the_mode_is_told(port: BroadcastPort, trial: Trial, form: tuple[str, str]) -> None:
    """A delivery says whether it was PLAIN, ALL or DIRECTED."""
    chan, mode = form
    node = await port.node(name="h/p/1")
    clause, _ = mode_of(chan)
    said = await node.expect_delivered(datagram(unique(), 1, chan, b"x"), clause)
    trial.expect(said.mode == mode, mode, said, clause if said.mode else "BCCN-DLV-05")
    trial.expect(said.chan == chan, chan, said, "BCCN-CHN-05")


@clauses("BCCN-DLV-04")
@axis("ip", {"here": HERE, "elsewhere": ELSEWHERE})
async def test_a_delivery_tells_everything(node: NodeUnderTest, port: BroadcastPort, trial: Trial, ip: str) -> None:
    """src, chan, payload and the sender's IP and port."""
    said = await node.expect_delivered(datagram(src := unique(), 9, "c/d", b"\0\xffx"), ip=ip)
    wanted = (src, 9, "c/d", b"\0\xffx", port.address(ip))
    trial.expect((*said.message, said.peer) == wanted, str(wanted), said)


@clauses("BCCN-DLV-04")
async def test_each_delivery_tells_its_own_sender(node: NodeUnderTest, port: BroadcastPort, trial: Trial) -> None:
    """The address is that of this datagram, not of the one before it, nor the one its name was seen at first."""
    src = unique()
    for seq, ip in enumerate((HERE, ELSEWHERE, ELSEWHERE, HERE), 1):
        said = await node.expect_delivered(datagram(src, seq, "c", b"x"), ip=ip)
        trial.expect(said.peer == port.address(ip), f"{port.address(ip)}", said)


@clauses("BCCN-DLV-03", "BCCN-CHN-06")
async def test_all_reaches_the_nameless(node: NodeUnderTest, trial: Trial) -> None:
    """ALL is unconditional: also for a node that does not know its name."""
    said = await node.expect_delivered(datagram(unique(), 1, "!", b"x"))
    trial.expect(said.mode == "all", "mode all", said, "BCCN-CHN-06")


@clauses("BCCN-DLV-01", "BCCN-CNV-01")
@axis("chan", INTERESTS)
async def test_plain_goes_to_whom_it_interests(port: BroadcastPort, trial: Trial, chan: tuple[str, str]) -> None:
    """The listener whose pattern matches is called once, with channel and payload as they came."""
    said, pattern = chan
    if said != pattern:
        await trial.need("patterns")
    node = await listening(port, pattern, "unrelated")
    await node.expect_delivered(datagram(src := unique(), 1, said, b"x\n"))
    calls = [(call.pattern, *call.message) for call in await node.calls(1)]
    trial.expect(calls == [(pattern, src, 1, said, b"x\n")], f"one call of {pattern}", calls)


@clauses("BCCN-DLV-02", "BCCN-CHN-06")
async def test_all_goes_to_every_listener(port: BroadcastPort, trial: Trial) -> None:
    """ALL calls each listener, whatever it listens for."""
    node = await listening(port, *LISTENING)
    await node.expect_delivered(datagram(unique(), 1, "!", b"x"))
    calls = sorted(call.pattern for call in await node.calls(len(LISTENING)))
    trial.expect(calls == sorted(LISTENING), f"a call of each of {LISTENING}", calls)


@clauses("BCCN-DLV-06", "BCCN-DIR-13")
async def test_what_is_for_others_is_dropped_in_silence(port: BroadcastPort, trial: Trial) -> None:
    """Neither delivered nor answered nor passed to a listener."""
    node = await port.node(name="me/p/1")
    await node.expect_dropped(datagram(unique(), 1, "!other/p/1", b"x"))
    trial.expect(not (back := port.replies() + port.captured()), "nothing back", back, "BCCN-DLV-06")
    trial.expect(not (calls := await node.calls(0)), "no listener called", calls)


@clauses("BCCN-CHN-10")
@axis("mark", ["#", "@", "=", ",", ".", "!", "?", ";", "-"])
async def test_a_target_has_no_topic(port: BroadcastPort, mark: str) -> None:
    """Everything behind "!" is the target: no character begins a topic."""
    node = await port.node(name="h/n")
    await node.expect_dropped(datagram(unique(), 1, f"!h/n{mark}topic", b"x"))
    await node.expect_dropped(datagram(unique(), 1, f"!h/n{mark}", b"x"))


@clauses("BCCN-CHN-01", "BCCN-CHN-03", "BCCN-CHN-04")
@axis("chan", IMPOSSIBLE)
async def test_an_impossible_channel_is_never_sent(node: NodeUnderTest, trial: Trial, chan: tuple[str, str]) -> None:
    """A channel that no datagram can carry is refused, and nothing is sent."""
    clause, text = chan
    await node.set_seq(1)
    trial.expect(await node.refuses_send(text, src="me"), "a refusal", "sent", clause)
    await node.expect_unmoved(1, clause)


@clauses("BCCN-CHN-01")
async def test_the_longest_channel_is_sent(node: NodeUnderTest) -> None:
    """1024 characters are allowed."""
    await node.set_seq(1)
    await node.send("c" * 1024, b"x", "me")
    await node.expect_sent(datagram("me", 1, "c" * 1024, b"x"))
