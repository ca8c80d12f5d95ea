"""A target beside its oracle: what it says on any channel is judged as it comes, and state machines drive both.

Hypothesis calls the rules of a state machine on a thread of their own; a rule hands its coroutine to the case's loop with
`self.wait(...)`, so the target and every connection live where they always do.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hypothesis import seed, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, invariant, run_state_machine_as_test

from harness.judging.clock import Clock
from harness.judging.inbox import Inbox
from harness.judging.result import TimelineEntry
from harness.judging.trial import Trial
from reference_impl.core import Channel, Expectation, Machine, Oracle, Overdue

S = TypeVar("S")
T = TypeVar("T")

RULE_S = 60.0
"""A rule whose coroutine has not ended by then is stuck in the harness: every wait inside is far shorter."""

TRIES = 3
"""Explorations that a target which chooses otherwise each time may break off."""


MOMENT = 1 / 40
"""The part of the patience in which a target that pays at once has paid, unless the machine is very busy."""


class Watch(Generic[S]):
    """Feeds an oracle with both sides of a conversation, and with the time."""

    telling: tuple[type, ...] = ()  # kinds of frames that show how the target has chosen

    def __init__(self, trial: Trial, machine: Machine[S], clock: Clock | None = None) -> None:
        self.trial, self.clock = trial, clock or Clock()
        self.oracle = Oracle(machine, self.clock.now())
        self._heard: asyncio.Queue[tuple[Channel, Any]] = asyncio.Queue()
        self._in_vain: frozenset[Expectation] = frozenset()  # what was given its moment

    def told(self, channel: Channel, event: Any) -> None:
        """The harness is about to say this to the target: tell the oracle first."""
        self.oracle.tick(self.clock.now())
        self.oracle.stimulus(channel, event)

    def heard(self, channel: Channel, frame: Any) -> None:
        """The target said this; it is judged at the next `settle`."""
        self._heard.put_nowait((channel, frame))

    def follow(self, channel: Channel, inbox: Inbox[Any]) -> None:
        """Take over: what comes in that inbox is said on that channel, and first of all what waits in it."""
        inbox.hand_over(lambda frame: self.heard(channel, frame), self._heard.qsize)

    def judge_waiting(self) -> None:
        while not self._heard.empty():
            self._judge(*self._heard.get_nowait())

    def _judge(self, channel: Channel, frame: Any) -> None:
        if isinstance(frame, Exception):  # a lint has judged it already, or the target is gone, or its shim is at fault
            raise frame
        self.oracle.tick(self.clock.now())
        self.oracle.observe(channel, frame)

    async def settle(self) -> None:
        """Until the target has paid what it may pay by now; raises what the oracle finds, or Overdue.

        The patience is counted from the moment when a debt is due: one that is due in three seconds is not late after one.
        """
        self.judge_waiting()
        while not self._settled():
            try:
                with self.trial.target.patience.waiting(self._awaited(), self._patience_s()) as patience_s:
                    async with asyncio.timeout(max(patience_s, self._until_due_s())):
                        await self._payment()
            except TimeoutError:
                self._judge_silence()

    async def _payment(self) -> None:
        """Until a debt is gone. What else is said meanwhile, a Heartbeat or another dial, buys no time: it may come for ever."""
        owed = Counter(self.oracle.outstanding())
        while not self._settled() and owed <= Counter(self.oracle.outstanding()):
            self._judge(*await self._heard.get())
            self.judge_waiting()

    async def rest(self) -> None:
        """Until all is paid; what has no answer of its own is read by then, or makes no difference when it is."""
        await self.settle()
        await self._let_choose()
        await self.settle()  # and what goes with the choice
        self.oracle.quiesce(self.trial.patience_s)

    async def _let_choose(self) -> None:
        """What shows a choice may come a moment later, and a walk goes on by it. No verdict hangs on that moment."""
        if not self._telling() - self._in_vain:
            return
        waiting = self.trial.target.patience.waiting("a choice", self.trial.patience_s * MOMENT, least_s=0.0)
        with contextlib.suppress(TimeoutError), waiting as seconds:
            async with asyncio.timeout(seconds):
                while self._telling() - self._in_vain:
                    self._judge(*await self._heard.get())
        self._in_vain = self._telling()

    def _telling(self) -> frozenset[Expectation]:
        return frozenset(e for e in self.oracle.undecided() if isinstance(e.template, self.telling))

    def _settled(self) -> bool:
        self.oracle.tick(self.clock.now())
        return self.oracle.settled

    def _awaited(self) -> str:
        """What is owed, by the kinds of frames."""
        return " ".join(sorted({type(e.template).__name__ for e in self.oracle.outstanding()}))

    def _patience_s(self) -> float:
        """As long as the trial is patient, counted from when the last of the debts is due."""
        return self._until_due_s() + self.trial.patience_s

    def _until_due_s(self) -> float:
        due = max((e.due for e in self.oracle.outstanding() if e.due is not None), default=0.0)
        return max(0.0, due - self.clock.now())

    def _judge_silence(self) -> None:
        """The patience is over; what became due only meanwhile has a patience of its own."""
        self.oracle.tick(self.clock.now())
        if late := self.oracle.overdue():
            self.trial.lose_patience()
            raise Overdue(late)


@dataclass(frozen=True)
class Found:
    """What a run of a state machine found, and what was said until then."""

    error: BaseException
    timeline: list[TimelineEntry]

    def show(self, trial: Trial) -> BaseException:
        """The error, with its conversation as the trial's evidence: later runs have had their own."""
        trial.timeline[:] = self.timeline
        return self.error


