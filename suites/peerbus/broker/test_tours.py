"""The broker beside its oracle, on walks that are computed from its machine (`world.py`).

There is no expected frame in this file: whatever the broker says is judged by the machine alone.
"""

from __future__ import annotations

from harness.catalogue.cases import clauses, needs
from harness.judging.trial import Each, Trial
from harness.touring.derive import Walk
from suites.peerbus.broker.under_test import PrivateBroker
from suites.peerbus.broker.watch import BrokerGuide
from suites.peerbus.broker.world import TOURS


@clauses(
    "PB-2.1-27", "PB-1-01", "PB-1-10", "PB-2.1-02", "PB-2.1-07", "PB-2.1-08", "PB-2.1-09", "PB-2.1-10", "PB-2.1-11",
    "PB-2.1-12", "PB-2.1-16", "PB-2.1-17", "PB-2.1-20", "PB-2.1-24", "PB-2.1-32", "PB-2.2-04", "PB-2.2-06", "PB-2.2-08",
    "PB-2.2-09", "PB-2.3-02", "PB-2.3-06", "PB-2.3-07", "PB-2.4-03", "PB-3-17", "PB-3-18", "PB-3-19", "PB-3-23", "PB-3-27",
)  # fmt: skip
@needs("restart")
async def test_walk(trial: Trial, each: Each) -> None:
    """Every letter behind every other in every state: the broker says what the machine owes, and nothing else."""

    async def lead(walk: Walk) -> None:
        broker = await PrivateBroker(trial).start()
        try:
            await TOURS.lead(BrokerGuide(trial, broker), walk)
        finally:
            await broker.close()

    await each(TOURS, lead, axis="walk")
