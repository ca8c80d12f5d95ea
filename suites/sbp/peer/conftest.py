"""The fixture of the peer cases."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from harness.trial import Trial
from suites.sbp.peer.meeting import Meeting


@pytest_asyncio.fixture(loop_scope="session")
async def meeting(trial: Trial) -> AsyncIterator[Meeting]:
    """Sessions with the peer under test."""
    made = Meeting(trial)
    yield made
    await made.close()
