"""Relays and clients that take every freedom: the suites run against them and fail none; what warns is contested."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.catalogue.requirements import catalogue
from harness.judging.result import Verdict
from selftests.checks import checked, conforming

VARIANTS = "python:selftests.trueseal.variants"


@pytest.mark.parametrize(
    ("variant", "select"),
    [
        ("Patient", ["trueseal/relay"]),
        ("Newest", ["trueseal/relay"]),
        ("Lazy", ["trueseal/relay/machine*", "trueseal/relay/tours*"]),
        ("Bare", ["trueseal"]),
        ("Quiet", ["trueseal/client"]),
        ("Wordy", ["trueseal/client"]),
        ("Talkative", ["trueseal/client"]),
        ("Serial", ["trueseal/client"]),
        ("Windowed", ["trueseal/client"]),
    ],
)
def test_nobody_is_failed_for_a_freedom(variant: str, select: list[str], tmp_path: Path) -> None:
    assert conforming(f"{VARIANTS}:{variant}", select, tmp_path)


@pytest.mark.parametrize("variant", ["Free", "Eager"])
def test_what_is_contested_at_most_warns(variant: str, tmp_path: Path) -> None:
    """Sessions that end behind an Error, blobs in no order, deliveries that come twice."""
    contested = {id for id, requirement in catalogue("trueseal").items() if requirement.contested}
    for result in checked(f"{VARIANTS}:{variant}", ["trueseal/relay"], tmp_path):
        assert result.verdict in (Verdict.PASS, Verdict.INFO, Verdict.UNSUPPORTED, Verdict.WARN), result
        if result.verdict is Verdict.WARN:
            assert result.failure
            assert result.failure.clause in contested, result
