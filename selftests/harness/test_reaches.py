"""The comparison of reaches: a verdict that differs is said, and so is a check that was never asked."""

from __future__ import annotations

import msgspec

from harness.cli.reaches import disagreements
from harness.judging.result import CaseResult, Verdict
from selftests.harness.conftest import made


def by(reach: str, **verdicts: Verdict) -> list[CaseResult]:
    """A result for each case of the check `p/r/g/c`, and of its neighbour `d`."""
    cases = [made(f"p/r/g/{name[0]}[n={name[1:]}]", verdict) for name, verdict in verdicts.items()]
    return [msgspec.structs.replace(case, reach=reach) for case in cases]


HOME = by("in-process", c1=Verdict.PASS, c2=Verdict.INFO, d1=Verdict.PASS)


def test_one_case_of_each_check_is_enough_to_agree() -> None:
    there = by("process", c1=Verdict.PASS, d1=Verdict.PASS)
    assert list(disagreements({"reference": HOME, "reference-process": there})) == []


def test_another_verdict_is_said_with_its_case() -> None:
    """Also a milder one, and also that a target which has the role does not offer what the case needs."""
    there = by("docker", c1=Verdict.INFO, c2=Verdict.UNSUPPORTED, d1=Verdict.PASS)
    assert list(disagreements({"reference": HOME, "reference-docker": there})) == [
        "reference-docker says info where reference says pass: p/r/g/c[n=1]",
        "reference-docker says unsupported where reference says info: p/r/g/c[n=2]",
    ]


def test_a_server_may_offer_less() -> None:
    """A command line has no verbs: what only a shim can do it does not support."""
    there = by("server", c1=Verdict.UNSUPPORTED, d1=Verdict.PASS)
    assert list(disagreements({"reference": HOME, "reference-server": there})) == []


def test_what_was_never_asked_is_said() -> None:
    """A selection that lost a check would prove nothing about it, in silence; so would a case that only one knows."""
    there = by("process", c1=Verdict.PASS, c9=Verdict.PASS)
    assert list(disagreements({"reference": HOME, "reference-process": there})) == [
        "reference-process says pass where reference says nothing: p/r/g/c[n=9]",
        "reference-process was not asked: p/r/g/d",
    ]


def test_a_role_that_a_target_does_not_have_is_not_asked() -> None:
    elsewhere = [msgspec.structs.replace(result, role="q", case=result.case.replace("/r/", "/q/")) for result in HOME]
    there = by("server", c1=Verdict.PASS, d1=Verdict.PASS)
    assert list(disagreements({"reference": [*HOME, *elsewhere], "reference-server": there})) == []
