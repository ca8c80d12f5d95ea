"""The client beside its oracle, on walks that are computed from its machine (`world.py`).

There is no expected frame in this file: whatever the client says is judged by the machine alone.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.catalogue.cases import clauses, needs
from harness.judging.trial import Each, Trial
from harness.touring.derive import Walk
from suites.peerbus.client.under_test import ClientUnderTest
from suites.peerbus.client.watch import ClientGuide
from suites.peerbus.client.world import NAME, SERIAL, TOKEN, TOURS


@clauses(
    "PB-7-02", "PB-1-11", "PB-2.1-15", "PB-2.1-29", "PB-2.1-30", "PB-2.2-05", "PB-2.3-01", "PB-2.3-05", "PB-2.4-12",
    "PB-2.4-13", "PB-2.4-17", "PB-2.4-18", "PB-4-18", "PB-4-22", "PB-5-07", "PB-5-09", "PB-5-17", "PB-5-19", "PB-5-21",
    "PB-5-25", "PB-7-03", "PB-7-04", "PB-7-05",
)  # fmt: skip
@needs("backoff_ms")
async def test_walk(clients: Callable[[], ClientUnderTest], trial: Trial, each: Each) -> None:
    """Every letter behind every other in every state: the client says what the machine owes, and nothing else."""
    tours = SERIAL if clients().serial else TOURS

    async def lead(walk: Walk) -> None:
        client = clients()
        client.name, client.token = NAME, TOKEN
        guide = ClientGuide(trial, client)
        try:
            await tours.lead(guide, walk)
        finally:
            await guide.close()

    await each(tours, lead, axis="walk")
