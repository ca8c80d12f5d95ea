"""Several processes for one run: the cases are collected once, then every process is a fork of the one that has them.

The parent hands out work and hears what came of it; it runs nothing itself. So the first verdict comes as soon as with one
process, and none of them imports or collects anything again.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import multiprocessing
import os
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.interrupts import heard
from harness.running.plugin import CASE, Judge
from harness.targets.workdir import sweep

AHEAD = 2
"""Items that a process has been given: the one that it runs, and the one behind it, for which something may be left standing."""

END_S = 3.0
"""What a process that is told to end may take to stop its targets; somebody waits. They end with it in any case."""

Unit = Sequence[int]
"""Items that one process runs in a row, by their numbers."""


def possible() -> bool:
    return "fork" in multiprocessing.get_all_start_methods()


@dataclass(eq=False)
class Worker:
    """The parent's view of one process."""

    name: str
    process: ForkProcess
    line: Connection
    given: deque[int] = field(default_factory=deque)  # in the order in which it runs them
    told_all: bool = False

    def give(self, waiting: deque[Unit]) -> None:
        """As much as it needs to go on, or that there is no more."""
        with contextlib.suppress(BrokenPipeError):  # its end is heard as such
            while waiting and len(self.given) < AHEAD:
                unit = waiting.popleft()
                self.given.extend(unit)
                self.line.send(unit)
            if not waiting and not self.told_all:
                self.told_all = True
                self.line.send(None)


class Forks:
    """A pytest plugin that replaces the loop over items."""

    def __init__(self, processes: int, begun: Callable[[int], None]) -> None:
        self._processes, self._begun = processes, begun
        self._workers: dict[Connection, Worker] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or session.config.option.collectonly:
            return None  # pytest's own loop says why
        waiting = deque(in_turn(session.items))
        try:
            for number in range(min(self._processes, len(waiting))):
                self._start(session, f"w{number}")
            self._begun(len(session.items))  # behind the forks: whoever shows it may use threads
            self._hand_out(session, waiting)
        finally:
            self._end()
        return True

    # -- the parent -----------------------------------------------------------------------------------------------

    def _start(self, session: pytest.Session, name: str) -> Worker:
        ours, theirs = multiprocessing.Pipe()
        fork = multiprocessing.get_context("fork").Process
        process = fork(target=work, args=(session, theirs, [*self._workers, ours], name), daemon=True)
        process.start()
        theirs.close()
        self._workers[ours] = worker = Worker(name, process, ours)
        return worker

    def _hand_out(self, session: pytest.Session, waiting: deque[Unit]) -> None:
        for worker in self._workers.values():
            worker.give(waiting)
        while self._workers:
            for line in wait(list(self._workers)):
                assert isinstance(line, Connection)
                worker = self._workers[line]
                try:
                    self._heard(session, worker, line.recv())
                except (EOFError, ConnectionResetError):
                    self._ended(session, worker, waiting)
                else:
                    worker.give(waiting)

    def _heard(self, session: pytest.Session, worker: Worker, said: list[dict[str, Any]] | str) -> None:
        if isinstance(said, str):
            raise HarnessError(said)
        worker.given.popleft()
        for data in said:
            report = session.config.hook.pytest_report_from_serializable(config=session.config, data=data)
            session.config.hook.pytest_runtest_logreport(report=report)

    def _ended(self, session: pytest.Session, worker: Worker, waiting: deque[Unit]) -> None:
        """As it should, or in the middle of an item: that one has its result, the others go to a new process."""
        worker.process.join()
        del self._workers[worker.line]
        worker.line.close()
        if not worker.given:
            return
        judge = session.config.pluginmanager.getplugin("touchstone-judge")
        assert isinstance(judge, Judge)
        judge.died(session.items[worker.given.popleft()], worker.process.exitcode)
        if worker.given:
            waiting.appendleft(tuple(worker.given))
        if waiting:
            self._start(session, worker.name).give(waiting)

    def _end(self) -> None:
        heard()  # if that is why
        for worker in self._workers.values():
            worker.process.terminate()
        for worker in self._workers.values():
            worker.process.join(END_S)
            worker.process.kill()
            worker.process.join()
            worker.line.close()
        if self._workers:
            sweep()  # what those had who did not end by themselves
        self._workers.clear()


def in_turn(items: Sequence[pytest.Item]) -> Iterator[Unit]:
    """The units in the order in which they are handed out: long ones early, or one process is left with the last of them.

    The first process gets short ones, for somebody waits for a verdict; no long one is given with another.
    """
    found = list(units(items))
    short = (unit for unit in found if not explores(items[unit[0]]))
    yield from itertools.islice(short, AHEAD)
    for unit in found:
        if explores(items[unit[0]]):
            yield unit
            yield from itertools.islice(short, AHEAD - 1)
    yield from short


def explores(item: pytest.Item) -> bool:
    return CASE in item.stash and item.stash[CASE].explores


def units(items: Sequence[pytest.Item]) -> Iterator[Unit]:
    """Each item by itself; those marked `together` under one name in a row, where the first of them stands."""
    found: dict[Any, list[int]] = {}
    for number, item in enumerate(items):
        mark = item.get_closest_marker("together")
        found.setdefault(mark.args if mark else number, []).append(number)
    yield from found.values()


# -- the child ---------------------------------------------------------------------------------------------------------


def work(session: pytest.Session, line: Connection, inherited: Sequence[Connection], name: str) -> None:
    """What a fork does until it is told that there is no more; it says the reports of each item, or what went wrong."""
    for other in inherited:
        other.close()  # or the end of the one at the other side would never be heard
    atexit._clear()  # what the parent has opened is the parent's to close
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends its processes
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    silence()
    judge = session.config.pluginmanager.getplugin("touchstone-judge")
    assert isinstance(judge, Judge)
    judge.recorder, judge.worker = None, name
    reporter = Reporter(session.config)
    session.config.pluginmanager.register(reporter)
    try:
        for item, following in in_pairs(session.items, line):
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            line.send(reporter.taken())
    except (KeyboardInterrupt, EOFError, BrokenPipeError):  # the parent ends, or has ended
        with contextlib.suppress(Exception):
            session._setupstate.teardown_exact(None)
    except BaseException:
        line.send(traceback.format_exc())
    finally:
        atexit._run_exitfuncs()


def silence() -> None:
    """What a target in this process prints is nobody's: the terminal is the parent's."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def in_pairs(items: Sequence[pytest.Item], line: Connection) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Each item with the one behind it: what the two share is left standing between them."""
    numbers = (number for unit in iter(line.recv, None) for number in unit)
    number = next(numbers, None)
    while number is not None:
        following = next(numbers, None)
        yield items[number], None if following is None else items[following]
        number = following


class Reporter:
    """Keeps the reports of an item, as they can be sent."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reports: list[dict[str, Any]] = []

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports.append(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))

    def taken(self) -> list[dict[str, Any]]:
        reports, self._reports = self._reports, []
        return reports
