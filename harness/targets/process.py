"""Reach: a process that speaks the shim protocol on stdin and stdout."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from harness.bounds import MOST_WEIGHT, weight
from harness.errors import ShimBroken, TargetCrashed, TargetError, TargetTimeout
from harness.judging.patience import LEAST_S, START_S
from harness.shim import PROTOCOL, Answer, Hello, Request
from harness.shim.messages import MAX_LINE, decode_reply, request_line
from harness.targets.build import Build
from harness.targets.child import GRACE_S, STDERR, Child, how_it_ended, spawn
from harness.targets.session import Reach, Session, result_of

AGAIN = "another hello"

PROMPT_S = 0.0005
"""Most answers come sooner than the event loop turns twice: waiting that long for one doubles the rate of small cases."""


@dataclass(frozen=True)
class Abandoned:
    """A request for whose answer nobody waits any more; it may still come."""

    kind: str
    formal: bool
    began: float


class ProcessSession(Session):
    """JSON Lines over a process's stdin and stdout."""

    grace_s: float = GRACE_S

    def __init__(self, command: Sequence[str], cwd: str | None = None, env: dict[str, str] | None = None) -> None:
        super().__init__()
        self._command, self._cwd, self._env = list(command), cwd, env
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._abandoned: dict[int, Abandoned] = {}
        self._lines = Lines()
        self._child: Child | None = None
        self._watch: asyncio.Task[None] | None = None

    async def open(self) -> Hello:
        self._child = child = await spawn(
            self._command, self._cwd, self._env, self._hear, stdin=asyncio.subprocess.PIPE
        )
        self._watch = asyncio.create_task(self._until_it_ends(child))
        return await self.greet()

    # -- asking ---------------------------------------------------------------------------------------------------

    async def call(self, verb: str, **fields: Any) -> dict[str, Any]:
        what = f"{verb} {fields.get('op', '')}".strip()
        kind, waited_s = f"an answer to {what}", self.answer_s
        try:
            least_s, formal = (LEAST_S, False) if verb == "do" else (START_S, True)
            with self.patience.waiting(kind, self.answer_s, least_s, formal) as waited_s:
                answer = await self._ask(kind, verb, waited_s, **fields)
            return result_of(answer)
        except TimeoutError:
            late = TargetTimeout(self._silence(what, self.patience.within(kind, waited_s)))
        if verb == "hello" or not await self._answers_at_all():
            self.broken(late)
        raise late

    async def _ask(self, kind: str, verb: str, patience: float, **fields: Any) -> Answer:
        self.check_alive()
        assert self._child, "a session is opened before it is used"
        request = Request(next(self._ids), verb, **fields)  # type: ignore[arg-type]  # one of the four verbs
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[request.id], began = future, time.monotonic()
        try:
            self._child.write(request_line(request))
            self._child.hear_now(PROMPT_S)
            if future.done():
                return future.result()
            async with asyncio.timeout(patience):
                return await future
        finally:
            if self._waiting.pop(request.id, None):
                self._abandoned[request.id] = Abandoned(kind, verb != "do", began)

    async def _answers_at_all(self) -> bool:
        """One operation that hangs is that operation's fault; a shim that does not even say hello is gone."""
        try:
            with self.patience.waiting(AGAIN, self.answer_s / 5, formal=True) as waited_s:
                await self._ask(AGAIN, "hello", waited_s, args={"protocol": PROTOCOL})
        except TimeoutError:
            return False
        except TargetError:
            pass  # it died meanwhile, and that is known
        return True

    def _silence(self, request: str, within: str) -> str:
        begun = f"; it began a line and did not end it: {bytes(self._lines.rest[:80])!r}" if self._lines.rest else ""
        return f"no answer to {request} within {within}{begun}"

    # -- hearing --------------------------------------------------------------------------------------------------

    def _hear(self, fd: int, data: bytes) -> None:
        if fd == STDERR:
            self.printed.add(data)
            return
        try:
            for line in self._lines.feed(data):
                if self.alive:
                    self._heard(line)
        except ShimBroken as broken:
            self.broken(broken)

    def _heard(self, line: bytes) -> None:
        if (heavy := weight(line)) > MOST_WEIGHT:
            raise ShimBroken(
                f"a line of so many values that they may take more than {MOST_WEIGHT} bytes: {line[:80]!r}"
            )
        try:
            message = decode_reply(line)
        except msgspec.MsgspecError as error:
            raise ShimBroken(f"no shim message on stdout: {line[:80]!r} ({error}); print logs to stderr") from None
        if not isinstance(message, Answer):
            self.noticed(message.instance, message.event, message.data, heavy)
        elif future := self._waiting.pop(message.id, None):
            if not future.done():
                future.set_result(message)
        elif message.id in self._abandoned:
            left = self._abandoned.pop(message.id)
            took = time.monotonic() - left.began
            if took <= self.answer_s:  # it would have been in time, had it been waited for
                self.patience.paid(left.kind, took, left.formal)
        else:
            raise ShimBroken(f"an answer to request {message.id}, which does not wait for one")

    async def _until_it_ends(self, child: Child) -> None:
        """The process exits or closes one of its pipes, whichever is first; the others are given a moment to say more."""
        quiet, deaf = asyncio.create_task(child.quiet.wait()), asyncio.create_task(child.deaf.wait())
        both: set[asyncio.Future[Any]] = {child.exited, quiet}
        await asyncio.wait({*both, deaf}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait(both, timeout=self.grace_s)
        ended = f"it closed its {'stdout' if quiet.done() else 'stdin'}"
        if child.exited.done():
            ended = how_it_ended(child.exited.result())
        quiet.cancel()
        deaf.cancel()
        if self._lines.rest:
            self.broken(ShimBroken(f"it ended in the middle of a line ({ended}): {bytes(self._lines.rest[:80])!r}"))
        last = self.printed.last_line()
        self.broken(TargetCrashed(f"the target ended: {ended}" + f"; its last words: {last[:200]}" * bool(last)))

    def broken(self, death: TargetError) -> None:
        super().broken(death)
        if self._child:
            self._child.kill()
        for id in list(self._waiting):
            future = self._waiting.pop(id)
            if not future.done():
                future.set_exception(self.death or death)

    # -- ending ---------------------------------------------------------------------------------------------------

    async def kill(self) -> None:
        self.broken(TargetCrashed("the harness killed it"))
        if self._child:
            await self._child.end()

    async def pids(self) -> list[int]:
        return await self._child.pids() if self._child else []

    def pause(self) -> None:
        if self._child:
            self._child.pause()

    def resume(self) -> None:
        if self._child:
            self._child.resume()

    async def close(self) -> None:
        if self._watch:
            self._watch.cancel()
        if self._child:
            if self.alive:
                self._child.close_stdin()
                await self._child.ends_within(self.grace_s)
            self.broken(TargetCrashed("the session is closed"))
            await self._child.end()


class Lines:
    """Bytes in, whole lines out; `rest` is the line that has begun and not ended."""

    def __init__(self) -> None:
        self.rest = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        head, *tails = data.split(b"\n")
        self.rest += head
        if len(self.rest) > MAX_LINE:
            self.rest.clear()
            raise ShimBroken(f"a line of more than {MAX_LINE} bytes on stdout: print logs to stderr")
        lines = []
        for tail in tails:
            lines.append(bytes(self.rest))
            self.rest = bytearray(tail)
        return lines


class Process(Reach):
    """`cmd:./my-shim --flag`"""

    kind = "process"

    def __init__(
        self,
        command: Sequence[str],
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        build: Build | None = None,
    ) -> None:
        self._command, self._cwd, self._env, self.build = command, cwd, env, build

    def session(self) -> ProcessSession:
        return ProcessSession(self._command, self._cwd, self._env)
