"""One running target, whatever it runs in: a session has the four verbs, an instance is one started role."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from harness.catalogue.addresses import ONLY
from harness.errors import (
    ShimBroken,
    TargetCrashed,
    TargetError,
    TargetFailed,
    TargetRefused,
    TargetTimeout,
    TargetUnsupported,
)
from harness.judging.patience import Patience
from harness.shim import PROTOCOL, Answer, Hello
from harness.targets.build import Build
from harness.targets.child import Kept

ANSWER_S = 10.0
"""How long a target may think about one request. Generous: it is paid only by a target that hangs."""

MAX_PENDING_EVENTS = 100_000
MAX_PENDING_BYTES = 32 * 1024 * 1024
"""Events of one instance that nobody has read, and what they take in memory; more is a flood, not a conversation."""

MOST_WORDS = 2_000
"""Characters of the reason that a target gives: a sentence, or a stack trace."""

_names = itertools.count(1)


class Addresses(dict[str, str]):
    """Where a started server listens, by the name of each port; to ask for one that was not told is to find a fault."""

    def __init__(self, role: str, details: Mapping[str, Any]) -> None:
        named = details.get("addresses")
        told = {ONLY: details.get("address")} | (named if isinstance(named, dict) else {})
        super().__init__({port: address for port, address in told.items() if isinstance(address, str)})
        self._role = role

    def __missing__(self, port: str) -> str:
        raise TargetCrashed(f"the target started {self._role} but did not say its {f'{port} address'.lstrip()}")


def told_of_ports(one: str, many: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A detail of each of a server's ports as `start` tells it: the only one plainly, several by name."""
    return {one: values[ONLY]} if list(values) == [ONLY] else {many: dict(values)}


@dataclass(eq=False)
class Instance:
    """One started role."""

    session: Session
    id: str
    role: str
    details: dict[str, Any] = field(default_factory=dict)  # what `start` answered: a server's addresses, its public key
    events: asyncio.Queue[tuple[str, dict[str, Any]] | TargetError] = field(default_factory=asyncio.Queue)
    _pending_bytes: int = 0  # since the queue was last empty

    @property
    def address(self) -> str:
        """Of a server with one port."""
        return self.addresses[ONLY]

    @property
    def addresses(self) -> Addresses:
        """Of a server with several ports, by their names."""
        return Addresses(self.role, self.details)

    async def do(self, op: str, **args: Any) -> dict[str, Any]:
        return await self.session.do(self, op, args)

    async def event(self, timeout: float | None = None) -> tuple[str, dict[str, Any]]:  # noqa: ASYNC109  # a patience
        """The next event; raises TargetTimeout when there is none, the session's death when there can be none."""
        if self.events.empty():
            self.session.check_alive()
        patience = self.session.answer_s if timeout is None else timeout
        try:
            item = await asyncio.wait_for(self.events.get(), patience)
        except TimeoutError:
            raise TargetTimeout(f"no event from {self.role} within {patience:g} s") from None
        if isinstance(item, TargetError):
            raise item
        return item

    def emit(self, event: str, data: dict[str, Any], size: int = 0) -> None:
        """Queue an event for whoever reads it; too many unread ones are the end of the session."""
        self._pending_bytes = size if self.events.empty() else self._pending_bytes + size
        if self.events.qsize() < MAX_PENDING_EVENTS and self._pending_bytes <= MAX_PENDING_BYTES:
            self.events.put_nowait((event, data))
        else:
            self.session.broken(
                TargetCrashed(
                    f"{self.role} floods: {self.events.qsize() + 1} events that nobody asked for; "
                    f"{MAX_PENDING_EVENTS} may wait, and no more than {MAX_PENDING_BYTES} bytes"
                )
            )

    async def stop(self) -> None:
        await self.session.stop(self)

    def become(self, other: Instance) -> None:
        """Go on as that one: whoever holds this instance talks to the other from now on."""
        self.session, self.id, self.details, self.events = other.session, other.id, other.details, other.events
        self._pending_bytes = other._pending_bytes
        self.session.instances[self.id] = self


