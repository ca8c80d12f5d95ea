"""SIGKILL under traffic: the reference keeps its promises, and who does not is found out."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.bench.ends import KEY, TOKEN, PeerbusEnds, TrueSealEnds
from harness.bench.kills import SERVERS, Serve, lives
from reference_impl.peerbus.broker import BrokerMachine
from reference_impl.peerbus.broker_io import Broker
from reference_impl.trueseal.relay import RelayMachine
from reference_impl.trueseal.relay_io import Relay


@pytest.mark.parametrize("protocol", SERVERS)
async def test_nothing_promised_is_lost(protocol: str) -> None:
    """Eight kills; a thousand are `python -m harness.bench.kills PROTOCOL`."""
    book = await lives(*SERVERS[protocol], 8, random.Random(7))
    assert book.broken == []
    assert book.promised
    assert book.kills == 8


def serve_forgetful_broker(folder: Path, tell: Callable[[Any], None]) -> None:
    """Promises and writes nothing down."""

    async def run() -> None:
        broker = Broker(BrokerMachine(frozenset([TOKEN])), folder)
        broker.store.write = lambda effect: None  # type: ignore[method-assign]
        tell(await broker.start())
        await asyncio.Event().wait()

    asyncio.run(run())


def serve_forgetful_relay(folder: Path, tell: Callable[[Any], None]) -> None:
    async def run() -> None:
        relay = Relay(RelayMachine(), folder, KEY)
        relay.store.commit = lambda effects: None  # type: ignore[method-assign]
        await relay.start()
        tell(relay.ports)
        await asyncio.Event().wait()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("serve", "ends"), [(serve_forgetful_broker, PeerbusEnds), (serve_forgetful_relay, TrueSealEnds)]
)
async def test_a_forgetful_server_is_found_out(serve: Serve, ends: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.bench.kills.PATIENCE_S", 1.0)
    book = await lives(serve, ends, 8, random.Random(7))
    assert book.broken
    assert "is lost in life" in book.broken[0]
