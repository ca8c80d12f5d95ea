"""What conforms under the document's authority, or one message at a time, is neither failed nor warned."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from harness.results import CaseResult, Verdict, decode
from harness.run import ROOT

BROKER = ["ack", "broadcast", "deliver", "machine", "peers", "register", "routing", "transport"]
"""The groups whose inputs the two profiles may read differently; order, takeover and crashes are the same in both."""


@pytest.mark.parametrize(
    ("target", "select"),
    [
        ("reference-document", [f"peerbus/broker/{group}" for group in BROKER]),
        ("reference-document", ["peerbus/client"]),
        ("reference-document", ["peerbus/codec"]),
        ("python:selftests.peerbus.variants:Serial", ["peerbus/client"]),
    ],
    ids=["document-broker", "document-client", "document-codec", "serial-client"],
)
def test_nobody_is_failed_for_a_freedom(target: str, select: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "harness.cli", "check", *select, "--target", target, "--runs", str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    lines = [decode(line) for path in tmp_path.glob("*/events.ndjson") for line in path.read_text().splitlines()]
    verdicts = Counter(line.verdict for line in lines if isinstance(line, CaseResult))
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-2000:]
    assert verdicts[Verdict.PASS] > 50, verdicts
    assert set(verdicts) <= {Verdict.PASS, Verdict.INFO, Verdict.UNSUPPORTED}, ran.stdout[-3000:]
