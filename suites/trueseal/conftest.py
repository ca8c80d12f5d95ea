"""The fixtures of the TrueSeal suites."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from harness.judging.trial import Trial
from harness.targets import Target
from suites.trueseal.client.under_test import ROLE as CLIENT
from suites.trueseal.client.under_test import ClientUnderTest, PrivateClient
from suites.trueseal.relay.under_test import LOWERED, PrivateRelay, RelayUnderTest


@pytest_asyncio.fixture(loop_scope="session")
async def relay(trial: Trial) -> AsyncIterator[RelayUnderTest]:
    """The relay under test, shared by cases: use devices of your own."""
    made = await RelayUnderTest(trial).start()
    yield made
    await made.close()


@pytest_asyncio.fixture(loop_scope="session")
async def strict_relay(trial: Trial) -> AsyncIterator[RelayUnderTest]:
    """The relay under a stricter limit."""
    await trial.need("limit")
    made = await RelayUnderTest(trial, LOWERED).start()
    yield made
    await made.close()


@pytest_asyncio.fixture(loop_scope="session")
async def own_relay(trial: Trial) -> AsyncIterator[PrivateRelay]:
    """A relay of this case's own, which may be killed."""
    await trial.need("restart")
    made = await PrivateRelay(trial).start()
    yield made
    await made.close()


@pytest_asyncio.fixture(loop_scope="session")
async def client(trial: Trial, target: Target) -> AsyncIterator[ClientUnderTest]:
    """The client under test, just started: it dials, and nobody has answered yet."""
    made = ClientUnderTest(trial, await target.session(), await target.capabilities(CLIENT))
    yield await made.start()
    await made.close()


@pytest_asyncio.fixture(loop_scope="session")
async def own_client(trial: Trial, target: Target) -> AsyncIterator[PrivateClient]:
    """A client of this case's own, which may be killed."""
    await trial.need("restart")
    await trial.need("kill")
    made = PrivateClient(trial, await target.capabilities(CLIENT))
    yield await made.start()
    await made.close()
