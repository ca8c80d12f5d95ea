"""A target in use: its identity, one shared session, its running instances, and what it is known to fail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness.catalogue.cases import selects
from harness.errors import TargetUnsupported
from harness.judging.allowance import Allowance
from harness.judging.patience import Patience
from harness.judging.result import Expected, TargetInfo
from harness.shim import Hello
from harness.targets.manifest import KnownCases
from harness.targets.session import Instance, Reach, Session
from harness.targets.workdir import Workdir

MOST_CRASHES = 20
"""After this many deaths of its shared session a target is not started again: what is left is not tried, and so not judged."""


Mark = tuple[Session | None, int]
"""A session, and how many lines it had printed."""


class Target:
    """Never starts a process per case: instances are shared by configuration, a private session is for crash cases."""

    def __init__(
        self,
        info: TargetInfo,
        reach: Reach,
        *,
        known_failing: Sequence[KnownCases] = (),
        known_flaky: Sequence[KnownCases] = (),
        known_races: Sequence[KnownCases] = (),
    ) -> None:
        self.info, self.reach = info, reach
        self.known_failing, self.known_flaky, self.known_races = known_failing, known_flaky, known_races
        self.patience = Patience()
        self.allowance = Allowance()
        self._session: Session | None = None
        self._hello: Hello | None = None
        self._instances: dict[bytes, Instance] = {}
        self._crashes = 0
        self._workdir: Workdir | None = None

    def __repr__(self) -> str:
        """Short: Hypothesis prints it among the arguments of a failing example."""
        return "target"

    @property
    def name(self) -> str:
        return self.info.name

    async def hello(self) -> Hello:
        """Who the target says it is; brings it up if need be."""
        await self.session()
        assert self._hello, "an open session has said hello"
        return self._hello

    async def session(self) -> Session:
        """The shared session, opened anew if the last one died."""
        if self._session and not self._session.alive:
            await self._forget()
        if self._session is None:
            if self._crashes >= MOST_CRASHES:
                raise TargetUnsupported(f"not tried: {self.name} died {self._crashes} times before")
            await self.reach.ready()
            session = self.private()
            try:
                self._hello = await session.open()
            except BaseException:
                self._crashes += 1
                await session.close()
                raise
            self._session = session
        return self._session

    async def revive(self) -> None:
        """After a death: a new shared session, in which the instances that a case holds live on."""
        if self._session is None or self._session.alive:
            return
        held = dict(self._instances)
        await self._forget()
        for key, instance in held.items():
            role, config = msgspec.json.decode(key)
            instance.become(await self.instance(role, config))
            self._instances[key] = instance

    async def _forget(self) -> None:
        if self._session:
            self._crashes += 1
            await self._session.close()
        self._session = None
        self._instances.clear()

    async def capabilities(self, role: str) -> list[str]:
        """What the target declares for a role; raises TargetUnsupported for a role it does not have."""
        roles = (await self.hello()).roles
        if role not in roles:
            raise TargetUnsupported(f"{self.name} has no role {role}")
        return roles[role]

    async def need(self, role: str, capability: str) -> None:
        if capability not in await self.capabilities(role):
            raise TargetUnsupported(f"{self.name} does not declare {capability} for {role}")

    async def instance(self, role: str, config: dict[str, Any]) -> Instance:
        """The instance of that role and configuration, started once and shared."""
        await self.capabilities(role)
        session = await self.session()
        key = msgspec.json.encode([role, config], order="deterministic")
        if key not in self._instances:
            extra = {"state_dir": str(self.new_folder("shared"))}
            self._instances[key] = await session.start(role, config | extra)
        return self._instances[key]

    def private(self) -> Session:
        """A session of the caller's own, to be killed or limited; the caller closes it."""
        session = self.reach.session()
        session.patience = self.patience
        return session

    def new_folder(self, prefix: str) -> Path:
        """An empty folder that lives as long as this target is in use."""
        if self._workdir is None:
            self._workdir = Workdir()
        return self._workdir.new_folder(prefix)

    async def close(self) -> None:
        if self._session:
            await self._session.close()
        self._session = None
        await self.reach.close()
        if self._workdir:
            self._workdir.remove()
            self._workdir = None

    def mark(self) -> Mark:
        """Where what it prints for people has got to."""
        return self._session, self._session.printed.count if self._session else 0

    def evidence(self, since: Mark = (None, 0)) -> str:
        """What it printed for people since then; of a session that was begun meanwhile, all."""
        session, count = since
        return self._session.evidence(count if session is self._session else 0) if self._session else ""

    def expected(self, case: str) -> tuple[Expected, str]:
        """What the manifest says about a case, and why."""
        for expected, lists in (
            (Expected.KNOWN_FAILING, self.known_failing),
            (Expected.KNOWN_FLAKY, (*self.known_flaky, *self.known_races)),
        ):
            for known in lists:
                if any(selects(pattern, case) for pattern in known.cases):
                    return expected, known.reason
        return Expected.PASS, ""

    def known_patterns(self) -> list[str]:
        return [p for known in (*self.known_failing, *self.known_flaky, *self.known_races) for p in known.cases]
