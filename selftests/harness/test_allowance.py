"""How much of what a target says is read and kept."""

from __future__ import annotations

from harness.bounds import HEAVY, MOST_HEAVY
from harness.judging.allowance import Allowance


def test_of_messages_that_take_long_to_read_so_many_are_read() -> None:
    """Whatever weighs less is read as ever."""
    allowance = Allowance()
    assert [allowance.reads(HEAVY + 1) for _ in range(MOST_HEAVY + 2)] == [True] * MOST_HEAVY + [False] * 2
    assert allowance.reads(HEAVY)
