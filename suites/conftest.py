"""The fixtures that every suite has."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import pytest_asyncio

from harness.judging.trial import Trial
from harness.targets import Target


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def _offered(request: pytest.FixtureRequest, trial: Trial) -> None:
    """What a case `@needs` is asked for before anything is started."""
    for mark in request.node.iter_markers("needs"):
        for capability in mark.args:
            await trial.need(capability)


@pytest_asyncio.fixture(loop_scope="session")
async def codec(trial: Trial, target: Target) -> Any:
    """The codec under test, as `suites/<protocol>/codec/under_test.py` asks it."""
    suite = importlib.import_module(f"suites.{trial.case.protocol}.codec.under_test")
    return suite.CodecUnderTest(trial, await target.instance(trial.role, {}))
