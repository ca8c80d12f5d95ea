"""The same case gets the same verdict, whether the target is in this process or in a container."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.judging.result import CaseResult, decode
from harness.places import ROOT
from harness.targets import Target

DURABILITY = ("peerbus/broker/durability",)
EVERY_ROLE = ("peerbus/codec", "peerbus/client/redial", *DURABILITY)
"""A dozen of these end with SIGKILL and a restart; a client dials the harness; a codec needs neither."""

SERVER = """
name = "reference-server-in-docker"
[run]
kind = "docker"
image = "touchstone-reference"
[run.servers."peerbus/broker"]
command = ["python3", "-m", "reference_impl.peerbus", "--host", "0.0.0.0", "--port", "{port}",
    "--state-dir", "{state_dir}", "--tokens", "{tokens}"]
address = "ws://127.0.0.1:{port}"
capabilities = ["restart", "kill", "profile:code"]
"""


def check(target: str, runs: Path, *select: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness.cli", "check", *select, "--target", target, "--runs", str(runs)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


def verdicts(target: str, runs: Path, *select: str) -> dict[str, str]:
    """Of each selected case of a target that conforms."""
    done = check(target, runs, *select)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    lines = [decode(line) for path in runs.glob("*/events.ndjson") for line in path.read_text().splitlines()]
    return {line.case: line.verdict.value for line in lines if isinstance(line, CaseResult)}


async def test_a_shim_in_a_container_gets_the_verdicts_of_an_object(
    target: Target, tmp_path: Path, left: Callable[[], list[str]]
) -> None:
    """A sample of each role; the gate compares all cases of every protocol."""
    inside = verdicts("reference-docker", tmp_path / "docker", *EVERY_ROLE)
    assert left() == []
    assert inside == verdicts("reference", tmp_path / "here", *EVERY_ROLE)
    assert len(inside) > 50


async def test_a_server_in_a_container_gets_the_verdicts_of_a_process(
    target: Target, tmp_path: Path, left: Callable[[], list[str]]
) -> None:
    """Nothing of ours is in its image: a command line, a published port and a volume."""
    (tmp_path / "target.toml").write_text(SERVER)
    inside = verdicts(str(tmp_path / "target.toml"), tmp_path / "docker", *DURABILITY)
    assert left() == []
    assert inside == verdicts("reference-server", tmp_path / "here", *DURABILITY)
    assert "pass" in inside.values()


@pytest.mark.parametrize("missing", ["image", "engine"])
def test_a_target_that_is_not_there_ends_the_command_with_2(
    missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One sentence, no traceback."""
    if missing == "engine":
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/dead.sock")
    done = check("image:touchstone-none", tmp_path, "peerbus/codec")
    assert done.returncode == 2
    said = " ".join((done.stdout + done.stderr).split())
    assert ("there is no image touchstone-none" if missing == "image" else "no docker engine answers") in said
    assert "Traceback" not in said
