"""Where a fault is filed: under the clause that it breaks, and not under a neighbour's or the fence's."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.mutation.mutant import mutants_of
from harness.running.plan import Plan, run
from harness.running.recorder import Recorder

FAULTS = [
    ("overlooks-flags-over-web-socket", "sbp/peer/product", {"SBP-FLAGS-06"}),
    ("overlooks-flags-over-web-socket", "sbp/peer/traffic", set()),
    ("no-word-about-mismatch", "sbp/peer/product", {"SBP-HSP-10"}),
    ("takes-any-version", "sbp/peer/product", {"SBP-HSP-10"}),
    ("answers-early-pings", "sbp/peer/product", {"SBP-HS-03"}),
    ("never-pongs", "sbp/peer/traffic", {"SBP-SES-06"}),
]


@pytest.mark.parametrize(
    ("mutant", "select", "clauses"), FAULTS, ids=[f"{fault[0]}-{fault[1][-7:]}" for fault in FAULTS]
)
def test_a_fault_is_filed_under_its_own_clause(mutant: str, select: str, clauses: set[str], tmp_path: Path) -> None:
    """Every case that finds something names the clause that the fault breaks; cases about something else find nothing."""
    recorder = Recorder("filing", [mutants_of("sbp")[mutant].target().info], ["sbp"], 0, tmp_path)
    run(Plan(target=f"mutant:sbp/{mutant}", select=[select], workers=1, patience=1.0), recorder)
    assert recorder.results
    assert {result.failure.clause for result in recorder.results if result.failure} == clauses
