"""A server that the harness plays for a client under test: whoever dials it is a line from the moment when he comes."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from harness.judging.inbox import Inbox
from harness.judging.trial import Trial
from reference_impl.io.websocket import WebSocket
from suites.common.connect import WebSocketPort
from suites.common.line import WebSocketLine

L = TypeVar("L", bound=WebSocketLine[Any])


class Played(Generic[L]):
    """One port; its lines in the order in which they came, and in `arrivals` those that nobody has looked at."""

    def __init__(self, trial: Trial, port: WebSocketPort, arrivals: Inbox[L]) -> None:
        self.trial, self.port, self.arrivals = trial, port, arrivals
        self.lines: list[L] = []
        port.arrivals.hand_over(self._connected)

    def line(self, carrier: WebSocket, number: int) -> L:
        """What the protocol makes of a connection."""
        raise TypeError(type(self))

    def _connected(self, carrier: WebSocket | Exception) -> None:
        assert isinstance(carrier, WebSocket), "a port hands out connections"
        line = self.line(carrier, len(self.lines) + 1)
        self.lines.append(line)
        self.trial.said(line.other, line.label, "note", "connected")
        self.trial.went(line.label, "connected")
        self.arrivals.put(line)

    async def close(self) -> None:
        """A fault that no case has looked at is reported here."""
        await self.port.close()
        for line in self.lines:
            await line.over()
            if fault := next((left for left in line.inbox.drain() if isinstance(left, Exception)), None):
                raise fault
