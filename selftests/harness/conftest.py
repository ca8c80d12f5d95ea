"""A small run with one result of each kind, hostile names included."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
import pytest

from harness.judging.result import (
    CaseResult,
    Event,
    Expected,
    Failure,
    Footer,
    Header,
    TargetInfo,
    TimelineEntry,
    Verdict,
)
from harness.running.recorder import Subscriber

HOSTILE = "[red]bold[/] \x1b[31m\x07\x00 ]]>&<x> \u202eabc \ufffe é\nline"
"""Markup, an escape sequence, a bell, NUL, XML, a bidi override, a noncharacter, a letter, a line."""


def made(case: str, verdict: Verdict, **fields: object) -> CaseResult:
    protocol, role, group, _ = case.split("/", 3)
    given: dict[str, object] = {
        "requirements": ["PB-1"],
        "target": "fake",
        "started_at": "2026-01-02T03:04:05.000+00:00",
        "duration_s": 0.25,
        "seed": 7,
        "replay": f"./touchstone replay runs/r1/capsules/{verdict}.json",
    }
    return CaseResult("r1", case, protocol, role, group, verdict, **(given | fields))  # type: ignore[arg-type]


@pytest.fixture
def results() -> list[CaseResult]:
    failure = Failure("expected a; observed b", "PB-2", "our reading", "a", "b")
    hostile = Failure(HOSTILE, "PB-3", HOSTILE, HOSTILE, HOSTILE)
    timeline = [TimelineEntry(i / 10, "harness", "target", "frame", f"say {i}") for i in range(30)]
    said = [TimelineEntry(0.0, "harness", HOSTILE, "frame", HOSTILE)]
    known = {"expected": Expected.KNOWN_FAILING, "note": "issue 12"}
    return [
        made("peerbus/broker/order/passes", Verdict.PASS),
        made("peerbus/broker/order/fails", Verdict.FAIL, failure=failure, timeline=timeline),
        made(f"peerbus/broker/order/hostile[x={HOSTILE}]", Verdict.FAIL, failure=hostile, timeline=said, note=HOSTILE),
        made("peerbus/codec/sign/warns", Verdict.WARN, failure=failure, note="contested: drafts differ"),
        made("peerbus/codec/sign/informs", Verdict.INFO, note="closes with 1001"),
        made("peerbus/codec/sign/unsupported", Verdict.UNSUPPORTED, note="no virtual clock"),
        made("peerbus/codec/sign/errors", Verdict.ERROR, failure=Failure("KeyError: 'x'"), requirements=[]),
        made("peerbus/client/dedupe/times-out", Verdict.TIMEOUT, failure=Failure("no answer within 10 s")),
        made("peerbus/client/dedupe/crashes", Verdict.CRASHED, failure=Failure("exit code 3"), axes={"n": "2"}),
        made("peerbus/client/dedupe/known", Verdict.FAIL, failure=failure, **known),
        made("peerbus/client/dedupe/mended", Verdict.PASS, **known),
    ]


@pytest.fixture
def events(results: list[CaseResult]) -> list[Event]:
    header = Header("r1", "2026-01-02T03:04:05.000+00:00", "check", 7, [TargetInfo("fake", "1.2")], ["peerbus"])
    header = msgspec.structs.replace(header, planned=11, harness_version="0.1.0", commit="abc", command="touchstone")
    counts = {verdict.value: sum(r.verdict is verdict for r in results) for verdict in Verdict}
    footer = Footer("r1", "2026-01-02T03:04:07.500+00:00", 2.5, counts, 2, ["peerbus/gone/*"])
    return [header, *results, footer]


@pytest.fixture
def tell(events: list[Event]) -> Callable[[Subscriber], None]:
    """Hand the whole run to a subscriber."""

    def run(subscriber: Subscriber, chosen: Iterable[Event] = ()) -> None:
        for event in chosen or events:
            subscriber(event)

    return run
