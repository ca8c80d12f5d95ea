"""Nodes that take every freedom, and one that has the least: the suites run against them, and neither fail nor warn them."""

from __future__ import annotations

import subprocess
import sys

import pytest

FREEDOMS = ["addressing", "calls", "channels", "conventions", "heartbeat", "machine", "names", "tracker", "transport"]


@pytest.mark.parametrize(
    ("variant", "suites"),
    [
        ("Odd", ["suites/bccn/codec/test_addressing.py", *(f"suites/bccn/node/test_{name}.py" for name in FREEDOMS)]),
        ("Bare", ["suites/bccn/node"]),
    ],
)
def test_nobody_is_failed_for_a_freedom(variant: str, suites: list[str]) -> None:
    target = f"python:selftests.bccn.variants:{variant}"
    command = [sys.executable, "-m", "pytest", *suites, "--target", target, "--patience", "3", "-q", "--tb=short"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout[-3000:]
