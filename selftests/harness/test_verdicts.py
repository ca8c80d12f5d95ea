"""From how a case ended to its verdict."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.catalogue.cases import CaseInfo
from harness.catalogue.requirements import Requirement
from harness.errors import (
    HarnessError,
    ShimBroken,
    TargetCrashed,
    TargetFailed,
    TargetRefused,
    TargetTimeout,
    TargetUnsupported,
    Unavailable,
)
from harness.judging import trial
from harness.judging import verdict as verdicts
from harness.judging.allowance import MOST_KEPT, SPENT
from harness.judging.result import CaseResult, TargetInfo, Verdict, encode
from harness.judging.trial import A_FEW, MOST_COMPARED, MOST_CROWDED, MOST_ENTRIES, Broken, Otherwise, Trial, crowding
from harness.judging.verdict import judge
from harness.running.plugin import add
from harness.shim import Shim
from harness.targets import Target
from harness.targets.inprocess import InProcess
from reference_impl.core import NotAllowed
from reference_impl.io.carrier import HungUp
from selftests.harness.conftest import made

CATALOGUE = {
    "MUST-1": Requirement("MUST-1", "MUST", [], "the text", reading="our reading"),
    "MUST-2": Requirement("MUST-2", "MUST", [], "the text", contested="drafts differ"),
    "SHOULD-1": Requirement("SHOULD-1", "SHOULD", [], "the text"),
    "MAY-1": Requirement("MAY-1", "MAY", [], "the text"),
}


@pytest.fixture(autouse=True)
def _catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "every_requirement", lambda: CATALOGUE)


@pytest.fixture
def attempt() -> Trial:
    target = Target(TargetInfo("fake"), InProcess(Shim))
    return Trial(CaseInfo("a/b/c/d", "a", "b", "c", ("MUST-1", "SHOULD-1")), target)


def test_an_example_holds_no_addresses(attempt: Trial) -> None:
    """They say nothing, and a failure seen again has others."""
    error = Broken("MUST-1", "a", "b")
    error.add_note("Falsifying example: case(peer=<Peer object at 0x7f00c0ffee00>, n=1)")
    assert verdicts.result_of(attempt, error, "", 0).example == "Falsifying example: case(peer=<Peer object>, n=1)"


def test_megabytes_of_expected_and_observed_are_kept_where_they_differ() -> None:
    same = "x" * 2**20
    error = Broken("MUST-1", f"{same}a{same}", f"{same}b{same}")
    assert len(error.expected) == len(error.observed) < 2 * MOST_COMPARED
    assert error.expected.lstrip("…").lstrip("x")[0] == "a"
    assert error.observed.lstrip("…").lstrip("x")[0] == "b"
    assert f"({2 * len(same) + 1} characters)" in error.observed
    assert len(str(error)) < 4 * MOST_COMPARED


def test_a_violation_is_kept_short_too(attempt: Trial) -> None:
    """A frame may be as long as a message."""
    error = NotAllowed(1, "x" * 2**20, (), ("MUST-1",))
    _, failure, _ = judge(attempt, error)
    assert failure
    assert all(len(text) < 2 * MOST_COMPARED for text in (failure.message, failure.expected, failure.observed))


def test_timelines_are_kept_until_the_allowance_is_spent(attempt: Trial) -> None:
    """Then each fault keeps its end, and says so: what a run keeps does not grow with what a target says."""
    kept: list[CaseResult] = []
    for _ in range(40):
        attempt.restart()
        for number in range(MOST_ENTRIES):
            attempt.said("target", "harness", "frame", f"{number} " + "\x01" * 500, b"\xff" * 500)
        kept.append(verdicts.result_of(attempt, Broken("MUST-1", "a", "b"), "", 0))
    assert len(kept[0].timeline) == MOST_ENTRIES
    assert kept[0].note == ""
    assert [entry.text.split()[0] for entry in kept[-1].timeline] == ["1997", "1998", "1999"]
    assert kept[-1].note == SPENT
    assert sum(len(encode(result)) for result in kept) < 1.2 * MOST_KEPT


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (None, Verdict.PASS),
        (Broken("MUST-1", "a", "b"), Verdict.FAIL),
        (Broken("SHOULD-1", "a", "b"), Verdict.WARN),
        (Broken("MAY-1", "a", "b"), Verdict.WARN),
        (Otherwise("MUST-1", "a", "b"), Verdict.INFO),
        (Broken("unheard-of", "a", "b"), Verdict.FAIL),
        (AssertionError("plain"), Verdict.FAIL),
        (TargetRefused("no"), Verdict.FAIL),
        (TargetFailed("could not"), Verdict.FAIL),
        (TargetUnsupported("not offered"), Verdict.UNSUPPORTED),
        (TargetCrashed("gone"), Verdict.CRASHED),
        (ShimBroken("garbage"), Verdict.CRASHED),
        (TargetTimeout("silence"), Verdict.TIMEOUT),
        (HungUp(1006), Verdict.FAIL),
        (Unavailable("no such command"), Verdict.ERROR),
        (HarnessError("ours"), Verdict.ERROR),
        (KeyError("ours too"), Verdict.ERROR),
        (OSError("no more files"), Verdict.ERROR),
        (ConnectionResetError("of a socket of ours"), Verdict.ERROR),
        (ExceptionGroup("several", [TargetCrashed("gone"), KeyError("x")]), Verdict.CRASHED),
    ],
    ids=repr,
)
def test_each_ending_has_its_verdict(attempt: Trial, error: BaseException | None, verdict: Verdict) -> None:
    """The class of an error says whose fault it is; what is nobody's on purpose is ours."""
    assert judge(attempt, error)[0] is verdict


