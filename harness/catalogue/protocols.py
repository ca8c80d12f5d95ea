"""What a protocol says of itself: its roles, which of them are servers, and how their addresses are written.

It is data: `suites/<protocol>/protocol.toml`. Nothing else in the harness lists roles or protocols.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from harness.catalogue.addresses import by_port, filled, hole
from harness.catalogue.requirements import protocols
from harness.errors import HarnessError, UsageError
from harness.places import SUITES

GLOB = frozenset("*?[")


class OptionInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody else's server cannot be asked: `--option KEY=VALUE`."""

    about: str
    required: bool = False
    values: list[str] = []  # what it may be; empty: anything

    @property
    def spelling(self) -> str:
        return "|".join(self.values) or "..."


CAPABILITIES = OptionInfo("the capabilities of the role that it has as it runs, separated by commas")
"""An option of every server."""


class RoleInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One role. It is a server's if it has an address."""

    address: str | dict[str, str] = ""  # a template with {host} and {port}; with several ports one by the name of each
    capabilities: list[str] = []  # what a server has of which no more than the address is known
    options: dict[str, OptionInfo] = {}  # its settings, where somebody else has started it

    def missing(self, options: Collection[str]) -> str:
        """The first option that has to be told and is not."""
        return next((key for key, option in self.options.items() if option.required and key not in options), "")

    @property
    def addresses(self) -> dict[str, str]:
        """The template of each port, by its name."""
        return by_port(self.address) if self.address else {}

    @property
    def every_option(self) -> dict[str, OptionInfo]:
        """Its own options and those that every server has."""
        return self.options | {"capabilities": CAPABILITIES} if self.address else {}

    @property
    def spelling(self) -> str:
        """How a person writes the address of such a server."""
        shown = [
            (port, filled(template, {"host": "host", hole(port): "port"})) for port, template in self.addresses.items()
        ]
        return ",".join(f"{port}={address}" if port else address for port, address in shown)


class ProtocolInfo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str  # as people write it
    roles: dict[str, RoleInfo]


def protocol(id: str) -> ProtocolInfo:
    """What the protocol says of itself; the id is its folder's name."""
    path = SUITES / id / "protocol.toml"
    try:
        return msgspec.toml.decode(path.read_bytes(), type=ProtocolInfo)
    except FileNotFoundError:
        if id not in protocols():
            raise UsageError(f"there is no protocol {id!r}: use {', '.join(protocols())}") from None
        raise HarnessError(f"{path} is missing: it says which roles {id} has") from None
    except msgspec.MsgspecError as error:
        raise HarnessError(f"{path}: {error}") from None


def roles(of: Sequence[str] | None = None) -> dict[str, RoleInfo]:
    """The roles of these protocols, or of all, as `protocol/role`."""
    ids = protocols() if of is None else of
    return {f"{id}/{name}": role for id in ids for name, role in protocol(id).roles.items()}


def servers(of: Sequence[str] | None = None) -> dict[str, RoleInfo]:
    """Those of them that a server at an address can have."""
    return {path: role for path, role in roles(of).items() if role.address}


def known_role(path: str, among: Iterable[str] | None = None) -> str:
    """The role itself, or a sentence that names those that there are."""
    there = list(roles() if among is None else among)
    if path not in there:
        raise UsageError(f"there is no {'role' if among is None else 'server role'} {path!r}: use {', '.join(there)}")
    return path


def chosen(select: Iterable[str]) -> list[str]:
    """The protocols that a selection can touch; a protocol or role that nobody has is a wrong call."""
    ids: set[str] = set()
    for pattern in select:
        id, _, rest = pattern.partition("/")
        if GLOB & set(id):
            return protocols()
        protocol(id)
        ids.add(id)
        role = rest.split("/")[0]
        if role and not GLOB & set(role):
            known_role(f"{id}/{role}")
    return sorted(ids) or protocols()


def touched(select: Sequence[str], paths: Iterable[str]) -> list[str]:
    """Of these roles those that a selection can touch."""
    wanted = [pattern.split("/")[:2] for pattern in select]
    return sorted(path for path in paths if not wanted or any(_may_be(path.split("/"), parts) for parts in wanted))


def _may_be(path: Sequence[str], parts: Sequence[str]) -> bool:
    return all(GLOB & set(part) or part in ("", name) for name, part in zip(path, parts, strict=False))
