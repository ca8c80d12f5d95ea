"""The fixtures of the peerbus suites."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest_asyncio

from harness.judging.trial import Trial
from harness.targets import Session, Target
from suites.peerbus.broker.under_test import BrokerLine, BrokerUnderTest, PrivateBroker
from suites.peerbus.client.under_test import ClientLine, ClientUnderTest


@pytest_asyncio.fixture(loop_scope="session")
async def broker(trial: Trial) -> AsyncIterator[BrokerUnderTest]:
    """The broker under test, shared by cases: use names of your own."""
    made = await BrokerUnderTest(trial).start()
    yield made
    await made.close()


@pytest_asyncio.fixture(loop_scope="session")
async def sender(broker: BrokerUnderTest) -> BrokerLine:
    """A registered peer."""
    return await broker.peer()


@pytest_asyncio.fixture(loop_scope="session")
async def receiver(broker: BrokerUnderTest) -> BrokerLine:
    """Another one."""
    return await broker.peer()


@pytest_asyncio.fixture(loop_scope="session")
async def own_broker(trial: Trial) -> AsyncIterator[PrivateBroker]:
    """A broker of this case's own: its list of peers is the case's, and it may be killed."""
    await trial.need("restart")
    made = await PrivateBroker(trial).start()
    yield made
    await made.close()


@pytest_asyncio.fixture(loop_scope="session")
async def clients(trial: Trial, target: Target) -> AsyncIterator[Callable[..., ClientUnderTest]]:
    """Makes clients under test that are not started yet, each with a broker and a host of its own."""
    capabilities, shared = await trial.capabilities(), await target.session()
    made: list[ClientUnderTest] = []

    def make(session: Session = shared) -> ClientUnderTest:
        made.append(ClientUnderTest(trial, session, capabilities))
        return made[-1]

    yield make
    for one in made:
        await one.close()


@pytest_asyncio.fixture(loop_scope="session")
async def client(clients: Callable[..., ClientUnderTest]) -> ClientUnderTest:
    """The client under test, just started: it dials, and nobody has answered yet."""
    return await clients().start()


@pytest_asyncio.fixture(loop_scope="session")
async def line(client: ClientUnderTest) -> ClientLine:
    """The client's connection, registered."""
    return await client.online()
