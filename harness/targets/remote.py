"""Reach: a server that someone else runs, at an address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import TargetUnsupported
from harness.shim import Hello
from harness.targets.session import Instance, Reach, Session


class RemoteSession(Session):
    """Starting means being told the address; the configuration is the server's own, stated as options."""

    def __init__(self, address: str, roles: Sequence[str], options: Mapping[str, Any]) -> None:
        super().__init__()
        self._address, self._roles, self._options = address, roles, options

    async def open(self) -> Hello:
        return Hello(self._address, {role: ["shared"] for role in self._roles})

    async def start(self, role: str, config: dict[str, Any]) -> Instance:
        if role not in self._roles:
            raise TargetUnsupported(f"role {role}")
        instance = Instance(self, role, role, {"address": self._address, **self._options})
        self.instances[instance.id] = instance
        return instance

    async def call(self, verb: str, **fields: Any) -> dict[str, Any]:
        raise TargetUnsupported(f"a remote server has no shim to {verb} with")

    async def stop(self, instance: Instance) -> None:
        self.instances.pop(instance.id, None)


class Remote(Reach):
    """`ws://host:port` or `host:port`"""

    kind = "remote"

    def __init__(self, address: str, roles: Sequence[str], options: Mapping[str, Any]) -> None:
        self._arguments = (address, roles, options)

    def session(self) -> RemoteSession:
        return RemoteSession(*self._arguments)
