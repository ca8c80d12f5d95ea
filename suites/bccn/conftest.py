"""The fixtures of the BCCN suites."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from harness.trial import Trial
from suites.bccn.segment import Node, Segment


@pytest_asyncio.fixture(loop_scope="session")
async def segment(trial: Trial) -> AsyncIterator[Segment]:
    """A port of this case's own."""
    made = Segment(trial)
    yield made
    await made.close()


@pytest_asyncio.fixture(loop_scope="session")
async def node(segment: Segment) -> Node:
    """A node without key or name on the case's port."""
    return await segment.start()
