"""The node beside its oracle, on walks that are computed from its machine (`world.py`).

There is no expected delivery in this file: whatever the node delivers, answers or broadcasts is judged by the machine alone.
"""

from __future__ import annotations

from dataclasses import replace

from harness.catalogue.cases import clauses
from harness.judging.trial import Each, Trial
from harness.touring.derive import Walk
from suites.bccn.node.under_test import Ports
from suites.bccn.node.watch import NodeGuide
from suites.bccn.node.world import TOURS


@clauses(
    "BCCN-DUP-02", "BCCN-API-01", "BCCN-API-08", "BCCN-API-10", "BCCN-API-12", "BCCN-BODY-01", "BCCN-CHN-07", "BCCN-CNV-01",
    "BCCN-CNV-08", "BCCN-CNV-09", "BCCN-DIR-13", "BCCN-DIR-17", "BCCN-DLV-01", "BCCN-DLV-02", "BCCN-DLV-07", "BCCN-DUP-01",
    "BCCN-DUP-11", "BCCN-INT-09", "BCCN-SEQ-04", "BCCN-SEQ-08", "BCCN-SIZ-01", "BCCN-SIZ-03", "BCCN-TRN-01", "BCCN-TRN-05",
)  # fmt: skip
async def test_walk(trial: Trial, ports: Ports, each: Each) -> None:
    """Every letter behind every other in every state: the node does what the machine owes, and nothing else."""
    abilities = frozenset(await trial.capabilities())

    async def lead(walk: Walk) -> None:
        async with ports() as port:
            start = replace(TOURS.start, abilities=abilities)
            await TOURS.lead(NodeGuide(trial, port, abilities), walk, start)

    await each(TOURS, lead, axis="walk")
