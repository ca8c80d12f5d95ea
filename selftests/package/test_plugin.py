"""The suites as tests of another project, which has modules and settings of its own."""

from __future__ import annotations

import json
import re
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from importlib.metadata import distribution
from pathlib import Path

import pytest

from harness.places import ROOT
from selftests.package.conftest import Installed, link

SHIM = """
import asyncio, sys
sys.path.insert(0, {bundle!r})
from harness.mutation.mutant import mutants_of
from harness.shim import serve_stdio
asyncio.run(serve_stdio(mutants_of("sbp")["counts-letters"].factory()))
"""
"""An implementation with one fault, behind the shim protocol."""

MANIFEST = 'name = "theirs"\n[run]\nkind = "process"\ncommand = ["{python}", "shim.py"]\n'


@pytest.fixture
def project(touchstone: Installed, tmp_path: Path) -> Path:
    """It has a package `suites`, a module `harness` and strict settings; nothing of that is ours, and ours is nothing of that."""
    bundle = str(touchstone.site / "touchstone" / "bundle")
    (tmp_path / "shim.py").write_text(SHIM.format(bundle=bundle))
    (tmp_path / "target.toml").write_text(MANIFEST)
    (tmp_path / "harness.py").write_text("OURS = True\n")
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "__init__.py").write_text("")
    (tmp_path / "test_own.py").write_text("import harness, suites\ndef test_own(): assert harness.OURS\n")
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nasyncio_mode = strict\naddopts = --strict-markers\npythonpath = .\n"
    )
    return tmp_path


SELECT = "--touchstone sbp/codec/vectors --touchstone-target ./target.toml"


def run(touchstone: Installed, project: Path, words: str, code: int) -> subprocess.CompletedProcess[str]:
    done = touchstone.python("-m", "pytest", "-q", *words.split(), code=None, cwd=project)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_the_suites_run_beside_the_projects_own_tests(touchstone: Installed, project: Path) -> None:
    """As docs/ci.md has it. A fault is a failing test with its clause and replay line; JUnit and SARIF are written."""
    jobs = re.findall(r"- (?:run: )?pytest (.*)", (ROOT / "docs" / "ci.md").read_text())
    assert len(jobs) == 2, "one for each service"
    assert len(set(jobs)) == 1
    done = run(touchstone, project, jobs[0].replace("peerbus/broker", "sbp/codec/vectors"), code=1)
    assert "SBP-MSG-02" in done.stdout
    assert "touchstone replay " in done.stdout
    assert "more like this" in done.stdout
    suite = next(ET.parse(project / "junit.xml").iter("testsuite"))
    assert (int(suite.get("tests", 0)), int(suite.get("failures", 0))) == (7, 2), done.stdout
    assert len(json.loads((project / "touchstone.sarif").read_text())["runs"][0]["results"]) == 8


def test_the_command_runs_in_a_folder_with_modules_of_our_names(touchstone: Installed, project: Path) -> None:
    """Also where it becomes another process."""
    there = replace(touchstone, folder=project)
    assert "usage: sbp" in there("serve", "sbp", "--help").stdout
    assert "usage: sbp" in there("serve", "sbp", "--trace", "--help").stdout
    assert "1 pass" in there("check", "sbp/codec/vectors/frame-encodes[vector=id-spaces]", "--target", ".").stdout


def test_what_is_deselected_does_not_run(touchstone: Installed, project: Path) -> None:
    """-k is for cases as well, and so is -n where that project has it; what is left is conforming."""
    for name in ("pytest-xdist", "execnet"):
        link(distribution(name), touchstone.site)
    done = run(touchstone, project, f"{SELECT} -k handshake -n 2", code=0)
    assert "1 passed" in done.stdout


def test_a_target_that_cannot_run_is_said_once(touchstone: Installed, project: Path) -> None:
    (project / "shim.py").write_text("raise SystemExit('out of order')")
    done = run(touchstone, project, SELECT, code=1)
    assert "theirs cannot be tested" in done.stdout
    assert "1 failed, 1 passed, 5 skipped" in done.stdout


def test_without_the_option_nothing_of_ours_is_there(touchstone: Installed, project: Path) -> None:
    done = touchstone.python("-m", "pytest", "-q", "test_own.py", cwd=project)
    assert "1 passed" in done.stdout


def test_a_wrong_selection_is_said_in_one_sentence(touchstone: Installed, project: Path) -> None:
    done = touchstone.python("-m", "pytest", "-q", "--touchstone", "nosuch", code=None, cwd=project)
    assert (done.returncode, "there is no protocol 'nosuch'" in done.stderr) == (4, True), done.stdout + done.stderr
