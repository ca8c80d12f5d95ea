"""Nodes that take every freedom, and one that has the least: the suites run against them, and neither fail nor warn them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.judging.result import Verdict
from selftests.checks import conforming

FREEDOMS = [
    "addressing",
    "calls",
    "channels",
    "conventions",
    "heartbeat",
    "machine",
    "names",
    "tours",
    "tracker",
    "transport",
]


@pytest.mark.parametrize(
    ("variant", "select"),
    [
        ("Odd", ["bccn/codec/addressing", *(f"bccn/node/{name}" for name in FREEDOMS)]),
        ("Other", ["bccn/node/addressing", "bccn/node/heartbeat", "bccn/node/machine", "bccn/node/tours"]),
        ("Keeping", ["bccn/node/machine", "bccn/node/tours"]),  # that it forgets nobody is warned about elsewhere
        ("Bare", ["bccn/node"]),
        ("Capped", ["bccn/node/names", "bccn/node/size", "bccn/node/machine"]),
    ],
)
def test_nobody_is_failed_for_a_freedom(variant: str, select: list[str], tmp_path: Path) -> None:
    assert conforming(f"python:selftests.bccn.variants:{variant}", select, tmp_path)


def test_a_binding_whose_send_takes_no_src_is_tried_like_any_other(tmp_path: Path) -> None:
    """What is not about src is sent under a name that is set for it, and the mode is told by the channel."""
    groups = ("calls", "channels", "counter", "names", "size", "tours", "transport", "addressing")
    verdicts = conforming("python:selftests.bccn.variants:Terse", [f"bccn/node/{name}" for name in groups], tmp_path)
    untried = {case.partition("[")[0] for case, verdict in verdicts.items() if verdict is Verdict.UNSUPPORTED}
    about_src = {"names/an-impossible-src-is-never-sent", "addressing/a-send-under-another-src-does-not-rename"}
    assert untried == {f"bccn/node/{name}" for name in about_src}


def test_an_api_that_tells_no_number_is_tried_where_none_is_looked_at(tmp_path: Path) -> None:
    groups = ("addressing", "channels", "tracker")
    select = [f"bccn/node/{name}" for name in groups]
    verdicts = conforming("python:selftests.bccn.variants:Numberless", select, tmp_path)
    untried = [case for case, verdict in verdicts.items() if verdict is Verdict.UNSUPPORTED]
    assert 0 < len(untried) < len(verdicts) / 10, untried
