"""JSON summary, JUnit and SARIF: the shapes that other tools read."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.catalogue.requirements import every_requirement
from harness.errors import UsageError
from harness.judging.result import CaseResult, Event, Verdict
from harness.subscribers import JsonSummary, JUnit, Sarif
from harness.subscribers.file import FileReport

Tell = Callable[..., None]


@pytest.fixture
def summary(tell: Tell, tmp_path: Path) -> dict[str, Any]:
    tell(JsonSummary(tmp_path / "out.json"))
    loaded: dict[str, Any] = json.loads((tmp_path / "out.json").read_text())
    return loaded


@pytest.fixture
def suites(tell: Tell, tmp_path: Path) -> ET.Element:
    tell(JUnit(tmp_path / "out.xml"))
    return ET.parse(tmp_path / "out.xml").getroot()


@pytest.fixture
def sarif(tell: Tell, tmp_path: Path) -> dict[str, Any]:
    tell(Sarif(tmp_path / "out.sarif"))
    log = json.loads((tmp_path / "out.sarif").read_text())
    assert log["version"] == "2.1.0"
    run: dict[str, Any] = log["runs"][0]
    return run


@pytest.mark.parametrize("report", [JsonSummary, JUnit, Sarif])
def test_a_path_that_cannot_be_written_is_told_before_the_run(report: type[FileReport], tmp_path: Path) -> None:
    """In one sentence; and a missing folder is simply made."""
    report(tmp_path / "new" / "out")
    with pytest.raises(UsageError, match="cannot be written: Is a directory"):
        report(tmp_path)


@pytest.mark.parametrize("report", [JsonSummary, JUnit, Sarif])
def test_a_run_without_results_has_a_report(report: type[FileReport], events: list[Event], tmp_path: Path) -> None:
    """An empty run is still a run."""
    path = tmp_path / "out"
    path.write_text("of an older run")
    subscriber = report(path)
    assert not path.exists(), "an old report outlives no run"
    for event in (events[0], events[-1]):
        subscriber(event)
    assert path.stat().st_size > 20


# -- JSON summary ------------------------------------------------------------------------------------------------------


def test_the_summary_has_exactly_the_promised_keys(summary: dict[str, Any]) -> None:
    """Scripts read it by these names."""
    keys = "cases pass fail warn info unsupported error timeout crashed duration_s failures"
    assert list(summary) == keys.split()
    assert {tuple(failure) for failure in summary["failures"]} == {("case", "requirements", "detail")}


def test_the_summary_counts_every_case_once(summary: dict[str, Any]) -> None:
    """The verdicts add up to the cases."""
    assert summary["cases"] == sum(summary[verdict] for verdict in Verdict) == 11
    assert summary["duration_s"] == 2.5


def test_the_summary_lists_what_is_bad(summary: dict[str, Any]) -> None:
    """fail, error, timeout and crashed, each with clause, expected and observed in one string; warnings are not."""
    details = {failure["case"].rpartition("/")[2]: failure["detail"] for failure in summary["failures"]}
    assert len(summary["failures"]) == 6
    assert details["fails"] == "PB-2: expected a; observed b"
    assert details["crashes"] == "PB-1: exit code 3"
    assert details["errors"] == "KeyError: 'x'"


# -- JUnit -------------------------------------------------------------------------------------------------------------


def outcome(suites: ET.Element, name: str) -> str:
    (case,) = [case for case in suites.iter("testcase") if case.get("name") == name]
    return " ".join(child.tag for child in case if child.tag != "properties")


def test_junit_has_a_suite_per_protocol_and_role(suites: ET.Element) -> None:
    """With counts that agree with its cases."""
    assert [suite.get("name") for suite in suites] == ["peerbus/broker", "peerbus/client", "peerbus/codec"]
    for suite in suites:
        tags = Counter(child.tag for case in suite.iter("testcase") for child in case)
        counted = {key: int(suite.get(key, "")) for key in ("tests", "failures", "errors", "skipped")}
        assert counted == {
            "tests": len(suite.findall("testcase")),
            "failures": tags["failure"],
            "errors": tags["error"],
            "skipped": tags["skipped"],
        }


@pytest.mark.parametrize(
    ("name", "tags"),
    {
        "passes": "",
        "fails": "failure",
        "times-out": "failure",
        "crashes": "failure",
        "errors": "error",
        "unsupported": "skipped",
        "warns": "system-out",
        "informs": "system-out",
        "known": "skipped",
        "mended": "failure",
    }.items(),
)
def test_junit_outcomes(suites: ET.Element, name: str, tags: str) -> None:
    """A failure is what surprises; a known failure is skipped under its reason, and its pass fails."""
    assert outcome(suites, name) == tags


def test_junit_names_the_clauses_of_a_case(suites: ET.Element) -> None:
    """As properties, so that a reader can group by them."""
    (case,) = [case for case in suites.iter("testcase") if case.get("name") == "fails"]
    assert [(p.get("name"), p.get("value")) for p in case.iter("property")] == [("requirement", "PB-1")]


def test_junit_holds_hostile_strings(suites: ET.Element) -> None:
    """What XML cannot hold is escaped; what it can is kept."""
    (case,) = [case for case in suites.iter("testcase") if case.get("name", "").startswith("hostile")]
    assert case.get("name", "").endswith("\\x1b[31m\\x07\\x00 ]]>&<x> \\u202eabc \\ufffe é\\nline]")
    assert "./touchstone replay" in (case.findtext("failure") or "")


# -- SARIF -------------------------------------------------------------------------------------------------------------


def test_sarif_has_the_essential_structure(sarif: dict[str, Any]) -> None:
    """A driver with a name and unique rules; each result names its rule, a message and a location."""
    driver = sarif["tool"]["driver"]
    ids = [rule["id"] for rule in driver["rules"]]
    assert driver["name"] == "Touchstone"
    assert len(ids) == len(set(ids))
    for result in sarif["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        assert result["message"]["text"]
        assert result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"].startswith("peerbus/")
        assert len(result["partialFingerprints"]["caseAndTarget/v1"]) == 32
    assert sarif["invocations"][0]["executionSuccessful"] is False
    assert sarif["invocations"][0]["startTimeUtc"] == "2026-01-02T03:04:05.000Z"


def test_sarif_reports_what_is_bad_or_warned(sarif: dict[str, Any]) -> None:
    """A warning is a warning, all else an error; a known failure is suppressed under its reason."""
    by_verdict = Counter((result["properties"]["verdict"], result["level"]) for result in sarif["results"])
    assert by_verdict == {
        ("fail", "error"): 3,
        ("warn", "warning"): 1,
        ("error", "error"): 1,
        ("timeout", "error"): 1,
        ("crashed", "error"): 1,
    }
    (known,) = [result for result in sarif["results"] if "suppressions" in result]
    assert known["suppressions"] == [{"kind": "external", "justification": "known-failing: issue 12"}]


def test_sarif_gives_the_line_to_replay(sarif: dict[str, Any]) -> None:
    """In the message, for people, and as a property, for tools."""
    first = sarif["results"][0]
    assert first["message"]["text"].endswith(first["properties"]["replay"])
    assert first["properties"]["replay"].startswith("./touchstone replay ")


def test_sarif_describes_rules_from_the_catalogue(
    events: list[Event], results: list[CaseResult], tell: Tell, tmp_path: Path
) -> None:
    """A clause of the catalogue brings its text and level."""
    requirement = next(iter(every_requirement().values()))
    result = msgspec.structs.replace(results[0], requirements=[requirement.id])
    tell(Sarif(tmp_path / "out.sarif"), [events[0], result, events[-1]])
    (rule,) = json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["tool"]["driver"]["rules"]
    assert rule["id"] == requirement.id
    assert rule["shortDescription"]["text"] == requirement.text
    assert rule["properties"]["level"] == requirement.level


def test_the_same_finding_keeps_its_fingerprint(events: list[Event], tell: Tell, tmp_path: Path) -> None:
    """From run to run, and no two findings of a run share one."""
    prints = []
    for run in ("r1", "r2"):
        tell(Sarif(tmp_path / run), [msgspec.structs.replace(event, run_id=run) for event in events])
        found = json.loads((tmp_path / run).read_text())["runs"][0]["results"]
        prints.append([result["partialFingerprints"]["caseAndTarget/v1"] for result in found])
    assert prints[0] == prints[1]
    assert len(set(prints[0])) == len(prints[0])
