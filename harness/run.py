"""Runs selected cases through pytest and records them; also lists what could be run."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.cases import CaseInfo
from harness.errors import HarnessError, NothingSelected, UsageError
from harness.plugin import CASE, Judge
from harness.record import Recorder
from harness.requirements import protocols

ROOT = Path(__file__).resolve().parents[1]
GLOB = set("*?[")


@dataclass(frozen=True)
class Plan:
    """What to run, as pytest's plugin understands it."""

    target: str = "reference"
    select: Sequence[str] = ()
    options: Sequence[str] = ()  # KEY=VALUE
    roles: Sequence[str] = ()
    seed: int = 0
    slow: bool = False
    workers: int = 0  # 0: as many as the selection is worth
    patience: float = 5.0
    mutants: str = ""
    mutant: Sequence[str] = ()
    teeth: bool = False  # be done with a check that failed, not with a mutant it caught

    def folders(self) -> list[str]:
        """The suites that the selection can touch."""
        known = protocols()
        heads = {pattern.split("/")[0] for pattern in self.select}
        if not heads or any(GLOB & set(head) for head in heads):
            return [str(ROOT / "suites" / protocol) for protocol in known]
        unknown = heads - set(known)
        if unknown:
            raise UsageError(f"there is no protocol {sorted(unknown)[0]!r}: use {', '.join(known)}")
        return [str(ROOT / "suites" / head) for head in sorted(heads)]

    def processes(self) -> int:
        """Whole protocols are worth a second process; a part of one is done before that has started."""
        part = bool(self.select) and all("/" in pattern for pattern in self.select)
        return self.workers or (1 if part else min(2, os.cpu_count() or 1))

    def arguments(self) -> list[str]:
        repeated = (
            ("--select", self.select),
            ("--option", self.options),
            ("--role", self.roles),
            ("--mutant", self.mutant),
        )
        arguments = [*self.folders(), "-c", str(ROOT / "pyproject.toml"), f"--rootdir={ROOT}", "-q"]
        arguments += ["--target", self.target, "--seed", str(self.seed), "--patience", str(self.patience)]
        arguments += [f"{option}={value}" for option, values in repeated for value in values]
        arguments += ["--slow"] if self.slow else []
        arguments += ["--mutants", self.mutants] if self.mutants else []
        arguments += ["--teeth"] if self.teeth else []
        arguments += ["-n", str(self.processes()), "--dist", "loadgroup"] if self.processes() > 1 else []
        return arguments


class Conductor:
    """A pytest plugin of the controlling process: mutes pytest and connects its judge with the recorder."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.heard = io.StringIO()
        self._started = False

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        mute(config, self.heard)
        judge = config.pluginmanager.getplugin("touchstone-judge")
        if isinstance(judge, Judge):
            judge.recorder = self.recorder

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if not hasattr(session.config, "workerinput") and not session.config.getoption("numprocesses", None):
            self._start(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        self._start(len(ids))

    def _start(self, planned: int) -> None:
        if not self._started and planned:
            self._started = True
            self.recorder.start(planned)


def mute(config: pytest.Config, into: io.StringIO) -> None:
    """pytest's own report goes into a buffer: ours is the one people read."""
    reporter: Any = config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None:
        reporter._tw._file = into
        reporter._tw.hasmarkup = False


def run(plan: Plan, recorder: Recorder) -> None:
    """Run the plan; the recorder has every result. Raises for a run that could not be one."""
    conductor = Conductor(recorder)
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    code = pytest.main(plan.arguments(), plugins=[conductor])
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise NothingSelected(list(plan.select))
    if code == pytest.ExitCode.INTERRUPTED and not conductor._started:
        raise HarnessError(f"the suites cannot be collected:\n{conductor.heard.getvalue()[-3000:]}")
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise HarnessError(f"pytest ended with {code}:\n{conductor.heard.getvalue()[-3000:]}")
    if not recorder.results:
        raise NothingSelected(list(plan.select))


class Lister:
    """A pytest plugin that keeps the collected cases and runs none."""

    def __init__(self) -> None:
        self.cases: list[CaseInfo] = []
        self.heard = io.StringIO()

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        mute(config, self.heard)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.cases = [item.stash[CASE] for item in session.items if CASE in item.stash]


def cases(select: Sequence[str] = ()) -> list[CaseInfo]:
    """Every case that the selection names."""
    lister = Lister()
    code = pytest.main([*Plan(select=select, workers=1).arguments(), "--collect-only"], plugins=[lister])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise HarnessError(f"the suites cannot be collected:\n{lister.heard.getvalue()[-3000:]}")
    return lister.cases
