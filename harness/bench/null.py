"""A target that does nothing, in-process: what is measured with it is the harness."""

from __future__ import annotations

from typing import Any

from harness.shim.roles import Role, RoleShim


class Nothing(Role):
    async def do_canonical(self, wire: str) -> dict[str, Any]:
        return {"canonical": wire}


def null() -> RoleShim:
    return RoleShim("null", "0", {"peerbus/codec": Nothing})
