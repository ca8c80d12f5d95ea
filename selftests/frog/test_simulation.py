"""The simulator: each invariant is seen failing on a deliberate fault, a seed is a history, what is kept replays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace as planned

from harness.errors import UsageError
from harness.simulation import run as runner
from harness.simulation.graphs import SHAPES, distances, neighbours
from harness.simulation.plan import Event, Outcome, Plan, keep, kept
from harness.simulation.shrink import shrink
from reference_impl.core import Channel, Expectation, Step
from reference_impl.frog.frames import Lookup, Peers, Signal, SignalFrom, SisterSignal
from reference_impl.frog.presence import State
from reference_impl.frog.routes import Route
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.sisters import Flood, Request
from suites.frog.simulation import SIMULATION, machine
from suites.frog.simulation.plans import RECOMMENDED
from suites.frog.simulation.world import World

WORLDS = 24
"""Small worlds within which each fault has to show."""


class SeesEverythingAnew(ServerMachine):
    """Suppresses no duplicate."""

    def remembered(self, state: State, frame: Request) -> Flood | None:
        return None


class SendsBack(ServerMachine):
    """Passes a request on to all sisters, who sent it included."""

    def passed_on(self, state: State, channel: Channel, frame: Request) -> ServerStep:
        if frame.ttl == 0:
            return Step(state)
        return Step(state, self.copies(state, replace(frame, ttl=frame.ttl - 1), set(state.overlay.live), "x"))


class KeepsTheTtl(ServerMachine):
    """Passes a request on with the TTL with which it came."""

    def copies(self, state: State, frame: Request, *given: Any) -> tuple[Expectation, ...]:
        began = frame.server_id == self.config.server_id
        return super().copies(state, frame if began else replace(frame, ttl=frame.ttl + 1), *given)


class KnowsNoFanout(ServerMachine):
    """Passes a request on to every sister."""

    def copies(self, state: State, frame: Request, others: Any, salt: str) -> tuple[Expectation, ...]:
        honest, wide = self.config, replace(self.config.mesh, lookup_fanout=99, find_fanout=99)
        self.config = replace(honest, mesh=wide)
        owed = super().copies(state, frame, others, salt)
        self.config = honest
        return owed


class NeverAnswersAMiss(ServerMachine):
    """Lets a lookup that finds nobody wait for ever."""

    def answers_due(self, state: State) -> ServerStep:
        return replace(super().answers_due(state), owes=())


class AnswersAMissTwice(ServerMachine):
    """Says LOOKUP_TIMEOUT of each lookup that it passes on, at once, too."""

    def look_afar(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        step = super().look_afar(state, channel, frame)
        return replace(step, owes=(*step.owes, Expectation("", Peers(frame.cid, ()), channel)))


class NamesAllNetworks(ServerMachine):
    """Names peers of any network."""

    def candidates(self, state: State, asker: str) -> set[str]:
        return set(state.peers) - {asker}


class ComparesFingerprints(ServerMachine):
    """Sends a signal to whoever has the fingerprint that was looked up, in the first network that has it."""

    def onward(self, state: State, route: Route, frame: SisterSignal) -> Expectation | None:
        owed = super().onward(state, route, frame)
        if owed and isinstance(owed.template, SignalFrom):
            twins = [key for key in sorted(state.peers) if key.endswith(route.peer_b[-25:])]
            return replace(owed, channel=state.peers[twins[0]]) if twins else owed
        return owed


class AnybodyMayUseARoute(ServerMachine):
    """Carries signals of strangers to the route."""

    def relay(self, state: State, channel: Channel, frame: Signal) -> ServerStep:
        route = state.routes.get(frame.route_id)
        return self.carried(state, channel, frame, route) if route else super().relay(state, channel, frame)


class LosesAnswers(ServerMachine):
    """Carries signals of who looked up, and none back."""

    def onward(self, state: State, route: Route, frame: SisterSignal) -> Expectation | None:
        return None if frame.peer_key == route.peer_b else super().onward(state, route, frame)


class DoesNotPassOn(ServerMachine):
    """Answers for itself alone."""

    def passed_on(self, state: State, channel: Channel, frame: Request) -> ServerStep:
        return Step(state)


class SpendsTwoHops(ServerMachine):
    """Takes two from the TTL."""

    def begun(self, state: State, channel: Channel, ticket: Any, request: Request, *given: Any) -> ServerStep:
        less = replace(request, ttl=max(0, request.ttl - 1))
        return super().begun(state, channel, ticket, less, *given)


class FallsOverAFind(ServerMachine):
    """Cannot answer a sister's @FIND."""

    def answer_find(self, state: State, *given: Any) -> ServerStep:
        raise KeyError("no such thing")


FAULTS = [
    (FallsOverAFind, {"crash"}),
    (SeesEverythingAnew, {"loop", "bounded"}),
    (SendsBack, {"loop"}),
    (KeepsTheTtl, {"bounded"}),
    (KnowsNoFanout, {"bounded"}),
    (NeverAnswersAMiss, {"bounded"}),
    (AnswersAMissTwice, {"bounded"}),
    (NamesAllNetworks, {"leak"}),
    (ComparesFingerprints, {"leak", "route"}),
    (AnybodyMayUseARoute, {"leak", "route"}),
    (LosesAnswers, {"route"}),
    (DoesNotPassOn, {"reach"}),
    (SpendsTwoHops, {"reach"}),
]


def played(plan: Plan, wrong: type[ServerMachine] = ServerMachine) -> Outcome:
    return World(plan, wrong).play()


