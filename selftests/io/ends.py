"""Both ends of a connection over each transport, and servers and peers that are no good."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from reference_impl.io import tcp, websocket
from reference_impl.io.carrier import Carrier, HungUp
from reference_impl.io.listener import Listener
from reference_impl.io.loopback import Loopback

WAIT_S = 10.0
HOST = "127.0.0.1"
MORE_THAN_BUFFERS_HOLD = bytes(32 << 20)
"""Sending it waits for the other side to read, whatever the kernel buffers."""
UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)

T = TypeVar("T")
Ends = tuple[Carrier[Any, Any], Carrier[Any, Any]]


async def soon(what: Awaitable[T]) -> T:
    """What must come, so that a test fails where it would hang."""
    return await asyncio.wait_for(what, WAIT_S)


async def end_of(carrier: Carrier[Any, Any]) -> HungUp:
    """How it ends; whatever comes before is skipped."""
    while True:
        try:
            await soon(carrier.receive())
        except HungUp as end:
            return end


class Accepts:
    """A handler that leaves each connection to the test, and keeps it open until the test is over."""

    def __init__(self) -> None:
        self._carriers: asyncio.Queue[Any] = asyncio.Queue()
        self._over = asyncio.Event()

    async def __call__(self, carrier: Any) -> None:
        self._carriers.put_nowait(carrier)
        await self._over.wait()

    async def next(self) -> Any:
        return await soon(self._carriers.get())

    def release(self) -> None:
        self._over.set()


@asynccontextmanager
async def accepting(listener: Listener[Any], accepts: Accepts) -> AsyncIterator[int]:
    """The port of a listener, which stops in the end."""
    yield await listener.start()
    accepts.release()
    await soon(listener.stop())


@asynccontextmanager
async def over_websocket(settings: websocket.Settings = websocket.USUAL) -> AsyncIterator[Ends]:
    accepts = Accepts()
    async with accepting(websocket.Listener(accepts, settings), accepts) as port:
        dialled = await websocket.dial(f"ws://{HOST}:{port}", settings)
        yield dialled, await accepts.next()
        dialled.cut()


@asynccontextmanager
async def over_tcp() -> AsyncIterator[Ends]:
    accepts = Accepts()
    async with accepting(tcp.Listener(accepts), accepts) as port:
        dialled = await tcp.dial(HOST, port)
        yield dialled, await accepts.next()
        dialled.cut()


@asynccontextmanager
async def over_loopback() -> AsyncIterator[Ends]:
    yield Loopback[bytes].pair()


@asynccontextmanager
async def saying(answer: bytes | None) -> AsyncIterator[int]:
    """The port of a server that says this to whoever says something, and hangs up; None: it keeps silent."""
    over = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        if answer is None:
            await over.wait()
        else:
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(handle, HOST, 0)
    yield server.sockets[0].getsockname()[1]
    over.set()
    server.close()


async def deaf(port: int, greeting: bytes = b"") -> asyncio.StreamWriter:
    """A peer that reads no more than the answer to its greeting; keep it, or it is collected and hangs up."""
    reader, writer = await asyncio.open_connection(HOST, port, limit=1024)
    if greeting:
        writer.write(greeting)
        await soon(reader.readuntil(b"\r\n\r\n"))
    return writer
