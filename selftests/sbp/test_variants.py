"""Peers that take every freedom, and half a target: the suites run against them, and fail nobody."""

from __future__ import annotations

import subprocess
import sys

import pytest

PRODUCT = ["suites/sbp/peer/test_product.py", "suites/sbp/peer/test_machine.py", "suites/sbp/peer/test_host.py"]


@pytest.mark.parametrize(
    ("variant", "suites"),
    [
        ("Terse", [*PRODUCT[:2], "suites/sbp/peer/test_reject.py"]),
        ("Eager", [*PRODUCT, "suites/sbp/peer/test_handshake.py"]),
        ("Odd", ["suites/sbp"]),
        ("CodecOnly", ["suites/sbp/codec", PRODUCT[2]]),
    ],
)
def test_nobody_is_failed_for_a_freedom(variant: str, suites: list[str]) -> None:
    target = f"python:selftests.sbp.variants:{variant}"
    command = [sys.executable, "-m", "pytest", *suites, "--target", target, "--patience", "3", "-q", "--tb=short"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout[-3000:]
