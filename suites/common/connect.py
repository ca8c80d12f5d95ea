"""How a connection comes about: the harness dials the target, or the target dials a port of ours."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, TypeVar

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from harness.errors import TargetCrashed
from harness.judging.inbox import Inbox
from harness.judging.trial import Trial
from reference_impl.io import tcp, websocket
from reference_impl.io.carrier import Carrier, NoAnswer, NoConnection
from reference_impl.io.listener import Listener
from reference_impl.io.tcp import Stream
from reference_impl.io.websocket import Settings, WebSocket

MOST_MESSAGE = 4 * 2**20
"""Bytes of one message of a target that anybody looks at: a mebibyte of text, re-encoded with escapes, is three."""

CLOSE_S = 1.0
"""How long a target may take to answer a close frame; nothing is judged by it."""

HERE = "127.0.0.1"
C = TypeVar("C", bound=Carrier[Any, Any])


async def dial_websocket(
    trial: Trial, url: str, headers: Mapping[str, str] | None = None, subprotocols: tuple[str, ...] = ()
) -> WebSocket:
    """A connection to the target; one that is not there, or speaks something else, has crashed."""

    def dial(open_s: float) -> Awaitable[WebSocket]:
        settings = Settings(MOST_MESSAGE, open_s, CLOSE_S, subprotocols)
        return websocket.dial(url, settings, headers)

    return await _dialled(trial, dial)


async def dial_tcp(trial: Trial, host: str, port: int) -> Stream:
    """A byte stream to the target."""
    return await _dialled(trial, lambda open_s: tcp.dial(host, port, open_s))


async def _dialled(trial: Trial, dial: Callable[[float], Awaitable[C]]) -> C:
    """Who never answers costs one patience and not one per case."""
    try:
        with trial.target.patience.waiting(f"a connection to {trial.role}", trial.patience_s, formal=True) as open_s:
            try:
                return await dial(open_s)
            except NoAnswer as nobody:
                raise TimeoutError(str(nobody)) from None
    except (NoConnection, TimeoutError) as nobody:
        raise TargetCrashed(str(nobody)) from None


class Port(Generic[C]):
    """A port of ours that the target dials: `Port(tcp.Listener)`. Connections wait in `arrivals`, in the order they came."""

    def __init__(self, listen: Callable[[Callable[[C], Awaitable[None]]], Listener[C]]) -> None:
        self.arrivals: Inbox[C] = Inbox()
        self._listener = listen(self._arrived)
        self._over = asyncio.Event()

    async def open(self) -> int:
        """Its number."""
        return await self._listener.start()

    async def _arrived(self, carrier: C) -> None:
        self.arrivals.put(carrier)
        await self._over.wait()  # a listener ends what is not handled any more

    async def close(self) -> None:
        self._over.set()
        await self._listener.stop()


class WebSocketPort(Port[WebSocket]):
    """A port for WebSocket; it can turn upgrades away, and let them wait."""

    def __init__(self, trial: Trial, subprotocols: tuple[str, ...] = ()) -> None:
        settings = Settings(MOST_MESSAGE, close_s=CLOSE_S, subprotocols=subprotocols)
        super().__init__(functools.partial(websocket.Listener, settings=settings, admit=self._admit))
        self.trial = trial
        self.turn_away = 0  # upgrades to refuse before the next is accepted
        self.knocks: Inbox[str] = Inbox()  # who has asked for an upgrade
        self.door = asyncio.Event()  # while it is shut nobody gets one
        self.door.set()

    async def url(self) -> str:
        """Opens the port, and says where it is."""
        return f"ws://{HERE}:{await self.open()}"

    async def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        self.knocks.put(request.path)
        await self.door.wait()
        if not self.turn_away:
            return None
        self.turn_away -= 1
        self.trial.said("harness", "target", "note", "upgrade refused: 503")
        return connection.respond(503, "not yet")
