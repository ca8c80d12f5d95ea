"""A run in progress: turns results into one event stream and hands it to every subscriber."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from harness.catalogue.cases import selects
from harness.errors import Unavailable
from harness.judging.capsule import KEPT, path_of
from harness.judging.result import BAD, CaseResult, Event, Footer, Header, TargetInfo, Verdict, now
from harness.places import COMMAND
from harness.running.stream import environment, new_run_id
from harness.targets.target import Target

INTERRUPTED = 130
"""The exit code of a run that somebody ended."""

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
        self.trouble: Unavailable | None = None  # why nothing more can be kept
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
        self._began, self._begun = time.perf_counter(), False

    def subscribe(self, *subscribers: Subscriber) -> None:
        self._subscribers += subscribers

    def start(self, planned: int) -> None:
        self._begun = True
        self._publish(msgspec.structs.replace(self._header, planned=planned))

    def result(self, result: CaseResult) -> None:
        result = msgspec.structs.replace(result, run_id=self.run_id)
        if result.verdict in KEPT:
            replay = f"{COMMAND} replay {path_of(self.folder, result)}"
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

    def unseen(self, target: Target) -> list[str]:
        """Known races that showed in none of their cases, though each of those may pass: one is seen sometimes, or is mended."""
        return [known.reason for known in target.known_races if self._never_seen(known.cases)]

    def _never_seen(self, patterns: Sequence[str]) -> bool:
        ran = [r for r in self.results if any(selects(pattern, r.case) for pattern in patterns)]
        return bool(ran) and not any(result.verdict in BAD for result in ran)

    def finish(
        self,
        stale: Sequence[str] = (),
        unseen: Sequence[str] = (),
        measures: Mapping[str, float] | None = None,
    ) -> int:
        """The footer; returns the exit code: 0 conformant, 1 a MUST failed or a list is stale, 2 the harness's fault.

        A run in which everything is unsupported has tested nothing: that is no conformance either.
        """
        untested = self.counts.total() == self.counts[Verdict.UNSUPPORTED]
        code = 2 if self.counts[Verdict.ERROR] or untested else 1 if self.surprises or stale or unseen else 0
        counts = {verdict.value: self.counts[verdict] for verdict in Verdict}
        took_s = round(time.perf_counter() - self._began, 3)
        self._publish(
            Footer(self.run_id, now(), took_s, counts, code, list(stale), list(unseen), measures=dict(measures or {}))
        )
        return code

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Somebody may end the run: what was judged is kept, and the footer says that it is not all."""
        try:
            yield
        except KeyboardInterrupt:
            if self._begun:
                self._interrupted()
            raise

    def _interrupted(self) -> None:
        counts = {verdict.value: self.counts[verdict] for verdict in Verdict}
        took_s = round(time.perf_counter() - self._began, 3)
        self._publish(Footer(self.run_id, now(), took_s, counts, INTERRUPTED, interrupted=True))

    def _publish(self, event: Event) -> None:
        for subscriber in self._subscribers:
            try:
                subscriber(event)
            except OSError as error:  # the disk's fault, and nobody's verdict
                report = getattr(subscriber, "path", None)  # a disk of its own may be the full one
                ours = report is None or report.is_relative_to(self.folder)
                what = f"the run cannot be kept in {self.folder}" if ours else f"{report} cannot be written"
                self.trouble = Unavailable(f"{what}: {error.strerror or error}")
                raise self.trouble from None
