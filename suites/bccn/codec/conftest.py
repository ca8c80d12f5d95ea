"""The fixture of the codec cases."""

from __future__ import annotations

import pytest_asyncio

from harness.targets import Target
from harness.trial import Trial
from suites.bccn.codec.asked import ROLE, Asked


@pytest_asyncio.fixture(loop_scope="session")
async def codec(trial: Trial, target: Target) -> Asked:
    """The codec under test."""
    return Asked(trial, await target.instance(ROLE, {}))
