"""A Python shim out of roles: one small class per role, one instance of it per `start`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.errors import TargetRefused, TargetUnsupported
from harness.shim.messages import Hello
from harness.shim.python import Emit, Shim


class Role:
    """One running role. An operation `x` is the method `do_x`; it takes the arguments by name and returns the result."""

    capabilities: tuple[str, ...] = ()

    async def start(self, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        return {}

    async def do(self, op: str, args: dict[str, Any]) -> dict[str, Any]:
        method = getattr(self, f"do_{op}", None)
        if method is None:
            raise TargetUnsupported(f"operation {op}")
        try:
            result: dict[str, Any] = await method(**args)
        except TypeError as error:
            if error.__traceback__ and error.__traceback__.tb_next:
                raise  # the operation's own
            raise TargetRefused(f"{op}: {error}") from None  # arguments that it does not take
        return result

    async def stop(self) -> None:
        """End properly."""

    def kill(self) -> None:
        """End at once, keeping only what is stored."""
        raise TargetUnsupported("kill")


class RoleShim(Shim):
    """Serves the roles it is given, under one name."""

    def __init__(
        self, name: str, version: str, roles: Mapping[str, Callable[[], Role]], language: str = "python"
    ) -> None:
        self._identity = (name, version, language)
        self._roles = roles
        self._running: dict[str, Role] = {}

    async def hello(self) -> Hello:
        name, version, language = self._identity
        offered = {role: list(make().capabilities) for role, make in self._roles.items()}
        return Hello(name, offered, version, language)

    async def start(self, instance: str, role: str, config: dict[str, Any], emit: Emit) -> dict[str, Any]:
        if role not in self._roles:
            raise TargetUnsupported(f"role {role}")
        running = self._running[instance] = self._roles[role]()
        return await running.start(config, emit)

    async def do(self, instance: str, op: str, args: dict[str, Any]) -> dict[str, Any]:
        if instance not in self._running:
            raise TargetRefused(f"there is no instance {instance}")
        return await self._running[instance].do(op, args)

    async def stop(self, instance: str) -> None:
        if running := self._running.pop(instance, None):
            await running.stop()

    def kill(self) -> None:
        for running in self._running.values():
            running.kill()
        self._running.clear()
