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
from reference_impl.core import Expectation, Machine, Overdue, Step

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


def watch(target: Target) -> Watch[int]:
    case = CaseInfo("toy/role/group/case", "toy", "role", "group", ())
    return Watch(Trial(case, target, patience_s=PATIENCE_S), Echo())


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
