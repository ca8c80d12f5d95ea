"""Reach: a server that someone else runs, at an address or, if it has several ports, at one for each."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.catalogue.addresses import endpoint, fitted
from harness.catalogue.protocols import RoleInfo
from harness.errors import TargetCrashed, TargetUnsupported, UsageError
from harness.shim import Hello
from harness.targets.server import accepts
from harness.targets.session import Instance, Reach, Session, told_of_ports


@dataclass(frozen=True)
class Served:
    """One role that the server may have, and its addresses by port as the role's protocol writes them."""

    role: RoleInfo
    addresses: Mapping[str, str]


class RemoteSession(Session):
    """Starting means being told the address; the configuration is the server's own, stated as options."""

    def __init__(self, name: str, served: Mapping[str, Served], options: Mapping[str, Any]) -> None:
        super().__init__()
        self._name, self._served, self._options = name, served, options

    async def open(self) -> Hello:
        for address in {address for one in self._served.values() for address in one.addresses.values()}:
            await self._reached(address)
        told = self._options.get("capabilities", [])
        told = told if isinstance(told, list) else [told]
        return Hello(self._name, {path: [*one.role.capabilities, *told] for path, one in self._served.items()})

    async def _reached(self, address: str) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.answer_s):
                if await accepts(*endpoint(address)):
                    return
        raise TargetCrashed(f"nobody answers at {address}: start the server, or mend the address")

    async def start(self, role: str, config: dict[str, Any]) -> Instance:
        if role not in self._served:
            raise TargetUnsupported(f"role {role}")
        addresses = told_of_ports("address", "addresses", self._served[role].addresses)
        instance = Instance(self, role, role, addresses | dict(self._options))
        self.instances[instance.id] = instance
        return instance

    async def call(self, verb: str, **fields: Any) -> dict[str, Any]:
        raise TargetUnsupported(f"a remote server has no shim to {verb} with")

    async def stop(self, instance: Instance) -> None:
        self.instances.pop(instance.id, None)


class Remote(Reach):
    """`ws://host:port`, `host:port`, or `push=host:port,receive=host:port`"""

    kind = "remote"

    def __init__(self, name: str, served: Mapping[str, Served], options: Mapping[str, Any]) -> None:
        self._arguments = (name, served, options)

    @classmethod
    def offered(cls, written: Mapping[str, str], roles: Mapping[str, RoleInfo], options: Mapping[str, Any]) -> Remote:
        """The server at what a person wrote, in those of the roles that it can have; a wrong call if there is none."""
        name = ",".join(f"{port}={address}" if port else address for port, address in written.items())
        served = {path: Served(role, at) for path, role in roles.items() if (at := _addresses(role, written))}
        if not served:
            spellings = " or ".join(f"{role.spelling} ({path})" for path, role in roles.items())
            raise UsageError(f"{name} fits no server: write {spellings}")
        check_options({path: one.role for path, one in served.items()}, options)
        ready = {path: one for path, one in served.items() if not one.role.missing(options)}
        if not ready:
            path, role = next((path, one.role) for path, one in served.items())
            key = role.missing(options)
            option = role.options[key]
            raise UsageError(f"{path} at an address needs --option {key}={option.spelling}: {option.about}")
        return cls(name, ready, options)

    def session(self) -> RemoteSession:
        return RemoteSession(*self._arguments)


def check_options(roles: Mapping[str, RoleInfo], options: Mapping[str, Any]) -> None:
    """Every option is one of a role, with a value that it may have."""
    known = {key: option for role in roles.values() for key, option in role.every_option.items()}
    for key, value in options.items():
        if key not in known:
            raise UsageError(f"there is no option {key!r} of {' or '.join(roles)}: use {', '.join(known)}")
        if known[key].values and value not in known[key].values:
            raise UsageError(f"--option {key} must be {' or '.join(known[key].values)}: {known[key].about}")


def _addresses(role: RoleInfo, written: Mapping[str, str]) -> dict[str, str] | None:
    """As the role's protocol writes them; None where it has other ports, or another kind of address."""
    if set(written) != set(role.addresses):
        return None
    try:
        found = {port: fitted(template, port, written[port]) for port, template in role.addresses.items()}
    except ValueError as error:
        raise UsageError(f"{error}: write {role.spelling}") from None
    return {port: address for port, address in found.items() if address} if all(found.values()) else None
