"""Which cases a selector means, and which a manifest's expectations mean."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from harness.catalogue.cases import selected, selects
from harness.errors import NothingSelected
from harness.judging.result import CaseResult, Event, Expected, Footer, TargetInfo, Verdict
from harness.running.recorder import Recorder
from harness.shim import Shim
from harness.targets import Target
from harness.targets.inprocess import InProcess
from harness.targets.manifest import KnownCases

CASE = "peerbus/broker/order/per-sender[size=1]"


@pytest.mark.parametrize(
    "pattern",
    [
        CASE,
        "peerbus",
        "peerbus/",
        "peerbus/broker",
        "peerbus/broker/order",
        "peerbus/broker/order/per-sender",
        "peerbus/*/order/*",
        "*per-sender*",
        "peerbus/broker/order/per-sender[size=?]",
    ],
)
def test_a_selector_is_a_prefix_a_glob_or_the_case_itself(pattern: str) -> None:
    """Prefixes end at a slash or before the axes; brackets mean themselves, as axes are spelled with them."""
    assert selects(pattern, CASE)


@pytest.mark.parametrize(
    "pattern", ["peer", "broker", "peerbus/brok", "peerbus/broker/order/per", "peerbus/broker/order/[op]*", ""]
)
def test_what_a_selector_does_not_mean(pattern: str) -> None:
    """Half a name is no prefix."""
    assert not selects(pattern, CASE)


def test_no_selector_selects_everything() -> None:
    """Several select what any of them does."""
    assert selected([], CASE)
    assert selected(["frog", "peerbus"], CASE)
    assert not selected(["frog"], CASE)
    assert "no case matches frog, sbp for this target: " in str(NothingSelected(["frog", "sbp"]))
    assert "this target, which offers sbp/codec: " in str(NothingSelected(["sbp/peer"], ["sbp/codec"]))


@pytest.fixture
def target() -> Target:
    return Target(
        TargetInfo("fake"),
        InProcess(Shim),
        known_failing=[KnownCases(["peerbus/broker/order/*", "peerbus/gone"], "issue 12")],
        known_flaky=[KnownCases(["peerbus/client/*[n=2]"], "issue 13")],
    )


def test_a_manifest_says_what_is_expected_of_a_case(target: Target) -> None:
    """With the written reason; all else is expected to pass."""
    assert target.expected(CASE) == (Expected.KNOWN_FAILING, "issue 12")
    assert target.expected("peerbus/client/dedupe/x[n=2]") == (Expected.KNOWN_FLAKY, "issue 13")
    assert target.expected("peerbus/client/dedupe/x[n=3]") == (Expected.PASS, "")


@pytest.mark.parametrize(
    ("expected", "unsurprising"),
    {
        Expected.PASS: {Verdict.PASS, Verdict.WARN, Verdict.INFO, Verdict.UNSUPPORTED},
        Expected.KNOWN_FAILING: {Verdict.FAIL, Verdict.TIMEOUT, Verdict.CRASHED},
        Expected.KNOWN_FLAKY: set(Verdict) - {Verdict.ERROR},
    }.items(),
)
def test_what_surprises(expected: Expected, unsurprising: set[Verdict], results: list[CaseResult]) -> None:
    """A known failure has to fail, a flaky case may do either, and our own fault surprises always."""
    found = {v for v in Verdict if not msgspec.structs.replace(results[0], verdict=v, expected=expected).surprising}
    assert found == unsurprising


@pytest.mark.parametrize(
    ("verdict", "expected", "stale", "code"),
    [
        (Verdict.PASS, Expected.PASS, [], 0),
        (Verdict.WARN, Expected.PASS, [], 0),
        (Verdict.UNSUPPORTED, Expected.PASS, [], 2),  # nothing was tested
        (Verdict.FAIL, Expected.PASS, [], 1),
        (Verdict.CRASHED, Expected.PASS, [], 1),
        (Verdict.FAIL, Expected.KNOWN_FAILING, [], 0),
        (Verdict.PASS, Expected.KNOWN_FAILING, [], 1),
        (Verdict.PASS, Expected.PASS, ["peerbus/gone"], 1),
        (Verdict.ERROR, Expected.KNOWN_FLAKY, [], 2),
    ],
)
def test_exit_codes(
    verdict: Verdict, expected: Expected, stale: list[str], code: int, results: list[CaseResult]
) -> None:
    """0 conformant, 1 a MUST failed or a list is stale, 2 the harness's fault."""
    recorder, heard = Recorder("check", [], [], 0), list[Event]()
    recorder.subscribe(heard.append)
    recorder.start(1)
    recorder.result(msgspec.structs.replace(results[0], verdict=verdict, expected=expected))
    assert recorder.finish(stale) == code
    footer = heard[-1]
    assert isinstance(footer, Footer)
    assert (footer.exit_code, footer.counts[verdict]) == (code, 1)


def test_a_pattern_that_matched_nothing_is_stale(target: Target, results: list[CaseResult]) -> None:
    """The list is to be cleaned when what it names is gone."""
    recorder = Recorder("check", [], [], 0)
    recorder.start(1)
    recorder.result(results[0])
    assert recorder.stale(target) == ["peerbus/gone", "peerbus/client/*[n=2]"]


def test_every_subscriber_hears_every_event(results: list[CaseResult]) -> None:
    """In the order of the run: header, cases, footer."""
    recorder = Recorder("check", [], [], 0)
    heard: tuple[list[Event], list[Event]] = [], []
    subscribers: list[Callable[[Event], None]] = [one.append for one in heard]
    recorder.subscribe(*subscribers)
    recorder.start(1)
    recorder.result(results[0])
    recorder.finish()
    assert [type(event).__name__ for event in heard[0]] == ["Header", "CaseResult", "Footer"]
    assert heard[0] == heard[1]


@pytest.mark.parametrize(
    ("verdicts", "unseen"),
    [
        ([], []),
        ([Verdict.PASS, Verdict.PASS], ["issue 14"]),
        ([Verdict.PASS, Verdict.FAIL], []),
        ([Verdict.WARN], ["issue 14"]),
    ],
    ids=["did not run", "passed", "seen", "warned"],
)
def test_a_known_race_is_seen_sometimes(verdicts: list[Verdict], unseen: list[str], results: list[CaseResult]) -> None:
    """Any of its cases may pass; when all do, somebody mended it, and the run says so."""
    target = Target(TargetInfo("racy"), InProcess(Shim), known_races=[KnownCases(["peerbus/*"], "issue 14")])
    recorder = Recorder("check", [], [], 0)
    recorder.start(len(verdicts))
    for verdict in verdicts:
        expected, _ = target.expected(results[0].case)
        recorder.result(msgspec.structs.replace(results[0], verdict=verdict, expected=expected))
    assert recorder.unseen(target) == unseen
    if verdicts:
        assert recorder.finish(unseen=recorder.unseen(target)) == bool(unseen)
