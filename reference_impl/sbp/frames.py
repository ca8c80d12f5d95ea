"""What can cross an SBP session, the inputs that are no frame, and what passes between a peer and its host."""

from __future__ import annotations

import enum
from dataclasses import dataclass, fields
from typing import Any, cast

PROTOCOL, VERSION = "sideband", "1"  # SBP-HSP-01, -02
ID_SIZE = 16
MAX_FRAME = 1_048_576  # SBP-LIM-01: bytes of a whole frame
MAX_HANDSHAKE = 8_192  # SBP-LIM-04: bytes of the JSON
MOST_SHOWN = 64  # bytes of one field in a sentence for people


class Kind(enum.IntEnum):
    """Offset 0 of a frame (SBP-KIND-01)."""

    CONTROL = 0
    MESSAGE = 1
    ACK = 2
    ERROR = 3


class Op(enum.IntEnum):
    """First body byte of a Control frame (SBP-CTRL-02)."""

    HANDSHAKE = 0
    PING = 1
    PONG = 2
    CLOSE = 3


class Code(enum.IntEnum):
    """The error codes, which the wire format leaves to its companion pages (sheet, section 2.1)."""

    PROTOCOL_VIOLATION = 1000
    UNSUPPORTED_VERSION = 1001
    INVALID_FRAME = 1002
    UNSUPPORTED_FEATURE = 1003
    APPLICATION = 2000  # and all above


class Shown:
    """Prints bytes as the shim's contract spells them, in hex; what was not given is left out."""

    __slots__ = ()

    def __str__(self) -> str:
        given = [(f.name, value) for f in fields(cast(Any, self)) if (value := getattr(self, f.name)) != f.default]
        return f"{type(self).__name__}({', '.join(f'{name}={in_text(value)}' for name, value in given)})"


def in_text(value: object) -> str:
    if not isinstance(value, bytes):
        return repr(value)
    return value.hex() if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN].hex()}… ({len(value)} bytes)"


# -- frames: `id` is the frame's own, `ts` milliseconds since the epoch or None (SBP-FLAGS-01, -02) --------------------


@dataclass(frozen=True, slots=True)
class Handshake(Shown):
    """First frame of either peer; its JSON, field by field (SBP-HSP-*)."""

    id: bytes
    peer_id: str
    caps: tuple[str, ...] | None = None
    metadata: str | None = None  # the text of a JSON object: hints, for the host to read
    protocol: str = PROTOCOL
    version: str = VERSION
    ts: int | None = None
    size: int = 0  # bytes of the JSON it came in


@dataclass(frozen=True, slots=True)
class Ping(Shown):
    id: bytes
    ts: int | None = None


@dataclass(frozen=True, slots=True)
class Pong(Shown):
    id: bytes
    ts: int | None = None


@dataclass(frozen=True, slots=True)
class Close(Shown):
    """The sender is about to end the transport; None: without a reason (SBP-CLOSE-01)."""

    id: bytes
    reason: str | None = None
    ts: int | None = None


@dataclass(frozen=True, slots=True)
class UnknownOp(Shown):
    """A Control frame of a later minor version: op 4..255 (SBP-CTRL-04)."""

    id: bytes
    op: int
    data: bytes = b""
    ts: int | None = None


@dataclass(frozen=True, slots=True)
class Message(Shown):
    """One unit of application data (SBP-MSG-01)."""

    id: bytes
    subject: str
    data: bytes = b""
    ts: int | None = None


@dataclass(frozen=True, slots=True)
class Ack(Shown):
    """The frame whose id is `of` was received; no other (SBP-ACK-01, SBP-SEM-02)."""

    id: bytes
    of: bytes
    ts: int | None = None


@dataclass(frozen=True, slots=True)
class Error(Shown):
    """`id` is the failing frame's where that is known (SBP-ERR-06)."""

    id: bytes
    code: int
    message: str = ""
    details: bytes = b""
    ts: int | None = None


Frame = Handshake | Ping | Pong | Close | UnknownOp | Message | Ack | Error


# -- inputs that are no frame ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BadFlags(Shown):
    """A reserved flag bit is set (SBP-FLAGS-04)."""

    why: str
    id: bytes | None = None

    codes = (Code.INVALID_FRAME,)


@dataclass(frozen=True, slots=True)
class Malformed(Shown):
    """Bytes that are no frame. `fatal` is false for what the reject list does not name (bad UTF-8, Ping data)."""

    why: str
    id: bytes | None = None
    fatal: bool = True  # SBP-CMP-02
    codes: tuple[int, ...] = (Code.INVALID_FRAME, Code.PROTOCOL_VIOLATION)


@dataclass(frozen=True, slots=True)
class BadHandshake(Shown):
    """A Handshake whose JSON is none, or lacks a field or gives it another type (SBP-HS-01, SBP-HSP-08)."""

    why: str
    id: bytes | None = None

    # Another type of `version` is a mismatch or an invalid field: both readings stand.
    codes = (Code.INVALID_FRAME, Code.PROTOCOL_VIOLATION, Code.UNSUPPORTED_VERSION)


@dataclass(frozen=True, slots=True)
class Text(Shown):
    """A message that is not binary: the carrier's, not SBP's."""

    text: str


@dataclass(frozen=True, slots=True)
class Oversize(Shown):
    """A frame beyond the limit; its content was not looked at."""

    size: int
    id: bytes | None = None


@dataclass(frozen=True, slots=True)
class Opened(Shown):
    """The transport is up."""


@dataclass(frozen=True, slots=True)
class Hangup(Shown):
    """The transport ends, with the WebSocket close code (1006: none was received)."""

    code: int


NoFrame = BadFlags | Malformed | BadHandshake
Input = Frame | NoFrame | Text | Oversize | Opened | Hangup


# -- between a peer and its host ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send(Shown):
    """The host sends a Message."""

    subject: str
    data: bytes = b""
    ts: int | None = None


@dataclass(frozen=True, slots=True)
class SendPing(Shown):
    """The host wants to know whether the other side lives."""


@dataclass(frozen=True, slots=True)
class SendClose(Shown):
    """The host is done with the session."""

    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Established(Shown):
    """The other side's Handshake was good."""

    peer_id: str
    caps: tuple[str, ...] | None
    metadata: str | None


@dataclass(frozen=True, slots=True)
class Delivered(Shown):
    """A Message for the host."""

    subject: str
    data: bytes
    ts: int | None


@dataclass(frozen=True, slots=True)
class Answered(Shown):
    """A Pong came."""

    ts: int | None


@dataclass(frozen=True, slots=True)
class Acked(Shown):
    """The other side has received the frame with this id."""

    id: bytes


@dataclass(frozen=True, slots=True)
class Failed(Shown):
    """The other side reported an Error."""

    code: int
    message: str
    details: bytes


@dataclass(frozen=True, slots=True)
class Ended(Shown):
    """The session is over; the reason of a Close, or ours."""

    reason: str


HostEvent = Established | Delivered | Answered | Acked | Failed | Ended