class LoopMachine(RuleBasedStateMachine):
    """A state machine whose rules await things on the case's event loop. What the target says is judged behind each rule."""

    watch: Watch[Any] | None = None
    found: Found | None = None  # and nothing may bury it

    def __init__(self, trial: Trial, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.trial, self.loop = trial, loop
        trial.restart()

    @invariant()
    def nothing_is_out_of_line(self) -> None:
        self.wait(self.look())

    async def look(self) -> None:
        """Judge what has come."""
        if self.watch:
            self.watch.judge_waiting()

    async def finish(self) -> None:
        """Prove that nothing else is said; for a run in which nothing was found."""

    async def free(self) -> None:
        """Let go of what the run holds."""

    def teardown(self) -> None:
        """Free everything, whatever happened; what that turns up counts only where nothing was found before."""
        try:
            if not self.found:
                self.wait(self.finish())
        finally:
            with contextlib.suppress(Exception) if self.found else contextlib.nullcontext():
                self.wait(self.free())

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        try:
            return future.result(RULE_S)
        except BaseException as error:
            if isinstance(error, concurrent.futures.TimeoutError):
                future.cancel()
            self.found = self.found or Found(error, list(self.trial.timeline))
            raise


async def explore(make: Callable[[asyncio.AbstractEventLoop], LoopMachine], steps: int, examples: int) -> None:
    """Run a state machine from the case's loop.

    Where the text leaves a choice, a target may choose otherwise each time, and Hypothesis, which wants the same rules to
    be possible twice, breaks off. What was found until then stands, with the conversation in which it was found; where
    nothing was, that is nobody's fault, and the exploration begins again elsewhere.
    """
    loop = asyncio.get_running_loop()
    ways = settings(settings.default, stateful_step_count=steps, max_examples=examples)
    runs: list[LoopMachine] = []

    def made() -> LoopMachine:
        runs[:] = [run for run in runs if run.found][:1]  # the first that found something, and the one that runs
        runs.append(make(loop))
        return runs[-1]

    for again in range(TRIES):
        begin = seed(again)(made) if again else made
        try:
            # documented: any callable that returns a machine
            return await asyncio.to_thread(run_state_machine_as_test, begin, settings=ways)  # type: ignore[arg-type]
        except Flaky:
            if runs[0].found:
                raise runs[0].found.show(runs[0].trial) from None
    runs[0].trial.info(f"chose otherwise each time: {TRIES} explorations broke off, and found nothing")
