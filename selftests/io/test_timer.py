"""The timer: it ticks when the deadline has come by its clock, not before, and follows a deadline that moves."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from reference_impl.core import Expectation, Machine, Player, Step, Tick, Turn
from reference_impl.io.timer import Timer
from selftests.io.ends import soon


@dataclass(frozen=True)
class Ring:
    at: float


class Alarm(Machine[tuple[float, ...]]):
    """Rings at each time that it was told."""

    def initial(self) -> tuple[float, ...]:
        return ()

    def deadline(self, state: tuple[float, ...]) -> float | None:
        return min(state, default=None)

    def receive(self, state: tuple[float, ...], channel: Any, event: Any) -> Step[tuple[float, ...]]:
        if not isinstance(event, Tick):
            return Step((*state, event))
        rings = tuple(Expectation("", Ring(at), "bell") for at in state if at <= event.at)
        return Step(tuple(at for at in state if at > event.at), rings)


class Bell:
    """An alarm with a timer; `now` is its clock, and real seconds pass on it too where it is `real`."""

    def __init__(self, *, real: bool = False) -> None:
        self.now = 100.0
        began = time.monotonic()
        clock = (lambda: self.now + time.monotonic() - began) if real else lambda: self.now
        self.player = Player(Alarm(), entropy=bytes)
        self.rung: asyncio.Queue[float] = asyncio.Queue()
        self.timer = Timer(self.player, self.perform, clock)

    def perform(self, turn: Turn) -> None:
        for _, ring in turn.frames:
            self.rung.put_nowait(ring.at)

    def arm(self, at: float) -> None:
        self.player.receive("host", at)

    @property
    def heard(self) -> list[float]:
        return [self.rung.get_nowait() for _ in range(self.rung.qsize())]


def test_nothing_to_wait_for_is_told_apart_from_no_time_left() -> None:
    bell = Bell()
    assert bell.timer.left() is None
    bell.arm(103.5)
    assert bell.timer.left() == 3.5
    bell.now = 110
    assert bell.timer.left() == 0


def test_a_check_before_its_time_does_nothing() -> None:
    bell = Bell()
    bell.arm(103.5)
    for now, rung in ((103.4, []), (103.5, [103.5]), (104.0, [])):
        bell.now = now
        bell.timer.check()
        assert bell.heard == rung


async def test_the_loop_checks_in_time_and_goes_on() -> None:
    """Two deadlines, one of them set while the first was waited for."""
    bell = Bell(real=True)
    bell.arm(100.01)
    bell.timer.set()
    bell.arm(100.02)
    assert [await soon(bell.rung.get()) for _ in range(2)] == [100.01, 100.02]
    assert bell.timer.left() is None


async def test_an_earlier_deadline_is_seen_once_it_is_set_again() -> None:
    bell = Bell(real=True)
    bell.arm(100_000.0)
    bell.timer.set()
    bell.arm(100.01)
    bell.timer.set()
    assert await soon(bell.rung.get()) == 100.01
    bell.timer.stop()


async def test_a_clock_that_is_pushed_makes_it_due() -> None:
    """Whoever pushes the clock sets the timer again."""
    bell = Bell()
    bell.arm(4000.0)
    bell.timer.set()
    bell.now = 4000.0
    bell.timer.set()
    assert await soon(bell.rung.get()) == 4000.0


async def test_a_timer_that_is_stopped_does_not_ring() -> None:
    """However often it was set. The fence is a later timer of the same loop."""
    bell, fence = Bell(real=True), Bell(real=True)
    bell.arm(100.01)
    bell.timer.set()
    bell.timer.set()
    bell.timer.stop()
    fence.arm(100.03)
    fence.timer.set()
    await soon(fence.rung.get())
    assert bell.heard == []
