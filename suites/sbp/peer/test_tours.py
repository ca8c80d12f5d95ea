"""The peer beside its oracle, on walks that are computed from its machine (`world.py`).

There is no expected frame in this file: whatever the peer says is judged by the machine alone.
"""

from __future__ import annotations

from harness.catalogue.cases import axis, clauses
from harness.judging.trial import Each, Trial
from harness.touring.derive import Walk
from suites.sbp.peer.guide import PeerGuide
from suites.sbp.peer.under_test import SIDES, PeerUnderTest
from suites.sbp.peer.world import TOURS


@clauses(
    "SBP-CMP-02", "SBP-ACK-03", "SBP-CLOSE-01", "SBP-CMP-01", "SBP-CTRL-04", "SBP-ERR-05", "SBP-FID-07", "SBP-FID-09",
    "SBP-FLAGS-05", "SBP-FLAGS-06", "SBP-HS-01", "SBP-HS-02", "SBP-HS-03", "SBP-HSP-03", "SBP-HSP-08", "SBP-HSP-09",
    "SBP-HSP-10", "SBP-LIM-03", "SBP-MSG-04", "SBP-PING-01", "SBP-SEM-01", "SBP-SEM-02", "SBP-SES-01", "SBP-SES-05",
    "SBP-SES-06", "SBP-SES-07", "SBP-SES-08", "SBP-SES-09", "SBP-SES-10", "SBP-SES-11",
)  # fmt: skip
@axis("side", SIDES)
async def test_walk(trial: Trial, each: Each, side: str) -> None:
    """Every letter behind every other in every state: the peer says what the machine owes, and nothing else."""
    await trial.need(side)

    async def lead(walk: Walk) -> None:
        peer = PeerUnderTest(trial)
        try:
            guide, world = await PeerGuide.begin(trial, peer, side)
            await TOURS.lead(guide, walk, world)
            await guide.end()
        finally:
            await peer.close()

    await each(TOURS, lead, axis="walk")
