"""A check as a person runs it, and every verdict that it gave: for tests of targets that conform in another way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.results import Verdict
from harness.run import ROOT
from harness.stream import EVENTS, read_run

FREE = {Verdict.PASS, Verdict.INFO, Verdict.UNSUPPORTED}
"""What a target may get that uses a freedom: it is neither failed nor warned."""


def conforming(target: str, select: Sequence[str], runs: Path, timeout_s: float = 300) -> dict[str, Verdict]:
    """The verdict of each case; the check must exit with 0 and blame the target for nothing."""
    command = [sys.executable, "-m", "harness.cli", "check", *select, "--target", target, "--runs", str(runs)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout_s)
    said = ran.stdout[-3000:] + ran.stderr[-2000:]
    assert ran.returncode == 0, said
    (stream,) = runs.glob(f"*/{EVENTS}")
    verdicts = {result.case: result.verdict for result in read_run(stream).cases}
    assert {case: verdict for case, verdict in verdicts.items() if verdict not in FREE} == {}, said
    return verdicts
