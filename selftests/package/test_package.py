"""Outside any clone: the command from a wheel, in an environment that has nothing else, in an unrelated folder."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from harness.judging.result import Verdict
from harness.running.stream import EVENTS, read_run
from selftests.package.conftest import Installed, run

SMALL = "sbp/codec/vectors"
MUTANT = "counts-letters"


def test_the_wheel_claims_one_name(wheel: Path) -> None:
    """`suites` and `targets` are names that anybody may have; what builds left in a clone is not shipped."""
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"touchstone"}
    assert not [name for name in names if "__pycache__" in name or "node_modules" in name or "/bin/" in name]


@pytest.mark.parametrize(
    ("target", "select"),
    [("reference", SMALL), ("reference-process", SMALL), ("reference-server", "peerbus/broker/takeover/same-token*")],
)
def test_a_check_runs_anywhere(target: str, select: str, touchstone: Installed) -> None:
    """Every reach of the reference but the image; the run is kept in the working folder."""
    touchstone("check", select, "--target", target, "--runs", f"runs-{target}", "--json", "out.json")
    (stream,) = (touchstone.folder / f"runs-{target}").glob(f"*/{EVENTS}")
    assert {case.verdict for case in read_run(stream).cases} == {Verdict.PASS}
    assert read_run(stream).header.commit == "", "whatever repository is around it is not ours"
    assert json.loads((touchstone.folder / "out.json").read_text())["pass"] >= 1


@pytest.mark.parametrize("tool", [("pipx", "run", "--spec"), ("uvx", "--from")], ids=lambda words: words[0])
def test_it_runs_without_being_installed(tool: tuple[str, ...], wheel: Path, tmp_path: Path) -> None:
    """docs/getting-started.md: pipx and uv make the environment themselves, from what the wheel says it needs."""
    if not shutil.which(tool[0]):
        pytest.skip(f"there is no {tool[0]} on the PATH: `pip install pipx uv` brings both")
    homes = {"PIPX_HOME": str(tmp_path / "pipx"), "UV_CACHE_DIR": str(tmp_path / "uv")}
    (tmp_path / "elsewhere").mkdir()
    done = run([*tool, wheel, "touchstone", "check", SMALL], tmp_path / "elsewhere", **homes)
    assert "nothing surprising" in done.stdout
    assert list(tmp_path.glob(f"elsewhere/runs/*/{EVENTS}"))


def test_a_mutant_is_caught_and_its_failure_replayed(touchstone: Installed) -> None:
    """The replay line is one that can be typed there."""
    assert "1 of 1 (100%)" in touchstone("mutants", "sbp", "--only", MUTANT).stdout
    done = touchstone("check", SMALL, "--target", f"mutant:sbp/{MUTANT}", code=1)
    line = next(line for line in done.stdout.splitlines() if "replay  " in line)
    assert line.split()[:3] == ["replay", "touchstone", "replay"]
    assert "FAIL" in touchstone(*line.split()[2:], code=1).stdout


def test_explain_finds_clause_cases_and_mutants(touchstone: Installed) -> None:
    assert MUTANT in touchstone("explain", "SBP-MSG-02").stdout


def test_a_new_shim_is_checked(touchstone: Installed) -> None:
    """It is found by its path, and runs in this environment's Python."""
    touchstone("new", "python", "sbp/codec", "mine")
    assert {path.name for path in (touchstone.folder / "mine").iterdir()} == {"OPERATIONS.md", "shim.py", "target.toml"}
    done = touchstone("check", SMALL, "--target", "mine", code=2)
    assert "nothing was tested: all" in done.stderr


def test_a_python_target_lies_in_the_working_folder(touchstone: Installed) -> None:
    (touchstone.folder / "my_shim.py").write_text("from targets.reference import Reference as Mine\n")
    touchstone("check", SMALL, "--target", "python:my_shim:Mine")


def test_an_example_is_built_in_the_cache(touchstone: Installed) -> None:
    """What is installed is not written into."""
    before = sorted(touchstone.site.glob("touchstone/bundle/targets/examples/**/*"))
    done = touchstone("check", "frog/codec", "--target", "examples/frog-go", "--one-each", PATH="/nowhere", code=2)
    assert "`go build" in done.stderr or "no command 'go'" in done.stderr
    assert sorted(touchstone.site.glob("touchstone/bundle/targets/examples/**/*")) == before
    assert list(touchstone.environment.glob("cache/touchstone/*/examples/frog-go/target.toml"))


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("report", "runs"), 2, "pip install 'touchstone[report]'"),
        (("test",), 3, "a clone"),
        (("check", SMALL, "--target", "nosuch"), 2, "reference-process"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(
    words: tuple[str, ...], code: int, said: str, touchstone: Installed
) -> None:
    done = touchstone(*words, code=code)
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.usefixtures("report_extra")
def test_the_site_goes_to_the_working_folder(touchstone: Installed) -> None:
    """With the extra, a report of the runs made there."""
    touchstone("check", SMALL, "--runs", "reported")
    touchstone("report", "reported")
    assert "sbp" in (touchstone.folder / "site" / "index.html").read_text()
