"""A run in progress: turns results into one event stream and hands it to every subscriber."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from harness.cases import selects
from harness.results import CaseResult, Event, Footer, Header, TargetInfo, Verdict
from harness.stream import environment, new_run_id, now
from harness.subscribers.capsules import CAPSULES, KEPT, slug
from harness.targets.target import Target

Subscriber = Callable[[Event], None]


class Recorder:
    """Collects one run. Reports only subscribe: none of them can change a result."""

    def __init__(
        self, kind: str, targets: Sequence[TargetInfo], protocols: Sequence[str], seed: int, runs: Path = Path("runs")
    ) -> None:
        self.run_id = new_run_id()
        self.folder = runs / self.run_id
        self.results: list[CaseResult] = []
        self.counts: Counter[str] = Counter()
        self.surprises = 0
        self._header = Header(
            self.run_id,
            now(),
            kind,
            seed,
            list(targets),
            list(protocols),
            **environment(),  # type: ignore[arg-type]
        )
        self._subscribers: list[Subscriber] = []
        self._began = time.perf_counter()

    def subscribe(self, *subscribers: Subscriber) -> None:
        self._subscribers += subscribers

    def start(self, planned: int) -> None:
        self._publish(msgspec.structs.replace(self._header, planned=planned))

    def result(self, result: CaseResult) -> None:
        result = msgspec.structs.replace(result, run_id=self.run_id)
        if result.verdict in KEPT:
            replay = f"./touchstone replay {self.folder / CAPSULES / slug(result)}.json"
            result = msgspec.structs.replace(result, replay=replay)
        self.results.append(result)
        self.counts[result.verdict] += 1
        self.surprises += result.surprising
        self._publish(result)

    def stale(self, target: Target) -> list[str]:
        """Expectation patterns that matched none of the cases that ran."""
        seen = {result.case for result in self.results}
        matched = {p for p in target.known_patterns() for case in seen if selects(p, case)}
        return [pattern for pattern in target.known_patterns() if pattern not in matched]

    def finish(self, stale: Sequence[str] = ()) -> int:
        """The footer; returns the exit code: 0 conformant, 1 a MUST failed or a list is stale, 2 the harness's fault.

        A run in which everything is unsupported has tested nothing: that is no conformance either.
        """
        untested = self.counts.total() == self.counts[Verdict.UNSUPPORTED]
        code = 2 if self.counts[Verdict.ERROR] or untested else 1 if self.surprises or stale else 0
        counts = {verdict.value: self.counts[verdict] for verdict in Verdict}
        self._publish(
            Footer(self.run_id, now(), round(time.perf_counter() - self._began, 3), counts, code, list(stale))
        )
        return code

    def _publish(self, event: Event) -> None:
        for subscriber in self._subscribers:
            subscriber(event)
