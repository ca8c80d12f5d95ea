"""The fixtures of the BCCN suites."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from harness.judging.trial import Trial
from suites.bccn.node.under_test import BroadcastPort, NodeUnderTest, Ports, opened_port


@pytest.fixture
def ports(trial: Trial) -> Ports:
    """Makes ports, each for a block."""
    return functools.partial(opened_port, trial)


@pytest_asyncio.fixture(loop_scope="session")
async def port(ports: Ports) -> AsyncIterator[BroadcastPort]:
    """A port of this case's own."""
    async with ports() as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def node(port: BroadcastPort) -> NodeUnderTest:
    """A node without key or name on the case's port."""
    return await port.node()