def test_a_contested_clause_can_at_most_warn(attempt: Trial) -> None:
    """And the note says why it is contested."""
    verdict, failure, note = judge(attempt, Broken("MUST-2", "a", "b"))
    assert (verdict, note) == (Verdict.WARN, "contested: drafts differ")
    assert failure
    assert failure.clause == "MUST-2"


def test_a_failure_carries_clause_reading_expected_and_observed(attempt: Trial) -> None:
    """All that a person needs to argue with it."""
    _, failure, _ = judge(attempt, Broken("MUST-1", "a", "b"))
    assert failure
    assert (failure.clause, failure.reading) == ("MUST-1", "our reading")
    assert (failure.expected, failure.observed) == ("a", "b")


def test_a_plain_assertion_breaks_the_case_s_first_clause(attempt: Trial) -> None:
    """Its message is one line, however much pytest adds."""
    _, failure, _ = judge(attempt, AssertionError("no\nassert 1 == 2"))
    assert failure
    assert (failure.clause, failure.message) == ("MUST-1", "no")


def test_our_own_fault_blames_no_clause(attempt: Trial) -> None:
    """A harness error is never the target's."""
    _, failure, note = judge(attempt, KeyError("x"))
    assert failure
    assert (failure.clause, failure.message) == ("", "KeyError: 'x'")
    assert note == "the harness's own fault"


def test_what_a_case_wrote_down_is_its_verdict_when_nothing_is_raised(attempt: Trial) -> None:
    """A warning outweighs information; a later information does not take it back."""
    attempt.info("closes with 1001")
    assert judge(attempt, None) == (Verdict.INFO, None, "closes with 1001")
    attempt.warn("SHOULD-1", "slow")
    attempt.info("more")
    assert judge(attempt, None) == (Verdict.WARN, None, "SHOULD-1: slow")


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [
        (Verdict.PASS, Verdict.TIMEOUT, Verdict.TIMEOUT),
        (Verdict.INFO, Verdict.CRASHED, Verdict.CRASHED),
        (Verdict.FAIL, Verdict.TIMEOUT, Verdict.FAIL),
    ],
)
def test_a_case_has_one_verdict(before: Verdict, after: Verdict, counts: Verdict) -> None:
    """A target that does not stop when its case is over fails it, unless it had failed before."""
    results = [made("a/b/c/d", before), made("a/b/c/other", Verdict.PASS)]
    add(results, made("a/b/c/d", after))
    assert [result.verdict for result in results] == [counts, Verdict.PASS]


@pytest.mark.parametrize(
    ("load", "now", "factor"),
    [
        (0.0, "1", 1.0),
        (4.0, "1", 1.0),
        (12.0, "1", 3.0),
        (1.0, "12", 3.0),
        (12.0, "", 3.0),
        (400.0, "1", MOST_CROWDED),
        (0.0, "400", MOST_CROWDED),
    ],
)
def test_a_crowded_machine_is_given_more_time(
    load: float, now: str, factor: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Slowness that the machine explains is no fault of the target, also in its first minute; the wait stays bounded."""
    (tmp_path / "loadavg").write_text(f"0.00 0.00 0.00 {now}/300 4711\n" if now else "")
    monkeypatch.setattr(trial, "NOW", tmp_path / ("loadavg" if now else "nowhere"))
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    assert crowding() == factor


def test_where_one_case_of_every_check_is_asked_a_state_machine_runs_a_few_times(attempt: Trial) -> None:
    """Never more often than it would in a whole run."""
    assert attempt.random_runs(15, slow=40) == 15
    attempt.one_each = True
    assert (attempt.random_runs(15, slow=40), attempt.random_runs(2, slow=40)) == (A_FEW, 2)
    attempt.slow = True
    assert attempt.random_runs(15, slow=40) == 40


def test_evidence_of_any_kind_can_be_written_down(attempt: Trial) -> None:
    """A codec's refusal is a kind of text: what it said is evidence, and nothing that ends the run."""

    class Refusal(str):
        pass

    result = verdicts.result_of(attempt, Broken("MUST-1", Refusal("a"), Refusal("b")), "", 0.0)
    assert result.failure is not None
    assert b'"observed":"b"' in encode(result)
