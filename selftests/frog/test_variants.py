"""Servers and clients that take every freedom: the suites run against them, and neither fail nor warn them."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftests.checks import conforming


@pytest.mark.parametrize(
    ("variant", "select"),
    [
        ("Closing", ["frog/server"]),
        ("Forgetful", ["frog/server"]),
        ("Lingering", ["frog/server/machine/*", "frog/server/tours/*"]),
        ("Talking", ["frog/server"]),
        ("Tiring", ["frog/server/tours/*", "frog/server/federation-tours/*"]),
        ("Hasty", ["frog/client"]),
    ],
)
def test_nobody_is_failed_for_a_freedom(variant: str, select: list[str], tmp_path: Path) -> None:
    assert conforming(f"python:selftests.frog.variants:{variant}", select, tmp_path)
