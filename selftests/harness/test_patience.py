"""Patience: one of each kind is waited for in full, and what came after all is trusted again."""

from __future__ import annotations

import pytest

from harness.judging.patience import AGAIN, FIRST, FLOOR_S, HOPELESS, LEAST_S, SILENT, Patience, fading
from harness.judging.trial import kind_of

FULL_S = 5.0


def in_vain(patience: Patience, kind: str) -> None:
    with pytest.raises(TimeoutError), patience.waiting(kind, FULL_S):
        raise TimeoutError


def test_what_was_never_waited_for_in_vain_gets_the_whole_patience() -> None:
    """A target that is slow and right is right."""
    patience = Patience()
    patience.paid("Pong", 4.0)
    assert patience.seconds("Pong", FULL_S) == patience.seconds("Peers", FULL_S) == FULL_S


def test_what_was_waited_for_in_vain_is_waited_for_less() -> None:
    """And only that: another kind has its own first time."""
    patience = Patience()
    in_vain(patience, "Pong")
    assert LEAST_S <= patience.seconds("Pong", FULL_S) <= FULL_S / 5
    assert patience.seconds("Peers", FULL_S) == FULL_S


def test_a_target_that_was_slow_before_it_failed_stays_allowed_to_be_slow() -> None:
    """One that took a second for a Pong is not failed for taking a second again."""
    patience = Patience()
    patience.paid("Pong", 1.0)
    in_vain(patience, "Pong")
    assert patience.seconds("Pong", FULL_S) == 4.0


def test_what_comes_after_all_is_trusted_again() -> None:
    """A single silence costs one case, not the ones that follow."""
    patience = Patience()
    in_vain(patience, "Pong")
    with patience.waiting("Pong", FULL_S):
        pass
    assert patience.seconds("Pong", FULL_S) == FULL_S


def test_what_never_comes_gets_the_least_in_the_end() -> None:
    """A target that does nothing right would cost half a second in each of many cases; one that ever paid keeps its time."""
    patience = Patience()
    patience.paid("Peers", 0.001)
    for kind in ("Pong", "Peers"):
        for _ in range(HOPELESS):
            in_vain(patience, kind)
    assert patience.seconds("Pong", FULL_S) == LEAST_S < patience.seconds("Peers", FULL_S)
    patience.paid("Pong", 0.01)
    assert patience.seconds("Pong", FULL_S) == FULL_S


def test_thousands_of_waits_in_vain_cost_seconds() -> None:
    """The suite with the most cases, at a target that never answers: far less than its minute."""
    patience, spent = Patience(), 0.0
    for _ in range(4_000):
        spent += patience.seconds("decode", FULL_S)
        in_vain(patience, "decode")
    assert FULL_S < spent < 12 * FULL_S + 4_000 * FLOOR_S
    assert patience.within("decode", 0.005) == "0.005 s: it was waited for 3999 times before, and never came"


def test_who_has_done_something_right_is_not_hurried() -> None:
    """What it has not done a thousand times it may still do, on a machine that is busy: it gets a scheduler's worst."""
    patience = Patience()
    patience.paid("Peers", 0.001)
    for _ in range(1_000):
        in_vain(patience, "Pong")
    assert patience.seconds("Pong", FULL_S) == LEAST_S


def test_what_is_hopeless_is_waited_for_as_before_now_and_then() -> None:
    """So a target that wakes up is seen to; what it then pays is trusted again."""
    assert [fading(n) for n in range(2 * AGAIN)].count(LEAST_S) == 3
    assert min(map(fading, range(9_999))) == FLOOR_S


def test_who_does_nothing_right_gets_less_for_each_further_kind() -> None:
    """To say hello, to start and to be connected to is nothing yet; the first thing that is right ends it."""
    patience = Patience()
    for kind in ("hello", "start", "a connection"):
        patience.paid(kind, 0.01, formal=True)
    for n in range(SILENT):
        assert patience.seconds(f"kind {n}", FULL_S) == FULL_S, "until so many were waited for in full"
        in_vain(patience, f"kind {n}")
    assert patience.seconds("another", FULL_S) == FIRST * FULL_S
    assert patience.seconds("kind 0", FULL_S) == LEAST_S
    patience.paid("a pong", 0.01)
    assert patience.seconds("another", FULL_S) == FULL_S
    assert patience.seconds("kind 0", FULL_S) > LEAST_S


def test_the_least_is_never_more_than_the_whole() -> None:
    """Somebody who asks for a tenth of a second gets it."""
    patience = Patience()
    in_vain(patience, "Pong")
    assert patience.seconds("Pong", 0.1) == 0.1


def test_a_kind_has_no_names_of_one_case() -> None:
    """Two cases wait for the same when only ids differ."""
    assert kind_of("an ack of m-19-2fe") == kind_of("an ack of m-7-001") != kind_of("a peers reply")
