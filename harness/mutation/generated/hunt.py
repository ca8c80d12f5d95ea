"""The suites against one changed reference after the other, until the first kill.

The cases are collected once; then every hunt is a fork of the collecting process, with a target of its own. A mutant that
spins is ended with its process, and nothing that it broke is left for the next.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import shutil
import signal
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from harness.catalogue.cases import EXPLORING
from harness.errors import HarnessError
from harness.judging.result import CaseResult, Verdict
from harness.mutation.generated import copies
from harness.mutation.generated.changes import Change
from harness.mutation.generated.reach import Called, Calls, where
from harness.mutation.mutant import Mutant
from harness.mutation.plugin import KILLS
from harness.running.plan import Interruptible, Plan, mute
from harness.running.plugin import CASE

PATIENCE_S = 1.0
SLOWEST = 6.0
"""A mutant that takes so many times as long as the honest reference does not get on: it spins, or waits in every case."""
STALLED_S = 20.0
"""One item that takes so long, and longer than all of them with the honest reference, does not end."""
HONEST_S = 600.0
"""One item of the honest reference, of which it is not known yet how long it takes here."""
POLL_S = 0.005
PROGRESS = "progress"
TOURS = "tours"


class Outcome(StrEnum):
    KILLED = "killed"
    SURVIVED = "survived"
    INCOMPETENT = "incompetent"  # it does not even start


@dataclass(frozen=True)
class Hunted:
    """How one mutant ended."""

    name: str
    outcome: Outcome
    by: str = ""  # the case that killed it
    clauses: tuple[str, ...] = ()
    verdict: str = ""
    seconds: float = 0.0
    called: dict[str, Called] = field(default_factory=dict)  # functions and their cases, where somebody listened
    took: dict[str, float] = field(default_factory=dict)  # seconds of each case, there too


Told = Callable[[Hunted], None]


@dataclass(frozen=True)
class Quarry:
    """What one fork hunts: how its process is prepared, and which cases can tell."""

    name: str
    prepare: Callable[[], None]  # raises for what does not even start
    wanted: Callable[[str], bool]  # by case id
    kills: frozenset[Verdict] = KILLS
    calls: Calls | None = None  # listens to what the cases call


@dataclass(eq=False)
class Running:
    quarry: Quarry
    folder: Path
    began: float


@dataclass(eq=False)
class Hunt(Interruptible):
    """A pytest plugin that replaces the loop over items by a loop over mutants."""

    quarries: Sequence[Quarry]
    told: Told = lambda hunted: None
    workers: int = 1
    results: list[Hunted] = field(default_factory=list)
    baseline_s: float = 0.0
    took: dict[str, float] = field(default_factory=dict)  # by the honest reference
    _killers: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        mute(config, io.StringIO())
        # Nobody reads the example that kills a mutant: it is not made smaller.
        phases = [Phase.explicit, Phase.generate, Phase.target]
        settings.register_profile("touchstone-hunt", parent=settings.get_profile("touchstone"), phases=phases)
        settings.load_profile("touchstone-hunt")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if not session.items:
            raise HarnessError("there are no cases to hunt with")
        waiting = iter(self.quarries)
        running: dict[int, Running] = {}
        try:
            while True:
                while len(running) < self.workers and (quarry := next(waiting, None)):
                    pid, one = self._fork(session, quarry)
                    running[pid] = one
                if not running:
                    return True
                self._reap(running)
        finally:
            for pid, one in running.items():  # only where the hunt is interrupted
                _end(pid)
                shutil.rmtree(one.folder, ignore_errors=True)

    # -- the child ------------------------------------------------------------------------------------------------

    def _fork(self, session: pytest.Session, quarry: Quarry) -> tuple[int, Running]:
        folder = Path(tempfile.mkdtemp(prefix="touchstone-hunt-"))
        pid = os.fork()
        if pid:
            return pid, Running(quarry, folder, time.monotonic())
        try:
            os.setpgid(0, 0)
            self._hunt(session, quarry, folder)
        finally:
            os._exit(1)

    def _hunt(self, session: pytest.Session, quarry: Quarry, folder: Path) -> None:
        """In a process of its own, which ends here."""
        tempfile.tempdir = str(folder)
        report = folder / "report.json"
        try:
            quarry.prepare()
        except BaseException as error:  # a changed module may raise anything when it is imported
            _write(report, Outcome.INCOMPETENT, by=repr(error)[:200])
        items = [item for item in session.items if CASE in item.stash and quarry.wanted(item.stash[CASE].id)]
        items.sort(key=self._order)
        began = time.monotonic()

        class Watcher:
            @staticmethod
            def pytest_touchstone_enough(item: pytest.Item, results: list[CaseResult]) -> bool | None:
                """One kill is: what else an item has to try is left out."""
                return True if any(result.verdict in quarry.kills for result in results) else None

            @staticmethod
            def pytest_touchstone_judged(item: pytest.Item, results: list[CaseResult]) -> None:
                for result in results:
                    if result.verdict in quarry.kills:
                        said = {"item": item.nodeid, "clauses": result.requirements, "verdict": result.verdict}
                        _write(report, Outcome.KILLED, by=result.case, took=time.monotonic() - began, **said)

        session.config.pluginmanager.register(Watcher())
        if quarry.calls:
            quarry.calls.listen()
        took: dict[str, float] = {}
        for n, item in enumerate(items):
            following = items[n + 1] if n + 1 < len(items) else None
            began = time.monotonic()
            (folder / PROGRESS).touch()
            if quarry.calls:
                quarry.calls.at(item.stash[CASE].id)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            took[item.stash[CASE].id] = time.monotonic() - began
        heard = {"called": quarry.calls.names(), "each": took} if quarry.calls else {}
        _write(report, Outcome.SURVIVED, **heard)

    def _order(self, item: pytest.Item) -> tuple[float, float]:
        """What has killed often and quickly goes first, and of what has not killed yet what takes least."""
        return -self._killers[item.nodeid], self.took.get(item.stash[CASE].id, 0.0)

    # -- the parent -----------------------------------------------------------------------------------------------

    def _reap(self, running: dict[int, Running]) -> None:
        time.sleep(POLL_S)  # no event tells which comes first, a child's end or its time limit
        for pid, one in list(running.items()):
            seconds = time.monotonic() - one.began
            ended, _ = os.waitpid(pid, os.WNOHANG)
            if not ended and seconds < self._limit_s and not self._is_stalled(one):
                continue
            _end(pid)
            del running[pid]
            self._note(one, self._read(one, seconds, spun=not ended))
            shutil.rmtree(one.folder, ignore_errors=True)

    @property
    def _limit_s(self) -> float:
        return max(60.0, self.baseline_s * SLOWEST) if self.baseline_s else math.inf

    def _is_stalled(self, one: Running) -> bool:
        progress = one.folder / PROGRESS
        longest = max(STALLED_S, self.baseline_s) if self.baseline_s else HONEST_S
        return progress.exists() and time.time() - progress.stat().st_mtime > longest

    def _read(self, one: Running, seconds: float, spun: bool) -> Hunted:
        name = one.quarry.name
        try:
            said = json.loads((one.folder / "report.json").read_bytes())
        except (OSError, ValueError):
            why = "it does not end" if spun else "it ends the process"
            return Hunted(name, Outcome.KILLED, by=why, verdict="timeout" if spun else "crashed", seconds=seconds)
        self._killers[said.get("item", "")] += 1 / max(0.05, said.get("took", 1.0))
        clauses = tuple(said.get("clauses", ()))
        told = (said.get("by", ""), clauses, said.get("verdict", ""), seconds)
        return Hunted(name, Outcome(said["outcome"]), *told, said.get("called", {}), said.get("each", {}))

    def _note(self, one: Running, hunted: Hunted) -> None:
        self.results.append(hunted)
        self.told(hunted)


def _write(report: Path, outcome: Outcome, **said: Any) -> None:
    """The last word of a child: nothing is tidied up, its process takes everything along."""
    report.write_text(json.dumps({"outcome": outcome, **said}))
    os._exit(0)


def _end(pid: int) -> None:
    """A child with all that it started, whether it has ended already or not."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


