"""Accepts connections on one port and hands each to whoever handles it; a transport only says how it opens the port."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Generic, Protocol, TypeVar

from reference_impl.io.carrier import Carrier

GOING_AWAY = 1001  # a byte stream does not say it

C = TypeVar("C", bound=Carrier[Any, Any])


class Server(Protocol):
    """What asyncio and the WebSocket library both give for an open port."""

    @property
    def sockets(self) -> Iterable[socket.socket]: ...

    def close(self) -> None: ...

    async def wait_closed(self) -> None: ...


class Listener(Generic[C]):
    """`handle` has a connection for as long as it runs, in a task of its own; then the transport closes it."""

    def __init__(self, handle: Callable[[C], Awaitable[None]]) -> None:
        self._handle = handle
        self._handled: dict[asyncio.Task[Any], C] = {}
        self._server: Server | None = None
        self._over = False
        self.port = 0

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """The port that it listens on: the one asked for, or one that is free."""
        self._server = await self.open(host, port)
        self.port = next(iter(self._server.sockets)).getsockname()[1]
        return self.port

    async def open(self, host: str, port: int) -> Server:
        """Open the port, so that each connection gets a task that calls `accepted`."""
        raise TypeError(f"{type(self).__name__} does not say how it opens a port")

    async def accepted(self, carrier: C) -> None:
        if self._over:
            return  # accepted by the kernel before the end, by us after it
        task = asyncio.current_task()
        assert task, "a connection has a task of its own"
        self._handled[task] = carrier
        try:
            await self._handle(carrier)
        finally:
            del self._handled[task]

    def __len__(self) -> int:
        """Connections that are being handled."""
        return len(self._handled)

    async def stop(self) -> None:
        """Say goodbye on every connection, and wait until the last has been handled."""
        self._over = True
        if self._server:
            self._server.close()
            handled = dict(self._handled)
            await asyncio.gather(*(carrier.close(GOING_AWAY) for carrier in handled.values()))
            await asyncio.gather(*handled, return_exceptions=True)
            await self._server.wait_closed()

    def kill(self) -> None:
        """As a power cut would: nobody is told, and what is being handled ends where it stands."""
        self._over = True
        for task, carrier in self._handled.items():
            carrier.cut()
            task.cancel()
        if self._server:
            # Behind the cuts: the WebSocket library says goodbye to what is still open. And a turn later: a connection that was
            # taken and has no transport yet would stay open with nobody behind it (asyncio before 3.12).
            loop = asyncio.get_running_loop()
            for held in self._server.sockets:
                loop.remove_reader(held.fileno())
            loop.call_soon(self._server.close)
