"""Runs selected cases through pytest and records them; also lists what could be run."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from harness.catalogue.cases import CaseInfo
from harness.catalogue.protocols import chosen
from harness.errors import HarnessError, NothingSelected
from harness.interrupts import heard
from harness.places import ROOT, SUITES
from harness.running.forks import Forks, possible
from harness.running.plugin import CASE, Judge
from harness.running.recorder import Recorder


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
    one_each: bool = False  # of every check only the first case, with all its vectors or a few random runs
    fair: bool = False  # of tours, the walks among ends that conform
    mutants: str = ""
    mutant: Sequence[str] = ()
    other_mutants: bool = False  # those that break none of a case's clauses

    def folders(self) -> list[str]:
        """The suites that the selection can touch."""
        return [str(SUITES / protocol) for protocol in chosen(self.select)]

    def processes(self) -> int:
        """Whole protocols are worth a second process; a part of one is done before that has started."""
        part = bool(self.select) and all("/" in pattern for pattern in self.select)
        return (self.workers or (1 if part else min(2, os.cpu_count() or 1))) if possible() else 1

    def arguments(self) -> list[str]:
        repeated = (
            ("--select", self.select),
            ("--option", self.options),
            ("--role", self.roles),
            ("--mutant", self.mutant),
        )
        # Nobody reads pytest's word on a failing case: its own style of it would parse every source file on the way.
        arguments = [*self.folders(), "-c", str(SUITES / "pytest.ini"), f"--rootdir={ROOT}", "-q", "--tb=native"]
        arguments += ["--target", self.target, "--seed", str(self.seed), "--patience", str(self.patience)]
        arguments += [f"{option}={value}" for option, values in repeated for value in values]
        arguments += ["--slow"] if self.slow else []
        arguments += ["--one-each"] if self.one_each else []
        arguments += ["--fair"] if self.fair else []
        arguments += ["--mutants", self.mutants] if self.mutants else []
        arguments += ["--other-mutants"] if self.other_mutants else []
        arguments += ["--capture=no"] if self.processes() > 1 else []  # each of them has its own
        return arguments


class Interruptible:
    """Half a pytest plugin: pytest swallows an interrupt and tells of it in an exit code that means other things too."""

    interrupt: KeyboardInterrupt | None = None

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        heard()
        if isinstance(excinfo.value, KeyboardInterrupt):
            self.interrupt = excinfo.value


class Conductor(Interruptible):
    """A pytest plugin of the controlling process: mutes pytest and connects its judge with the recorder."""

    def __init__(self, recorder: Recorder, processes: int) -> None:
        self.recorder = recorder
        self.heard = io.StringIO()
        self._forks = Forks(processes, self._start) if processes > 1 else None

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        mute(config, self.heard)
        judge = config.pluginmanager.getplugin("touchstone-judge")
        if isinstance(judge, Judge):
            judge.recorder = self.recorder
        if self._forks:
            config.pluginmanager.register(self._forks)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if not self._forks:
            self._start(len(session.items))

    def _start(self, planned: int) -> None:
        if planned:
            self.recorder.start(planned)


def mute(config: pytest.Config, into: io.StringIO) -> None:
    """pytest's own report goes into a buffer: ours is the one people read."""
    reporter: Any = config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None:
        reporter._tw._file = into
        reporter._tw.hasmarkup = False


def run(plan: Plan, recorder: Recorder, plugins: Sequence[object] = ()) -> None:
    """Run the plan; the recorder has every result. Raises for a run that could not be one."""
    conductor = Conductor(recorder, plan.processes())
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    os.environ.pop("PYTEST_ADDOPTS", None)  # meant for a project's own tests
    code = pytest.main(plan.arguments(), plugins=[conductor, *plugins])
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise NothingSelected(list(plan.select))
    if recorder.trouble:
        raise recorder.trouble
    if conductor.interrupt:
        raise conductor.interrupt
    if code == pytest.ExitCode.INTERRUPTED:
        raise HarnessError(f"the suites cannot be collected:\n{conductor.heard.getvalue()[-3000:]}")
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
