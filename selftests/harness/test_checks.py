"""One run over the mutants: each case meets those that break its clauses, and runs while it can show something new."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from harness.catalogue.cases import check_of
from harness.judging.result import CaseResult, Verdict
from harness.mutation.checks import Checks, print_checks
from harness.mutation.gaps import gaps_of
from harness.mutation.kills import PATIENCE_S, Kills, plans
from harness.mutation.mutant import mutants_of
from harness.mutation.plugin import kills_in
from harness.running.plan import Plan, cases, run
from harness.running.recorder import Recorder
from selftests.harness.conftest import made

GROUP = "peerbus/broker/peers"
PLAN = Plan(mutants="peerbus", select=[GROUP], workers=1, patience=PATIENCE_S)


def test_a_check_can_fail_when_one_of_its_cases_failed() -> None:
    """Its axes and vectors are one check; passing and informing prove nothing."""
    checks = Checks({"p/r/g/bites": ("P-1",), "p/r/g/sleeps": ("P-2",)})
    checks.take([made("p/r/g/bites[n=1]", Verdict.PASS), made("p/r/g/bites[n=2]", Verdict.FAIL)])
    checks.take([made("p/r/g/sleeps", Verdict.PASS), made("p/r/g/sleeps", Verdict.INFO)])
    assert checks.never_failed == ["p/r/g/sleeps"]


def test_a_check_that_never_failed_is_named_with_its_clauses() -> None:
    said: list[str] = []
    print_checks(
        Checks({"peerbus/broker/g/bites": ("PB-1-01",), "peerbus/broker/g/sleeps": ("PB-2.2-08",)}), said.append
    )
    assert "peerbus/broker/g/sleeps (PB-2.2-08 MUST): no mutant of its role makes it fail" in said[1]
    assert said[2] == "0 of 2 checks seen failing"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[CaseResult]:
    """A small group against the mutants that break its clauses."""
    recorder = Recorder("mutants", [], ["peerbus"], 0, tmp_path_factory.mktemp("runs"))
    run(PLAN, recorder)
    return recorder.results


def test_a_case_meets_the_mutants_that_break_its_clauses(results: list[CaseResult]) -> None:
    known = {f"mutant:peerbus/{name}": mutant for name, mutant in mutants_of("peerbus").items()}
    assert results
    for result in results:
        assert set(known[result.target].clauses) & set(result.requirements), result.case
        assert known[result.target].role == result.role


def test_each_result_teaches_something(results: list[CaseResult]) -> None:
    """A mutant that was caught for a clause meets another case of it only if that check has not been seen failing."""
    clauses = {name: set(mutant.clauses) for name, mutant in mutants_of("peerbus").items()}
    bitten: dict[str, set[str]] = {}
    failed: set[str] = set()
    for result in results:
        name = result.target.removeprefix("mutant:peerbus/")
        at_stake = clauses[name] & set(result.requirements) - bitten.get(name, set())
        assert at_stake or check_of(result.case) not in failed, f"{result.case} on {name}"
        for kill in kills_in([result]):
            bitten.setdefault(name, set()).update(kill.requirements)
            failed.add(check_of(kill.case))


def test_a_mutant_meets_one_case_of_every_check_before_the_next(results: list[CaseResult]) -> None:
    """What the first case of a check does not find, the others of that check seldom do."""
    turn: dict[str, int] = {}
    met: Counter[str] = Counter()
    for case in cases([GROUP]):
        turn[case.id] = met[check_of(case.id)]
        met[check_of(case.id)] += 1
    assert max(turn.values()) > 0
    for name in {result.target for result in results}:
        turns = [turn[result.case] for result in results if result.target == name]
        assert turns == sorted(turns), name


def test_both_questions_are_answered(results: list[CaseResult]) -> None:
    """Every check of the group fails on some mutant; every mutant that breaks nothing else is caught, known gaps apart."""
    checks = Checks.of(cases([GROUP]))
    checks.take(results)
    assert checks.clauses
    assert checks.never_failed == []
    claimed = {clause for clauses in checks.clauses.values() for clause in clauses}
    known = {f"mutant:peerbus/{name}": mutant for name, mutant in mutants_of("peerbus").items()}
    gaps = {f"mutant:peerbus/{name}" for name in gaps_of("peerbus").mutants}
    met = {result.target for result in results if claimed.issuperset(known[result.target].clauses)} - gaps
    assert met <= {result.target for result in kills_in(results)}


def test_what_is_left_over_gets_another_chance(tmp_path: Path) -> None:
    """Survivors meet every case; a check that never failed meets the mutants that break none of its clauses."""
    caught, survivor = list(mutants_of("peerbus").values())[:2]
    kills = Kills([caught, survivor], tmp_path, Checks({"peerbus/broker/g/sleeps": ("PB-1-01",)}))
    kills.take([made("peerbus/broker/g/other", Verdict.FAIL, target=f"mutant:peerbus/{caught.name}")])
    first, second, third = plans(PLAN, kills)
    assert first is PLAN
    assert (second.mutant, second.select, second.other_mutants) == ([survivor.name], [GROUP], False)
    assert (third.mutant, third.select, third.other_mutants) == ((), ["peerbus/broker/g/sleeps"], True)
    assert not kills.sound


def test_a_mutant_that_breaks_the_harness_is_no_sound_run(tmp_path: Path) -> None:
    """Whatever is wrong with a target: a case that ends in an error of ours has no verdict on it."""
    caught = next(iter(mutants_of("peerbus").values()))
    kills = Kills([caught], tmp_path, Checks({}))
    told = {"target": f"mutant:peerbus/{caught.name}", "requirements": list(caught.clauses)}
    kills.take([failing := made("peerbus/broker/g/other", Verdict.FAIL, **told)])
    assert kills.sound
    kills.take([failing, made("peerbus/broker/g/third", Verdict.ERROR, **told)])
    assert not kills.sound


def test_other_mutants_are_those_that_break_none_of_the_clauses(tmp_path: Path) -> None:
    """And they come until the check has failed."""
    check = "sbp/codec/vectors/frame-decodes"
    clauses = set(Checks.of(cases([check])).clauses[check])
    recorder = Recorder("mutants", [], ["sbp"], 0, tmp_path)
    run(Plan(mutants="sbp", select=[check], workers=1, patience=PATIENCE_S, other_mutants=True), recorder)
    known = {f"mutant:sbp/{name}": mutant for name, mutant in mutants_of("sbp").items()}
    assert all(clauses.isdisjoint(known[result.target].clauses) for result in recorder.results)
    assert kills_in(recorder.results[:-1]) == []
