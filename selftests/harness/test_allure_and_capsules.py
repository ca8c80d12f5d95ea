"""Reports of many files: Allure results and capsules."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.errors import Unavailable, UsageError
from harness.judging.capsule import Capsule, load, slug
from harness.judging.result import BAD, CaseResult, Event, Verdict
from harness.subscribers import Capsules
from harness.subscribers.allure import Allure

Tell = Callable[..., None]


def allure_results(folder: Path) -> dict[str, dict[str, Any]]:
    loaded = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*-result.json")]
    return {result["name"]: result for result in loaded}


def test_allure_labels_a_case_by_where_it_belongs(tell: Tell, tmp_path: Path) -> None:
    """Epic, feature and story are protocol, role and group; clauses are tags, axes parameters."""
    tell(Allure(tmp_path))
    found = allure_results(tmp_path)["crashes"]
    labels = {label["name"]: label["value"] for label in found["labels"]}
    expected = {"epic": "peerbus", "feature": "client", "story": "dedupe", "tag": "PB-1", "verdict": "crashed"}
    assert labels.items() >= expected.items()
    assert found["parameters"] == [{"name": "n", "value": "2"}]
    assert found["stop"] - found["start"] == 250


def test_allure_statuses(tell: Tell, tmp_path: Path) -> None:
    """Broken is Allure's word for a defect of the test: only our own fault is that."""
    tell(Allure(tmp_path))
    statuses = {name: result["status"] for name, result in allure_results(tmp_path).items()}
    hostile = next(name for name in statuses if name.startswith("hostile"))
    assert statuses == {
        "passes": "passed",
        "warns": "passed",
        "informs": "passed",
        "fails": "failed",
        hostile: "failed",
        "times-out": "failed",
        "crashes": "failed",
        "known": "failed",
        "mended": "passed",
        "errors": "broken",
        "unsupported": "skipped",
    }


def test_allure_attaches_the_evidence(tell: Tell, tmp_path: Path) -> None:
    """Clause and reading, the whole timeline, the line to replay."""
    tell(Allure(tmp_path))
    found = allure_results(tmp_path)["fails"]["attachments"]
    texts = {one["name"]: (tmp_path / one["source"]).read_text(encoding="utf-8") for one in found}
    assert texts["clause"] == "PB-2\nour reading"
    assert len(texts["timeline"].splitlines()) == 30
    assert texts["replay"].startswith("./touchstone replay ")


def test_allure_follows_a_case_from_run_to_run(tell: Tell, tmp_path: Path, events: list[Event]) -> None:
    """The history id is the same for case and target in every run, and differs between targets."""
    for run in ("a", "b"):
        tell(Allure(tmp_path / run))
    elsewhere = [msgspec.structs.replace(e, target="other") if isinstance(e, CaseResult) else e for e in events]
    tell(Allure(tmp_path / "c"), elsewhere)
    a, b, c = (allure_results(tmp_path / run)["fails"] for run in "abc")
    assert a["historyId"] == b["historyId"] != c["historyId"]
    assert a["testCaseId"] == c["testCaseId"]
    assert a["uuid"] != b["uuid"]


def test_allure_says_when_its_folder_cannot_be(tmp_path: Path) -> None:
    """Before the run, in one sentence."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot hold Allure results"):
        Allure(tmp_path / "file")


def test_what_is_bad_or_warned_has_a_capsule(tell: Tell, results: list[CaseResult], tmp_path: Path) -> None:
    """One each, under the name that the replay line uses; nothing for the rest."""
    tell(Capsules(tmp_path, "cmd:./my shim"))
    written = {path.stem for path in (tmp_path / "capsules").iterdir()}
    assert written == {slug(r) for r in results if r.verdict in BAD or r.verdict is Verdict.WARN}
    assert len(written) == 7


def test_a_capsule_holds_what_replay_needs(tell: Tell, results: list[CaseResult], tmp_path: Path) -> None:
    """The whole result, hostile strings untouched, and how the run was started."""
    hostile = results[2]
    tell(Capsules(tmp_path, "cmd:./my shim", options={"tokens": ["a", "b"]}, slow=True, patience=2.5))
    assert load(tmp_path / "capsules" / f"{slug(hostile)}.json") == Capsule(
        target="cmd:./my shim",
        result=hostile,
        seed=7,
        options={"tokens": ["a", "b"]},
        slow=True,
        patience=2.5,
        harness_version="0.1.0",
        commit="abc",
    )


def test_a_run_over_many_targets_keeps_each_apart(tell: Tell, events: list[Event], tmp_path: Path) -> None:
    """The same case of two mutants, or of two repetitions, makes two capsules, each with its own target."""
    failing = events[2]
    other = msgspec.structs.replace(failing, target="mutant:x")
    again = msgspec.structs.replace(failing, repetition=2)
    tell(Capsules(tmp_path), [events[0], failing, other, again, events[-1]])
    capsules = [load(path) for path in (tmp_path / "capsules").iterdir()]
    assert sorted(capsule.target for capsule in capsules) == ["fake", "fake", "mutant:x"]


@pytest.mark.parametrize("case", ["a/b/c/" + "x" * 500, "a/b/c/../../etc", "a/b/c/é\0/nul", "////"])
def test_a_slug_is_a_safe_file_name(results: list[CaseResult], case: str) -> None:
    """Letters, digits and dashes, of a length that any file system takes."""
    name = slug(msgspec.structs.replace(results[0], case=case))
    assert name.replace("-", "").isalnum()
    assert name.isascii()
    assert 10 <= len(name) <= 100


def test_slugs_differ_where_readable_parts_agree(results: list[CaseResult]) -> None:
    """`x[a=1]` and `x(a=1)` read alike and are not the same case."""
    one, two = (slug(msgspec.structs.replace(results[0], case=case)) for case in ("a/b/c/x[a=1]", "a/b/c/x(a=1)"))
    assert one != two
    assert one[:-10] == two[:-10]


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is not a capsule"), (b"[]", "is not a capsule"), (b'{"target": "x"}', "is not a capsule")],
)
def test_a_file_that_is_no_capsule_is_told(tmp_path: Path, content: bytes, words: str) -> None:
    """In one sentence: it is a mistake of the command line."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=words):
        load(path)


def test_a_capsule_that_is_not_there_or_from_the_future_is_told(tell: Tell, tmp_path: Path) -> None:
    """A missing file is the environment's, a later schema asks for an update."""
    with pytest.raises(Unavailable, match="cannot be read: No such file"):
        load(tmp_path / "gone.json")
    tell(Capsules(tmp_path))
    path = next((tmp_path / "capsules").iterdir())
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(load(path), schema=9)))
    with pytest.raises(UsageError, match="has capsule schema 9, this harness reads up to 1"):
        load(path)
