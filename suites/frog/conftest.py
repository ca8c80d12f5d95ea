"""The fixtures of the FROG suites."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from harness.judging.trial import Trial
from harness.targets import Target
from suites.frog.client.under_test import ROLE, ClientUnderTest
from suites.frog.server.sisters import Federation
from suites.frog.server.under_test import ServerUnderTest, TimedServer


@pytest_asyncio.fixture(loop_scope="session")
async def server(trial: Trial) -> AsyncIterator[ServerUnderTest]:
    """The server under test, shared by cases: use networks, keys and CIDs of your own."""
    made = await ServerUnderTest(trial).start()
    yield made
    await made.close()


@pytest_asyncio.fixture(loop_scope="session")
async def timed(trial: Trial) -> AsyncIterator[TimedServer]:
    """A server of this case's own, whose time passes as the case likes."""
    made = await TimedServer(trial).start()
    yield made
    await made.close()


@pytest_asyncio.fixture(loop_scope="session")
async def federation(trial: Trial) -> AsyncIterator[Federation]:
    """A server of this case's own that is not started yet: with three sisters that may dial it, and whom it is to dial."""
    made = Federation(trial)
    yield made
    await made.close()


@pytest_asyncio.fixture(loop_scope="session")
async def mesh(federation: Federation) -> Federation:
    """It is started: three sisters may dial it."""
    return await federation.start()


@pytest_asyncio.fixture(loop_scope="session")
async def timed_mesh(federation: Federation) -> Federation:
    """The same, and minutes of it pass as the case likes."""
    federation.timed = "fast"
    return await federation.start()


@pytest_asyncio.fixture(loop_scope="session")
async def real_mesh(federation: Federation) -> Federation:
    """The same, and the seconds of a flood pass, on a clock that is pushed or for real."""
    federation.timed = "real"
    return await federation.start()


@pytest_asyncio.fixture(loop_scope="session")
async def client(trial: Trial, target: Target) -> AsyncIterator[ClientUnderTest]:
    """The client under test, not started yet, with a key and servers of its own."""
    made = ClientUnderTest(trial, await target.session(), await target.capabilities(ROLE))
    yield made
    await made.close()
