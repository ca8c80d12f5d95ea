"""The server beside its oracle, on walks that are computed from its machine (`world.py`).

There is no expected frame in this file: whatever the server says is judged by the machine alone.
"""

from __future__ import annotations

from dataclasses import replace

from harness.catalogue.cases import clauses
from harness.judging.clock import CAPABILITY, Clock
from harness.judging.trial import Each, Trial
from harness.touring.derive import Walk
from suites.frog.server.under_test import ServerUnderTest
from suites.frog.server.watch import ServerGuide
from suites.frog.server.world import TOURS, folk
from suites.frog.wire import Peer, network

OWN = Peer("X").seed.hex()
"""Of a server that nobody else uses: its time passes as the walks like."""


@clauses(
    "FROG-14-01", "FROG-14-02", "FROG-14-04", "FROG-15-01", "FROG-15-02", "FROG-15-03", "FROG-15-04", "FROG-15-05",
    "FROG-16-02", "FROG-17-01", "FROG-17-02", "FROG-17-05", "FROG-17-06", "FROG-17-10", "FROG-17-11", "FROG-17-13",
    "FROG-17.1-03", "FROG-18-02", "FROG-19-01", "FROG-19-02", "FROG-19-03", "FROG-21-01", "FROG-22-02", "FROG-23-02",
    "FROG-23-03", "FROG-23-05", "FROG-23-06", "FROG-24-01", "FROG-26-03", "FROG-26-05", "FROG-26-07", "FROG-26-08",
    "FROG-4-06", "FROG-5-13", "FROG-5-24",
)  # fmt: skip
async def test_walk(trial: Trial, each: Each) -> None:
    """Every letter behind every other in every state: the server says what the machine owes, and nothing else."""
    ticks = CAPABILITY in await trial.capabilities()

    async def lead(walk: Walk) -> None:
        server = await ServerUnderTest(trial, seed=OWN).start()
        try:
            server_id = (await (await server.connect()).hello()).server_id
            here = network()[:15]
            start = replace(TOURS.start, people=folk(here, f"{here}0"), ticks=ticks)
            clock = Clock(server.instance if ticks else None)
            await TOURS.lead(ServerGuide(trial, server, server_id, clock, start), walk, start)
        finally:
            await server.close()

    await each(TOURS, lead, axis="walk")
