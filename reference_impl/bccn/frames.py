"""What a BCCN node reads from the wire and from its host, and what it owes to either.

src and chan are strings of one character per byte (ISO 8859-1): the protocol compares bytes and knows no encoding.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from reference_impl.core import Tick

MAGIC = "BCCN1"
UNKNOWN = "?"  # the sender does not know its own name (BCCN-SRC-07)
MAX_DATAGRAM = 1400  # bytes: magic, bracket and body (BCCN-SIZ-01)
MAX_SRC, MAX_CHAN = 128, 1024  # BCCN-SRC-01, BCCN-CHN-01
MAX_SEQ = 2**64 - 1  # BCCN-SEQ-02

Peer = tuple[str, int]
"""A sender's IP address and port."""


class Mode(enum.StrEnum):
    """The three forms of a channel (BCCN-DLV-05)."""

    PLAIN = "plain"
    ALL = "all"
    DIRECTED = "directed"


class Reason(enum.StrEnum):
    """Why a datagram was not delivered."""

    ENVELOPE = "envelope"
    AUTH = "auth"
    BODY = "body"
    ADDRESS = "address"
    DUPLICATE = "duplicate"


# -- the wire ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Envelope:
    """The outer layer, the same in every version: `magic[len:algo=sum]body`."""

    magic: str
    body: bytes
    algo: str = ""  # empty: no check in use
    sum: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One notification: from src, number seq, to chan."""

    src: str
    seq: int
    chan: str
    payload: bytes
    authenticated: bool = False  # a keyed check was verified; never set for what could not be evaluated (BCCN-INT-18)


@dataclass(frozen=True, slots=True)
class Garbage:
    """A datagram that is no message for this node."""

    reason: Reason
    why: str


# -- inputs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Heard:
    """A datagram that holds a message came."""

    message: Message
    peer: Peer
    at: float


@dataclass(frozen=True, slots=True)
class Noise:
    """A datagram came that holds none."""

    garbage: Garbage
    peer: Peer
    at: float


@dataclass(frozen=True, slots=True)
class SetName:
    """An empty name is the unknown one (BCCN-API-09)."""

    name: str


@dataclass(frozen=True, slots=True)
class GetName:
    pass


@dataclass(frozen=True, slots=True)
class SetSeq:
    seq: int


@dataclass(frozen=True, slots=True)
class GetSeq:
    pass


@dataclass(frozen=True, slots=True)
class Send:
    """Without src the node's own name is taken, without key the node's own key."""

    chan: str
    payload: bytes
    src: str = ""
    key: bytes = b""


@dataclass(frozen=True, slots=True)
class Listen:
    """A pattern of the convention layer: exact, one-token `*`, rest `>`."""

    pattern: str


@dataclass(frozen=True, slots=True)
class StartHeartbeat:
    interval: float
    at: float
    payload: bytes = b""


@dataclass(frozen=True, slots=True)
class Close:
    pass


Input = Heard | Noise | SetName | GetName | SetSeq | GetSeq | Send | Listen | StartHeartbeat | Tick | Close


# -- outputs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sent:
    """A datagram on its way to the broadcast address."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Done:
    """A call of the host succeeded."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A call of the host was rejected, and nothing changed."""

    why: str


@dataclass(frozen=True, slots=True)
class Named:
    name: str


@dataclass(frozen=True, slots=True)
class Counted:
    seq: int


@dataclass(frozen=True, slots=True)
class Delivered:
    """What `recv` yields (BCCN-DLV-04, -05)."""

    message: Message
    mode: Mode
    peer: Peer


@dataclass(frozen=True, slots=True)
class Called:
    """A listener's callback runs."""

    pattern: str
    message: Message


@dataclass(frozen=True, slots=True)
class Dropped:
    """A datagram ends here; nobody but a curious host is told (BCCN-DLV-06)."""

    reason: Reason
