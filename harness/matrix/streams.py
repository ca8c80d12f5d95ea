"""The proxy in the path of a stream: passes bytes both ways, keeps a copy, and disturbs as a schedule says."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable, Sequence

from harness.matrix.along import Passed
from harness.matrix.faults import Fault

READ_SIZE = 65_536
KEPT = 1 << 18
"""Bytes kept of one connection for whoever reads along."""

RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with no time: closing sends RST instead of FIN."""

DRIBBLED = 64
"""Bytes that are passed one by one."""

DELAYED = 20
"""Pieces of a connection that are late, one after the other."""


Tell = Callable[[str, str, dict[str, object]], None]
"""(line, what, data): something was done to a connection, or it came or went."""


class StreamProxy:
    """One line. Its port stays the same however often what is behind it starts anew."""

    def __init__(self, line: str, tell: Tell) -> None:
        self.line, self._tell = line, tell
        self.upstream: tuple[str, int] = ("", 0)
        self.port = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None] | None] = set()
        self._links: set[_Link] = set()
        self.begin(())

    def begin(self, schedule: Sequence[Fault]) -> None:
        """A new scenario: connections are counted from zero, and these faults wait for them."""
        self.faults = [fault for fault in schedule if fault.where == self.line]
        self.passed: list[Passed] = []
        self.connections = 0
        self.ended = 0  # connections that are gone
        self._kept: dict[int, int] = {}
        self._away = False

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server:
            self._server.close()
        for task in list(self._tasks):
            if task:
                task.cancel()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task: asyncio.Task[None] | None = asyncio.current_task()
        self._tasks.add(task)
        try:
            await self._through(reader, writer)
        except asyncio.CancelledError:
            pass  # the bench is closed
        finally:
            self._tasks.discard(task)

    async def _through(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._away:
            _reset(writer)
            return
        number, self.connections = self.connections, self.connections + 1
        self._tell(self.line, "dialled", {"connection": number})
        try:
            up_reader, up_writer = await asyncio.open_connection(*self.upstream)
        except OSError:
            self._tell(self.line, "nobody there", {"connection": number})
            _reset(writer)
            self.ended += 1
            return
        link = _Link(self, number, writer, up_writer)
        self._links.add(link)
        pumps = [link.pump(reader, up_writer, "up"), link.pump(up_reader, writer, "down")]
        try:
            await asyncio.gather(*pumps)
        finally:
            self._links.discard(link)
            self.ended += 1
            self._tell(self.line, "gone", {"connection": number})
            for end in (writer, up_writer):
                end.close()

    def copied(self, number: int, way: str, data: bytes) -> None:
        kept = self._kept.get(number, 0)
        if kept < KEPT:
            self.passed.append(Passed(number, way, data))
            self._kept[number] = kept + len(data)

    def done(self, fault: Fault) -> None:
        self._tell(self.line, str(fault.what), {"fault": str(fault)})

    def cut(self) -> None:
        """Reset every connection that there is now, as a scenario says that it happens; dials succeed again."""
        for link in self._links:
            link.cut("rst")
        self._tell(self.line, "cut", {"connections": len(self._links)})

    def go_away(self, seconds: float) -> None:
        """Let nobody in for so long."""
        self._away = True

        def back() -> None:
            self._away = False

        asyncio.get_running_loop().call_later(seconds, back)


class _Link:
    """One connection through the proxy."""

    def __init__(self, proxy: StreamProxy, number: int, *ends: asyncio.StreamWriter) -> None:
        self._proxy, self._number, self._ends = proxy, number, ends
        self._late: dict[str, tuple[int, float]] = {}  # by direction: so many pieces more, by so many seconds
        self._over = False

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: str) -> None:
        """Pass one direction on, until its end; an end that is cut ends both."""
        mine = [f for f in self._proxy.faults if f.connection == self._number and f.way == way]
        faults, at = sorted(mine, key=lambda fault: fault.at), 0
        try:
            while data := await reader.read(READ_SIZE):
                await self._pass(data, at, faults, writer, way)
                at += len(data)
                if self._over:
                    return
            if writer.can_write_eof():
                writer.write_eof()
        except OSError:
            self.cut("rst")  # the one side was reset: so is the other

    async def _pass(self, data: bytes, at: int, faults: list[Fault], writer: asyncio.StreamWriter, way: str) -> None:
        """Write these bytes, disturbed by the faults that fall among them."""
        while faults and faults[0].at < at + len(data) and not self._over:
            fault = faults.pop(0)
            head, data = data[: max(0, fault.at - at)], data[max(0, fault.at - at) :]
            await self._write(head, writer, way)
            self._proxy.done(fault)
            dribbled = await self._disturb(fault, data, writer, way)
            at, data = at + len(head) + dribbled, data[dribbled:]
        if not self._over:
            await self._write(data, writer, way)

    async def _disturb(self, fault: Fault, data: bytes, writer: asyncio.StreamWriter, way: str) -> int:
        """Do it; returns how many of the bytes were written meanwhile."""
        match fault.what:
            case "cut":
                if fault.amount:
                    self._proxy.go_away(fault.amount)
                self.cut(fault.how)
            case "stall":
                await asyncio.sleep(fault.amount)
            case "delay":
                self._late[way] = (DELAYED, fault.amount)
            case "dribble":
                for byte in data[:DRIBBLED]:
                    await self._write(bytes([byte]), writer, way)
                    await asyncio.sleep(0)
                return min(DRIBBLED, len(data))
        return 0

    async def _write(self, data: bytes, writer: asyncio.StreamWriter, way: str) -> None:
        if not data:
            return
        pieces, seconds = self._late.get(way, (0, 0.0))
        if pieces:
            self._late[way] = (pieces - 1, seconds)
            await asyncio.sleep(seconds)
        self._proxy.copied(self._number, way, data)
        writer.write(data)
        await writer.drain()

    def cut(self, how: str) -> None:
        self._over = True
        for end in self._ends:
            _reset(end) if how == "rst" else end.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    if (held := writer.get_extra_info("socket")) and held.fileno() >= 0:
        with contextlib.suppress(OSError):
            held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()
