"""Who plays: a party is one implementation in one seat, with a process of its own; an end is one started role of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from harness.errors import TargetError, TargetUnsupported
from harness.matrix.history import History
from harness.matrix.pairing import Seat
from harness.targets import Instance, Session, Target

React = Callable[["End", str, dict[str, Any]], Coroutine[Any, Any, None]]
"""What a host does when it is told something."""


class Party:
    """One implementation in one seat."""

    def __init__(self, label: str, seat: Seat, target: Target) -> None:
        self.label, self.seat, self.target = label, seat, target
        self.capabilities: frozenset[str] = frozenset()
        self.killed = False
        self._session: Session | None = None

    @property
    def session(self) -> Session:
        assert self._session, "opened before it is used"
        return self._session

    async def open(self) -> None:
        await self.target.reach.ready()
        self._session = self.target.private()
        roles = (await self._session.open()).roles
        if self.seat.role not in roles:
            raise TargetUnsupported(f"{self.target.name} has no role {self.seat.role}")
        self.capabilities = frozenset(roles[self.seat.role])
        self.killed = False

    def need(self, *capabilities: str) -> None:
        for wanted in capabilities:
            if not self.capabilities & set(wanted.split("|")):
                raise TargetUnsupported(f"{self.target.name} does not declare {wanted} for {self.seat.role}")

    async def kill(self) -> None:
        self.need("kill")
        self.killed = True
        await self.session.kill()
        await self.session.close()

    async def start(self, config: dict[str, Any]) -> Instance:
        return await self.session.start(self.seat.role, config)

    async def close(self) -> None:
        if self._session:
            await self._session.close()


class End:
    """One started role, and its host: what is asked and told goes into the history under its name."""

    def __init__(self, who: str, party: Party, config: dict[str, Any], history: History, react: React | None) -> None:
        self.who, self.party, self.config, self.history, self._react = who, party, config, history, react
        self.capabilities = party.capabilities
        self.instance: Instance | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening: asyncio.Task[None] | None = None

    async def start(self) -> End:
        self.history.seats[self.who] = self.party.label
        self.history.add(self.who, "asked", "start", self.config)
        self.instance = await self.party.start(dict(self.config))
        self.history.add(self.who, "told", "started", self.instance.details)
        self._listening = asyncio.create_task(self._listen(self.instance))
        return self

    async def _listen(self, instance: Instance) -> None:
        while not isinstance(item := await instance.events.get(), TargetError):
            what, data = item
            self.history.add(self.who, "told", what, data)
            if self._react:
                task = asyncio.create_task(self._react(self, what, data))
                self._tasks.add(task)
                task.add_done_callback(self._reacted)
        if not self.party.killed:
            self.history.died(self.who, item)

    def _reacted(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and isinstance(error := task.exception(), TargetError) and not self.party.killed:
            self.history.add(self.who, "refused", "reaction", {"why": str(error)})

    async def do(self, op: str, **args: Any) -> dict[str, Any]:
        """One operation; a refusal and a failure are written down and raised."""
        assert self.instance, "started before it is asked"
        place = self.history.add(self.who, "asked", op, args)
        try:
            answer = await self.instance.do(op, **args)
        except TargetError as error:
            self.history.add(self.who, "refused", op, {"why": f"{type(error).__name__}: {error}"}, of=place)
            raise
        self.history.add(self.who, "answered", op, answer, of=place)
        return answer

    async def settled(self) -> None:
        """Until the host has reacted to all that it was told."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=5)

    def deaf(self) -> None:
        for task in (*self._tasks, *([self._listening] if self._listening else [])):
            task.cancel()

    async def stop(self) -> None:
        """The host goes; what its end still says is heard by nobody."""
        self.history.add(self.who, "asked", "stop")
        await self.settled()
        self.deaf()
        if self.instance and self.party.session.alive:
            with contextlib.suppress(TargetError):
                await self.instance.stop()
        self.instance = None
