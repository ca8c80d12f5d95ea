"""The table of readings: who does what where a text can be read in more than one way."""

from __future__ import annotations

from typing import Any

import pytest

from spark_reports.site.readings import AS_WE_DO, NOT_SEEN, OPEN, OTHERWISE, Reading, readings
from spark_reports.site.requirements import Requirement

KNOWN = {
    "sbp": {
        "X-1": Requirement("X-1", "MUST", "one connection per id", contested="two sentences disagree"),
        "X-2": Requirement("X-2", "MUST", "plain"),
        "X-3": Requirement("X-3", "MAY", "left open"),
    }
}
LEDGER = [
    {"protocol": "sbp", "requirement": "X-1", "target": "a", "status": "met"},
    {"protocol": "sbp", "requirement": "X-1", "target": "b", "status": "warned"},
    {"protocol": "sbp", "requirement": "X-2", "target": "c", "status": "met"},
]


def seen(target: str, verdict: str, clause: str, **more: Any) -> dict[str, Any]:
    failure = {"clause": clause, "observed": "two connections"} if verdict == "warn" else None
    return {
        "protocol": "sbp", "target": target, "verdict": verdict, "requirements": [clause], "note": "", "failure": failure, **more,
    }  # fmt: skip


def test_each_target_has_its_reading_of_a_contested_clause() -> None:
    [table] = readings([seen("b", "warn", "X-1")], LEDGER, KNOWN)
    [row] = table.clauses
    assert table.targets == ["a", "b", "c"]
    assert row.by_target == {
        "a": Reading(AS_WE_DO),
        "b": Reading(OTHERWISE, ("two connections",)),
        "c": Reading(NOT_SEEN),
    }
    assert row.is_split


def test_a_recorded_choice_brings_its_clause_into_the_table() -> None:
    [table] = readings(
        [seen("a", "info", "X-3", note="it pads"), seen("c", "info", "X-3", note="it pads")], LEDGER, KNOWN
    )
    by_id = {row.requirement.id: row for row in table.clauses}
    assert by_id["X-3"].by_target["a"] == Reading(OPEN, ("it pads",))
    assert not by_id["X-1"].is_split, "one reading alone divides nobody"


def test_what_divides_implementations_comes_first() -> None:
    rows = readings([seen("b", "warn", "X-1"), seen("a", "info", "X-3", note="it pads")], LEDGER, KNOWN)[0].clauses
    assert [row.is_split for row in rows] == sorted((row.is_split for row in rows), reverse=True)


@pytest.mark.parametrize("verdict", ["warn", "fail"])
def test_a_warning_about_a_plain_clause_is_no_reading(verdict: str) -> None:
    [table] = readings([seen("b", verdict, "X-2")], LEDGER, KNOWN)
    assert [row.requirement.id for row in table.clauses] == ["X-1"]


def test_without_a_contested_clause_there_is_no_table() -> None:
    assert readings([], LEDGER, {"sbp": {"X-2": KNOWN["sbp"]["X-2"]}}) == []
