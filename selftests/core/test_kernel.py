"""The kernel on a toy: a role with a store, whose inputs say themselves what they make it owe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from reference_impl.core import (
    CLOCK,
    Expectation,
    Level,
    Machine,
    NotAllowed,
    Oracle,
    Overdue,
    Player,
    Row,
    Step,
    Tick,
    any_order,
    anything,
    derived,
    fresh,
    one_of,
    text,
)
from reference_impl.core import oracle as oracle_module


@dataclass(frozen=True)
class Say:
    text: Any
    echo: Any = ""


@dataclass(frozen=True)
class Other:
    """Another kind of frame."""


@dataclass(frozen=True)
class Owe:
    """Makes the toy owe these."""

    owes: tuple[Expectation, ...] = ()
    voids: frozenset[Any] = frozenset()
    lapses: frozenset[Any] = frozenset()


@dataclass(frozen=True)
class Put:
    """Stores a value."""

    value: str


@dataclass(frozen=True)
class Get:
    """Owes what is stored."""


@dataclass(frozen=True)
class Maybe:
    """May be answered yes or no, as the toy likes."""


@dataclass(frozen=True)
class State:
    stored: tuple[str, ...] = ()  # the durable half
    used: frozenset[str] = frozenset()


class Toy(Machine[State]):
    def initial(self) -> State:
        return State()

    def receive(self, state: State, channel: Any, event: Any) -> Step[State]:
        return self.obey("up", state, channel, event)

    def alternatives(self, state: State, channel: Any, event: Any) -> tuple[Step[State], ...]:
        return (Step(state, (must("no", channel),)),) if isinstance(event, Maybe) else ()

    def spoke(self, state: State, expectation: Expectation, frame: Any) -> State:
        return replace(state, used=state.used | {frame.text}) if isinstance(frame, Say) else state

    def crash(self, state: State) -> State:
        return State(state.stored)

    def owe(self, state: State, channel: Any, event: Owe) -> Step[State]:
        return Step(state, event.owes, voids=event.voids, lapses=event.lapses)

    def put(self, state: State, channel: Any, event: Put) -> Step[State]:
        return Step(replace(state, stored=(*state.stored, event.value)), effects=(event,))

    def get(self, state: State, channel: Any, event: Get) -> Step[State]:
        return Step(state, (must(",".join(state.stored), channel),))

    def maybe(self, state: State, channel: Any, event: Maybe) -> Step[State]:
        return Step(state, (must("yes", channel),))


Toy.table = {
    ("up", Owe): Row((), Toy.owe),
    ("up", Put): Row(("T-PUT",), Toy.put),
    ("up", Get): Row(("T-GET",), Toy.get),
    ("up", Maybe): Row(("T-MAYBE",), Toy.maybe),
}


def must(text: Any, channel: Any = "a", lane: str = "", **more: Any) -> Expectation:
    return Expectation("T-SAY", Say(text), channel, lane=lane, **more)


def may(text: Any, channel: Any = "a", lane: str = "", **more: Any) -> Expectation:
    return must(text, channel, lane, level=Level.MAY, **more)


def owing(*owes: Expectation) -> Oracle[State]:
    oracle = Oracle(Toy())
    oracle.stimulus("a", Owe(owes))
    return oracle


def accepts(oracle: Oracle[State], *texts: str, channel: Any = "a") -> bool:
    try:
        for said in texts:
            oracle.observe(channel, Say(said))
        oracle.quiesce()
    except (NotAllowed, Overdue):
        return False
    return True


# -- lanes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "right"), [(("1", "2"), True), (("2", "1"), False), (("1",), False), (("1", "1"), False)]
)
def test_order_binds_within_a_lane(said: tuple[str, ...], right: bool) -> None:
    """Each debt of a lane once, in order."""
    assert accepts(owing(must("1", lane="x"), must("2", lane="x")), *said) is right


@pytest.mark.parametrize("said", [("1", "2"), ("2", "1")])
def test_lanes_are_free_of_one_another(said: tuple[str, ...]) -> None:
    assert accepts(owing(must("1", lane="x"), must("2", lane="y")), *said)


@pytest.mark.parametrize(
    ("said", "right"),
    [(("1", "B", "2"), True), (("B", "1", "2"), False), (("1", "2", "B"), False), (("2", "1", "B"), False)],
)
def test_the_empty_lane_is_a_barrier(said: tuple[str, ...], right: bool) -> None:
    """What stands before a barrier comes before it, whatever its lane, and what stands behind it after it."""
    assert accepts(owing(must("1", lane="x"), must("B"), must("2", lane="y")), *said) is right


def test_channels_are_free_of_one_another() -> None:
    oracle = owing(must("1", "a"), must("2", "b"))
    oracle.observe("b", Say("2"))
    oracle.observe("a", Say("1"))
    oracle.quiesce()


# -- what is optional --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lanes", [("x", "x"), ("", "x"), ("x", ""), ("", "")])
def test_optional_frame_that_was_overtaken_is_gone(lanes: tuple[str, str]) -> None:
    """An optional frame may be said in its place or not at all, never behind what it is ordered with."""
    before, after = lanes
    owed = (may("m", lane=before), must("1", lane=after))
    assert accepts(owing(*owed), "m", "1")
    assert accepts(owing(*owed), "1")
    assert not accepts(owing(*owed), "1", "m")


def test_optional_frame_of_another_lane_is_not_overtaken() -> None:
    assert accepts(owing(may("m", lane="x"), must("1", lane="y")), "1", "m")


def test_optional_frame_waits_for_what_is_owed_before_it() -> None:
    assert not accepts(owing(must("1", lane="x"), may("m", lane="x")), "m", "1")


def test_should_is_allowed_and_not_owed() -> None:
    should = must("s", level=Level.SHOULD)
    assert accepts(owing(should), "s")
    assert accepts(owing(should))


@pytest.mark.parametrize("times", [0, 1, 3])
def test_a_repeating_frame_may_come_any_number_of_times(times: int) -> None:
    """It is never owed, holds nothing up, and is not used up or overtaken."""
    owed = (may("r", lane="again", repeats=True), must("1", lane="x"))
    assert accepts(owing(*owed), *["r"] * times, "1", *["r"] * times)


# -- what ends debts ---------------------------------------------------------------------------------------------------


def test_a_void_channel_takes_its_debts_along() -> None:
    """They are neither owed nor allowed; those of other channels stand."""
    oracle = owing(must("1", "a"), must("2", "b"))
    oracle.stimulus("b", Owe(voids=frozenset("a")))
    oracle.observe("b", Say("2"))
    oracle.quiesce()
    assert not accepts(oracle, "1")


def test_lapsed_debts_may_be_paid_in_order_and_need_not() -> None:
    """Only the older ones lapse: what the same step owes is owed."""

    def lapsed() -> Oracle[State]:
        oracle = owing(must("1", lane="x"), must("2", lane="x"))
        oracle.stimulus("b", Owe((must("end"),), lapses=frozenset("a")))
        return oracle

    assert accepts(lapsed(), "end")
    assert accepts(lapsed(), "1", "2", "end")
    assert not accepts(lapsed(), "2", "1", "end")
    assert not accepts(lapsed(), "end", "1")
    assert not accepts(lapsed(), "1", "2")


# -- the frontier ------------------------------------------------------------------------------------------------------


def test_inputs_of_two_channels_are_read_in_any_order() -> None:
    """The answer shows which was read first, and later answers must agree with it."""
    for first in ("", "x"):
        oracle = Oracle(Toy())
        oracle.stimulus("a", Put("x"))
        oracle.stimulus("b", Get())
        oracle.observe("b", Say(first))
        assert oracle.certain is (first == "x")
        oracle.stimulus("b", Get())
        assert accepts(oracle, "x", channel="b")


def test_what_was_read_stays_read() -> None:
    oracle = Oracle(Toy())
    oracle.stimulus("a", Put("x"))
    oracle.stimulus("b", Get())
    oracle.observe("b", Say("x"))
    oracle.stimulus("b", Get())
    assert not accepts(oracle, "", channel="b")


def test_inputs_of_one_channel_are_read_in_order() -> None:
    oracle = Oracle(Toy())
    oracle.stimulus("a", Put("x"))
    oracle.stimulus("a", Get())
    assert [str(e.template.text) for e in oracle.allowed("a")] == ["x"]


def test_two_writers_leave_both_orders_open_until_one_shows() -> None:
    oracle = Oracle(Toy())
    for channel in "ab":
        oracle.stimulus(channel, Put(channel))
    oracle.stimulus("c", Get())
    assert {e.template.text for e in oracle.allowed("c")} == {"", "a", "b", "a,b", "b,a"}
    oracle.observe("c", Say("b,a"))
    assert oracle.certain
    oracle.stimulus("c", Get())
    assert not accepts(oracle, "a,b", channel="c")


def test_quiesce_means_that_everything_was_read() -> None:
    oracle = Oracle(Toy())
    oracle.stimulus("a", Put("x"))
    assert not oracle.certain
    oracle.quiesce()
    assert oracle.certain
    oracle.stimulus("b", Get())
    assert not accepts(oracle, "", channel="b")


def test_quiesce_finds_a_debt_that_only_some_orders_owe_not_overdue() -> None:
    """The reading that suits the target best wins."""
    oracle = owing()
    oracle.stimulus("a", Owe((must("1"),)))
    oracle.stimulus("b", Owe(voids=frozenset("a")))
    oracle.quiesce()
    assert not accepts(oracle, "1")


def choosing() -> Oracle[State]:
    """One order of reading owes "1", the other nothing."""
    oracle = owing()
    oracle.stimulus("a", Owe((must("1"),)))
    oracle.stimulus("b", Owe(voids=frozenset("a")))
    return oracle


def test_what_is_merely_late_may_still_be_said() -> None:
    """That nothing came for a moment does not show which order it was."""
    oracle = choosing()
    oracle.tick(4.9)
    oracle.quiesce(patience_s=5.0)
    assert oracle.settled
    assert [e.template for e in oracle.undecided()] == [Say("1")]
    assert accepts(oracle, "1")


def test_what_was_late_for_all_of_the_patience_is_not_waited_for() -> None:
    oracle = choosing()
    oracle.tick(5.0)
    oracle.quiesce(patience_s=5.0)
    assert not accepts(oracle, "1")


def test_a_debt_does_not_show_where_the_same_may_be_said_unasked() -> None:
    """Readings that differ in it alone are one, so that they do not become more with each answer."""
    oracle = owing(may("beat", lane="own", repeats=True))
    for _ in range(5):
        oracle.stimulus("a", Owe((must("beat", lane="answers"),)))
        oracle.observe("a", Say("beat"))
        oracle.quiesce(patience_s=5.0)
        assert len(oracle.frontier) == 1


def test_such_a_debt_does_not_show_beside_one_that_is_late() -> None:
    """A reading that is kept for what may still come is kept once, however many answers come meanwhile."""
    oracle = owing(may("beat", "c", lane="own", repeats=True))
    oracle.stimulus("a", Owe((must("1", lane="1"), may("1", lane="1", repeats=True))))
    oracle.stimulus("b", Owe(voids=frozenset("a")))
    for _ in range(5):
        oracle.stimulus("c", Owe((must("beat", "c", lane="answers"),)))
        oracle.observe("c", Say("beat"))
        oracle.quiesce(patience_s=5.0)
        assert len(oracle.frontier) == 2
    assert accepts(oracle, "1")


def test_one_of_several_may_suffice_for_now() -> None:
    """Once one is said the others may wait; each may be said, and none twice."""
    oracle = owing(*(must(text, lane=text, suffices=True) for text in "123"))
    assert not oracle.settled
    oracle.observe("a", Say("2"))
    assert oracle.settled
    assert accepts(oracle, "1")
    assert not accepts(oracle, "2")


@pytest.mark.parametrize("said", ["yes", "no"])
def test_an_alternative_conforms_as_well(said: str) -> None:
    oracle = Oracle(Toy())
    oracle.stimulus("a", Maybe())
    assert accepts(oracle, said)


def test_the_frontier_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too much pipelining is the case's fault: no verdict, an error of ours."""
    monkeypatch.setattr(oracle_module, "FRONTIER_LIMIT", 50)
    oracle = Oracle(Toy())
    for channel in range(3):
        oracle.stimulus(channel, Put(str(channel)))
    with pytest.raises(RuntimeError, match="frontier"):
        oracle.stimulus(3, Put("3"))