class Session:
    """The harness's side of one running target. Subclasses say how a verb travels."""

    answer_s: float = ANSWER_S

    def __init__(self) -> None:
        self.instances: dict[str, Instance] = {}
        self.printed = Kept()
        self.patience = Patience()  # its target's, where it has one
        self.death: TargetError | None = None
        self._unclaimed = 0

    async def open(self) -> Hello:
        """Bring the target up and ask who it is."""
        raise TypeError(type(self))

    async def greet(self) -> Hello:
        """The first exchange; a shim that cannot say hello is broken, whatever is behind it."""
        death: TargetError
        try:
            return checked(await self.call("hello", args={"protocol": PROTOCOL}))
        except (TargetCrashed, TargetTimeout) as error:
            death = error
        except TargetError as error:
            death = ShimBroken(f"it did not say hello: {error}")
        self.broken(death)
        raise self.death or death

    async def start(self, role: str, config: dict[str, Any]) -> Instance:
        instance = Instance(self, f"i{next(_names)}", role)
        self.instances[instance.id] = instance
        try:
            instance.details = await self.call("start", instance=instance.id, role=role, args=config)
        except BaseException:
            self.instances.pop(instance.id, None)
            raise
        return instance

    async def do(self, instance: Instance, op: str, args: dict[str, Any]) -> dict[str, Any]:
        return await self.call("do", instance=instance.id, op=op, args=args)

    async def stop(self, instance: Instance) -> None:
        self.instances.pop(instance.id, None)
        await self.call("stop", instance=instance.id)

    async def call(self, verb: str, **fields: Any) -> dict[str, Any]:
        raise TypeError(type(self))

    async def kill(self) -> None:
        """End the target as SIGKILL does, keeping only what it has stored."""
        raise TargetUnsupported("this target cannot be killed by the harness")

    async def pids(self) -> list[int]:
        """The processes on this machine that it began with, for who looks at them from outside."""
        return []

    def pause(self) -> None:
        """Stand still as by SIGSTOP, until `resume`."""
        raise TargetUnsupported("this target cannot be paused by the harness")

    def resume(self) -> None:
        """Go on after a pause."""

    async def close(self) -> None:
        """End the target properly and free everything it holds."""

    def evidence(self, since: int = 0) -> str:
        """What the target printed for people, or what of it since there were so many lines; shown, never judged."""
        return self.printed.text(since)

    @property
    def alive(self) -> bool:
        return self.death is None

    def check_alive(self) -> None:
        """Raise the death that it died, if it did."""
        if self.death:
            raise self.death.with_traceback(None)

    def noticed(self, instance: str, event: str, data: dict[str, Any], size: int = 0) -> None:
        """An event came. One of an instance that has just stopped is no fault; a flood of them is."""
        if owner := self.instances.get(instance):
            owner.emit(event, data, size)
            return
        self._unclaimed += 1
        if self._unclaimed > MAX_PENDING_EVENTS:
            self.broken(TargetCrashed(f"the target floods: {self._unclaimed} events of instances that do not run"))

    def broken(self, death: TargetError) -> None:
        """Nothing more will come: whoever waits, or will ask, learns why. The first death is the one that counts."""
        if self.death is None:
            self.death = death
            for instance in self.instances.values():
                instance.events.put_nowait(death)


def result_of(said: Answer) -> dict[str, Any]:
    """An answer's result, or the error that it is."""
    if said.refused is not None:
        raise TargetRefused(said.refused[:MOST_WORDS])
    if said.unsupported is not None:
        raise TargetUnsupported(said.unsupported[:MOST_WORDS])
    if said.failed is not None:
        raise TargetFailed(said.failed[:MOST_WORDS])
    return said.result or {}


def checked(said: dict[str, Any]) -> Hello:
    """The answer to hello."""
    try:
        hello = msgspec.convert(said, Hello)
    except msgspec.ValidationError as error:
        raise ShimBroken(f"its hello is not the shim protocol's: {error}") from None
    if hello.protocol != PROTOCOL:
        raise ShimBroken(f"it speaks shim protocol {hello.protocol}, this harness speaks {PROTOCOL}")
    return hello


class Reach:
    """How to get sessions with a target."""

    kind = ""
    build: Build | None = None  # what makes it, if it has to be made

    def session(self) -> Session:
        raise TypeError(type(self))

    async def ready(self) -> None:
        """It can be started: built, if that is ours to do."""
        if self.build:
            await self.build.made()

    async def close(self) -> None:
        """Free what its sessions had in common."""


@asynccontextmanager
async def opened(session: Session) -> AsyncIterator[Session]:
    """A session for one block."""
    try:
        await session.open()
        yield session
    finally:
        await session.close()
