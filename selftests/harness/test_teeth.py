"""Does every check have teeth: the search for checks that no deliberate fault makes fail."""

from __future__ import annotations

from pathlib import Path

from harness.results import Verdict
from harness.stream import EVENTS, read_run
from harness.teeth import Teeth, look_for_teeth
from selftests.harness.conftest import made


def test_a_check_has_teeth_when_one_of_its_cases_failed() -> None:
    """Its axes and vectors are one check; passing and informing prove nothing."""
    teeth = Teeth({"p/r/g/bites": ("P-1",), "p/r/g/sleeps": ("P-2",)})
    teeth.take([made("p/r/g/bites[n=1]", Verdict.PASS), made("p/r/g/bites[n=2]", Verdict.FAIL)])
    teeth.take([made("p/r/g/sleeps", Verdict.INFO)])
    assert teeth.toothless == ["p/r/g/sleeps"]


def test_a_check_of_optional_clauses_alone_can_only_inform() -> None:
    """Nobody is failed for a MAY, so it is not called toothless."""
    teeth = Teeth({"p/r/g/may": ("P-3",), "p/r/g/mixed": ("P-1", "P-3")}, frozenset({"P-3"}))
    assert (teeth.toothless, teeth.informing) == (["p/r/g/mixed"], {"p/r/g/may"})


def test_each_check_meets_mutants_until_it_fails(tmp_path: Path) -> None:
    """Every check of a small group fails on some mutant, and none runs on after that."""
    teeth = look_for_teeth("peerbus", tmp_path, workers=1, seed=0, select=["peerbus/broker/peers"])
    assert teeth.clauses
    assert teeth.toothless == []
    (stream,) = tmp_path.glob(f"*/{EVENTS}")
    failed = [r.case for r in read_run(stream).cases if r.verdict not in (Verdict.PASS, Verdict.INFO)]
    assert len(failed) == len(set(failed)) == len(teeth.bitten)
