"""Rules that hold for every frame a role emits, checked on its raw bytes as they arrive."""

from __future__ import annotations

from harness.judging.trial import need
from suites.trueseal.wire import (
    ACK,
    DELIVER,
    DELIVER_ACK,
    ERROR,
    HEADER_SIZE,
    HEARTBEAT,
    KEY_SIZE,
    MAX_PLAINTEXT,
    PUSH,
)

SPEAKS = {"relay": (DELIVER, HEARTBEAT, ACK, ERROR), "client": (PUSH, HEARTBEAT, DELIVER_ACK)}
EMPTY = {HEARTBEAT: "TS-HB-03", ACK: "TS-ACK-02", ERROR: "TS-ERR-02"}


def lint(frame: bytes, role: str, messages: int = 1) -> None:
    """Raises Broken for what that role may not emit, in so many Noise messages."""
    need(len(frame) >= HEADER_SIZE, "TS-FRM-04", "a header of 5 bytes", frame.hex())
    tag, size, body = frame[0], int.from_bytes(frame[1:5], "big"), frame[HEADER_SIZE:]
    need(tag in range(PUSH, DELIVER_ACK + 1), "TS-TYP-01", "a tag from 01 to 06", frame[:16].hex())
    need(tag in SPEAKS[role], "TS-TYP-04", f"a tag that a {role} says", frame[:16].hex())
    need(size <= len(body), "TS-FRM-01", f"a body of the {size} bytes declared", frame[:64].hex())
    need(size >= len(body), "TS-FRM-08", f"a body of the {size} bytes declared, alone in its message", frame[:64].hex())
    if tag in EMPTY:
        need(not body, EMPTY[tag], "an empty body", frame[:64].hex())
    need(tag != PUSH or size >= KEY_SIZE, "TS-PUSH-01", "a recipient of 32 bytes", frame.hex())
    need(tag != DELIVER or size >= 8, "TS-DLV-01", "an id of 8 bytes", frame.hex())
    need(tag != DELIVER_ACK or size == 8, "TS-DACK-01", "an id of 8 bytes and no more", frame[:64].hex())
    fits = len(frame) <= MAX_PLAINTEXT
    need(messages == 1 or not fits, "TS-FRM-01", "a frame that fits into one Noise message", f"{messages} messages")