def broken_worlds(wrong: type[ServerMachine]) -> Iterator[tuple[Plan, Outcome]]:
    for seed in range(WORLDS):
        plan = SIMULATION.draw(seed)
        outcome = played(plan, wrong)
        if outcome.breach:
            yield plan, outcome


@pytest.mark.parametrize(("wrong", "invariants"), FAULTS, ids=lambda it: it.__name__ if isinstance(it, type) else "")
def test_each_invariant_is_seen_failing(wrong: type[ServerMachine], invariants: set[str]) -> None:
    """A fault breaks a small world, by an invariant that is about it."""
    _, outcome = next(broken_worlds(wrong), (None, None))
    assert outcome, f"{wrong.__name__} broke none of {WORLDS} worlds"
    assert outcome.breach
    assert outcome.breach.invariant in invariants, outcome.breach


def test_the_faults_break_every_invariant() -> None:
    """None of them is decoration."""
    assert set().union(*(invariants for _, invariants in FAULTS)) == {
        "loop",
        "bounded",
        "leak",
        "route",
        "reach",
        "crash",
    }


def test_the_reference_breaks_nothing() -> None:
    """In calm worlds and in those with churn and lossy links, and there is something to break: peers are found afar."""
    outcomes = [played(SIMULATION.draw(seed)) for seed in range(WORLDS)]
    assert [outcome.breach for outcome in outcomes if outcome.breach] == []
    assert sum(bool(call.path) for outcome in outcomes for call in outcome.calls) > WORLDS


def test_a_seed_is_a_history() -> None:
    """The same to the last message; another seed is another one."""
    one, same, other = (played(SIMULATION.draw(seed)) for seed in (5, 5, 7))
    assert one.history == same.history
    assert one.turns == same.turns
    assert one.history != other.history


def test_a_breach_is_shortened() -> None:
    """What is left still breaks the same invariant, and each event and server of it is needed."""
    plan, outcome = next(broken_worlds(DoesNotPassOn))
    shortest, shown = shrink(plan, outcome, lambda it: played(it, DoesNotPassOn))
    assert shown.breach
    assert shown.breach.invariant == "reach"
    assert [event.what for event in shortest.events] in (["lookup"], ["find"])
    assert len(shortest.servers) == 3
    assert len(shortest.peers) == 2


def test_a_kept_history_replays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Broken as before; and held by servers without the fault."""
    monkeypatch.setattr(runner, "simulation", lambda _: replace(SIMULATION, run=lambda it: played(it, SendsBack)))
    assert runner.break_worlds("frog", WORLDS, 0, "", tmp_path)
    (path,) = tmp_path.glob("*.json")
    said = capsys.readouterr().out
    assert f"--replay {path}" in " ".join(said.split())
    assert runner.replay(path)
    assert "loop" in capsys.readouterr().out
    monkeypatch.undo()
    assert not runner.replay(path)
    assert "FIXED" in capsys.readouterr().out


def test_a_file_that_is_no_plan_is_said_so(tmp_path: Path) -> None:
    for text in ("{}", "no json"):
        (tmp_path / "it").write_text(text)
        with pytest.raises(UsageError, match="no plan of a simulation"):
            kept(tmp_path / "it")
    with pytest.raises(UsageError, match="cannot be read"):
        kept(tmp_path / "absent")
    keep(SIMULATION.draw(3), "loop", tmp_path / "it")
    assert kept(tmp_path / "it").plan == SIMULATION.draw(3)


@pytest.mark.parametrize("name", ["no-such-fault", "selects-nothing"])
def test_only_a_fault_of_the_machine_is_played(name: str) -> None:
    """What is in a codec or a shell is not there to be simulated."""
    with pytest.raises(UsageError):
        machine(name)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_mesh_is_connected(shape: str) -> None:
    """Each server reaches each other one, and none is its own sister."""
    for count in (2, 3, 4, 5, 9, 60):
        links = SHAPES[shape](count, Random(count))
        assert set(distances(neighbours(links), 0)) == set(range(count))
        assert all(one != two for one, two in links)
        assert len({frozenset(link) for link in links}) == len(links)


def line_of(count: int, ttl: int) -> Plan:
    """A peer at either end of a line."""
    return planned(
        SIMULATION.draw(0),
        servers=tuple(range(count)),
        links=SHAPES["line"](count, Random(0)),
        peers=((0, 0), (2, count - 1)),
        events=(Event(0.0, "lookup", (0, 2)),),
        settings=RECOMMENDED | {"lookup_ttl": ttl},
    )


@pytest.mark.parametrize("ttl", [1, 5, 7])
def test_a_ttl_is_one_link_less_than_it_reaches(ttl: int) -> None:
    """TTL 0 is still read by the next server (FROG-34-02): so on a line TTL + 1 links are passed, and one more is too far."""
    (near,), (far,) = played(line_of(ttl + 2, ttl)).calls, played(line_of(ttl + 3, ttl)).calls
    assert (near.is_found, far.answer) == (True, "ERR LOOKUP_TIMEOUT")
    assert near.messages == 2 * (ttl + 1)  # there and back


def test_a_measurement_is_printed_and_plotted(tmp_path: Path, capsys: Any) -> None:
    size = runner.Size("ring", 12, 24, 1)
    assert not runner.measure("frog", size, 0, tmp_path, tmp_path / "plot.svg")
    assert "12 servers" in capsys.readouterr().out
    assert "<polyline" in (tmp_path / "plot.svg").read_text()