# -- a crash -----------------------------------------------------------------------------------------------------------


def test_a_crash_keeps_the_durable_half_and_no_debt() -> None:
    oracle = owing(must("1"))
    oracle.stimulus("a", Put("x"))
    oracle.observe("a", Say("1"))
    oracle.quiesce()
    oracle.stimulus("a", Owe((must("2"),)))
    oracle.crash()
    assert oracle.overdue() == ()
    assert all(p.state == State(("x",)) for p in oracle.frontier)
    oracle.stimulus("c", Get())
    assert accepts(oracle, "x", channel="c")


@pytest.mark.parametrize("survived", ["", "x"])
def test_whether_an_input_was_read_before_the_crash_shows_afterwards(survived: str) -> None:
    oracle = Oracle(Toy())
    oracle.stimulus("a", Put("x"))
    oracle.crash()
    oracle.stimulus("a", Get())
    assert accepts(oracle, survived)


# -- holes -------------------------------------------------------------------------------------------------------------

HOLES = {
    "anything": (anything(str, "d"), ["", "d", "z"], [1, None]),
    "text": (text("short", lambda value: len(value) < 3, "ab"), ["", "ab"], ["abc", 1]),
    "any order": (any_order(["b", "a"]), [("a", "b"), ("b", "a")], [("a",), ("a", "b", "b")]),
    "one of": (one_of("p", "q"), ["p", "q"], ["r"]),
    "fresh": (fresh(lambda entropy: entropy(2).hex(), {"used"}), ["new", "0102"], ["used", ""]),
}


