"""In-process shims that raise, hang, flood, leave or answer nonsense."""

from __future__ import annotations

import asyncio
import re
import sys
from typing import Any

import pytest

from harness.errors import ShimBroken, TargetCrashed, TargetFailed, TargetTimeout
from harness.shim import Emit, Hello, Shim
from harness.targets.inprocess import InProcessSession
from harness.targets.session import MAX_PENDING_EVENTS, Instance

ROLE = "peerbus/broker"


class Fake(Shim):
    """Does what the operation's name says."""

    async def hello(self) -> Hello:
        return Hello("fake", {ROLE: []})

    async def start(self, instance: str, role: str, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        self.emit = emit
        return {}

    async def do(self, instance: str, op: str, args: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = await getattr(self, op)()
        return result

    async def stop(self, instance: str) -> None:
        await asyncio.Event().wait()

    async def raises(self) -> None:
        raise KeyError("\ud800")

    async def hangs(self) -> None:
        await asyncio.Event().wait()

    async def hangs_on(self) -> None:
        """Not even a cancellation ends it, the first time."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.Event().wait()

    async def leaves(self) -> None:
        sys.exit(3)

    async def answers_a_list(self) -> list[int]:
        return [1]

    async def floods(self) -> dict[str, Any]:
        for n in range(MAX_PENDING_EVENTS + 1):
            self.emit("message", {"n": n})
        return {}

    async def echo(self) -> dict[str, Any]:
        return {}


async def started() -> Instance:
    session = InProcessSession(Fake)
    await session.open()
    instance = await session.start(ROLE, {})
    session.answer_s = 0.1
    return instance


async def test_what_an_implementation_raises_is_its_answer() -> None:
    """An exception is a failed operation, in words that UTF-8 can carry; the session goes on."""
    instance = await started()
    with pytest.raises(TargetFailed, match="KeyError") as caught:
        await instance.do("raises")
    assert str(caught.value).encode()
    assert await instance.do("echo") == {}


@pytest.mark.parametrize("op", ["hangs", "hangs_on"])
async def test_an_operation_that_hangs_times_out(op: str) -> None:
    """Even one that swallows its cancellation; the session goes on."""
    instance = await started()
    async with asyncio.timeout(10):
        with pytest.raises(TargetTimeout, match=f"no answer to do {op} within 0.1 s"):
            await instance.do(op)
    assert await instance.do("echo") == {}


async def test_leaving_the_process_is_a_crash() -> None:
    """sys.exit in an implementation ends its session, not the run."""
    instance = await started()
    for _ in range(2):
        with pytest.raises(TargetCrashed, match=r"it called sys.exit\(3\)"):
            await instance.do("leaves")


async def test_an_answer_must_be_a_dict() -> None:
    """An answer of another shape is told, not passed on."""
    with pytest.raises(TargetFailed, match="a list instead of a dict"):
        await (await started()).do("answers_a_list")


async def test_a_flood_of_events_ends_the_session() -> None:
    """Events that nobody reads are kept up to a bound."""
    instance = await started()
    await instance.do("floods")
    assert instance.events.qsize() == MAX_PENDING_EVENTS + 1  # and the death
    with pytest.raises(TargetCrashed, match="floods"):
        await instance.do("echo")


async def test_an_event_of_a_stopped_instance_is_no_fault() -> None:
    """It may have been under way."""
    instance = await started()
    instance.session.instances.clear()
    instance.session.noticed(instance.id, "message", {})
    assert instance.session.alive


async def test_closing_does_not_wait_for_a_stop_that_hangs() -> None:
    """The end of a run is not the target's to prevent."""
    instance = await started()
    async with asyncio.timeout(10):
        await instance.session.close()
    with pytest.raises(TargetCrashed, match="the session is closed"):
        await instance.do("echo")


class NoHello(Fake):
    async def hello(self) -> Hello:
        raise ValueError("who, me?")


class StrangeHello(Fake):
    async def hello(self) -> Hello:
        return Hello("fake", {}, protocol=7)


def no_factory() -> Shim:
    raise RuntimeError("no database")


@pytest.mark.parametrize(
    ("factory", "error", "words"),
    [
        (NoHello, ShimBroken, "it did not say hello: ValueError: who, me?"),
        (StrangeHello, ShimBroken, "it speaks shim protocol 7"),
        (no_factory, TargetCrashed, "its factory raised RuntimeError: no database"),
    ],
)
async def test_an_object_that_cannot_say_hello(factory: Any, error: type[Exception], words: str) -> None:
    """The session is over before it began, and says so each time."""
    session = InProcessSession(factory)
    for again in (session.open(), session.start(ROLE, {})):
        with pytest.raises(error, match=re.escape(words)):
            await again
