"""The fixtures of the peer cases."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from harness.judging.trial import Trial
from suites.sbp.line import PeerLine
from suites.sbp.peer.under_test import PeerUnderTest


@pytest_asyncio.fixture(loop_scope="session")
async def peer(trial: Trial) -> AsyncIterator[PeerUnderTest]:
    """Sessions with the peer under test."""
    made = PeerUnderTest(trial)
    yield made
    await made.close()


@pytest.fixture
def side() -> str:
    """Which side the target is, where a case does not try both."""
    return "accept"


@pytest_asyncio.fixture(loop_scope="session")
async def line(peer: PeerUnderTest, side: str) -> PeerLine:
    """A transport on which nothing was said yet."""
    return await peer.line(side)


@pytest_asyncio.fixture(loop_scope="session")
async def session(peer: PeerUnderTest, side: str) -> PeerLine:
    """An established session."""
    return await peer.session(side)