@pytest.mark.parametrize("name", HOLES)
def test_a_hole_admits_what_it_says_and_is_filled_with_something_it_admits(name: str) -> None:
    hole, good, bad = HOLES[name]
    expectation = must(hole)
    assert all(expectation.admits(Say(value)) for value in good)
    assert not any(expectation.admits(Say(value)) for value in bad)
    assert expectation.admits(expectation.realise(lambda n: bytes(range(1, n + 1))))


def test_a_derived_hole_follows_from_the_frame_it_stands_in() -> None:
    expectation = Expectation(
        "T", Say(fresh(lambda entropy: entropy(1).hex()), derived("twice", lambda s: s.text * 2)), "a"
    )
    assert expectation.realise(lambda n: b"\xab" * n) == Say("ab", "abab")
    assert expectation.admits(Say("z", "zz"))
    assert not expectation.admits(Say("z", "z"))


def test_another_kind_of_frame_is_never_admitted() -> None:
    assert not must("x").admits(Other())


def test_what_was_chosen_is_bound() -> None:
    """The machine hears the frame that the target made of a template."""
    oracle = owing(must(anything(str, "")))
    oracle.observe("a", Say("chosen"))
    assert {p.state.used for p in oracle.frontier} == {frozenset({"chosen"})}


# -- verdicts ----------------------------------------------------------------------------------------------------------


