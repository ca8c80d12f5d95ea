"""Bytes over TCP: a carrier around a stream of asyncio, dialled or accepted."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct

from reference_impl.io import listener
from reference_impl.io.carrier import ENDED, LOST, HungUp, NoAnswer, NoConnection

READ_SIZE = 65_536
CLOSE_S = 2.0  # for the other side to take what was sent before the end; one that does not read never does
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with no time: closing sends RST instead of FIN."""


class Stream:
    """One connection. What is sent at once may arrive in pieces, and the other way round."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._was_cut = False

    async def send(self, data: bytes) -> None:
        if self._writer.transport.is_closing():  # asyncio would only find out by and by
            raise HungUp(LOST)
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            raise HungUp(LOST, str(error)) from None

    async def receive(self) -> bytes:
        """Some bytes, at least one."""
        try:
            data = await self._reader.read(READ_SIZE)
        except OSError as error:  # a reset, and every fault of TLS
            raise HungUp(LOST, str(error)) from None
        if not data:
            raise HungUp(LOST if self._was_cut else ENDED)
        return data

    async def finish(self) -> None:
        """Half-close: nothing more is said, and still all is heard."""
        with contextlib.suppress(OSError):
            self._writer.write_eof()

    async def close(self, code: int = ENDED) -> None:
        """FIN behind what was sent; a byte stream has no code to say."""
        self._writer.close()
        try:
            async with asyncio.timeout(CLOSE_S):
                await asyncio.shield(self._writer.wait_closed())  # a wait that is cancelled spoils every later one
        except TimeoutError:
            self.cut()
        except OSError:
            pass  # it was over already

    def cut(self) -> None:
        """RST."""
        self._was_cut = True
        if (held := self._writer.get_extra_info("socket")) and held.fileno() >= 0:  # else it is over already
            held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self._writer.transport.abort()


async def dial(host: str, port: int, open_s: float = 10.0) -> Stream:
    """A connection to that address; raises NoConnection, which says why."""
    try:
        async with asyncio.timeout(open_s):
            return Stream(*await asyncio.open_connection(host, port))
    except TimeoutError:
        raise NoAnswer(f"no TCP connection to {host}:{port}: no answer within {open_s:g} s") from None
    except (OSError, OverflowError, UnicodeError) as error:  # the last two: a port or a name that cannot be
        raise NoConnection(f"no TCP connection to {host}:{port}: {error}") from None


class Listener(listener.Listener[Stream]):
    """Takes whoever connects."""

    async def open(self, host: str, port: int) -> asyncio.Server:
        async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            stream = Stream(reader, writer)
            try:
                await self.accepted(stream)
            finally:
                await stream.close()

        return await asyncio.start_server(accepted, host, port)
