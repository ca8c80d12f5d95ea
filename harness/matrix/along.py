"""Reading along: the proxy's copies as messages in the order in which they passed, and who said the first illegal one."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

TEXT, BINARY, CLOSE, MORE = 1, 2, 8, 0
NO_CODE = 1005
"""Of a close frame that says none (RFC 6455, section 7.1.5)."""


@dataclass(frozen=True)
class Passed:
    """Some bytes that went through."""

    connection: int
    way: str
    data: bytes
    t: float = field(default_factory=time.perf_counter, compare=False)


@dataclass(frozen=True)
class Said:
    """One message that passed the proxy."""

    t: float
    line: str
    connection: int
    way: str  # up: from the client
    message: str | bytes | None  # None: the end
    code: int = NO_CODE  # of the end

    @property
    def text(self) -> str:
        if self.message is None:
            return "close"
        return self.message if isinstance(self.message, str) else self.message[:120].decode("latin-1")


@dataclass(frozen=True)
class Illegal:
    """The first thing that its speaker might not say."""

    seat: str
    clause: str
    what: str


class Unreadable(Exception):
    """The copy is not what it was taken for; nothing can be said of the conversation."""


def websocket_messages(passed: Iterable[tuple[str, Passed]]) -> Iterator[Said]:
    """The WebSocket messages of all lines, in the order in which their last bytes passed."""
    copies: dict[tuple[str, int, str], _Copy] = {}
    for line, piece in sorted(passed, key=lambda item: item[1].t):
        copy = copies.setdefault((line, piece.connection, piece.way), _Copy())
        for message in copy.feed(piece.data):
            said = Said(piece.t, line, piece.connection, piece.way, None if isinstance(message, int) else message)
            yield replace(said, code=message) if isinstance(message, int) else said


@dataclass
class _Copy:
    """One direction of one connection: the opening, then frames."""

    buffer: bytearray = field(default_factory=bytearray)
    opened: bool = False
    parts: bytearray = field(default_factory=bytearray)
    kind: int = 0

    def feed(self, data: bytes) -> Iterator[str | bytes | int]:
        """Whole messages, and the codes of close frames."""
        self.buffer += data
        if not self.opened:
            head, end, rest = bytes(self.buffer).partition(b"\r\n\r\n")
            if not end:
                return
            if b"permessage-deflate" in head and head.startswith(b"HTTP/"):
                raise Unreadable("the conversation is compressed")
            self.opened, self.buffer = True, bytearray(rest)
        while (frame := self._frame()) is not None:
            yield from self._message(*frame)

    def _frame(self) -> tuple[int, bool, bytes] | None:
        """The next whole frame: opcode, is it the last of its message, payload (RFC 6455, section 5.2)."""
        if len(self.buffer) < 2:
            return None
        first, second = self.buffer[0], self.buffer[1]
        at, size = 2, second & 0x7F
        extended = {126: 2, 127: 8}.get(size, 0)
        if extended:
            size, at = int.from_bytes(self.buffer[at : at + extended], "big"), at + extended
        mask = bytes(self.buffer[at : at + 4]) if second & 0x80 else b""
        at += len(mask) if second & 0x80 else 0
        if len(self.buffer) < at + size or (second & 0x80 and len(mask) < 4):
            return None
        payload = bytes(self.buffer[at : at + size])
        del self.buffer[: at + size]
        if mask:
            key = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
            payload = (int.from_bytes(payload, "big") ^ key).to_bytes(size, "big")
        return first & 0x0F, bool(first & 0x80), payload

    def _message(self, opcode: int, last: bool, payload: bytes) -> Iterator[str | bytes | int]:
        if opcode == CLOSE:
            yield int.from_bytes(payload[:2], "big") or NO_CODE
        elif opcode in (TEXT, BINARY, MORE):
            self.kind = opcode or self.kind
            self.parts += payload
            if last:
                whole, self.parts = bytes(self.parts), bytearray()
                yield whole.decode(errors="replace") if self.kind == TEXT else whole
