"""Peers that take every freedom, and half a target: the suites run against them, and neither fail nor warn them."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftests.checks import conforming


@pytest.mark.parametrize(
    ("variant", "select"),
    [
        ("Terse", ["sbp/peer/product", "sbp/peer/machine", "sbp/peer/reject", "sbp/peer/tours"]),
        ("Eager", ["sbp/peer/product", "sbp/peer/machine", "sbp/peer/host", "sbp/peer/handshake", "sbp/peer/tours"]),
        ("Odd", ["sbp"]),
        ("Strict", ["sbp"]),
        ("CodecOnly", ["sbp"]),
    ],
)
def test_nobody_is_failed_for_a_freedom(variant: str, select: list[str], tmp_path: Path) -> None:
    assert conforming(f"python:selftests.sbp.variants:{variant}", select, tmp_path)
