"""What a report says in a few lines: the value that `touchstone nightly` prints."""

from __future__ import annotations

import dataclasses
from pathlib import Path


@dataclasses.dataclass(frozen=True)
class Change:
    """One cell that went from good to bad, or back, against the run before."""

    protocol: str
    target: str
    peer: str
    case: str
    verdict: str
    aligned_run: str = ""

    def __str__(self) -> str:
        who = f"{self.target} x {self.peer}" if self.peer else self.target
        return f"{who}: {self.case} ({self.verdict})"


@dataclasses.dataclass(frozen=True)
class Summary:
    """The closing words of a report: where it is, how it stands, what changed."""

    site: Path
    tables: str
    night: str  # date of the newest run
    previous_night: str  # date of the newest run of an earlier day, empty on the first night
    runs: int
    partial_runs: int
    duplicate_runs: int
    rejected: int  # streams and folders that are no run
    bad_lines: int
    counts: dict[str, int]  # verdict -> cells, as of now
    regressions: list[Change]
    fixes: list[Change]
    flaky: int
    changes_left_out: int = 0  # changes beyond those listed

    @property
    def cases(self) -> int:
        return sum(self.counts.values())

    @property
    def failed(self) -> int:
        """Cells that make a run non-conformant."""
        return sum(self.counts.get(verdict, 0) for verdict in ("fail", "error", "timeout", "crashed"))

    def lines(self) -> list[str]:
        """For a terminal."""
        others = ", ".join(
            f"{count} {verdict}" for verdict, count in self.counts.items() if count and verdict != "pass"
        )
        text = [f"{self.cases} cells: {self.counts.get('pass', 0)} pass" + (f", {others}" if others else "")]
        since = f"since {self.previous_night}" if self.previous_night else "(first night)"
        text.append(f"{len(self.regressions)} regressions and {len(self.fixes)} fixes {since}, {self.flaky} flaky")
        text += [f"  - {change}" for change in self.regressions] + [f"  + {change}" for change in self.fixes]
        if self.changes_left_out:
            text.append(f"  ... and {self.changes_left_out} more on the site")
        text.append(f"{self.runs} runs, {self.partial_runs} partial, {self.duplicate_runs} duplicates")
        if self.rejected or self.bad_lines:
            text.append(f"put aside: {self.rejected} streams that are no run, {self.bad_lines} bad lines")
        return [*text, f"site: {self.site}"]