def test_a_frame_that_is_not_allowed_says_what_was() -> None:
    oracle = owing(must("1", lane="x"), may("2", lane="y"))
    with pytest.raises(NotAllowed) as caught:
        oracle.observe("a", Say("3"))
    assert caught.value.clause == "T-SAY"
    assert "got Say(text='3'" in str(caught.value)
    assert "MUST Say(text='1', echo='') [T-SAY]; MAY Say(text='2', echo='') [T-SAY]" in str(caught.value)


def test_a_frame_where_silence_was_due_names_what_was_read_last() -> None:
    oracle = Oracle(Toy())
    oracle.stimulus("a", Put("x"))
    with pytest.raises(NotAllowed) as caught:
        oracle.observe("a", Say("x"))
    assert caught.value.clause == "T-PUT"
    assert "allowed was silence (T-PUT)" in str(caught.value)


def test_a_frame_that_nothing_asked_for() -> None:
    with pytest.raises(NotAllowed, match="silence \\(nothing was asked\\)") as caught:
        Oracle(Toy()).observe("a", Say("x"))
    assert caught.value.clause == ""


def test_the_clause_of_the_same_kind_of_frame_is_named_first() -> None:
    oracle = owing(Expectation("T-OTHER", Other(), "a", lane="x"), must("1", lane="y"))
    with pytest.raises(NotAllowed) as caught:
        oracle.observe("a", Say("2"))
    assert caught.value.clause == "T-SAY"


