"""The client beside its oracle, on walks that are computed from its machine (`world.py`).

There is no expected frame in this file: whatever the client says is judged by the machine alone.
"""

from __future__ import annotations

from dataclasses import replace

from harness.catalogue.cases import clauses, needs
from harness.judging.trial import Each, Trial
from harness.targets import Target
from harness.touring.derive import Walk
from suites.frog.client.under_test import ClientUnderTest
from suites.frog.client.watch import ClientGuide
from suites.frog.client.world import TOURS
from suites.frog.wire import Peer, network


@clauses(
    "FROG-12.1-01", "FROG-15-11", "FROG-16-04", "FROG-17-11", "FROG-18-06", "FROG-20-02", "FROG-20-04", "FROG-21-09",
    "FROG-22-11", "FROG-23-04", "FROG-23-05", "FROG-3.3-01", "FROG-4-06", "FROG-41-01", "FROG-41-02", "FROG-41-03",
    "FROG-41-05", "FROG-42-01", "FROG-44-01", "FROG-46-01",
)  # fmt: skip
@needs("backoff_ms")
async def test_walk(trial: Trial, target: Target, each: Each) -> None:
    """Every letter behind every other in every state: the client says what the machine owes, and nothing else."""
    capabilities = await trial.capabilities()

    async def lead(walk: Walk) -> None:
        client = ClientUnderTest(trial, await target.session(), capabilities)
        client.peer = Peer(network()[:15])  # so that another's name may begin alike
        uris = tuple([(await client.stage()).uri for _ in TOURS.start.uris])
        start = replace(TOURS.start, peer=client.peer, uris=uris)
        guide = ClientGuide(trial, client, start)
        try:
            await TOURS.lead(guide, walk, start)
        finally:
            await guide.end()
            await client.close()

    await each(TOURS, lead, axis="walk")
