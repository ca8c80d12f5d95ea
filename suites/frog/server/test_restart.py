"""Sections 11 and 43: a server that was started again."""

from __future__ import annotations

from harness.catalogue.cases import clauses
from harness.judging.trial import Trial
from harness.targets import Target
from suites.frog.server.under_test import ROLE, USUAL, ServerUnderTest
from suites.frog.wire import Peer


@clauses("FROG-11-02", "FROG-43-02", "FROG-10-02")
async def test_a_server_keeps_its_id(trial: Trial, target: Target) -> None:
    """With the same key it is the same server, and clients register again."""
    await target.need(ROLE, "restart")
    ids, peer = [], Peer("RESTARTED")
    for _ in range(2):
        session = target.private()
        await session.open()
        server = ServerUnderTest(trial)
        server.instance = await session.start(ROLE, dict(USUAL))
        line = await server.peer(peer)
        ids.append(line.server_id)
        await server.close()
        await session.close()
    trial.expect(ids[0] == ids[1], ids[0], ids[1])


@clauses("FROG-11-01")
async def test_the_id_is_derived_from_the_key(trial: Trial, target: Target, server: ServerUnderTest) -> None:
    """Section 50.2: this seed has this id."""
    await target.need(ROLE, "seed")
    line = await server.connect()
    welcome = await line.hello()
    trial.expect(welcome.server_id == "4KVETTPBZR80KG1GTZ55CZ1KS9", "4KVETTPBZR80KG1GTZ55CZ1KS9", welcome.server_id)
