"""A run is only what this harness wrote: a folder that a target put beside it is passed over, in one sentence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.judging.result import Footer, Header, TargetInfo
from harness.running import seal
from harness.running.seal import beside, strangers
from harness.running.stream import EVENTS, StreamWriter, newest_check


@pytest.fixture(autouse=True)
def _key_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    seal.key.cache_clear()
    yield  # type: ignore[misc]
    seal.key.cache_clear()


def written(folder: Path) -> Path:
    writer = StreamWriter(folder)
    writer(Header(folder.name, "2026-01-01T00:00:00Z", "check", 0, [TargetInfo("honest")], ["sbp"]))
    writer(Footer(folder.name, "2026-01-01T00:00:01Z", 1.0, {}, 0))
    return folder


@pytest.mark.parametrize("forgery", ["copied whole", "without a seal", "with a made up seal"])
def test_a_forged_sibling_is_passed_over(tmp_path: Path, forgery: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Newer than ours, and well formed."""
    ours = written(tmp_path / "runs" / "20260101T000000-aaaaaa")
    forged = ours.with_name("20260102T000000-bbbbbb")
    shutil.copytree(ours, forged)
    if forgery == "without a seal":
        (forged / seal.SEAL).unlink()
    elif forgery == "with a made up seal":
        (forged / seal.SEAL).write_text("0" * 64)
    assert newest_check(tmp_path / "runs").folder == ours
    said = capsys.readouterr().err
    assert said == f"{forged} was not written by this harness, and is passed over\n"


def test_runs_of_another_machine_are_read(tmp_path: Path) -> None:
    """None of them is ours: somebody has fetched them."""
    run = written(tmp_path / "runs" / "20260101T000000-aaaaaa")
    (run / seal.SEAL).unlink()
    assert newest_check(tmp_path / "runs").folder == run


def test_the_key_is_this_users_alone_and_kept(tmp_path: Path) -> None:
    first = seal.key()
    seal.key.cache_clear()
    assert seal.key() == first
    [path] = (tmp_path / "state" / "touchstone").iterdir()
    assert path.stat().st_mode & 0o077 == 0


def test_a_report_is_told_what_is_not_ours(tmp_path: Path) -> None:
    """By a folder of runs or a pattern; a stream that lies among them, and a run in the other format, are runs too."""
    runs = tmp_path / "runs"
    ours, forged = written(runs / "a"), written(runs / "b")
    (forged / seal.SEAL).write_text("0" * 64)
    (ours / EVENTS).rename(ours / "events.parquet")
    stray = runs / "c.ndjson"
    stray.write_bytes((forged / EVENTS).read_bytes())
    (runs / "no run").mkdir()
    for named in (runs, runs / "*", tmp_path / "ru?s"):
        assert strangers(beside(str(named))) == [forged, stray]


def test_what_is_named_by_itself_is_meant(tmp_path: Path) -> None:
    written(tmp_path / "runs" / "a")
    forged = written(tmp_path / "runs" / "b")
    (forged / seal.SEAL).unlink()
    for named in (forged, forged / EVENTS, tmp_path / "nowhere", "hdfs://host/runs"):
        assert beside(str(named)) == []


def test_runs_that_were_all_fetched_are_all_reported(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (written(tmp_path / "runs" / name) / seal.SEAL).unlink()
    assert strangers(beside(str(tmp_path / "runs"))) == []


def test_the_folder_of_another_machine_is_reported_with_ours(tmp_path: Path) -> None:
    """Two shards of one night: what is forged is what lies among ours."""
    written(tmp_path / "here" / "a")
    fetched = written(tmp_path / "there" / "a")
    (fetched / seal.SEAL).write_text("0" * 64)
    assert strangers(run for name in ("here", "there") for run in beside(str(tmp_path / name))) == []
