"""Which failures are taken for one fault, what of two texts differs, and which part of a timeline is shown."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.result import CaseResult, Failure, TimelineEntry, Verdict
from harness.subscribers.faults import around_the_break, differing, faults, in_order_of
from selftests.harness.conftest import made


def failing(case: str, expected: str, observed: str, clause: str = "PB-2", **fields: object) -> CaseResult:
    failure = Failure(f"expected {expected}", clause, "", expected, observed)
    return made(f"peerbus/broker/{case}", Verdict.FAIL, failure=failure, **fields)


def grouped(*results: CaseResult) -> list[list[str]]:
    found = faults(results, lambda result: result.verdict)
    return [[result.case.split("/", 2)[2] for result in fault.results] for fault in found]


def said(*texts: str, sender: str = "broker") -> list[TimelineEntry]:
    return [TimelineEntry(n / 100, sender, "peer", "frame", text) for n, text in enumerate(texts)]


def test_numbers_kept_as_doubles_are_one_fault() -> None:
    """However many vectors show it, and whatever stands around the number."""
    numbers = [2**53 + 1, 2**60 + 1, 2**63 - 1, -(2**53) - 1]
    results = [failing(f"n/{n}", f'{{"a":"{n}x","n":{n}}}', f'{{"a":"{n}x","n":{int(float(n))}}}') for n in numbers]
    assert len(grouped(*results)) == 1


def test_the_order_of_members_is_no_difference() -> None:
    """What differs is found among them, whoever wrote them in which order."""
    assert (
        in_order_of("{'kind': 'ping', 'ts': 1}", "{'ts': 2, 'x': 0, 'kind': 'ping'}")
        == "{'kind': 'ping', 'ts': 2, 'x': 0}"
    )
    for text in ("nothing within 5 s", "[1, 2]", "{'ts': 1", '{"ts":1}', "{" * 5000):
        assert in_order_of("{'ts': 1}", text) == text


@pytest.mark.parametrize(
    "other",
    [
        failing("a/two", '{"n": 1}', '{"n": "1"}'),
        failing("a/two", '{"n": 1}', '{"n": 1, "x": 2}'),
        failing("a/two", "Deliver", "nothing within 5 s"),
        failing("a/two", '{"n": 1}', '{"n": 2}', clause="PB-1"),
        made("peerbus/broker/a/two", Verdict.CRASHED, failure=Failure("exit code 3", "PB-2")),
    ],
    ids=["another type", "a field more", "silence", "another clause", "a crash"],
)
def test_another_difference_is_another_fault(other: CaseResult) -> None:
    assert len(grouped(failing("a/one", '{"n": 1}', '{"n": 2}'), other)) == 2


def test_the_shortest_example_comes_first_and_the_most_frequent_fault() -> None:
    rare = failing("b/rare", "Deliver", "Error")
    long, short = (failing(f"b/{n}", "x 1", "x 2", timeline=said(*"ab" * n)) for n in (9, 2))
    assert grouped(rare, long, short) == [["b/2", "b/9"], ["b/rare"]]


@pytest.mark.parametrize(
    ("expected", "observed", "parts"),
    [
        ("00a1ff", "00a2ff", ("a1", "a2")),
        ("messages: 100 in order", "messages: 99 in order", ("100", "99")),
        ("abcdef", "abcxdef", ("", "x")),
        ("same", "same", None),
        ("Deliver", "nothing within 5 s", None),
    ],
)
def test_the_differing_part(expected: str, observed: str, parts: tuple[str, str] | None) -> None:
    found = differing(expected, observed)
    assert (found and (expected[found[0]], observed[found[1]])) == parts


@given(st.text("01a "), st.text("01a "))
def test_what_is_left_of_a_difference_is_the_same_on_both_sides(expected: str, observed: str) -> None:
    if found := differing(expected, observed):
        ours, theirs = found
        assert expected[: ours.start] == observed[: theirs.start]
        assert expected[ours.stop :] == observed[theirs.stop :]


def lines(timeline: Sequence[TimelineEntry], observed: str = "nothing") -> list[str]:
    shown = around_the_break(failing("c/x", "Deliver", observed, timeline=list(timeline)))
    return [line if line.lstrip().startswith("...") else line[0] + line.split("frame  ")[1] for line in shown]


def test_what_repeats_does_not_hide_the_frame_that_matters() -> None:
    """Twenty deliveries that differ in their numbers, each with its ack, are told as the first and the last."""
    entries = said("hello", *(text for n in range(20) for text in (f"deliver m{n}", f"ack m{n}")), "goodbye")
    assert lines(entries) == [
        " hello",
        " deliver m0",
        " ack m0",
        "           ... 36 more like these",
        " deliver m19",
        " ack m19",
        " goodbye",
    ]


def test_the_part_around_the_break_is_shown_and_the_break_is_marked() -> None:
    """What was observed stands somewhere: so much before it and a little behind."""
    words = [chr(ord("a") + n) * 3 for n in range(26)]
    shown = lines(said(*words), observed="ppp")
    assert shown[0] == "... 3 earlier entries"
    assert shown[-1] == "... 6 later entries"
    assert [line for line in shown if line.startswith(">")] == [">ppp"]


@given(st.lists(st.sampled_from(["deliver m1", "deliver m2", "ack 7", "close", "x"]), max_size=60))
def test_every_entry_is_shown_or_counted(texts: list[str]) -> None:
    shown = around_the_break(failing("c/x", "a", "nothing", timeline=said(*texts)))
    counts = [int(line.split()[1]) for line in shown if line.lstrip().startswith("...")]
    assert sum(counts) + len(shown) - len(counts) == len(texts)
