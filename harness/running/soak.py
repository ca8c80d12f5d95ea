"""One process of a target under the tours of a protocol, over and over: does it keep what it should give back?

A walk has an instance in that same process; each third goes through the matrix's proxy, which delays and dribbles and loses
nothing, so that the oracle's word still counts. Where a walk kills its target the instance is stopped: what is asked here is how
the life of one process goes on.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import random
import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from harness.errors import TargetUnsupported
from harness.judging.result import BAD, CaseResult
from harness.matrix.faults import slowed
from harness.matrix.streams import StreamProxy
from harness.running.plan import Plan, run
from harness.running.recorder import Recorder
from harness.shim import Hello
from harness.targets import Instance, Session, Target, resolve
from harness.targets.outside import Usage, usage
from harness.targets.server import accepts
from harness.targets.session import Reach

ADDRESS = re.compile(r"127\.0\.0\.1:(\d+)")
DISTURBED, CONNECTIONS = 1 / 3, 8
"""The share of walks that are disturbed, and connections of one instance that are; a walk has seldom more."""

OVER = "the time is over"

EVERY_S = 0.5
"""Seconds between two samples: looking costs a walk over /proc."""

WARM = 0.2
"""The share of the samples in which caches fill and interpreters warm up."""

MEMORY, DESCRIPTORS = 1 << 20, 3
"""Less than that is not called growth."""


@dataclass(frozen=True)
class Sample:
    role: str
    usage: Usage


class Lent(Session):
    """A walk's session: instances of its own in the one process that all walks share."""

    def __init__(self, soak: Soak) -> None:
        super().__init__()
        self._soak, self._mine, self._proxies = soak, list[Instance](), list[StreamProxy]()

    async def open(self) -> Hello:
        return await self._soak.opened()

    async def start(self, role: str, config: dict[str, Any]) -> Instance:
        await self._soak.opened()
        if self._soak.is_over():
            raise TargetUnsupported(OVER)
        instance = await self._soak.inner.start(role, config)
        self._soak.begin()
        self._mine.append(instance)
        disturbed = self._soak.dice.random() < DISTURBED
        for key in ("address", "addresses") if disturbed else ():
            if key in instance.details:
                instance.details[key] = await self._proxied(instance.details[key])
        self._soak.role = role
        return instance

    async def _proxied(self, address: Any) -> Any:
        if isinstance(address, dict):
            return {name: await self._proxied(one) for name, one in address.items()}
        found = ADDRESS.search(str(address))
        if not found or not await accepts("127.0.0.1", int(found[1])):
            return address  # datagrams, or another machine: without faults
        proxy = StreamProxy("line", lambda *_: None)
        proxy.upstream = "127.0.0.1", int(found[1])
        await proxy.open()
        proxy.begin(slowed(self._soak.dice, "line", CONNECTIONS))
        self._proxies.append(proxy)
        return address.replace(found[0], f"127.0.0.1:{proxy.port}")

    async def call(self, verb: str, **fields: Any) -> dict[str, Any]:
        return await self._soak.inner.call(verb, **fields)

    async def kill(self) -> None:
        """The instance ends, and another takes over what it has stored; the process lives on."""
        await self.close()

    async def close(self) -> None:
        for instance in self._mine:
            if self._soak.inner.alive and instance.id in self._soak.inner.instances:
                await instance.stop()
        for proxy in self._proxies:
            await proxy.close()
        self._mine, self._proxies = [], []


class Soak(Reach):
    """Another reach's one session, for as long as it lasts."""

    def __init__(self, reach: Reach, seed: int, seconds: float) -> None:
        self._seconds, self._until = seconds, math.inf
        self._reach, self.kind, self.build = reach, reach.kind, reach.build
        self.dice, self.role = random.Random(seed), ""
        self.samples: list[Sample] = []
        self._hello: Hello | None = None
        self._looking: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """The time counts from the first walk on: however little it is, there is one."""
        self._until = min(self._until, time.monotonic() + self._seconds)

    def is_over(self) -> bool:
        return time.monotonic() > self._until

    async def opened(self) -> Hello:
        if self._hello is None:
            self.inner = self._reach.session()
            self._hello = await self.inner.open()
            self._looking = asyncio.create_task(self._look())
        self.inner.check_alive()
        return self._hello

    async def _look(self) -> None:
        while self.inner.alive:
            self.samples.append(Sample(self.role, usage(await self.inner.pids())))
            await asyncio.sleep(EVERY_S)

    def session(self) -> Session:
        return Lent(self)

    async def close(self) -> None:
        if self._looking:
            self._looking.cancel()
            await self.inner.close()
        await self._reach.close()


