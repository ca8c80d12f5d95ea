"""Work side by side: as much at once as the processors bear."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from harness.cli import lanes

IDLE, BUSY = "cpu  {used} 0 0 {idle} 0 0 0 0 0 0\n", "cpu  {used} 0 0 0 0 0 0 0 0 0\n"


class Meeting:
    """Work of which so many have to be under way at once; what ends sooner fails."""

    def __init__(self, of: int) -> None:
        self.barrier, self.most, self._now, self._one = threading.Barrier(of), 0, 0, threading.Lock()

    def __call__(self, one: int) -> int:
        self._count(1)
        self.barrier.wait(20)
        self._count(-1)
        return one * one

    def _count(self, more: int) -> None:
        with self._one:
            self._now += more
            self.most = max(self.most, self._now)


@pytest.fixture
def times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What Linux says of the processors, and nobody waits for it to change."""
    told = tmp_path / "stat"
    monkeypatch.setattr(lanes, "TIMES", told)
    monkeypatch.setattr(lanes, "LOOK_S", 0.0)
    return told


def test_each_processor_has_its_work_however_busy_they_are(times: Path) -> None:
    """As many as there are processors begin at once, and each is answered with what it came to."""
    times.write_text(BUSY.format(used=100))
    meeting = Meeting(lanes.CORES)
    assert dict(lanes.side_by_side(range(lanes.CORES), meeting)) == {n: n * n for n in range(lanes.CORES)}


def test_more_begins_while_processors_are_idle(times: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it can only meet if nothing waits for an end; and there is a most."""
    monkeypatch.setattr(lanes.Processors, "spare", lambda self: 0.5)
    meeting = Meeting(lanes.MOST)
    assert len(list(lanes.side_by_side(range(2 * lanes.MOST), meeting))) == 2 * lanes.MOST
    assert meeting.most == lanes.MOST


def test_nothing_more_begins_while_they_are_busy(times: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes.Processors, "spare", lambda self: 0.1)
    meeting = Meeting(lanes.CORES)
    assert len(list(lanes.side_by_side(range(3 * lanes.CORES), meeting))) == 3 * lanes.CORES
    assert meeting.most == lanes.CORES


@pytest.mark.parametrize(("used", "idle", "spare"), [(300, 700, 0.7), (1000, 0, 0.0), (0, 1000, 1.0)])
def test_what_is_spare_is_what_was_idle_since_the_last_look(times: Path, used: int, idle: int, spare: float) -> None:
    times.write_text(IDLE.format(used=5_000, idle=90_000))
    processors = lanes.Processors()
    times.write_text(IDLE.format(used=5_000 + used, idle=90_000 + idle))
    assert processors.spare() == spare


def test_where_nobody_says_none_is_spare(times: Path) -> None:
    """As on a machine that is no Linux."""
    assert lanes.Processors().spare() == 0.0


def test_what_fails_is_raised_and_ends_the_rest(times: Path) -> None:
    def fail(one: int) -> None:
        raise LookupError(str(one))

    times.write_text(BUSY.format(used=100))
    with pytest.raises(LookupError):
        list(lanes.side_by_side(range(10), fail))
