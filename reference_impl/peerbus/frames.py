"""Every thing that can cross a peerbus connection, and the inputs that are no frame."""

from __future__ import annotations

from dataclasses import dataclass, field

VERSION = "v1"  # PB-0-02
MAX_MESSAGE = 1_048_576  # PB-1-13: bytes of one WebSocket message that must still be read


@dataclass(frozen=True, slots=True)
class Register:
    """First frame of a client (section 2.1)."""

    token: str
    name: str
    protocol_version: str = VERSION


@dataclass(frozen=True, slots=True)
class Ack:
    """The host has consumed the message with this delivery key (2.2)."""

    id: str
    protocol_version: str = VERSION


@dataclass(frozen=True, slots=True)
class Peers:
    """Request without names, reply and register ack with them (2.3)."""

    names: tuple[str, ...] = ()
    protocol_version: str = VERSION


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message, its nine fields in the order of section 3; `body` is the JSON text as it came."""

    id: str = ""
    sender: str = ""  # `from` on the wire
    to: str = ""
    ts: str = ""
    source: str = ""
    kind: str = ""
    body: bytes = b"null"
    protocol_version: str = VERSION
    hmac: str = ""
    wire: bytes = field(default=b"", compare=False, repr=False)  # the bytes it came in, for a verbatim relay


@dataclass(frozen=True, slots=True)
class Deliver:
    """One envelope on its way to its recipient (2.4)."""

    delivery_key: str
    envelope: Envelope
    protocol_version: str = VERSION


@dataclass(frozen=True, slots=True)
class Garbage:
    """A text message that is no peerbus frame."""

    why: str


@dataclass(frozen=True, slots=True)
class Binary:
    """A data message that is not text."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Oversize:
    """A message longer than MAX_MESSAGE."""

    size: int


@dataclass(frozen=True, slots=True)
class Opened:
    """The transport is up."""


@dataclass(frozen=True, slots=True)
class Close:
    """The transport ends, with the WebSocket close code (1006: none was received)."""

    code: int


Control = Register | Ack | Peers | Deliver
Frame = Control | Envelope
Input = Frame | Garbage | Binary | Oversize | Opened | Close
