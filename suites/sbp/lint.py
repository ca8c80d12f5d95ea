"""Rules that hold for every frame a peer emits, checked on its raw bytes as they arrive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from harness.judging.trial import Broken, need

NAMES = ("SBP-HSP-01", "protocol"), ("SBP-HSP-02", "version"), ("SBP-HSP-03", "peerId")
Advice = tuple[str, str]


def lint(message: str | bytes) -> Iterator[Advice]:
    """Raises Broken for a message that no peer may emit; yields (clause, note) for what it should not."""
    need(isinstance(message, bytes), "SBP-SES-01", "a binary message", f"text {message[:60]!r}")
    assert isinstance(message, bytes)
    need(len(message) >= 18, "SBP-FID-01", "header and id: at least 18 bytes", message.hex())
    kind, flags = message[0], message[1]
    need(kind <= 3, "SBP-KIND-03", "a kind of v1", message.hex())
    need(flags & 0xFE == 0, "SBP-FLAGS-03", "reserved flag bits zero", message.hex())
    body = message[18:]
    if flags & 1:
        need(len(body) >= 8, "SBP-TS-02", "eight bytes of timestamp", message.hex())
        body = body[8:]
    yield from (control, text_message, ack, error)[kind](body, message)


def control(body: bytes, message: bytes) -> Iterator[Advice]:
    need(len(body) >= 1, "SBP-CTRL-01", "an op", message.hex())
    op, data = body[0], body[1:]
    need(op <= 3, "SBP-CTRL-03", "an op of v1", message.hex())
    if op == 0:
        yield from handshake(data)
    elif op == 3:
        utf8(data, "SBP-CLOSE-02", "a reason in UTF-8")
    else:
        need(not data, "SBP-PING-01", "no data behind Ping and Pong", message.hex())


def handshake(data: bytes) -> Iterator[Advice]:
    try:
        payload = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Broken("SBP-HS-01", "JSON in UTF-8", f"{data[:200]!r}: {error}") from None
    need(isinstance(payload, dict), "SBP-HS-01", "one JSON object", data)
    for clause, name in NAMES:
        need(isinstance(payload.get(name), str), clause, f"{name} as a string", payload)
    need(payload["protocol"] == "sideband", "SBP-HSP-01", 'protocol "sideband"', payload)
    need(payload["version"] == "1", "SBP-HSP-02", 'version "1"', payload)
    hints(payload)
    if len(data) > 8192:
        yield "SBP-LIM-04", f"a handshake payload of {len(data)} bytes"


def hints(payload: dict[str, Any]) -> None:
    caps, metadata = payload.get("caps"), payload.get("metadata")
    sound = caps is None or (isinstance(caps, list) and all(isinstance(cap, str) for cap in caps))
    need(sound, "SBP-HSP-05", "caps as an array of strings", payload)
    need(metadata is None or isinstance(metadata, dict), "SBP-HSP-06", "metadata as an object", payload)
    bare = [key for key in metadata or {} if ":" not in key or key.startswith(":")]
    need(not bare, "SBP-HSP-07", "metadata keys with a namespace", bare)


def text_message(body: bytes, message: bytes) -> Iterator[Advice]:
    size = int.from_bytes(body[:4], "little")
    sound = len(body) >= 4 and 0 < size <= len(body) - 4
    need(sound, "SBP-MSG-01", "a subject behind its length", message[:80].hex())
    utf8(body[4 : 4 + size], "SBP-MSG-03", "a subject in UTF-8")
    if size > 256:
        yield "SBP-LIM-05", f"a subject of {size} bytes"


def ack(body: bytes, message: bytes) -> Iterator[Advice]:
    need(len(body) == 16, "SBP-ACK-01", "sixteen bytes of ackFrameId", message.hex())
    need(body != message[2:18], "SBP-ACK-04", "an id of its own", message.hex())
    yield from ()


def error(body: bytes, message: bytes) -> Iterator[Advice]:
    size = int.from_bytes(body[2:6], "little")
    need(len(body) >= 6 and size <= len(body) - 6, "SBP-ERR-01", "code, length and message", message[:80].hex())
    utf8(body[6 : 6 + size], "SBP-ERR-04", "a message in UTF-8")
    yield from ()


def utf8(raw: bytes, clause: str, expected: str) -> None:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Broken(clause, expected, f"{raw[:80]!r}: {error.reason}") from None
