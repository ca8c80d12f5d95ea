"""A broker that takes none of the tokens: one sentence before any case, and what to do; every other fault is for the cases."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from harness.errors import Unavailable, UsageError
from harness.judging.result import Verdict
from harness.running.smoke import smoke
from harness.targets import Target, resolve
from reference_impl.io.websocket import Listener, WebSocket
from reference_impl.peerbus.broker import BrokerMachine
from reference_impl.peerbus.broker_io import Broker
from selftests.checks import checked

VARIANTS = "python:selftests.peerbus.variants"


async def asked(target: Target, *select: str) -> None:
    try:
        await smoke(target, select)
    finally:
        await target.close()


@pytest_asyncio.fixture
async def address(tmp_path: Path) -> AsyncIterator[str]:
    """A broker that somebody runs, with one token."""
    broker = Broker(BrokerMachine(frozenset(["theirs"])), tmp_path)
    yield f"ws://127.0.0.1:{await broker.start()}"
    await broker.stop()


async def test_whoever_runs_the_broker_is_asked_for_its_tokens(address: str) -> None:
    """Nobody's tokens are guessed; wrong ones are told before a hundred cases fail of them, and one that is taken will do."""
    with pytest.raises(UsageError, match=r"needs --option tokens=\.\.\.: the bearer tokens that it takes"):
        resolve(address, {}, ["peerbus"])
    wrong = r"refuses a register with a or b \(close 1008\): say which it takes with --option tokens="
    with pytest.raises(Unavailable, match=wrong):
        await asked(resolve(address, {"tokens": ["a", "b"]}, ["peerbus"]))
    await asked(resolve(address, {"tokens": ["a", "theirs"]}, ["peerbus"]))


async def test_a_shim_that_heeds_no_tokens_is_told_what_to_do() -> None:
    """Where its broker is not selected, that is no matter."""
    with pytest.raises(Unavailable, match=r"its broker refuses .*: start it with those"):
        await asked(resolve(f"{VARIANTS}:SecretTokens"), "peerbus/broker/ack")
    await asked(resolve(f"{VARIANTS}:SecretTokens"), "peerbus/codec")


async def test_a_broker_that_hangs_up_without_a_reason_is_for_the_cases() -> None:
    """It need not be the token: who refuses one says so (PB-2.1-13)."""

    async def hangs_up(carrier: WebSocket) -> None:
        await carrier.receive()

    listener = Listener(hangs_up)
    await asked(resolve(f"ws://127.0.0.1:{await listener.start()}", {"tokens": "a"}, ["peerbus"]))
    await listener.stop()


def test_a_broker_of_the_cases_own_is_tried_with_its_tokens_too(tmp_path: Path) -> None:
    """Also after it was killed and started again."""
    results = checked(f"{VARIANTS}:OtherTokens", ["peerbus/broker/restart"], tmp_path)
    assert {result.verdict for result in results} == {Verdict.PASS}
