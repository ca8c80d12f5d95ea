"""Promises are pure functions of what was said and heard."""

from __future__ import annotations

import pytest

from harness.matrix.history import History, disordered, lost, repeated, strange
from suites.frog.pairing import signals_arrive
from suites.peerbus.promises import fenced


@pytest.mark.parametrize("heard", [["a", "b", "c"], ["a", "c"], [], ["a", "a", "c"]])
def test_order_is_of_what_was_heard(heard: list[str]) -> None:
    """Gaps and repeats are other promises' business."""
    assert not list(disordered("X", ["a", "b", "c"], heard))


def test_a_later_message_before_an_earlier_one_is_disorder() -> None:
    [breach] = disordered("X", ["a", "b", "c"], ["a", "c", "b"])
    assert breach.observed.startswith("b ")


def test_what_is_owed_and_not_heard_is_lost() -> None:
    [breach] = lost("X", ["a", "b"], ["b"])
    assert "a" in breach.observed
    assert not list(lost("X", ["b"], ["b", "more"]))


def test_twice_is_a_repeat_and_once_is_none() -> None:
    assert [b.observed for b in repeated("X", ["a", "b", "a"])] == ["2 times: a"]
    assert not list(repeated("X", ["a", "b"]))


def test_what_nobody_sent_is_strange_by_one_byte() -> None:
    assert list(strange("X", ["ab"], ["ab", "aB"]))
    assert not list(strange("X", ["ab", "never heard"], ["ab"]))


async def test_waiting_ends_with_what_was_waited_for_and_not_before() -> None:
    history = History()
    assert not await history.until(lambda: bool(history.told("a", "message")), 0.01)
    history.add("a", "told", "message")
    assert await history.until(lambda: bool(history.told("a", "message")), 0.01)


def test_an_answer_knows_its_question() -> None:
    """Two questions at once, answered the other way round."""
    history = History()
    first, second = history.add("a", "asked", "send", {"n": 1}), history.add("a", "asked", "send", {"n": 2})
    history.add("a", "answered", "send", {"id": "y"}, of=second)
    history.add("a", "answered", "send", {"id": "x"}, of=first)
    assert [(q.data["n"], a.data["id"]) for _, q, _, a in history.answers("a", "send")] == [(2, "y"), (1, "x")]


@pytest.mark.parametrize(("ends", "owed"), [(("stop", "gone"), True), (("gone", "stop"), False)])
def test_a_connection_that_ends_because_its_host_goes_takes_no_promise_away(ends: tuple[str, str], owed: bool) -> None:
    """Behind the proxy every connection is seen to end."""
    history = History()
    history.add("harness", "note", "peers", {"caller": "N:A", "callee": "N:B"})
    looked_up = history.add("caller", "asked", "lookup", {"peer_key": "N:B"})
    history.add("caller", "answered", "lookup", {"route_id": "R"}, of=looked_up)
    signalled = history.add("caller", "asked", "signal", {"route_id": "R", "kind": "OFFER", "payload": "00"})
    history.add("caller", "answered", "signal", {}, of=signalled)
    for what in ends:
        history.add(*(("callee", "asked", what) if what == "stop" else ("server", "fault", what)))
    assert [breach.clause for breach in signals_arrive(history, "cut")] == ["FROG-26-03"] * owed


@pytest.mark.parametrize(("what", "owed"), [("delay", ['"x"']), ("stall", ['"x"']), ("cut", []), ("gone", [])])
def test_what_is_only_late_takes_no_promise_of_peerbus_away(what: str, owed: list[str]) -> None:
    """A line has its end's name, and tells of all that is done to it; only a connection that is lost leaves a fence open."""
    history = History()
    sent = history.add("sender", "asked", "send", {"to": "anna", "body": '"x"'})
    history.add("sender", "answered", "send", {"id": "x"}, of=sent)
    fence = history.add("sender", "asked", "peers")
    history.add("sender", "fault", what, {"connection": 0})
    history.add("sender", "answered", "peers", {"names": []}, of=fence)
    assert fenced(history, "sender") == owed
