"""Several processes that run the cases of one: they are forks, and what becomes of one is told."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from harness.catalogue.cases import CaseInfo
from harness.catalogue.requirements import protocols
from harness.judging.result import Verdict
from harness.places import ROOT
from harness.running.check import check_target
from harness.running.forks import in_turn, units
from harness.running.plan import Plan, cases
from harness.running.plugin import CASE
from harness.running.stream import EVENTS
from selftests.interrupts import interruptible
from targets.reference import Reference

GROUP = "sbp/codec/encode"


class EndsTheProcess(Reference):
    """Behaves until it has answered a little, and takes its process with it then, once."""

    lives = 20

    async def do(self, instance: str, op: str, args: dict[str, Any]) -> dict[str, Any]:
        EndsTheProcess.lives -= 1
        if not EndsTheProcess.lives:
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().do(instance, op, args)


class NeverLeaves(Reference):
    """Answers nothing, and does not let its process hear that it shall end."""

    async def do(self, instance: str, op: str, args: dict[str, Any]) -> dict[str, Any]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        stay(Path(os.environ["FAMILY"], "stuck"))
        return {}


def stay(sign: Path) -> None:
    """For ever, once there is a sign of it."""
    sign.touch()
    threading.Event().wait()


class Item:
    def __init__(self, name: str = "", group: str = "") -> None:
        self.name, self.stash = name, pytest.Stash()
        self.stash[CASE] = CaseInfo("", "", "", group, ())

    def get_closest_marker(self, wanted: str) -> Any:
        return pytest.mark.together(self.name).mark if self.name and wanted == "together" else None


def test_what_belongs_together_is_one_unit_where_its_first_item_stands() -> None:
    items: Any = [Item(), Item("a"), Item("b"), Item(), Item("a")]
    assert list(units(items)) == [[0], [1, 4], [2], [3]]


def test_long_units_are_handed_out_early_and_not_together() -> None:
    """The first that are handed out are short, so that there is a verdict soon."""
    groups = ["requests", "federation-tours", "routes", "signals", "states", "machine", "tours", "transport"]
    items: Any = [Item(group=group) for group in groups]
    assert list(in_turn(items)) == [[0], [2], [1], [3], [5], [4], [6], [7]]


def test_every_case_is_judged_once_and_says_by_whom(tmp_path: Path) -> None:
    """Two processes share the items of one collection."""
    alone = check_target(Plan(select=[GROUP], workers=1), tmp_path, [])
    shared = check_target(Plan(select=[GROUP], workers=2), tmp_path, [])
    verdicts = [sorted((r.case, r.verdict) for r in checked.results) for checked in (alone, shared)]
    assert verdicts[0] == verdicts[1]
    assert {result.worker for result in shared.results} == {"w0", "w1"}


def test_a_process_that_dies_costs_one_case_and_is_replaced(tmp_path: Path) -> None:
    """What runs inside it may be why; who knows: it is no verdict on the target, and the rest is judged by another."""
    items = {case.id for case in cases([GROUP])}
    checked = check_target(Plan(f"python:{__name__}:EndsTheProcess", [GROUP], workers=2), tmp_path, [])
    lost = [result for result in checked.results if result.verdict is Verdict.ERROR]
    assert lost
    assert all("ended with signal 9" in result.note for result in lost)
    assert {result.case.partition("[vector=")[0] for result in checked.results} == items
    assert checked.exit_code == 2


def family_of(mark: str) -> list[int]:
    """The processes that have this in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # it has just ended
            found += [int(path.parent.name)] if mark.encode() in path.read_bytes() else []
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc to see the processes in")
def test_an_interrupt_ends_all_of_them(tmp_path: Path) -> None:
    """The command is told; the processes that it has forked, and their targets, are gone with it."""
    words = ["check", "peerbus", "--target", "reference-process", "-n", "2", "--runs", str(tmp_path)]
    env = {**os.environ, "FAMILY": str(tmp_path)}
    with interruptible([sys.executable, "-m", "harness.cli", *words], cwd=tmp_path, env=env) as running:
        while not [stream for stream in tmp_path.glob(f"*/{EVENTS}") if stream.read_bytes().count(b"\n") > 3]:
            assert running.poll() is None, "it ended before it could be interrupted"
            time.sleep(0.05)
        assert len(family_of(f"FAMILY={tmp_path}")) > 3
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        deadline = time.monotonic() + 20
        while family_of(f"FAMILY={tmp_path}") and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not family_of(f"FAMILY={tmp_path}")


def test_only_the_protocol_that_is_asked_for_is_imported(tmp_path: Path) -> None:
    """Somebody waits for the first verdict: the other protocols, and the libraries of reports not asked for, stay out."""
    asked = f"check {GROUP} --runs {tmp_path}".split()
    after = "import atexit, sys; atexit.register(lambda: print(*sorted(sys.modules)))"
    program = f"{after}; sys.argv[1:] = {asked!r}; from harness.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "reference_impl.sbp.codec" in loaded
    others = {protocol for protocol in protocols() if protocol != "sbp"}
    assert not {name for name in loaded if name.startswith("reference_impl.") and name.split(".")[1] in others}
    assert not loaded & {"allure_commons", "docker", "pyspark", "xdist"}


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc to see the processes in")
def test_what_a_process_had_that_did_not_end_is_removed(tmp_path: Path) -> None:
    """It is killed, and nobody else is left to tidy up its temporary folder."""
    target = f"python:{__name__}:NeverLeaves"
    words = ["check", "peerbus", "--target", target, "-n", "2", "--runs", str(tmp_path / "runs")]
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    env = {**os.environ, "FAMILY": str(tmp_path), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    with interruptible([sys.executable, "-m", "harness.cli", *words], cwd=tmp_path, env=env) as running:
        while not (tmp_path / "stuck").exists():
            assert running.poll() is None, "it ended before it could be interrupted"
            time.sleep(0.05)
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 143
    assert not family_of(f"FAMILY={tmp_path}")
    assert not list(temporary.iterdir())
