"""Reach: a Python object with the shim's verbs, in this very process."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from harness.errors import TargetCrashed, TargetError, TargetTimeout, Unavailable
from harness.shim import Answer, Hello, Notice, Request, Shim
from harness.shim.python import answer
from harness.targets.session import Reach, Session, result_of


class InProcessSession(Session):
    def __init__(self, factory: Callable[[], Shim]) -> None:
        super().__init__()
        self._factory = factory
        self._shim: Shim | None = None

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
        task = asyncio.create_task(self._answer(self._shim, request))
        try:
            await asyncio.wait({task}, timeout=self.answer_s)
        finally:
            if not task.done():
                task.cancel()  # and not awaited: what swallows the cancellation must not hang the run
        if not task.done():
            raise TargetTimeout(f"no answer to {verb} {fields.get('op', '')}".rstrip() + f" within {self.answer_s:g} s")
        return result_of(task.result())

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
