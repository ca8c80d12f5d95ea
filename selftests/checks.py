"""A check as a person runs it, and every verdict that it gave: for tests of targets that conform in another way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.judging.result import CaseResult, Verdict
from harness.places import ROOT
from harness.running.stream import EVENTS, read_run
from selftests.commands import touchstone

FREE = {Verdict.PASS, Verdict.INFO, Verdict.UNSUPPORTED}
"""What a target may get that uses a freedom: it is neither failed nor warned."""


def checked(
    target: str, select: Sequence[str], runs: Path, *options: str, timeout_s: float = 300, code: int = 0
) -> list[CaseResult]:
    """The result of each case; the check must exit with 0, or with that code.

    One process: a second one would cost more than it saves, and other tests have use for its processor.
    """
    words = [*select, "--target", target, "--runs", str(runs), "-n", "1", *options]
    ran = touchstone("check", *words, cwd=ROOT, timeout_s=timeout_s)
    assert ran.returncode == code, ran.stdout[-3000:] + ran.stderr[-2000:]
    (stream,) = runs.glob(f"*/{EVENTS}")
    return list(read_run(stream).cases)


def conforming(
    target: str, select: Sequence[str], runs: Path, *options: str, timeout_s: float = 300
) -> dict[str, Verdict]:
    """The verdict of each case, none of which blames the target for anything."""
    results = checked(target, select, runs, *options, timeout_s=timeout_s)
    assert [(result.case, result.verdict, result.failure) for result in results if result.verdict not in FREE] == []
    return {result.case: result.verdict for result in results}
