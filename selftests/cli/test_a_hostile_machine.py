"""The machine fails, or somebody ends the run: one sentence, an exit code that blames no target, and a stream to read."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.places import ROOT
from harness.running.stream import EVENTS, read_run
from selftests.interrupts import interruptible

CHECK = [sys.executable, "-m", "harness.cli", "check", "sbp/codec", "--target", "reference", "-n", "1"]
LITTLE = 20_000
"""Bytes that a file may have."""


def test_a_full_disk_is_nobodys_verdict(tmp_path: Path) -> None:
    """What the disk took is readable."""

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (LITTLE, LITTLE))

    ran = subprocess.run(
        [*CHECK, "--runs", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=120, preexec_fn=small_disk
    )
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert ran.stderr.startswith(f"touchstone: the run cannot be kept in {tmp_path}")
    assert len(ran.stderr.splitlines()) == 1
    [stream] = tmp_path.glob(f"*/{EVENTS}")
    assert read_run(stream).cases


def test_a_folder_that_cannot_be_is_the_machines_fault() -> None:
    ran = subprocess.run([*CHECK, "--runs", "/proc/nowhere"], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 2
    assert ran.stderr == "touchstone: runs cannot be kept in /proc/nowhere: No such file or directory\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_ends_a_run_gets_what_was_judged(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """With a footer that says so: an interrupted run is no whole one."""
    command = [*CHECK[:4], "peerbus", *CHECK[5:], "--runs", str(tmp_path)]
    with interruptible(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout
        assert "check peerbus against" in running.stdout.readline()  # its stream has been begun
        running.send_signal(number)
        _, said = running.communicate(timeout=60)
    assert running.returncode == code
    assert said == "touchstone: interrupted; what had been judged is in the run's folder\n"
    [stream] = tmp_path.glob(f"*/{EVENTS}")
    run = read_run(stream)
    assert run.footer
    assert run.footer.interrupted
    assert run.footer.exit_code == 130
    assert not run.complete
