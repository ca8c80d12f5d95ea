"""Bytes for SBP, legal and not, packed by hand: nothing here knows the reference's codec."""

from __future__ import annotations

import json
import secrets
import struct
from typing import Any

from suites.common.names import unique

A = bytes(range(16))
LIMIT = 1_048_576


def new_id() -> bytes:
    return secrets.token_bytes(16)


def frame(kind: int, body: bytes, id: bytes | None = None, ts: int | None = None, flags: int | None = None) -> bytes:
    """Any frame; flags follow the timestamp unless they are given."""
    if flags is None:
        flags = 0 if ts is None else 1
    stamp = b"" if ts is None else struct.pack("<q", ts)
    return bytes([kind, flags]) + (new_id() if id is None else id) + stamp + body


def control(op: int, data: bytes = b"", id: bytes | None = None, ts: int | None = None) -> bytes:
    return frame(0, bytes([op]) + data, id, ts)


def ping(id: bytes | None = None, ts: int | None = None) -> bytes:
    return control(1, b"", id, ts)


def pong(id: bytes | None = None, ts: int | None = None) -> bytes:
    return control(2, b"", id, ts)


def close(reason: bytes = b"", id: bytes | None = None) -> bytes:
    return control(3, reason, id)


def message(subject: str | bytes, data: bytes = b"", id: bytes | None = None, ts: int | None = None) -> bytes:
    raw = subject.encode() if isinstance(subject, str) else subject
    return frame(1, struct.pack("<I", len(raw)) + raw + data, id, ts)


def ack(of: bytes, id: bytes | None = None, ts: int | None = None) -> bytes:
    return frame(2, of, id, ts)


def error(code: int, text: str = "", details: bytes = b"", id: bytes | None = None, ts: int | None = None) -> bytes:
    raw = text.encode()
    return frame(3, struct.pack("<HI", code, len(raw)) + raw + details, id, ts)


def bad_flags(id: bytes | None = None) -> bytes:
    return frame(0, b"\x01", id, flags=0x02)


def last() -> bytes:
    """Ends every session; to a peer that overlooks the flag it is a Pong that nobody asked for, and nothing comes of it."""
    return frame(0, b"\x02", flags=0x02)


def handshake(peer_id: str = "", id: bytes | None = None, ts: int | None = None, **changes: Any) -> bytes:
    """A good Handshake with members changed; `...` leaves one out."""
    members: dict[str, Any] = {"protocol": "sideband", "version": "1", "peerId": peer_id or unique("harness")}
    members |= changes
    kept = {name: value for name, value in members.items() if value is not ...}
    return control(0, json.dumps(kept, ensure_ascii=False).encode(), id, ts)


def sized_message(size: int, subject: str = "app/large") -> bytes:
    """A Message whose whole frame has that many bytes."""
    head = message(subject)
    return head + bytes(size - len(head))