class Rounds:
    """A pytest plugin: the collected cases again and again, until the time is over; the target is made once."""

    def __init__(self, soak: Soak, soaked: Target) -> None:
        self._soak, self.soaked, self.rounds = soak, soaked, 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = session.items
        for item, following in zip(itertools.cycle(items), itertools.cycle([*items[1:], *items[:1]]), strict=False):
            item._initrequest()  # type: ignore[attr-defined]  # as for one that is run again
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            self.rounds += item is items[-1] and not self._soak.is_over()
            if session.shouldstop or self._soak.is_over():
                break
        session._setupstate.teardown_exact(None)
        return True


class Tally(Recorder):
    """Counts, and keeps what went wrong: a night of results is too much to hold."""

    def result(self, result: CaseResult) -> None:
        if result.note == OVER:
            return
        self.counts[result.verdict] += 1
        if result.verdict in BAD or not self.results:
            self.results.append(result)


@dataclass(frozen=True)
class Soaked:
    rounds: int
    tally: dict[str, int]
    bad: list[CaseResult]
    samples: list[Sample]

    def growth(self) -> list[str]:
        """What grows, in a sentence each; nothing where nothing does."""
        memory = grown([s.usage.memory for s in self.samples], MEMORY)
        descriptors = grown([s.usage.descriptors for s in self.samples], DESCRIPTORS)
        said = []
        if memory:
            first, last = (part / 2**20 for part in memory)
            said.append(
                f"memory grows: {first:.1f} to {last:.1f} MB in {sum(self.tally.values())} walks, {self.where('memory')}"
            )
        if descriptors:
            first, last = descriptors
            said.append(f"file descriptors grow: {first:.0f} to {last:.0f}, {self.where('descriptors')}")
        return said

    def where(self, what: str) -> str:
        """The role under whose walks most of it came."""
        by: dict[str, int] = {}
        for before, sample in itertools.pairwise(self.samples):
            more = getattr(sample.usage, what) - getattr(before.usage, what)
            by[sample.role] = by.get(sample.role, 0) + more
        return f"most of it under the tours of {max(by, key=lambda role: by[role])}"


def grown(values: Sequence[int], least: int) -> tuple[float, float] | None:
    """The middle of the first and of the last third, if all of the last lies above all of the first; noise goes up and down."""
    warm = values[int(len(values) * WARM) :]
    third = len(warm) // 3
    if third < 3:
        return None
    first, last = warm[:third], warm[-third:]
    if min(last) <= max(first) or statistics.median(last) - statistics.median(first) < least:
        return None
    return statistics.median(first), statistics.median(last)


def soak(protocol: str, name: str, minutes: float, seed: int) -> Soaked:
    target = resolve(name, {}, [protocol])
    if target.reach.kind not in ("process", "docker"):
        raise TargetUnsupported(f"a soak looks at a process from outside, and {name} is reached {target.reach.kind}")
    roles = sorted(asyncio.run(offered(target)))
    reach = Soak(target.reach, seed, minutes * 60)
    rounds = Rounds(reach, Target(target.info, reach))
    recorder = Tally("soak", [target.info], [protocol], seed)
    run(Plan(name, [f"{protocol}/*/tours/*"], roles=roles, seed=seed, workers=1), recorder, [rounds])
    bad = [result for result in recorder.results if result.verdict in BAD]
    return Soaked(rounds.rounds, dict(recorder.counts), bad, reach.samples)


async def offered(target: Target) -> list[str]:
    try:
        return list((await target.hello()).roles)
    finally:
        await target.close()
