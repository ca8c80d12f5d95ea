"""The relay beside its oracle, on walks that are computed from its machine (`world.py`).

There is no expected frame in this file: whatever the relay says is judged by the machine alone.
"""

from __future__ import annotations

from dataclasses import replace

from harness.catalogue.cases import clauses, needs
from harness.judging.trial import Each, Trial
from harness.touring.derive import Walk
from reference_impl.trueseal.relay import RelayMachine
from suites.trueseal import wire
from suites.trueseal.relay.guide import RelayGuide
from suites.trueseal.relay.under_test import LOWERED, PrivateRelay
from suites.trueseal.relay.world import TOURS


@clauses(
    "TS-DLV-08", "TS-ACK-01", "TS-ACK-03", "TS-ACK-04", "TS-ACK-06", "TS-DACK-04", "TS-DACK-05", "TS-DACK-06",
    "TS-DACK-07", "TS-DACK-08", "TS-DLV-01", "TS-DLV-02", "TS-DLV-05", "TS-DLV-06", "TS-DLV-07", "TS-DLV-10",
    "TS-ERR-01", "TS-ERR-03", "TS-ERR-06", "TS-ERR-07", "TS-FRM-05", "TS-FRM-06", "TS-FRM-07", "TS-FRM-08", "TS-HB-02",
    "TS-HB-04", "TS-PUSH-01", "TS-PUSH-02", "TS-PUSH-03", "TS-PUSH-04", "TS-PUSH-05", "TS-PUSH-06", "TS-PUSH-07",
    "TS-PUSH-08", "TS-SES-01", "TS-SES-04", "TS-SES-06", "TS-SES-07", "TS-SES-08", "TS-SES-09", "TS-SES-11",
    "TS-SES-12", "TS-SIZE-05", "TS-SIZE-06", "TS-SIZE-07", "TS-TYP-02", "TS-TYP-03", "TS-TYP-04",
)  # fmt: skip
@needs("restart")
async def test_walk(trial: Trial, each: Each) -> None:
    """Every letter behind every other in every state: the relay says what the machine owes, and nothing else."""
    declared = await trial.capabilities()
    limit, large_frames = LOWERED if "limit" in declared else wire.LIMIT, "large_frames" in declared
    start = replace(TOURS.start, machine=RelayMachine(limit), limit=limit, large_frames=large_frames)

    async def lead(walk: Walk) -> None:
        relay = await PrivateRelay(trial, limit).start()
        try:
            await TOURS.lead(RelayGuide(trial, relay, large_frames), walk, start)
        finally:
            await relay.close()

    await each(TOURS, lead, axis="walk")
