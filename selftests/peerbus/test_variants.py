"""What conforms under the document's authority, or one message at a time, is neither failed nor warned."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from harness.results import Verdict
from selftests.checks import conforming

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
    verdicts = Counter(conforming(target, select, tmp_path).values())
    assert verdicts[Verdict.PASS] > 50, verdicts
