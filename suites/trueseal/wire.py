"""Frames packed by hand, legal or not, and the protobuf Envelope that clients exchange."""

from __future__ import annotations

import itertools
import random
import secrets
import struct

PUSH, DELIVER, HEARTBEAT, ACK, ERROR, DELIVER_ACK = range(1, 7)
KEY_SIZE, HEADER_SIZE = 32, 5
LIMIT = 1_048_576  # TS-SIZE-01
MAX_PLAINTEXT = 65_519
FITS = MAX_PLAINTEXT - HEADER_SIZE - KEY_SIZE  # the largest envelope of a Push in one Noise message
EXTREMES = (0x7FFFFFFF, 0x80000000, 0xFFFFFFFA, 0xFFFFFFFB, 0xFFFFFFFC, 0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF)
_numbers = itertools.count(1)


def frame(tag: int, body: bytes = b"", size: int | None = None) -> bytes:
    """A frame, whose length may lie."""
    return struct.pack(">BI", tag, len(body) if size is None else size) + body


def push(recipient: bytes, envelope: bytes, size: int | None = None) -> bytes:
    return frame(PUSH, recipient + envelope, size)


def deliver(blob_id: int, envelope: bytes) -> bytes:
    return frame(DELIVER, struct.pack(">Q", blob_id) + envelope)


def deliver_ack(blob_id: int) -> bytes:
    return frame(DELIVER_ACK, struct.pack(">Q", blob_id))


BEAT = frame(HEARTBEAT)


def cut(wire: bytes) -> list[bytes]:
    """A frame as the plaintexts of its Noise messages, each as long as it may be."""
    return [wire[at : at + MAX_PLAINTEXT] for at in range(0, max(1, len(wire)), MAX_PLAINTEXT)]


def blob(size: int = 48) -> bytes:
    """Bytes that no other case has, of every value, in no order."""
    head = f"{next(_numbers)}|{secrets.token_hex(4)}|".encode()
    return (head + random.Random(size).randbytes(size))[:size]


def varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def field(number: int, data: bytes) -> bytes:
    """A length-delimited protobuf field."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def envelope(payload: bytes = b"", sequence: int = 7, recipient: bytes = bytes(32), size: int = 0) -> bytes:
    """A serialized Envelope (sheet, section 2.4) that no other case has; padded in its payload to a size, if one is given."""
    fixed = varint(1 << 3) + varint(sequence) + field(2, secrets.token_bytes(32)) + field(3, recipient)
    fixed += field(5, secrets.token_bytes(64))
    if not size:
        return fixed + field(6, payload or blob())
    room = next(n for n in range(size - len(fixed), -1, -1) if len(fixed) + len(field(6, bytes(n))) == size)
    return fixed + field(6, secrets.token_bytes(room))


ODD_ENVELOPES = {
    "one-byte": b"\x00",
    "nul-bytes": bytes(64),
    "every-byte": bytes(range(256)),
    "text": "grüße, 世界".encode(),
    "half-a-protobuf": envelope()[:50],
    "a-frame": frame(4),
    "ones": b"\xff" * 300,
    "line-ends": b"a\r\nb\nc\rd\x1a",
    "fields-in-no-order": field(6, b"payload") + field(3, bytes(32)) + field(2, bytes(range(32))),
    "not-utf8": b"\xc3\x28\xed\xa0\x80",
}
"""Bytes that somebody might read, clean up or take for something else."""
