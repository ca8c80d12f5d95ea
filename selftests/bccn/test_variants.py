"""Nodes that take every freedom, and one that has the least: the suites run against them, and neither fail nor warn them."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftests.checks import conforming

FREEDOMS = ["addressing", "calls", "channels", "conventions", "heartbeat", "machine", "names", "tracker", "transport"]


@pytest.mark.parametrize(
    ("variant", "select"),
    [("Odd", ["bccn/codec/addressing", *(f"bccn/node/{name}" for name in FREEDOMS)]), ("Bare", ["bccn/node"])],
)
def test_nobody_is_failed_for_a_freedom(variant: str, select: list[str], tmp_path: Path) -> None:
    assert conforming(f"python:selftests.bccn.variants:{variant}", select, tmp_path)
