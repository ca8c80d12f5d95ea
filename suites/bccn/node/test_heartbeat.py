"""Heartbeats, for targets that send them (sheet 1.12): a send like any other, that comes by itself."""

from __future__ import annotations

import asyncio
import re

from harness.catalogue.cases import clauses, needs
from harness.judging.trial import Trial
from suites.bccn.lint import fault
from suites.bccn.node.under_test import BroadcastPort, NodeUnderTest
from suites.bccn.wire import SECRET, signed

SHAPE = re.compile(rb"BCCN1\[[^\]]*\]([^:|]*):([0-9]+):([^:|]*)\|(.*)", re.DOTALL)
FIRST = 41  # a counter that begins at 1 by itself is not the node's
SHORT = 100  # bytes: the text says "empty or a short status string" and no number


class Pulse:
    """A node that beats: its virtual clock is pushed where it has one, else real time is waited for."""

    def __init__(self, node: NodeUnderTest, virtual: bool) -> None:
        self.node, self.virtual = node, virtual
        self.interval, self._pushed, self._began = (7.0 if virtual else 0.2), 0, asyncio.get_running_loop().time()

    async def next(self) -> list[bytes]:
        """What the node broadcasts until it has broadcast something, an interval later."""
        if self.virtual:
            self._pushed += 1
            await self.node.do("advance_clock", seconds=self.interval + 0.001)
        return await self.node.port.capture(1, "BCCN-CNV-09")

    @property
    def intervals(self) -> float:
        elapsed = asyncio.get_running_loop().time() - self._began
        return self._pushed if self.virtual else elapsed / self.interval


async def beating(port: BroadcastPort, key: bytes = b"") -> Pulse:
    await port.trial.need("heartbeat")
    node = await port.node(key, "h/p/1", seq=FIRST)
    pulse = Pulse(node, "clock" in await port.trial.capabilities())
    await node.do("heartbeat", interval=pulse.interval)
    return pulse


def numbers(heard: list[bytes]) -> list[int]:
    return sorted(int(match[2]) for match in map(SHAPE.fullmatch, heard) if match)


@clauses("BCCN-CNV-08", "BCCN-CNV-09", "BCCN-CNV-10")
async def test_heartbeat(port: BroadcastPort, trial: Trial) -> None:
    """A heartbeat goes out on heartbeat/<name> once per interval, with an empty or short payload."""
    pulse = await beating(port)
    heard: list[bytes] = []
    while len(heard) < 4:
        heard += await pulse.next()
    most = pulse.intervals + 2  # one at once is allowed, and one that is just due
    trial.expect(len(heard) <= most, "about one per interval", f"{len(heard)} in {pulse.intervals:g}", "BCCN-CNV-09")
    found = [match.groups() if (match := SHAPE.fullmatch(data)) else () for data in heard]
    named = all(beat and (beat[0], beat[2]) == (b"h/p/1", b"heartbeat/h/p/1") for beat in found)
    trial.expect(named, "heartbeat/h/p/1 from h/p/1", heard, "BCCN-CNV-08")
    trial.expect(all(len(beat[3]) <= SHORT for beat in found), "a short payload", heard, "BCCN-CNV-10")


@clauses("BCCN-SEQ-08", "BCCN-SEQ-04")
async def test_heartbeats_count_like_sends(port: BroadcastPort, trial: Trial) -> None:
    """Heartbeats and sends between them share the node's counter: no number twice, none left out."""
    pulse = await beating(port)
    heard = await pulse.next()
    for turn in range(3):
        await pulse.node.send("c", b"between %d" % turn)
        heard += await pulse.next()
    while sum(b"|between" in data for data in heard) < 3:
        heard += await port.capture(1)
    wanted = list(range(FIRST, FIRST + len(heard)))
    trial.expect(numbers(heard) == wanted, f"the numbers {wanted}", numbers(heard))


@clauses("BCCN-INT-08", "BCCN-CNV-08")
async def test_heartbeats_are_signed_like_sends(port: BroadcastPort, trial: Trial) -> None:
    """Under the node's key a heartbeat carries a tag like any send."""
    pulse = await beating(port, SECRET)
    for data in await pulse.next() + await pulse.next():
        wanted = signed(data.partition(b"]")[2])
        trial.expect(data == wanted, repr(wanted), repr(data), fault(wanted, data))


@clauses("BCCN-CNV-08", "BCCN-API-10")
async def test_heartbeats_follow_the_name(port: BroadcastPort, trial: Trial) -> None:
    """After set_name a heartbeat comes from the new name, and on its channel."""
    pulse = await beating(port)
    await pulse.next()
    await pulse.node.set_name("h/p/2")
    await pulse.next()  # may have been on its way already
    last = (await pulse.next())[-1]
    match = SHAPE.fullmatch(last)
    src, chan = (match[1], match[3]) if match else (b"", b"")
    trial.expect(src == b"h/p/2", "a heartbeat from h/p/2", last, "BCCN-API-10")
    trial.expect(chan == b"heartbeat/h/p/2", "heartbeat/h/p/2", last)


@clauses("BCCN-CNV-09", "BCCN-CNV-08")
@needs("heartbeat")
async def test_heartbeats_come_by_themselves(port: BroadcastPort) -> None:
    """Nobody pushes a clock or says anything: they come all the same."""
    node = await port.node(name="h/p/1", seq=FIRST)
    await node.do("heartbeat", interval=0.05)
    await port.capture(3, "BCCN-CNV-09")
