"""The machine fails, or somebody ends the run: one sentence, an exit code that blames no target, and a stream to read."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.places import ROOT
from harness.running.stream import EVENTS, read_run
from selftests.interrupts import interruptible

CHECK = [sys.executable, "-m", "harness.cli", "check", "sbp/codec", "--target", "reference", "-n", "1"]
WITH_US = {**os.environ, "PYTHONPATH": str(ROOT)}
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


def test_who_ends_a_hunt_ends_its_forks_too(tmp_path: Path) -> None:
    """Nothing is wrong with the suites then, and nothing goes on behind it."""
    command = [sys.executable, "-m", "harness.cli", "mutants", "sbp", "--generated", "--most", "1", "-n", "1"]
    with interruptible(
        command, cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        while not list(tmp_path.glob("touchstone-hunt-*/progress")):  # a fork has begun its first case
            assert running.poll() is None, running.communicate()
            time.sleep(0.05)
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate(timeout=60)  # a fork that went on would keep the pipe open
    assert running.returncode == 143
    assert said == "touchstone: interrupted; what had been judged is in the run's folder\n"
    assert not list(tmp_path.glob("touchstone-hunt-*"))


SWALLOWS = """
import os, signal, time
from harness import interrupts

interrupts.AGAIN_S = 0.2

class Dies:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1_000):  # the handler runs between two of these, and what it raises is dropped
            pass

ends = interrupts.Interrupts()
ends.expect()
try:
    Dies()
    print("one was dropped")
    time.sleep(30)
    print("never heard")
except KeyboardInterrupt:
    interrupts.heard()
    time.sleep(0.5)  # in which nothing more is said
    print("heard", ends.code)
"""


def test_an_interrupt_that_python_drops_is_said_again() -> None:
    """Where a destructor runs there is nobody to raise to; the run must end all the same."""
    ran = subprocess.run([sys.executable, "-c", SWALLOWS], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ran.stdout == "one was dropped\nheard 143\n"
    assert ran.stderr == "", "what is ended in its middle complains of it to nobody"


IN_AN_EXEC = """
import os, signal, sys
from harness.interrupts import Interrupts, heard

ends = Interrupts()
ends.expect()
try:
    exec(f"os.kill(os.getpid(), {int(signal.SIGTERM)})\\nwhile True: pass")
except KeyboardInterrupt:
    heard()
    sys.exit(ends.code)
"""


def test_an_interrupt_inside_of_a_compiled_text_has_its_code_too(tmp_path: Path) -> None:
    """Dataclasses are compiled from text when they are imported; a module that is run dies of SIGINT then, whatever it says."""
    (tmp_path / "interrupted.py").write_text(IN_AN_EXEC)
    command = [sys.executable, "-m", "interrupted"]
    ran = subprocess.run(command, cwd=tmp_path, env=WITH_US, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 143, ran.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_while_it_still_imports_is_one_sentence_too(number: signal.Signals, code: int) -> None:
    program = f"""
import os, sys

class Sends:
    def find_spec(name, *more):
        if name == "harness.cli.app":
            os.kill(os.getpid(), {int(number)})

sys.meta_path.insert(0, Sends)
from harness.cli import main
main()
"""
    with interruptible(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as ran:
        said = ran.communicate(timeout=60)
    assert ran.returncode == code
    assert said == ("", "touchstone: interrupted before anything was judged\n")


def test_a_runs_folder_that_vanishes_is_said(tmp_path: Path) -> None:
    """What was judged is nowhere: that is no run that passed."""
    command = [*CHECK[:4], "peerbus", *CHECK[5:], "--runs", str(tmp_path / "runs")]
    with interruptible(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout
        assert "check peerbus against" in running.stdout.readline()
        shutil.rmtree(tmp_path / "runs")
        _, said = running.communicate(timeout=120)
    assert running.returncode == 2
    assert said.startswith(f"touchstone: the run cannot be kept in {tmp_path / 'runs'}")
    assert said.endswith("it has vanished\n")


def test_a_report_is_whole_or_not_there(tmp_path: Path) -> None:
    """On a disk that takes the beginning of it."""
    program = f"""
import resource
from pathlib import Path
from harness.files import write_whole
resource.setrlimit(resource.RLIMIT_FSIZE, ({LITTLE}, {LITTLE}))
for size in ({LITTLE} - 1, {LITTLE} + 1):
    write_whole(Path("report"), bytes(size))
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=WITH_US, capture_output=True, text=True)
    assert "OSError" in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["report"]
    assert (tmp_path / "report").stat().st_size == LITTLE - 1


def test_a_matrix_that_is_ended_says_so_in_its_stream(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "harness.cli", "matrix", "sbp", "--targets", "reference", "--reps", "500"]
    with interruptible(
        [*command, "--runs", str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as ran:
        assert ran.stdout
        assert "matrix sbp" in ran.stdout.readline()
        ran.send_signal(signal.SIGINT)
        _, said = ran.communicate(timeout=60)
    assert said == "touchstone: interrupted; what had been judged is in the run's folder\n"
    [stream] = tmp_path.glob(f"*/{EVENTS}")
    footer = read_run(stream).footer
    assert footer
    assert footer.interrupted


def test_what_is_no_file_is_written_to_as_it_is(tmp_path: Path) -> None:
    """`--junit /dev/stdout` is a report for the next command of a pipe."""
    link, kept = tmp_path / "link.xml", tmp_path / "kept" / "report.xml"
    kept.parent.mkdir()
    link.symlink_to(kept)
    command = [*CHECK[:4], "sbp/codec/encode", *CHECK[5:], "--runs", str(tmp_path / "runs")]
    reports = ["--junit", "/dev/stdout", "--sarif", str(link)]
    ran = subprocess.run([*command, *reports], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert "</testsuites>" in ran.stdout
    assert link.is_symlink()
    assert b'"version"' in kept.read_bytes()


def test_a_fault_of_our_own_is_no_verdict(tmp_path: Path) -> None:
    """Exit 1 says that a MUST failed."""
    program = (
        "from harness.running import check; check.check_target = lambda *a: 1 / 0; from harness.cli import main; main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, *CHECK[3:], "--runs", str(tmp_path)], cwd=ROOT, capture_output=True, text=True
    )
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1] == "touchstone: that is a fault of its own, and no verdict"