class Hunter:
    """Hunts with the cases of one protocol."""

    def __init__(
        self, protocol: str, *, seed: int = 0, workers: int = 1, told: Told = lambda hunted: None, select: str = ""
    ) -> None:
        self.protocol, self._workers, self._told = protocol, workers, told
        target, select = f"python:{copies.__name__}:current", select or protocol
        self._plan = Plan(target, [select], seed=seed, patience=PATIENCE_S, workers=1)
        self._baseline_s = 0.0
        self.called: dict[str, Called] = {}
        self.took: dict[str, float] = {}

    def hunt(self, quarries: Sequence[Quarry]) -> list[Hunted]:
        """Hunt them all; before the first, the honest copy, which has to survive and shows how long the cases take."""
        if not quarries:
            return []
        if not self._baseline_s:
            self.listen()
        return self._run(Hunt(quarries, self._told, self._workers, baseline_s=self._baseline_s, took=self.took))

    def listen(self) -> None:
        """The honest copy has to survive; it shows how long the cases take, and what they call."""
        calls = Calls(self.protocol)
        honest = calls.starts(copies.copied(self.protocol))
        [found] = self._run(Hunt([Quarry("honest", lambda: copies.use(honest), lambda case: True, calls=calls)]))
        if found.outcome is not Outcome.SURVIVED:
            raise HarnessError(f"the suites do not let the reference itself pass: {found}")
        self._baseline_s, self.called, self.took = found.seconds, found.called, found.took

    def takes(self, of: Callable[[str], bool]) -> float:
        """Seconds that the honest copy took for these cases."""
        return sum(seconds for case, seconds in self.took.items() if of(case))

    def _run(self, plugin: Hunt) -> list[Hunted]:
        pytest.main(self._plan.arguments(), plugins=[plugin])
        if plugin.interrupt:
            raise plugin.interrupt
        if len(plugin.results) != len(plugin.quarries):
            raise HarnessError(
                f"the suites of {self.protocol} cannot be collected: run `touchstone cases {self.protocol}`"
            )
        return plugin.results


