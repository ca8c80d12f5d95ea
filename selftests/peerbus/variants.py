"""A client that conforms in its own way: it takes the freedom that most clients leave alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from websockets.asyncio.client import ClientConnection

from harness.shim.roles import RoleShim
from reference_impl.peerbus.client_io import Client
from targets.reference.peerbus import DocumentClientRole


class OneAtATime(Client):
    """Reads on, and so notices that its connection is gone, only once its host has consumed the last message."""

    async def incoming(self, websocket: ClientConnection) -> AsyncIterator[str | bytes]:
        async for message in super().incoming(websocket):
            yield message
            while self.connected and self.player.state.waiting:  # noqa: ASYNC110  a state has no event to wait for
                await asyncio.sleep(0.001)


class SerialRole(DocumentClientRole):
    capabilities = (*DocumentClientRole.capabilities, "serial")
    client = OneAtATime


class Serial(RoleShim):
    def __init__(self) -> None:
        super().__init__("serial", "0", {"peerbus/client": SerialRole})
