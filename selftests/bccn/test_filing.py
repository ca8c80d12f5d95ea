"""Where a fault is filed: under the clause that the sheet has for it, and not under a neighbour's or the case's next best."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.mutation.mutant import mutants_of
from harness.running.plan import Plan, run
from harness.running.recorder import Recorder

FAULTS = [  # the planted fault, the cases that meet it, and the clauses that the sheet has for it
    ("refusals-count", ("counter", "names", "size"), {"API-13"}),
    ("size-without-limit", ("size",), {"SIZ-01", "SIZ-03"}),
    ("begins-at-zero", ("tracker", "conventions/dispatch-handles-all-that-waits"), {"DUP-09"}),
    ("zero-means-nobody", ("tracker/trace",), {"DUP-02"}),
    ("the-largest-means-nobody", ("tracker/trace",), {"DUP-02"}),
    ("differences-are-signed", ("tracker/trace",), {"DUP-10", "DUP-16"}),
    ("keeps-the-highest", ("tracker/trace", "tracker/numbers-far-apart"), {"DUP-04"}),
    ("remembers-nobody", ("names", "tracker/the-channel-does-not-matter[chans=the-same]"), {"DUP-02"}),
    ("key-ignores-case", ("names",), {"SRC-06"}),
    ("key-has-the-address", ("names", "tracker/a-named-sender-is-one-wherever-it-is"), {"DUP-06"}),
    ("any-question-mark-is-unknown", ("names",), {"SRC-08"}),
    ("directed-is-plain", ("transport",), {"DIR-13"}),
    ("bang-alone-is-plain", ("transport",), {"DLV-05"}),
    ("words-are-exact-in-a-node", ("transport", "keys", "addressing/parents-and-children"), {"DIR-07", "CHN-07"}),
    ("nothing-is-exact-in-a-node", ("addressing/parents-and-children",), {"DIR-08"}),
    ("prefix-without-boundary-in-a-node", ("addressing/table",), {"DIR-10", "DIR-18"}),
    ("old-names-still-count", ("addressing",), {"DIR-17", "DIR-14"}),
    ("name-is-not-the-default", ("names",), {"API-10"}),
    ("name-is-not-the-default", ("transport",), set()),
    ("counts-by-two", ("transport/nodes-hear-one-another",), set()),
]


@pytest.mark.parametrize(
    ("mutant", "cases", "clauses"), FAULTS, ids=[f"{name}-{cases[0]}" for name, cases, _ in FAULTS]
)
def test_a_fault_is_filed_under_its_own_clause(
    mutant: str, cases: tuple[str, ...], clauses: set[str], tmp_path: Path
) -> None:
    """Every case that finds something names a clause that the fault breaks; cases about something else find nothing."""
    recorder = Recorder("filing", [mutants_of("bccn")[mutant].target().info], ["bccn"], 0, tmp_path)
    select = [f"bccn/node/{case}" for case in cases]
    run(Plan(target=f"mutant:bccn/{mutant}", select=select, workers=1, patience=1.0), recorder)
    assert recorder.results
    found = {result.failure.clause.removeprefix("BCCN-") for result in recorder.results if result.failure}
    assert found == clauses
