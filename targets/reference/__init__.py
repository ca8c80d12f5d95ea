"""The reference implementations as a target: `Reference` in-process, `python -m targets.reference` over stdio."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path

from harness import __version__
from harness.shim.roles import Role, RoleShim

PROTOCOLS = tuple(sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py")))


def every_role() -> dict[str, Callable[[], Role]]:
    """The roles of every protocol that has landed: each module here has a table of its own."""
    roles: dict[str, Callable[[], Role]] = {}
    for protocol in PROTOCOLS:
        roles |= importlib.import_module(f"targets.reference.{protocol}").ROLES
    return roles


class Reference(RoleShim):
    def __init__(self, roles: Mapping[str, Callable[[], Role]] | None = None) -> None:
        super().__init__("reference", __version__, roles or every_role())
