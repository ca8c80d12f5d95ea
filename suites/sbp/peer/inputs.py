"""What can be said to a peer, in tables: each entry is one frame or one breach, with a fresh id where it is said."""

from __future__ import annotations

from typing import Any

from suites.sbp import wire
from suites.sbp.wire import A

TS = 1_700_000_000_123

#: Bytes that end a session, with the clause that says so.
FATAL: dict[str, tuple[str, bytes]] = {
    "nothing": ("SBP-FID-06", b""),
    "one-byte": ("SBP-FID-06", b"\x00"),
    "header-only": ("SBP-FID-06", b"\x00\x00"),
    "id-cut": ("SBP-FID-06", wire.ping(A)[:17]),
    "no-op": ("SBP-CTRL-01", wire.frame(0, b"", A)),
    "kind-4": ("SBP-KIND-02", wire.frame(4, b"", A)),
    "kind-255": ("SBP-KIND-02", wire.frame(255, b"\x01", A)),
    "ts-cut": ("SBP-TS-04", wire.frame(0, bytes(7), A, flags=1)),
    "ts-missing": ("SBP-TS-04", wire.frame(1, b"", A, flags=1)),
    "subject-length-cut": ("SBP-MSG-05", wire.frame(1, b"\x00\x00\x00", A)),
    "subject-one-too-long": ("SBP-MSG-06", wire.frame(1, b"\x06\x00\x00\x00app/x", A)),
    "subject-4-gib": ("SBP-MSG-06", wire.frame(1, b"\xff\xff\xff\xff", A)),
    "ack-15": ("SBP-ACK-02", wire.ack(bytes(15), A)),
    "ack-17": ("SBP-ACK-02", wire.ack(bytes(17), A)),
    "error-cut": ("SBP-ERR-03", wire.frame(3, b"\xe8\x03\x00\x00\x00", A)),
    "error-message-too-long": ("SBP-ERR-03", wire.frame(3, b"\xe8\x03\x14\x00\x00\x00\x01\x02\x03", A)),
}

#: Frames that are rejected; whether the session ends with them is not said.
REJECTED: dict[str, tuple[str, bytes]] = {
    "ping-data": ("SBP-PING-02", wire.control(1, b"\x00", A)),
    "pong-data": ("SBP-PING-02", wire.control(2, b"\xff", A)),
    "two-pings-in-one-message": ("SBP-PING-02", wire.ping(A) + wire.ping(A)),
    "subject-empty": ("SBP-MSG-05", wire.message(b"", b"\x01", A)),
    "subject-no-utf8": ("SBP-MSG-03", wire.message(b"app/\xff", b"", A)),
    "subject-overlong": ("SBP-MSG-03", wire.message(b"app/\xc0\xaf", b"", A)),
    "subject-surrogate": ("SBP-MSG-03", wire.message(b"app/\xed\xa0\x80", b"", A)),
    "error-message-no-utf8": ("SBP-ERR-04", wire.frame(3, b"\xe8\x03\x01\x00\x00\x00\xff", A)),
}

FLAGGED: dict[str, bytes] = {
    "ping-02": wire.frame(0, b"\x01", A, flags=0x02),
    "message-40": wire.frame(1, b"\x05\x00\x00\x00app/x", A, flags=0x40),
    "ping-81": wire.frame(0, b"\x01", A, TS, flags=0x81),
    "ack-10": wire.frame(2, bytes(16), A, flags=0x10),
    "ping-fe": wire.frame(0, b"\x01", A, flags=0xFE),
    "close-04": wire.frame(0, b"\x03bye", A, flags=0x04),
    "error-20": wire.frame(3, b"\xd0\x07\x00\x00\x00\x00", A, flags=0x20),
    "message-03": wire.frame(1, b"\x05\x00\x00\x00app/x", A, TS, flags=0x03),
}

#: Subject, data and timestamp: alike but for one thing, odd, empty, and at limits.
MESSAGES: list[tuple[str, bytes, int | None]] = [
    ("app/x", b"\x01\x02\xff", None),
    ("app/x", b"\x01\x02\xff", 0),
    ("app/x/y", b"", -1),
    ("app/X", b"\x00", 2**63 - 1),
    ("app/e\u0301", b"\xc3\xa9", None),
    ("app/\u00e9", b"e\xcc\x81", -(2**63)),
    ("app/" + "y" * 252, bytes(range(256)), None),
    ("app/\ufeffx", b"\xef\xbb\xbf", 1),
    ("app/x ", b"\r\n\x00\r\n", TS),
    ("app/x", b"\x05\x00\x00\x00app/x", 5),
    ("app/x", wire.ping(A), 4),
    ("app/\U0001f600", b"\xed\xa0\x80" * 340, None),
    ("app/x", bytes(1024), None),
    ("app/x", b"\xff" * 1500, 2**53 + 1),
]

SENDS: list[tuple[str, bytes]] = [
    ("app/host", b"\x02"),
    ("app/host/x", b""),
    ("app/\u00e9", b"\x00\xff"),
    ("app/" + "z" * 252, b"z"),
    ("app/host", bytes(range(256)) * 5),
    ("app/x\ufeff", b"\xef\xbb\xbf"),
]

ERRORS: list[tuple[int, str, bytes]] = [
    (2000, "app", b""),
    (0xFFFF, "", b"\xff\x00"),
    (2001, "\u00e9", b"\xc3\x28" * 8),
    (1003, "what", b""),
    (0, "odd", b""),
    (1000, "you", b"\x01"),
]

#: Handshakes with another protocol or version.
MISMATCHES: dict[str, dict[str, Any]] = {
    "version-2": {"version": "2"},
    "version-1.0": {"version": "1.0"},
    "version-01": {"version": "01"},
    "version-empty": {"version": ""},
    "version-space": {"version": "1 "},
    "protocol-x": {"protocol": "x"},
    "protocol-capital": {"protocol": "Sideband"},
    "protocol-tag": {"protocol": "sideband/1"},
    "protocol-empty": {"protocol": ""},
    "both": {"protocol": "x", "version": "2"},
    "version-2-with-caps": {"version": "2", "caps": ["stream"], "metadata": {"vendor:zz": "1"}},
}

INCOMPLETE: dict[str, dict[str, Any]] = {
    "no-peer-id": {"peerId": ...},
    "peer-id-number": {"peerId": 5},
    "peer-id-null": {"peerId": None},
    "no-version": {"version": ...},
    "version-number": {"version": 1},
    "no-protocol": {"protocol": ...},
    "protocol-null": {"protocol": None},
}

#: What a good Handshake may have besides.
HINTS: list[dict[str, Any]] = [
    {},
    {"ts": 0},
    {"caps": ["zz:unknown", "stream", ""]},
    {"metadata": {"vendor:zz": "1"}, "ts": -1},
    {"future": {"a": [1, None]}},
    {"caps": [], "metadata": {}, "zz": 1},
]


#: Metadata whose keys have no namespace (SBP-HSP-07), beside some that have one.
BARE_KEYS: list[dict[str, Any]] = [{"bare": 1}, {":x": "1"}, {"vendor:zz": 1, "x": None}, {"": {}}]


def under(id: bytes, raw: bytes) -> bytes:
    """The same frame with that id, where it is long enough to have one."""
    return raw if len(raw) < 18 else raw[:2] + id + raw[18:]
