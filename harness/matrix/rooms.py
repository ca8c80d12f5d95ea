"""Where a pair meets: on the network of this machine, or, two containers, in a room of their own on an internal network.

A proxy of ours stands on this machine, out of reach from such a room: what needs one is played here.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack

from harness.matrix.cells import REFERENCE, Block
from harness.matrix.pairing import CLIENT, SERVER, THIRD
from harness.targets import Target, bundled, resolve
from harness.targets.docker import Docker, internal_room

CONTAINED = f"{REFERENCE}-docker"
"""The reference, where containers meet it."""


class Rooms:
    """The targets of a block by side and the reference as a third, here and in a room."""

    def __init__(self, block: Block) -> None:
        self._specs = {**block.specs, THIRD: CONTAINED}
        self.here = {side: resolve(spec) for side, spec in block.specs.items()}
        self._apart: dict[str, Target] = {}
        self._stack = AsyncExitStack()

    @property
    def are_there(self) -> bool:
        """Are both sides shims in containers, and can the reference be with them?"""
        contained = all(
            isinstance(reach := self.here[side].reach, Docker) and reach.is_shim for side in (CLIENT, SERVER)
        )
        return contained and CONTAINED in bundled()

    async def targets(self, apart: bool) -> Mapping[str, Target]:
        if not apart:
            return self.here
        if not self._apart:
            room = await self._stack.enter_async_context(internal_room())
            for side, spec in self._specs.items():
                target = self._apart[side] = resolve(spec)
                assert isinstance(target.reach, Docker), "looked at before"
                target.reach = target.reach.within(room)
        return self._apart

    async def close(self) -> None:
        for target in (*self._apart.values(), *self.here.values()):
            await target.close()
        await self._stack.aclose()
