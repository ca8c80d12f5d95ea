"""The terminal report: what is surprising is shown with its evidence, the rest is counted."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable

import msgspec
import pytest
from rich.console import Console

from harness.judging.result import CaseResult, Event, Failure, Footer, Header, Verdict
from harness.running.recorder import Subscriber
from harness.subscribers import Terminal
from harness.subscribers.terminal import PLAIN_EVERY_S

Tell = Callable[..., None]


def shown(tell: Tell, *chosen: Event, live: bool = False, verbose: bool = False) -> str:
    out = io.StringIO()
    terminal: Subscriber = Terminal(Console(file=out, width=100, force_terminal=live), live, verbose)
    tell(terminal, chosen)
    return out.getvalue()


def replaced(events: list[Event], *results: CaseResult, **footer: object) -> list[Event]:
    return [events[0], *results, msgspec.structs.replace(events[-1], **footer)]


def test_a_failure_is_shown_with_all_its_evidence(tell: Tell) -> None:
    """Clause, reading, a sentence, case, expected, observed, the part of the timeline and the replay line, in that order."""
    text = shown(tell)
    block = text[text.index("PB-2\n") :]
    parts = [
        "our reading",
        "fail  what came is not what the clause asks for",
        "case      peerbus/broker/order/fails",
        "expected  a",
        "observed  b",
        "harness -> target  frame  say 0",
        "... 28 more like this",
        "harness -> target  frame  say 29",
        "replay    ./touchstone replay runs/r1/capsules/fail.json",
    ]
    assert [block.index(part) for part in parts] == sorted(block.index(part) for part in parts)


def test_the_last_step_of_a_long_example_is_shown(tell: Tell, events: list[Event], results: list[CaseResult]) -> None:
    """It is the one that failed."""
    steps = "\n".join(f"state.step({n})" for n in range(200))
    text = shown(tell, *replaced(events, msgspec.structs.replace(results[1], example=steps)))
    assert "state.step(199)" in text
    assert "state.step(0)" not in text


def test_failures_are_grouped_by_clause(tell: Tell) -> None:
    """One heading per clause, however many cases broke it; what names no clause comes first."""
    headings = [line for line in shown(tell).splitlines() if line.startswith(("PB-", "no clause"))]
    assert headings == ["no clause", "PB-1", "PB-2", "PB-3"]


def test_passes_are_quiet(tell: Tell) -> None:
    """A passed case is counted, not listed."""
    text = shown(tell)
    assert "order/passes" not in text
    assert "11 cases in 2.5 s: 2 pass, 3 fail, 1 warn, 1 info, 1 unsupported, 1 error, 1 timeout, 1 crashed" in text


def test_what_is_not_as_expected_is_said_last(tell: Tell) -> None:
    """A known failure is no surprise; its pass is one, and so is a stale pattern."""
    *_, last = shown(tell).splitlines()
    assert last == (
        "not as expected: 2 fail, 1 error, 1 timeout, 1 crashed, 1 pass though known-failing, 1 stale expectations"
    )


def test_who_sees_failures_for_the_first_time_is_told_where_to_go(tell: Tell) -> None:
    """How many faults it most likely is, what a clause asks for, and how to try again; our own errors are not among them."""
    (line,) = (line for line in shown(tell).splitlines() if line.startswith("most likely"))
    assert line == (
        "most likely 4 faults: `./touchstone explain PB-1` says what is asked for, "
        "`./touchstone replay --last-failed` tries again what failed"
    )


def test_a_known_failure_is_one_line_under_its_reason(tell: Tell) -> None:
    """It ran and failed as the manifest said: no timeline, but the written reason."""
    text = shown(tell)
    assert "known: issue 12\n  fail  peerbus/client/dedupe/known\n" in text


def test_a_warning_says_why_its_clause_is_contested(tell: Tell) -> None:
    """The note stands with the case."""
    text = shown(tell)
    assert "note      contested: drafts differ" in text[text.index("peerbus/codec/sign/warns") :]


def test_a_clean_run_says_so(tell: Tell, events: list[Event], results: list[CaseResult]) -> None:
    """Nothing but the header and two lines."""
    lines = shown(tell, *replaced(events, results[0], stale=[])).splitlines()
    assert lines[-2:] == ["1 cases in 2.5 s: 1 pass", "nothing surprising"]
    assert len(lines) == 4


def test_a_run_that_was_interrupted_is_not_clean(tell: Tell, events: list[Event], results: list[CaseResult]) -> None:
    *_, last = shown(tell, *replaced(events, results[0], interrupted=True, stale=[])).splitlines()
    assert last == "interrupted: nothing surprising so far"


def test_a_run_in_which_all_is_unsupported_has_tested_nothing(
    tell: Tell, events: list[Event], results: list[CaseResult]
) -> None:
    *_, last = shown(tell, *replaced(events, results[5], stale=[])).splitlines()
    assert last == "nothing was tested"


@pytest.mark.parametrize("live", [True, False])
def test_hostile_strings_are_shown_as_text(tell: Tell, live: bool) -> None:
    """Markup is not interpreted, control characters never reach the terminal."""
    text = shown(tell, live=live)
    assert "expected  [red]bold[/] \\x1b[31m\\x07\\x00 ]]>&<x> \\u202eabc \\ufffe é\\nline" in text
    assert not set(text) & set("\x07\x00\u202e\ufffe")
    if not live:
        assert "\x1b" not in text


def test_a_live_run_shows_counts_and_gives_the_cursor_back(tell: Tell, events: list[Event]) -> None:
    """The bar holds the counts by verdict; it is gone when the run is over, or when it is closed without a footer."""
    hide, show = "\x1b[?25l", "\x1b[?25h"
    text = shown(tell, live=True)
    assert "2 pass" in text[text.index(hide) : text.index(show)]
    out = io.StringIO()
    terminal = Terminal(Console(file=out, width=100, force_terminal=True), live=True)
    tell(terminal, events[:3])
    terminal.close()
    assert out.getvalue().rindex(show) > out.getvalue().rindex(hide)


def test_ci_and_pipes_get_plain_lines(tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    """No bar where nobody watches, and no colour in a pipe."""
    monkeypatch.setenv("CI", "1")
    out = io.StringIO()
    tell(Terminal(Console(file=out, width=100, force_terminal=True)))
    assert "\x1b[?25l" not in out.getvalue()
    assert "\x1b" not in shown(tell)


def test_a_long_plain_run_shows_that_it_is_alive(tell: Tell, events: list[Event], results: list[CaseResult]) -> None:
    """A line now and then, with the counts; none in a short one."""
    out, seconds = io.StringIO(), itertools.count(step=PLAIN_EVERY_S / 4)
    tell(
        Terminal(Console(file=out, width=100), live=False, clock=lambda: next(seconds)), [events[0], *[results[0]] * 9]
    )
    assert out.getvalue().splitlines()[1:] == ["... 5 cases: 5 pass"]
    assert "... " not in shown(tell, events[0], *[results[0]] * 1000, events[-1])


def test_one_fault_in_many_cases_is_told_once(tell: Tell, events: list[Event], results: list[CaseResult]) -> None:
    """With their number, the shortest of them and a line that lists the rest; -v prints each with its whole timeline."""
    many = [
        msgspec.structs.replace(
            results[1],
            case=f"peerbus/broker/order/fails[n={n}]",
            failure=Failure("", "PB-2", "", f'{{"n": {2**53 + 2 * n + 1}}}', f'{{"n": {2**53 + 2 * n}}}'),
            timeline=results[1].timeline[: 30 - n],
        )
        for n in range(20)
    ]
    text = shown(tell, *replaced(events, *many))
    assert (
        "fail  what came is not what the clause asks for, in 20 cases\n    case      peerbus/broker/order/fails[n=19]"
        in text
    )
    assert text.count("replay    ") == 1
    (also,) = (line for line in text.splitlines() if line.startswith("    also      "))
    assert also.startswith("    also      peerbus/broker/order/fails: n=0, n=1")
    assert also.endswith(" and 7 more")
    whole = shown(tell, *replaced(events, *many), verbose=True)
    assert whole.count("replay    ") == 20
    assert whole.count("say 5\n") == 20


@pytest.mark.parametrize("live", [True, False])
def test_what_differs_is_marked(live: bool, tell: Tell, events: list[Event], results: list[CaseResult]) -> None:
    """Carets under it, of bytes under whole bytes; of a long text only what stands beside it."""
    failure = Failure("", "PB-2", "", "00" * 40 + "a1ff" + "11" * 40, "00" * 40 + "a2ff" + "11" * 40)
    text = shown(tell, *replaced(events, msgspec.structs.replace(results[1], failure=failure)), live=live)
    lines = text[text.index("    expected") :].splitlines()
    assert ("\x1b[1;7ma1\x1b[0m" in lines[0], "\x1b[1;7ma2\x1b[0m" in lines[1]) == (live, live)
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    at = plain[2].index("^^")
    assert [line[at : at + 2] for line in plain[:3]] == ["a1", "a2", "^^"]
    assert plain[2].strip() == "^^"
    assert all("..." in line for line in plain[:2])


def test_a_run_without_a_plan_is_shown_too(tell: Tell, events: list[Event], results: list[CaseResult]) -> None:
    """A header may not know how many cases there are, and vectors may be more than planned."""
    header = events[0]
    assert isinstance(header, Header)
    assert isinstance(events[-1], Footer)
    for planned in (0, 2):
        planned_header = msgspec.structs.replace(header, planned=planned)
        text = shown(tell, planned_header, *[results[0]] * 5, events[-1], live=True)
        assert "5 cases in 2.5 s" in text
        assert f"5 {Verdict.PASS}" in text
