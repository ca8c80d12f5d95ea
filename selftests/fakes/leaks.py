"""The reference's shim, except that each instance leaves a mebibyte and a file descriptor behind."""

import asyncio
import os
from typing import Any

from harness.shim.python import serve_stdio
from harness.shim.roles import RoleShim
from targets.reference.peerbus import ROLES

KEPT: list[Any] = []


class Leaky(RoleShim):
    async def start(self, *arguments: Any) -> Any:
        KEPT.append((os.urandom(1 << 20), os.open(os.devnull, os.O_RDONLY)))
        return await super().start(*arguments)


if __name__ == "__main__":
    asyncio.run(serve_stdio(Leaky("leaks", "0", ROLES)))
