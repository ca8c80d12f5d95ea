"""What a killed run left in the temporary folder is swept by the next start, and nothing else is."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from harness.targets.workdir import PREFIX, Workdir, sweep_once

HOLDS = """if True:
    from harness.targets.workdir import Workdir
    folder = Workdir()
    (folder.new_folder("state") / "store.sqlite").write_bytes(bytes(1000))
    print(folder.path, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sweep_once.cache_clear()


def test_a_killed_runs_folder_goes_and_a_living_ones_stays(tmp_path: Path) -> None:
    """SIGKILL leaves it; the next that needs a folder removes it. A file of somebody else with such a name is left alone."""
    strange = tmp_path / f"{PREFIX}strange"
    strange.mkdir()
    command = [sys.executable, "-c", HOLDS]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as alive, subprocess.Popen(command, **pipes) as killed:  # type: ignore[call-overload]
        kept, left = (Path(process.stdout.readline().strip()) for process in (alive, killed))
        killed.kill()
        killed.wait()
        assert left.is_dir()
        mine = Workdir()
        assert not left.exists()
        assert kept.is_dir()
        assert strange.is_dir()
        alive.kill()
    mine.remove()
    assert not mine.path.exists()