def test_an_overdue_debt_says_what_is_owed_and_where() -> None:
    oracle = owing(must("1"), must("2", "b"))
    oracle.observe("a", Say("1"))
    with pytest.raises(Overdue) as caught:
        oracle.quiesce()
    assert str(caught.value) == "still owed: MUST Say(text='2', echo='') [T-SAY] on b"
    assert caught.value.clause == "T-SAY"


def test_a_violation_leaves_the_oracle_as_it_was() -> None:
    oracle = owing(must("1"))
    before = oracle.frontier
    with pytest.raises(NotAllowed):
        oracle.observe("a", Say("2"))
    assert oracle.frontier == before


# -- the other reader --------------------------------------------------------------------------------------------------


def test_the_player_pays_in_order_what_its_policy_volunteers() -> None:
    owed = Owe((must("1"), may("2"), must("3", level=Level.SHOULD)))

    def said(**policy: Any) -> list[str]:
        player = Player(Toy(), entropy=bytes, **policy)
        return [frame.text for _, frame in player.receive("a", owed).frames]

    assert said() == ["1", "3"]
    assert said(volunteers=lambda e: True) == ["1", "2", "3"]
    assert said(volunteers=lambda e: e.level is Level.MUST) == ["1"]


def test_the_player_hands_effects_out_and_goes_on_from_its_state() -> None:
    player = Player(Toy(), entropy=bytes, state=State(("w",)))
    assert player.receive("a", Put("x")).effects == (Put("x"),)
    assert player.receive("b", Get()).frames == (("b", Say("w,x")),)


def test_a_subclass_with_another_rule_is_heard() -> None:
    """Rows name methods: overriding one changes the machine, and nothing else."""

    class Mute(Toy):
        def get(self, state: State, channel: Any, event: Get) -> Step[State]:
            return Step(state)

    assert Player(Mute(), entropy=bytes).receive("a", Get()).frames == ()
    oracle = Oracle(Toy())
    oracle.stimulus("a", Get())
    with pytest.raises(Overdue):
        oracle.quiesce()


def test_an_absent_row_is_an_error_and_not_silence() -> None:
    with pytest.raises(KeyError):
        Player(Toy(), entropy=bytes).receive("a", Other())


def test_what_a_role_obeyed_is_counted() -> None:
    oracle = Oracle(Toy())
    oracle.stimulus("a", Get())
    oracle.observe("a", Say(""))
    assert oracle.exercised["T-GET"] >= 1
    assert oracle.exercised["T-SAY"] == 1