def as_target(protocol: str, change: Change, called: Called, of: Callable[[str], bool] = lambda case: True) -> Quarry:
    """The change in the target. Only cases that call its function there can tell."""
    shows = where(change, called)

    def prepare() -> None:
        copies.use(copies.copied(protocol, change))

    return Quarry(change.name, prepare, lambda case: of(case) and shows(case))


def as_judge(
    protocol: str, change: Change, role: str, rival: Rival | None = None, called: Called | None = None
) -> Quarry:
    """The change in the oracle, where only cases that it judges can tell.

    The target is an honest copy or a variant: a false alarm gives the change away. Or it has a planted fault that the honest
    oracle sees: then a pass does. Where it was listened to what the cases call, only those that call its function can tell.
    """

    def prepare() -> None:
        copies.use(rival.make() if rival else copies.copied(protocol))
        copies.change_in_place(change)

    noticed = KILLS | {Verdict.ERROR}  # an oracle that does not run is not one that errs in silence
    judges = judged(protocol, role, TOURS if rival else "")
    shows = where(change, called) if called is not None else judges
    return Quarry(change.name, prepare, lambda case: judges(case) and shows(case), noticed)


@dataclass(frozen=True)
class Rival:
    """Another target for the oracle to judge: a planted fault, or a variant."""

    name: str
    make: Callable[[], copies.Factory]

    def before_the_honest(self, protocol: str, role: str) -> Quarry:
        judges, calls = judged(protocol, role, TOURS), Calls(protocol)
        return Quarry(self.name, lambda: copies.use(self.make()), judges, calls=calls)


def planted(mutant: Mutant) -> Rival:
    return Rival(mutant.name, lambda: copies.planted(mutant))


def variant(protocol: str, name: str) -> Rival:
    return Rival(name, lambda: copies.variant(protocol, name))


def by_oracle(case: str) -> bool:
    """Is the oracle the only judge of this case?"""
    return group_of(case).endswith(EXPLORING)


def group_of(case: str) -> str:
    return case.split("/")[2]


def by_cases(case: str) -> bool:
    """Does the case say by itself what it expects?"""
    return not by_oracle(case)


def judged(protocol: str, role: str, group: str = "") -> Callable[[str], bool]:
    """Cases that the oracle of a role judges; of one kind of groups, where there are many targets to judge."""
    return lambda case: case.startswith(f"{protocol}/{role}/") and by_oracle(case) and group_of(case).endswith(group)
