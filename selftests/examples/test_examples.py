"""The examples in other languages conform: no suite asks for what only the reference does."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from harness.results import Verdict
from harness.run import ROOT
from selftests.checks import conforming

NODE = sorted(path.parent for path in (ROOT / "targets/examples").glob("*/package.json"))
INSTALL = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]
INSTALL_S, CHECK_S = 120, 900
AT_LEAST = 3000  # cases


@pytest.fixture(scope="module")
def npm() -> str:
    found = shutil.which("npm")
    if found and shutil.which("node"):
        return found
    missing = "there is no node with npm on the PATH: install the packages nodejs and npm"
    if "node" in os.environ.get("TOUCHSTONE_REQUIRE", "").split(","):
        pytest.fail(missing)
    pytest.skip(missing)


def installed(example: Path, into: Path, npm: str) -> Path:
    """A copy with its packages, so that none of them lie in the tree."""
    copy = shutil.copytree(example, into / example.name, ignore=shutil.ignore_patterns("node_modules"))
    done = subprocess.run([npm, *INSTALL], cwd=copy, capture_output=True, text=True, timeout=INSTALL_S)
    assert done.returncode == 0, f"npm cannot install the packages of {example.name}: {done.stderr[-2000:]}"
    return copy


@pytest.mark.parametrize("example", NODE, ids=lambda path: path.name)
def test_an_example_in_javascript_conforms(example: Path, npm: str, tmp_path: Path) -> None:
    """Nothing fails, nothing warns, and nothing is left out; the folder's name begins with the protocol's."""
    target = installed(example, tmp_path, npm)
    found = conforming(str(target), [example.name.split("-")[0]], tmp_path / "runs", CHECK_S)
    assert Verdict.UNSUPPORTED not in found.values()
    assert len(found) >= AT_LEAST, Counter(found.values())


def test_there_are_examples() -> None:
    """A moved folder would leave nothing to check, in silence."""
    assert [path.name for path in NODE] == ["sbp-node"]
