"""A target of the case's own, which it may kill and start again on the same configuration."""

from __future__ import annotations

from typing import Any

from harness.judging.trial import Trial
from harness.targets import Instance, Session


class PrivateTarget:
    """One life after the other; the timeline has each beginning and end."""

    def __init__(self, trial: Trial, config: dict[str, Any]) -> None:
        self.trial, self._config = trial, config
        self._name = trial.role.partition("/")[2]
        self._session: Session | None = None

    async def start(self) -> Instance:
        self._session = self.trial.target.private()
        await self._session.open()
        instance = await self._session.start(self.trial.role, dict(self._config))
        self.trial.said("harness", self._name, "note", "start")
        return instance

    async def kill(self) -> None:
        """SIGKILL: only what is stored is left."""
        assert self._session, "started before it is killed"
        self.trial.said("harness", self._name, "note", "SIGKILL")
        await self._session.kill()

    async def restart(self, **otherwise: Any) -> Instance:
        """With the same configuration, but for what is given."""
        await self.kill()
        await self.close()
        self._config |= otherwise
        return await self.start()

    async def close(self) -> None:
        if self._session:
            await self._session.close()
