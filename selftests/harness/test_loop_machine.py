"""State machines on the case's loop: what was found is what is raised, whatever comes up while the run is tidied up."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from harness.catalogue.cases import CaseInfo
from harness.errors import TargetCrashed
from harness.judging.inbox import Inbox
from harness.judging.result import Verdict
from harness.judging.trial import Broken, Trial
from harness.judging.watch import TRIES, LoopMachine, Watch, explore
from harness.targets import Target, resolve
from reference_impl.core import Expectation, Machine, Step


class Silent(Machine[int]):
    """Owes `b` to an `a`, and nothing else."""

    def initial(self) -> int:
        return 0

    def receive(self, state: int, channel: object, event: object) -> Step[int]:
        return Step(state, (Expectation("T-1", "b", str(channel)),) if event == "a" else ())


@pytest_asyncio.fixture(loop_scope="session")
async def trial() -> AsyncIterator[Trial]:
    target: Target = resolve("reference")
    yield Trial(CaseInfo("toy/role/group/case", "toy", "role", "group", ()), target, patience_s=0.2)
    await target.close()


async def test_a_watch_hears_what_waited_before_it_took_over(trial: Trial) -> None:
    """In order, and what comes later behind it."""
    watch: Watch[int] = Watch(trial, Silent())
    inbox: Inbox[str] = Inbox()
    watch.told("c", "a")
    inbox.put("b")
    watch.follow("c", inbox)
    watch.told("c", "a")
    inbox.put("b")
    await watch.settle()
    inbox.put("x")
    with pytest.raises(AssertionError):
        watch.judge_waiting()


@pytest.mark.parametrize("fault", [Broken("T-2", "a", "b"), TargetCrashed("gone"), KeyError("ours")], ids=repr)
async def test_a_fault_that_waits_is_raised_as_it_is(trial: Trial, fault: Exception) -> None:
    """A lint's, a death, or our own: an oracle has nothing to say to it."""
    watch: Watch[int] = Watch(trial, Silent())
    inbox: Inbox[str] = Inbox()
    inbox.put(fault)
    watch.follow("c", inbox)
    with pytest.raises(type(fault)) as raised:
        await watch.settle()
    assert raised.value is fault


class Toy(LoopMachine):
    """A run whose rule, look, finish and end fail as they are told."""

    def __init__(self, trial: Trial, fails: dict[str, Exception], done: list[str], loop: asyncio.AbstractEventLoop):
        super().__init__(trial, loop)
        self.fails, self.done = fails, done

    async def _at(self, place: str) -> None:
        self.done.append(place)
        if place in self.fails:
            raise self.fails[place]

    @rule()
    def act(self) -> None:
        self.wait(self._at("rule"))

    async def look(self) -> None:
        await self._at("look")

    async def finish(self) -> None:
        await self._at("finish")

    async def free(self) -> None:
        await self._at("free")


def broken(place: str) -> Exception:
    return Broken("T-1", "nothing", f"found by the {place}")


async def run(trial: Trial, done: list[str], *fails: str) -> None:
    faults = {place: broken(place) for place in fails}
    await explore(functools.partial(Toy, trial, faults, done), steps=2, examples=1)


async def test_a_run_that_finds_nothing_is_finished_and_freed(trial: Trial) -> None:
    done: list[str] = []
    await run(trial, done)
    assert done[-2:] == ["finish", "free"]
    assert done.count("look") >= done.count("rule")


@pytest.mark.parametrize(
    ("fails", "found"),
    [
        (("rule", "finish", "free"), "rule"),
        (("look", "finish", "free"), "look"),
        (("finish", "free"), "finish"),
        (("free",), "free"),
    ],
)
async def test_the_first_find_is_not_buried(trial: Trial, fails: tuple[str, ...], found: str) -> None:
    """Neither by judging once more nor by what goes wrong when everything is freed; that alone is a find too."""
    with pytest.raises(Broken, match=f"found by the {found}"):
        await run(trial, [], *fails)


@pytest.mark.parametrize("place", ["rule", "look"])
async def test_a_run_that_found_something_is_freed_and_not_finished(trial: Trial, place: str) -> None:
    done: list[str] = []
    with pytest.raises(Broken):
        await run(trial, done, place)
    assert done[-1] == "free"
    assert "finish" not in done


class Moody(LoopMachine):
    """A target that chooses otherwise in each run: a rule is possible in every second one; it may also be at fault once."""

    def __init__(self, trial: Trial, runs: list[int], fault_in: int, loop: asyncio.AbstractEventLoop):
        super().__init__(trial, loop)
        runs.append(len(runs))
        self.run, self.fault_in = runs[-1], fault_in
        trial.said("us", "it", "frame", f"run {self.run}")

    async def _say(self) -> None:
        if self.run == self.fault_in:
            raise broken("oracle")

    @rule(size=st.integers(0, 3))
    def speak(self, size: int) -> None:
        self.wait(self._say())

    @precondition(lambda self: self.run % 2)
    @rule()
    def insist(self) -> None:
        """Possible now and then."""


async def test_a_target_that_chooses_otherwise_each_time_is_not_failed(trial: Trial) -> None:
    """The exploration begins again, and in the end says that it could not go far."""
    runs: list[int] = []
    await explore(functools.partial(Moody, trial, runs, -1), steps=5, examples=50)
    assert trial.verdict is Verdict.INFO
    assert "chose otherwise" in trial.note
    assert len(runs) > TRIES


async def test_what_was_found_once_stands_with_its_own_conversation(trial: Trial) -> None:
    """Even if nobody sees it again: the oracle has judged real frames."""
    with pytest.raises(Broken, match="found by the oracle"):
        await explore(functools.partial(Moody, trial, [], 0), steps=5, examples=50)
    assert [entry.text for entry in trial.timeline] == ["run 0"]
