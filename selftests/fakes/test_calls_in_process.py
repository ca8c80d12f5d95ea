"""A call of an in-process target is awaited where it stands: what it waits for, its own timeouts, and how it is told to stop."""

from __future__ import annotations

import asyncio

import pytest

from harness.targets.inprocess import _within


async def test_what_it_waits_for_may_fail() -> None:
    failing = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(failing.set_exception, KeyError("gone"))

    async def work() -> str:
        with pytest.raises(KeyError, match="gone"):
            await failing
        return await asyncio.sleep(0, "went on")

    assert await _within(10, work()) == "went on"


async def test_what_it_waits_for_may_be_cancelled() -> None:
    waited = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(waited.cancel)

    async def work() -> str:
        with pytest.raises(asyncio.CancelledError):
            await waited
        return await asyncio.sleep(0, "went on")

    assert await _within(10, work()) == "went on"


async def test_a_timeout_of_its_own_is_its_own() -> None:
    async def work() -> str:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        return await asyncio.sleep(0.01, "went on")

    async with asyncio.timeout(10):
        assert await _within(10, work()) == "went on"


async def test_told_to_stop_it_may_say_goodbye_and_not_stay() -> None:
    told: list[str] = []

    async def stays() -> None:
        for _ in range(3):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                told.append("stop")

    async with asyncio.timeout(10):
        with pytest.raises(TimeoutError):
            await _within(0.01, stays())
    assert told == ["stop"]


async def test_what_waits_for_nothing_takes_no_turn() -> None:
    turns: list[str] = []
    asyncio.get_running_loop().call_soon(turns.append, "a turn")

    async def work() -> str:
        return "at once"

    assert await _within(10, work()) == "at once"
    assert not turns
