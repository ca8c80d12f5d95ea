"""The reference implementations as a target: `Reference` in-process, `python -m targets.reference` over stdio."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from harness import __version__
from harness.shim.roles import Role, RoleShim

PROTOCOLS = tuple(sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py")))


def roles_of(protocols: Iterable[str]) -> dict[str, Callable[[], Role]]:
    """Each module here has a table of its own."""
    roles: dict[str, Callable[[], Role]] = {}
    for protocol in protocols:
        roles |= importlib.import_module(f"targets.reference.{protocol}").ROLES
    return roles


class Reference(RoleShim):
    def __init__(self, roles: Mapping[str, Callable[[], Role]] | None = None) -> None:
        super().__init__("reference", __version__, roles or roles_of(PROTOCOLS))

    @classmethod
    def of(cls, protocols: Iterable[str]) -> Reference:
        """In these alone: the others are not even imported."""
        return cls(roles_of(protocol for protocol in protocols if protocol in PROTOCOLS))
