"""`check --watch`: a round, a change, and what failed again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli.watching import folder_of, state_of
from harness.errors import UsageError
from selftests.interrupts import interruptible

SHIM = """
import asyncio
from harness.mutation.mutant import mutants_of
from harness.shim import serve_stdio
from targets.reference import Reference
asyncio.run(serve_stdio({made}))
"""
WRONG, RIGHT = 'mutants_of("sbp")["counts-letters"].factory()', "Reference()"
MANIFEST = 'name = "theirs"\n[run]\nkind = "process"\ncommand = ["{python}", "shim.py"]\n'


def test_what_failed_runs_again_when_a_file_changes(tmp_path: Path) -> None:
    """The second round has the cases that failed and no others; it is mended, so the third would have all."""
    (tmp_path / "target.toml").write_text(MANIFEST)
    (tmp_path / "shim.py").write_text(SHIM.format(made=WRONG))
    command = [sys.executable, "-m", "harness.cli", "check", "sbp/codec/vectors", "--target", ".", "--watch"]
    with interruptible(command, cwd=tmp_path, stdout=subprocess.PIPE, start_new_session=True) as watching:
        first = until_it_waits(watching)
        (tmp_path / "shim.py").write_text(SHIM.format(made=RIGHT))
        second = until_it_waits(watching)
        os.killpg(watching.pid, signal.SIGINT)
        assert watching.wait(60) == 0
    assert "8 fail" in first
    assert "the 8 that failed run again" in first
    assert "8 cases in" in second
    assert "all of it runs again" in second


def until_it_waits(watching: subprocess.Popen[str]) -> str:
    assert watching.stdout
    lines = []
    while not lines or not lines[-1].startswith("watching "):
        lines.append(watching.stdout.readline())
        assert lines[-1], "it ended"
    return "".join(lines)


def test_what_runs_and_builds_write_is_no_change(tmp_path: Path) -> None:
    (tmp_path / "shim.py").write_text("")
    before = state_of(tmp_path, tmp_path / "runs")
    for name in ("runs", "bin", "__pycache__"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("")
    assert state_of(tmp_path, tmp_path / "runs") == before
    (tmp_path / "new.py").write_text("")
    assert state_of(tmp_path, tmp_path / "runs") != before


@pytest.mark.parametrize("target", ["reference", "ws://127.0.0.1:1", "image:x", "mutant:sbp/x"])
def test_what_has_no_files_cannot_be_watched(target: str) -> None:
    with pytest.raises(UsageError, match="nobody changes files"):
        folder_of(target)
