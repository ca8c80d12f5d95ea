"""Clocks: the one of a shim, which the harness pushes, and the one of a timeline."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from harness.catalogue.cases import CaseInfo
from harness.judging import trial as trials
from harness.judging.result import TargetInfo
from harness.judging.trial import Trial
from harness.shim import Clock, Shim, clock
from harness.targets import Target
from harness.targets.inprocess import InProcess


def test_a_shims_clock_is_real_time_and_what_it_was_pushed(monkeypatch: pytest.MonkeyPatch) -> None:
    """One clock's push is not another's."""
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: 100.0))
    pushed, other = Clock(), Clock()
    pushed.ahead += 2.5
    pushed.ahead += 0.25
    assert (pushed(), other()) == (102.75, 100.0)


def test_the_timeline_of_each_vector_begins_at_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at the beginning of its group, which may be minutes away."""
    now = iter([107.0, 160.0, 160.5])
    monkeypatch.setattr(trials, "time", SimpleNamespace(perf_counter=lambda: next(now)))
    target = Target(TargetInfo("fake"), InProcess(Shim))
    trial = Trial(CaseInfo("a/b/c/d", "a", "b", "c", ()), target, _began=100.0)
    trial.said("harness", "target", "frame", "of the first")
    assert [entry.t for entry in trial.timeline] == [7.0]
    trial.restart()
    trial.said("harness", "target", "frame", "of the second")
    assert [(entry.t, entry.text) for entry in trial.timeline] == [(0.5, "of the second")]
