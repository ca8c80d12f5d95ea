"""A node beside its oracle: what it delivers, answers and broadcasts is judged by the machine alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from harness.errors import TargetRefused, TargetTimeout
from harness.judging.clock import Clock
from harness.judging.trial import Broken, Trial
from harness.judging.watch import Watch
from harness.touring.world import Crash, Stimulus
from reference_impl.bccn import frames
from reference_impl.bccn.codec import Codec
from reference_impl.bccn.node import API, HOST, LISTENERS, WIRE, Config, NodeMachine
from reference_impl.bccn.tracker import DAY_S, Tracker
from reference_impl.core import Channel, Oracle, Overdue, Tick
from suites.bccn.node.under_test import HERE, BroadcastPort, NodeUnderTest
from suites.bccn.node.world import SANITY, TTL_S, Datagram, Open, PatientTracker
from suites.bccn.reading import Reading
from suites.bccn.wire import datagram
from suites.common import shim
from suites.common.host import Event
from suites.common.names import unique


class NodeWatch(Watch[Any]):
    """The node of one run, and the oracle that hears all that it says."""

    def __init__(
        self,
        trial: Trial,
        port: BroadcastPort,
        node: NodeUnderTest,
        key: bytes,
        tracker: Tracker,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(trial, NodeMachine(Config(key=key), tracker=tracker), clock)
        self.port, self.node, self.key, self.codec = port, node, key, Codec()
        self._sentinel, self._count = unique("end"), 0

    def say(self, data: bytes, ip: str) -> None:
        peer = self.port.address(ip)
        read = self.codec.decode(data, self.key)
        at = self.clock.now()
        self.told(
            WIRE, frames.Noise(read, peer, at) if isinstance(read, frames.Garbage) else frames.Heard(read, peer, at)
        )
        self.port.say(data, ip)

    async def call(self, event: frames.Input, op: str, **args: Any) -> bool:
        """One call of the host; did it succeed?"""
        self.told(API, event)
        try:
            result = await (self.node.sent(**args) if op == "send" else self.node.do(op, **args))
        except TargetRefused as refused:
            self.heard(API, frames.Refused(str(refused)))
            return False
        self.heard(API, answered(event, result))
        return True

    async def fence(self) -> None:
        """Prove that the node has read what was said, and hear everything it said of it."""
        self._count += 1
        self.say(datagram(self._sentinel, self._count, "end", b"", self.key), HERE)
        while not await self._reached():
            pass
        self.port.fenced()
        await self._hear_the_rest()
        await self.settle()
        self.oracle.quiesce(self.trial.patience_s)  # the sentinel has shown that everything was read

    async def _hear_the_rest(self) -> None:
        """What the node broadcast, and callbacks that run late; polled while it owes any."""
        time = asyncio.get_running_loop().time
        deadline = time() + self.trial.patience_s
        while True:
            for data in self.port.captured():
                self.heard(WIRE, frames.Sent(data))
            while not self.node.instance.events.empty():
                self._hear(*await self.node.event(self.trial.patience_s))
            self.judge_waiting()
            if self.oracle.settled:
                return
            if time() > deadline:
                self.trial.lose_patience()
                raise Overdue(self.oracle.overdue())
            await asyncio.sleep(0.001)

    async def _reached(self) -> bool:
        try:
            with self.trial.waiting("an event") as waited_s:
                told = await self._next_event(waited_s)
        except TimeoutError:
            self.trial.lose_patience()
            await self.settle()  # says what is overdue
            return True
        return self._hear(*told)

    async def _next_event(self, within_s: float) -> Event:
        try:
            return await self.node.event(within_s)
        except TargetTimeout:
            raise TimeoutError from None

    def _hear(self, kind: str, data: dict[str, Any]) -> bool:
        """One event; was it the sentinel's delivery?"""
        if kind not in ("delivered", "called") or self.node.is_echo(data):
            return False
        said = Reading.of(data)
        if said.chan.startswith("heartbeat/"):  # nobody else beats here: it hears itself
            return False
        message = frames.Message(*said.message, authenticated=bool(self.key))  # whether a target tells is free
        if kind == "called":
            self.heard(LISTENERS, frames.Called(said.pattern, message))
            return False
        if said.mode not in set(frames.Mode):
            raise Broken("BCCN-DLV-05", "plain, all or directed", said.mode)
        self.heard(HOST, frames.Delivered(message, frames.Mode(said.mode), said.peer))
        return said.src == self._sentinel and said.seq == self._count


def answered(event: frames.Input, result: dict[str, Any]) -> frames.Named | frames.Counted | frames.Done:
    if isinstance(event, frames.GetName):
        return frames.Named(shim.member(result, "name", shim.text, "get_name"))
    if isinstance(event, frames.GetSeq):
        return frames.Counted(shim.member(result, "seq", shim.number, "get_seq"))
    return frames.Done()


def asking(event: frames.Input) -> tuple[str, dict[str, Any]]:
    """A call of the host as the shim knows it."""
    match event:
        case frames.Send(chan=chan, payload=payload, src=src):
            return "send", {"src": src or None, "chan": chan, "payload": payload.hex()}
        case frames.SetName(name=name):
            return "set_name", {"name": name}
        case frames.SetSeq(seq=seq):
            return "set_seq", {"seq": str(seq)}
        case frames.Listen(pattern=pattern):
            return "listen", {"pattern": pattern}
        case frames.StartHeartbeat(interval=interval):
            return "heartbeat", {"interval": interval}
        case frames.GetName():
            return "get_name", {}
    return "get_seq", {}


class PushedClock(Clock):
    """Stands still unless it is pushed: walks last far less than what they wait for."""

    def now(self) -> float:
        return self._ahead


class NodeGuide:
    """Leads a node through a walk, with one fence behind each letter. The node is opened by the first of them."""

    oracle: Oracle[Any]

    def __init__(self, trial: Trial, port: BroadcastPort, abilities: frozenset[str]) -> None:
        self.trial, self.port, self.abilities = trial, port, abilities
        self._watch: NodeWatch | None = None
        self._under_way = False

    @property
    def watch(self) -> NodeWatch:
        assert self._watch, "a walk begins with a node that is opened"
        return self._watch

    async def perform(self, stimulus: Stimulus) -> None:
        """One datagram at a time is under way: an oracle that must think of all orders is slow."""
        assert not isinstance(stimulus, Crash), "a node keeps nothing"
        if self._under_way:
            await self.fence()
        match stimulus.event:
            case Open(key=key):
                await self._open(key)
            case Datagram(data=data, ip=ip):
                self.watch.say(data, ip)
                self._under_way = True
            case Tick(at=at):
                await self._pass(at - self.watch.clock.now())
            case event:
                op, args = asking(event)
                await self.watch.call(event, op, **args)

    async def _open(self, key: bytes) -> None:
        wanted = {"sanity": ("sanity", SANITY), "clock": ("ttl", TTL_S)}
        config: dict[str, Any] = dict(wanted[ability] for ability in self.abilities.intersection(wanted))
        node = await self.port.node(key=key, **config)
        ttl = config.get("ttl", DAY_S)
        tracker = PatientTracker(SANITY, ttl, ttl)
        self._watch = NodeWatch(self.trial, self.port, node, key, tracker, PushedClock(node.instance))
        self.oracle = self._watch.oracle

    async def _pass(self, seconds: float) -> None:
        if seconds > 0:
            await self.watch.clock.advance(seconds)

    async def fence(self) -> Sequence[tuple[Channel, Any]]:
        """The surroundings learn nothing from what a node says: they speak whatever it does."""
        await self.watch.fence()
        self._under_way = False
        return ()
