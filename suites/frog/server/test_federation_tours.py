"""The server among sisters beside its oracle, on walks that are computed from its machine (`sister_world.py`).

There is no expected frame in this file: whatever the server says is judged by the machine alone.
"""

from __future__ import annotations

from dataclasses import replace

from harness.catalogue.cases import clauses, needs
from harness.judging.clock import CAPABILITY, Clock
from harness.judging.trial import Each, Trial
from harness.touring.derive import Walk
from suites.frog.server.sister_watch import SisterGuide
from suites.frog.server.sister_world import FLOOD_S, SISTERS, TOURS, folk
from suites.frog.server.sisters import Federation
from suites.frog.wire import network


@needs("sister", "seed", "timers")
@clauses(
    "FROG-12.2-01", "FROG-14-01", "FROG-14-03", "FROG-15-01", "FROG-15-02", "FROG-15-03", "FROG-15-05", "FROG-16-02",
    "FROG-17-01", "FROG-17-02", "FROG-17-05", "FROG-17-11", "FROG-18-02", "FROG-19-01", "FROG-19-02", "FROG-22-02",
    "FROG-23-05", "FROG-24-01", "FROG-24-07", "FROG-26-03", "FROG-27-02", "FROG-28-02", "FROG-28-06", "FROG-28-07",
    "FROG-29-01", "FROG-29-03", "FROG-29-09", "FROG-34-06", "FROG-34-08", "FROG-35-03", "FROG-35-08", "FROG-35-09",
    "FROG-35-10", "FROG-35-11", "FROG-36-01", "FROG-36-04", "FROG-36-05", "FROG-36-07", "FROG-36-08", "FROG-37-01",
    "FROG-37-02", "FROG-37-03", "FROG-37-04", "FROG-37-07", "FROG-37-11", "FROG-5-13", "FROG-5-24",
)  # fmt: skip
async def test_walk(trial: Trial, each: Each) -> None:
    """Every letter behind every other in every state: the server says what the machine owes, and nothing else."""
    ticks = CAPABILITY in await trial.capabilities()

    async def lead(walk: Walk) -> None:
        server = Federation(trial, family=0, sisters=[who.fingerprint for who in SISTERS.values()], timed="real")
        server.config |= {"lookup_timeout_ms": int(1000 * FLOOD_S), "find_timeout_ms": int(1000 * FLOOD_S)}
        await server.start()
        try:
            start = replace(TOURS.start, people=folk(network()), ticks=ticks)
            clock = Clock(server.instance if ticks else None)
            await TOURS.lead(SisterGuide(trial, server, clock), walk, start)
        finally:
            await server.close()

    await each(TOURS, lead, axis="walk")
