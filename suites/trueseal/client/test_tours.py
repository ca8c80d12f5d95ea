"""The client beside its oracle, on walks that are computed from its machine (`world.py`).

There is no expected frame in this file: whatever the client says is judged by the machine alone.
"""

from __future__ import annotations

from dataclasses import replace

from harness.catalogue.cases import clauses, needs
from harness.judging.trial import Each, Trial
from harness.touring.derive import Walk
from suites.trueseal.client.guide import ClientGuide
from suites.trueseal.client.under_test import PrivateClient
from suites.trueseal.client.world import TOURS


@clauses(
    "TS-DLV-03", "TS-ACK-06", "TS-ACK-07", "TS-DACK-01", "TS-DACK-02", "TS-DACK-03", "TS-DLV-04", "TS-DLV-09",
    "TS-ERR-04", "TS-ERR-05", "TS-FRM-05", "TS-FRM-06", "TS-FRM-07", "TS-HB-02", "TS-HB-03", "TS-HB-05", "TS-PUSH-01",
    "TS-PUSH-09", "TS-PUSH-10", "TS-SES-02", "TS-SES-05", "TS-SES-06", "TS-SIZE-01", "TS-SIZE-03", "TS-TYP-02",
    "TS-TYP-03", "TS-TYP-04",
)  # fmt: skip
@needs("restart", "kill", "retry_ms")
async def test_walk(trial: Trial, each: Each) -> None:
    """Every letter behind every other in every state: the client says what the machine owes, and nothing else."""
    declared = await trial.capabilities()
    large_frames = "large_frames" in declared
    start = replace(TOURS.start, large_frames=large_frames, beating="heartbeat" in declared)

    async def lead(walk: Walk) -> None:
        guide = ClientGuide(trial, PrivateClient(trial, declared), large_frames)
        try:
            await guide.start()
            await TOURS.lead(guide, walk, start)
        finally:
            await guide.close()

    await each(TOURS, lead, axis="walk")
