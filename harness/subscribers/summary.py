"""The JSON summary of a run (`--json`): counts by verdict and one line per failure."""

from __future__ import annotations

from collections import Counter

import msgspec

from harness.judging.result import BAD, CaseResult, Footer, Header, Verdict
from harness.subscribers.file import FileReport
from harness.subscribers.text import detail


class JsonSummary(FileReport):
    """A known failure is listed too: the summary says what happened, the exit code what it means."""

    def render(self, header: Header, results: list[CaseResult], footer: Footer) -> bytes:
        counts = Counter(result.verdict for result in results)
        summary = {
            "cases": len(results),
            **{verdict.value: counts[verdict] for verdict in Verdict},
            "duration_s": footer.duration_s,
            "failures": [
                {"case": result.case, "requirements": result.requirements, "detail": detail(result)}
                for result in results
                if result.verdict in BAD
            ],
        }
        return msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n"
