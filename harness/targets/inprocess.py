"""Reach: a Python object with the shim's verbs, in this very process."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import types
from collections.abc import Callable, Coroutine, Generator, Sequence
from functools import partial
from typing import Any, TypeVar

from harness.errors import TargetCrashed, TargetError, TargetTimeout, Unavailable
from harness.shim import Answer, Hello, Notice, Request, Shim
from harness.shim.python import answer
from harness.targets.session import Reach, Session, result_of

T = TypeVar("T")

CALLS_IN_A_ROW = 16
"""An operation that waits for nothing is answered at once, without a turn of the loop: after so many others have theirs."""


class InProcessSession(Session):
    def __init__(self, factory: Callable[[], Shim]) -> None:
        super().__init__()
        self._factory = factory
        self._shim: Shim | None = None
        self._calls = 0

    async def open(self) -> Hello:
        try:
            self._shim = self._factory()
        except Exception as error:  # an implementation may raise anything
            self.broken(TargetCrashed(f"its factory raised {type(error).__name__}: {error}"))
        return await self.greet()

    async def call(self, verb: str, **fields: Any) -> dict[str, Any]:
        self.check_alive()
        assert self._shim, "a session is opened before it is used"
        request = Request(0, verb, **fields)  # type: ignore[arg-type]  # callers say one of the four verbs
        self._calls += 1
        if self._calls % CALLS_IN_A_ROW == 0:
            await asyncio.sleep(0)
        try:
            return result_of(await _within(self.answer_s, self._answer(self._shim, request)))
        except TimeoutError:
            what = f"{verb} {fields.get('op', '')}".rstrip()
            raise TargetTimeout(f"no answer to {what} within {self.answer_s:g} s") from None

    async def _answer(self, shim: Shim, request: Request) -> Answer:
        try:
            return await answer(shim, request, self._notice)
        except SystemExit as left:
            self.broken(TargetCrashed(f"it called sys.exit({left.code})"))
            raise self.death or TargetCrashed() from None

    def _notice(self, notice: Notice) -> None:
        self.noticed(notice.instance, notice.event, notice.data)

    async def kill(self) -> None:
        if self._shim:
            self._shim.kill()
        self.broken(TargetCrashed("the harness killed it"))

    async def close(self) -> None:
        for instance in list(self.instances.values()):
            if self.alive:
                with contextlib.suppress(TargetError):  # it is on its way out; its cases are judged
                    await self.stop(instance)
        self.broken(TargetCrashed("the session is closed"))


async def _within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """As `await work` under a timeout. What waits for nothing needs none, and most of a hundred thousand calls do not."""
    try:
        waits_for = work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    async with asyncio.timeout(seconds):
        return await _for_once(work, waits_for)


@types.coroutine
def _for_once(work: Coroutine[Any, Any, T], waits_for: Any) -> Generator[Any, Any, T]:
    """The rest of it. Told to stop it is told once: what swallows its cancellation is left alone, and must not hang the run.

    A task of its own would do the same for two turns of the loop more, with each call.
    """
    task = asyncio.current_task()
    assert task, "a call is made by a task"
    told: asyncio.CancelledError | None = None
    while True:
        if told and task.cancelling():  # a timeout of its own would have taken it back
            raise told
        try:
            yield waits_for
            step, told = partial(work.send, None), None
        except asyncio.CancelledError as error:
            step, told = partial(work.throw, error), error
        except Exception as error:  # what it waits for has failed
            step, told = partial(work.throw, error), None
        try:
            waits_for = step()
        except StopIteration as done:
            result: T = done.value
            return result


class InProcess(Reach):
    """`python:package.module:factory`"""

    kind = "in-process"

    def __init__(self, factory: Callable[[], Shim]) -> None:
        self._factory = factory

    @classmethod
    def named(cls, path: str, protocols: Sequence[str] | None = None) -> InProcess:
        """A factory that has all protocols may have `of`, which makes it with those alone that are asked for."""
        module_name, _, attribute = path.partition(":")
        try:
            factory = getattr(importlib.import_module(module_name), attribute)
        except Exception as error:  # importing runs the module, which may raise anything
            raise Unavailable(f"python:{path} cannot be loaded: {type(error).__name__}: {error}") from error
        if protocols is not None and hasattr(factory, "of"):
            factory = partial(factory.of, protocols)
        return cls(factory)

    def session(self) -> InProcessSession:
        return InProcessSession(self._factory)
