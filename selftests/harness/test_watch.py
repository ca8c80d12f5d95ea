"""The watch: whoever is slow is not late, and a debt is late only after its own deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from harness.catalogue.cases import CaseInfo
from harness.errors import TargetUnsupported
from harness.judging.clock import Clock, clock_of
from harness.judging.trial import Trial
from harness.judging.watch import Watch
from harness.targets import Instance, Session, Target, resolve
from reference_impl.core import Expectation, Level, Machine, Overdue, Step

PATIENCE_S = 0.05


@dataclass(frozen=True)
class Pong:
    """What is owed."""


@dataclass(frozen=True)
class Ping:
    """To be answered by that time."""

    due: float | None = None


class Echo(Machine[int]):
    def initial(self) -> int:
        return 0

    def receive(self, state: int, channel: Any, event: Ping) -> Step[int]:
        return Step(state, (Expectation("E-1", Pong(), channel, due=event.due),))


@pytest_asyncio.fixture(loop_scope="session")
async def reference() -> AsyncIterator[Target]:
    """Some target: what these tests are about is on our side."""
    target = resolve("reference")
    yield target
    await target.close()


def watch(target: Target, machine: Machine[int] | None = None, patience_s: float = PATIENCE_S) -> Watch[int]:
    case = CaseInfo("toy/role/group/case", "toy", "role", "group", ())
    return Watch(Trial(case, target, patience_s=patience_s), machine or Echo())


async def test_a_debt_that_is_due_later_than_the_patience_is_waited_for(reference: Target) -> None:
    """Due in six patiences and paid after three: nothing is late."""
    watched = watch(reference)
    watched.told("a", Ping(due=watched.clock.now() + 6 * PATIENCE_S))
    asyncio.get_running_loop().call_later(3 * PATIENCE_S, watched.heard, "a", Pong())
    await watched.settle()


async def test_a_debt_is_late_after_its_deadline_and_the_patience(reference: Target) -> None:
    """Never paid: it is overdue, and not before its time."""
    watched, began = watch(reference), time.monotonic()
    watched.told("a", Ping(due=watched.clock.now() + 3 * PATIENCE_S))
    with pytest.raises(Overdue):
        await watched.settle()
    assert time.monotonic() - began >= 4 * PATIENCE_S


async def test_a_debt_without_a_deadline_is_late_after_the_patience(reference: Target) -> None:
    """As ever."""
    watched = watch(reference)
    watched.told("a", Ping())
    with pytest.raises(Overdue):
        await watched.settle()


@dataclass(frozen=True)
class Beat:
    """May be said at any time."""


class Beating(Echo):
    def receive(self, state: int, channel: Any, event: Ping) -> Step[int]:
        step = super().receive(state, channel, event)
        beats = Expectation("E-2", Beat(), "b", Level.MAY, repeats=True)
        return Step(state, (*step.owes, beats))


async def test_what_is_said_beside_a_debt_buys_no_time(reference: Target) -> None:
    """A target that beats for ever would never be late."""
    watched = watch(reference, Beating())
    watched.told("a", Ping())

    async def beat() -> None:
        while True:
            watched.heard("b", Beat())
            await asyncio.sleep(PATIENCE_S / 5)

    beating = asyncio.create_task(beat())
    async with asyncio.timeout(10):
        with pytest.raises(Overdue):
            await watched.settle()
    beating.cancel()


async def test_every_payment_buys_the_next_a_patience(reference: Target) -> None:
    """Whoever owes much and pays slowly pays."""
    patience_s = 10 * PATIENCE_S  # half of it is more than a busy machine is late
    watched = watch(reference, patience_s=patience_s)
    for n in range(1, 5):
        watched.told("a", Ping())
        asyncio.get_running_loop().call_later(n * patience_s / 2, watched.heard, "a", Pong())
    await watched.settle()


class Pushed(Session):
    """A target that keeps what its clock was pushed by."""

    def __init__(self) -> None:
        super().__init__()
        self.pushed: list[float] = []

    async def do(self, instance: Instance, op: str, args: dict[str, Any]) -> dict[str, Any]:
        assert op == "advance_clock"
        self.pushed.append(args["seconds"])
        return {}


async def test_a_clock_that_is_pushed_pushes_the_target() -> None:
    """An hour passes at once, on both sides."""
    session = Pushed()
    clock = Clock(Instance(session, "i1", "toy/role"))
    before = clock.now()
    await clock.advance(3600)
    assert session.pushed == [3600]
    assert 3600 <= clock.now() - before < 3660


async def test_a_target_without_a_clock_needs_slow(reference: Target) -> None:
    """What cannot be pushed takes real time, and that is asked for."""
    trial = Trial(CaseInfo("sbp/codec/g/c", "sbp", "codec", "g", ()), reference)
    instance = Instance(Pushed(), "i1", "sbp/codec")
    with pytest.raises(TargetUnsupported, match="--slow"):
        await clock_of(trial, instance)
    trial.slow = True
    assert await clock_of(trial, instance)