# -- time --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arm:
    """Makes the alarm say something at that time."""

    at: float


class Alarm(Machine[tuple[float, ...]]):
    """A role with timers: it owes "ring" for each that is due, on channel `a`."""

    def initial(self) -> tuple[float, ...]:
        return ()

    def deadline(self, state: tuple[float, ...]) -> float | None:
        return min(state, default=None)

    def receive(self, state: tuple[float, ...], channel: Any, event: Any) -> Step[tuple[float, ...]]:
        if isinstance(event, Arm):
            return Step((*state, event.at))
        assert isinstance(event, Tick)
        assert channel == CLOCK
        rings = tuple(must("ring") for at in state if at <= event.at)
        return Step(tuple(at for at in state if at > event.at), rings)


def armed(*times: float) -> Oracle[tuple[float, ...]]:
    oracle = Oracle(Alarm())
    for at in times:
        oracle.stimulus("a", Arm(at))
    return oracle


def test_a_timer_is_not_allowed_to_fire_early() -> None:
    """What is due at five may not be said at four."""
    oracle = armed(5.0)
    oracle.tick(4.0)
    with pytest.raises(NotAllowed):
        oracle.observe("a", Say("ring"))


def test_a_timer_that_is_due_may_fire_late_and_must_fire() -> None:
    """At five it may ring; a target that has had its time and did not ring owes it."""
    oracle = armed(5.0)
    oracle.quiesce()
    oracle.tick(5.0)
    assert not oracle.settled
    with pytest.raises(Overdue):
        oracle.quiesce()
    oracle.observe("a", Say("ring"))
    assert oracle.settled


def test_a_timer_that_an_unread_input_starts_fires_once_that_is_read() -> None:
    """The input may be read late, and its time be over by then."""
    oracle = armed()
    oracle.tick(9.0)
    oracle.stimulus("a", Arm(5.0))
    oracle.observe("a", Say("ring"))
    oracle.quiesce()


def test_a_debt_that_is_due_later_is_outstanding_and_not_overdue() -> None:
    """It may be paid at once, and is late only after its deadline."""
    oracle = owing(must("pong", due=3.0))
    oracle.tick(1.0)
    assert [e.template for e in oracle.outstanding()] == [Say("pong")]
    assert not oracle.overdue()
    oracle.quiesce()
    oracle.tick(3.0)
    with pytest.raises(Overdue):
        oracle.quiesce()


def test_what_may_not_be_said_before_its_time_is_not_owed_before_it() -> None:
    """Before its time it is not allowed, and nobody waits for it."""
    oracle = owing(must("late", not_before=3.0, due=4.0))
    oracle.tick(2.9)
    assert oracle.settled
    with pytest.raises(NotAllowed):
        oracle.observe("a", Say("late"))
    oracle.tick(3.0)
    assert not oracle.settled
    oracle.observe("a", Say("late"))
    assert oracle.settled


def test_the_player_rings_when_it_is_told_the_time() -> None:
    """It says when it wants to know the time, and pays what is due by then."""
    player = Player(Alarm(), entropy=bytes)
    player.receive("a", Arm(5.0))
    assert player.deadline == 5.0
    assert player.tick(4.9).frames == ()
    assert player.tick(5.0).frames == (("a", Say("ring")),)
    assert player.deadline is None


def test_the_player_waits_with_what_has_its_time() -> None:
    """What may not be said yet waits, unless its channel is gone by then."""
    player = Player(Toy(), entropy=bytes)
    waiting = (must("late", not_before=3.0), must("gone", "b", not_before=3.0), must("now"))
    assert player.receive("a", Owe(waiting)).frames == (("a", Say("now")),)
    assert player.deadline == 3.0
    player.receive("a", Owe(voids=frozenset({"b"})))
    assert player.tick(3.5).frames == (("a", Say("late")),)
