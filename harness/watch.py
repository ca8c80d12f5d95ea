"""A target beside its oracle: what it says on any channel is judged as it comes, and state machines drive both.

Hypothesis calls the rules of a state machine on a thread of their own; a rule hands its coroutine to the case's loop with
`self.wait(...)`, so the target and every connection live where they always do.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from harness.trial import Trial
from reference_impl.core import Channel, Machine, Oracle, Overdue

S = TypeVar("S")
T = TypeVar("T")

RULE_S = 60.0
"""A rule whose coroutine has not ended by then is stuck in the harness: every wait inside is far shorter."""


class Watch(Generic[S]):
    """Feeds an oracle with both sides of a conversation."""

    def __init__(self, trial: Trial, machine: Machine[S]) -> None:
        self.trial, self.oracle = trial, Oracle(machine)
        self._heard: asyncio.Queue[tuple[Channel, Any]] = asyncio.Queue()

    def told(self, channel: Channel, event: Any) -> None:
        """The harness is about to say this to the target: tell the oracle first."""
        self.oracle.stimulus(channel, event)

    def heard(self, channel: Channel, frame: Any) -> None:
        """The target said this; it is judged at the next `settle`."""
        self._heard.put_nowait((channel, frame))

    def judge_waiting(self) -> None:
        while not self._heard.empty():
            self._judge(*self._heard.get_nowait())

    def _judge(self, channel: Channel, frame: Any) -> None:
        if isinstance(frame, AssertionError):  # a lint has judged it already
            raise frame
        self.oracle.observe(channel, frame)

    async def settle(self) -> None:
        """Until the target has paid what it owes; raises what the oracle finds, or Overdue after the trial's patience."""
        self.judge_waiting()
        while not self.oracle.settled:
            try:
                channel, frame = await asyncio.wait_for(self._heard.get(), self.trial.patience_s)
            except TimeoutError:
                self.trial.lose_patience()
                raise Overdue(self.oracle.overdue()) from None
            self._judge(channel, frame)
            self.judge_waiting()


class LoopMachine(RuleBasedStateMachine):
    """A state machine whose rules await things on the case's event loop."""

    loop: asyncio.AbstractEventLoop
    failed = False  # a rule has raised: a teardown that judges once more would only bury what it found

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        try:
            return future.result(RULE_S)
        except concurrent.futures.TimeoutError:
            self.failed = True
            future.cancel()
            raise
        except BaseException:
            self.failed = True
            raise


async def explore(make: Callable[[], LoopMachine], steps: int, examples: int) -> None:
    """Run a state machine from the case's loop."""
    await asyncio.to_thread(
        run_state_machine_as_test,
        make,  # type: ignore[arg-type]  # documented: any callable that returns a machine
        settings=settings(settings.default, stateful_step_count=steps, max_examples=examples),
    )
