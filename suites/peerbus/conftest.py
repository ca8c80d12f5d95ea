"""The fixtures of the peerbus suites."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest_asyncio

from harness.targets import Instance, Target
from harness.trial import Trial
from suites.peerbus.adapter import ROLE, Adapter, Link
from suites.peerbus.bus import TOKENS, Bus, PrivateBus


@pytest_asyncio.fixture(loop_scope="session")
async def bus(trial: Trial, target: Target) -> AsyncIterator[Bus]:
    """The broker under test, shared by cases: use names of your own."""
    made = Bus(trial, await target.instance("peerbus/broker", {"tokens": list(TOKENS)}))
    yield made
    await made.close()


@pytest_asyncio.fixture(loop_scope="session")
async def own_bus(trial: Trial, target: Target) -> AsyncIterator[PrivateBus]:
    """A broker of this case's own: its list of peers is the case's, and it may be killed."""
    await target.need("peerbus/broker", "restart")
    made = PrivateBus(trial)
    await made.start()
    yield made
    await made.close()


@pytest_asyncio.fixture(loop_scope="session")
async def codec(target: Target) -> Instance:
    """The codec under test."""
    return await target.instance("peerbus/codec", {})


@pytest_asyncio.fixture(loop_scope="session")
async def adapters(trial: Trial, target: Target) -> AsyncIterator[Callable[..., Adapter]]:
    """Makes clients under test that are not started yet, each with a broker and a host of its own."""
    capabilities, session = await target.capabilities(ROLE), await target.session()
    made: list[Adapter] = []

    def make(**parts: Any) -> Adapter:
        made.append(Adapter(trial, parts.pop("session", session), capabilities, **parts))
        return made[-1]

    yield make
    for one in made:
        await one.close()


@pytest_asyncio.fixture(loop_scope="session")
async def adapter(adapters: Callable[..., Adapter]) -> Adapter:
    """The client under test, just started: it dials, and nobody has answered yet."""
    return await adapters().start()


@pytest_asyncio.fixture(loop_scope="session")
async def link(adapter: Adapter) -> Link:
    """The client's connection, registered."""
    return await adapter.online()
