"""Messages over WebSocket: a carrier around a connection of the `websockets` library, dialled or accepted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from weakref import WeakSet

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI, PayloadTooBig, ProtocolError
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.typing import Subprotocol

from reference_impl.io import listener
from reference_impl.io.carrier import LOST, HungUp, NoAnswer, NoConnection, TooMuch

Message = str | bytes
Admit = Callable[[ServerConnection, Request], Awaitable[Response | None]]
"""Looks at an upgrade before it is accepted; a response instead of None turns it away."""


MOST_UNREAD = 2**20
"""Bytes that the other side may say while so many wait for it to read them: each of its pings is answered, unread or not."""


class Bounded(Connection):
    """Hangs up on who floods us: who does not read, and who goes on behind a message that is too long."""

    said_unreading = 0
    give_up_s: float | None = None  # for the other side to end it; None: as long as for any close
    _given_up: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        reads = self.transport.get_write_buffer_size() < MOST_UNREAD
        self.said_unreading = 0 if reads else self.said_unreading + len(data)
        if self.flooded:
            self.transport.abort()
        elif self.protocol.parser_exc and self._given_up is None:  # the library would wait for the other side to end it
            wait_s = (self.close_timeout or 0.0) if self.give_up_s is None else self.give_up_s
            self._given_up = self.loop.call_later(wait_s, self.transport.abort)

    @property
    def flooded(self) -> bool:
        return self.said_unreading > MOST_UNREAD


class Dialled(Bounded, ClientConnection):
    give_up_s = 0.05  # a server that floods would use the time for more of it


class Accepted(Bounded, ServerConnection):
    pass


@dataclass(frozen=True, slots=True)
class Settings:
    """How a connection is kept. Nothing here pings or compresses by itself: what is on the wire is what was said."""

    max_size: int | None = None  # bytes of one message; one byte more is closed with 1009 by the library
    open_s: float = 10.0  # for the upgrade
    close_s: float = 0.5  # for the other side to answer a close frame; a half-open one never does
    subprotocols: tuple[str, ...] = ()

    def arguments(self) -> dict[str, Any]:
        return {
            "max_size": self.max_size,
            "open_timeout": self.open_s,
            "close_timeout": self.close_s,
            "subprotocols": [Subprotocol(name) for name in self.subprotocols] or None,
            "compression": None,
            "ping_interval": None,
        }


USUAL = Settings()


class WebSocket:
    """One connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def connection(self) -> Connection:
        """What lies below messages, for who is about that: the upgrade, pings, the TCP transport."""
        return self._connection

    @property
    def subprotocol(self) -> str | None:
        return self._connection.subprotocol

    @property
    def address(self) -> str:
        """The IP address of the other side."""
        return str(self._connection.remote_address[0])

    async def send(self, message: Message | Iterable[Message]) -> None:
        """One message, fragmented if it is given in pieces."""
        try:
            await self._connection.send(message)
        except (ConnectionClosed, AttributeError):  # AttributeError: what the library runs into after a reset
            raise self._end() from None

    async def receive(self) -> Message:
        try:
            return await self._connection.recv()
        except ConnectionClosed:
            raise self._end() from None

    async def ping(self, data: bytes = b"") -> None:
        """Until the other side has answered it."""
        try:
            await (await self._connection.ping(data))
        except ConnectionClosed:
            raise self._end() from None

    async def pong(self, data: bytes = b"") -> None:
        """One that nobody asked for."""
        try:
            await self._connection.pong(data)
        except ConnectionClosed:
            raise self._end() from None

    def _end(self) -> HungUp:
        if getattr(self._connection, "flooded", False):
            return TooMuch(LOST, f"it does not read: more than {MOST_UNREAD} bytes wait for it")
        if isinstance(self._connection.protocol.parser_exc, PayloadTooBig):
            return TooMuch(LOST, f"a message of more than {self._connection.protocol.max_message_size} bytes")
        return HungUp(int(self._connection.close_code or LOST), self._connection.close_reason or "")

    async def close(self, code: int = 1000) -> None:
        """Cut where the other side does not take the close frame; the library would wait for that for ever."""
        try:
            async with asyncio.timeout(self._connection.close_timeout):
                await self._connection.close(code)
        except TimeoutError:
            self.cut()

    def cut(self, tail: bytes = b"") -> None:
        """Without a close frame: at once, or behind the first bytes of a message that is never finished."""
        if tail:
            self._connection.transport.write(tail)
            self._connection.transport.close()
        else:
            self._connection.transport.abort()


NOTHING = (
    *(OSError, EOFError, InvalidHandshake, ProtocolError, ConnectionClosed),  # nobody there, or no WebSocket
    *(InvalidURI, ValueError, OverflowError),  # no address: neither the library nor the resolver wraps the last two
)
"""What a dial may come to. TimeoutError and all of TLS are OSErrors."""


async def dial(url: str, settings: Settings = USUAL, headers: Mapping[str, str] | None = None) -> WebSocket:
    """A connection to that URL; raises NoConnection, which says why."""
    try:
        dialling = connect(
            url, additional_headers=headers, proxy=None, create_connection=Dialled, **settings.arguments()
        )
        return WebSocket(await dialling)
    except TimeoutError:
        raise NoAnswer(f"no WebSocket connection to {url[:200]}: no answer within {settings.open_s:g} s") from None
    except NOTHING as error:
        raise NoConnection(f"no WebSocket connection to {url[:200]}: {str(error) or type(error).__name__}") from None


class Listener(listener.Listener[WebSocket]):
    """Upgrades what `admit` does not turn away."""

    def __init__(
        self, handle: Callable[[WebSocket], Awaitable[None]], settings: Settings = USUAL, admit: Admit | None = None
    ) -> None:
        super().__init__(handle)
        self._settings, self._admit = settings, admit
        self.connections: WeakSet[Accepted] = WeakSet()

    async def open(self, host: str, port: int) -> Server:
        async def accepted(connection: ServerConnection) -> None:
            await self.accepted(WebSocket(connection))

        def made(*arguments: Any, **more: Any) -> Accepted:
            self.connections.add(connection := Accepted(*arguments, **more))
            return connection

        process_request = cast(Any, self._admit)  # the library's type allows a plain response too
        return await serve(
            accepted,
            host,
            port,
            process_request=process_request,
            create_connection=cast(Any, made),  # the library's type wants the class itself
            **self._settings.arguments(),
        )

    async def stop(self) -> None:
        """Who has not ended its handshake hears no goodbye: the library would wait for it."""
        for connection in self.connections:
            if connection.protocol.state is State.CONNECTING:
                connection.transport.abort()
        await super().stop()
