"""The closed command set of FROG/1, and the inputs that are no command.

A field holds the text as it stands on the wire. Counts and lengths are no fields: they follow from what is counted.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, fields
from typing import Any, cast

from reference_impl.frog.identifiers import DASH

VERSION = "FROG/1"
SUBPROTOCOL = "frog.v1"  # FROG-51-01
MAX_HEADER = 4096  # bytes before the line feed (FROG-5-04)
MAX_PAYLOAD = 65_536  # bytes (FROG-5-17, FROG-5-20)
MOST_LISTED = 7  # peers or servers in one message, and the largest limit and TTL (section 39)
MOST_SHOWN = 48  # bytes of a payload in a sentence for people


class Kind(enum.StrEnum):
    """What a signal is (FROG-13.1-03)."""

    OFFER = "OFFER"
    ANSWER = "ANSWER"
    ICE = "ICE"


class Code(enum.StrEnum):
    """Why something failed; the list is closed (FROG-38-05)."""

    BAD_REQUEST = "BAD_REQUEST"
    BAD_STATE = "BAD_STATE"
    AUTH_REQUIRED = "AUTH_REQUIRED"
    AUTH_FAILED = "AUTH_FAILED"
    PEER_NOT_FOUND = "PEER_NOT_FOUND"
    LOOKUP_TIMEOUT = "LOOKUP_TIMEOUT"
    ROUTE_NOT_FOUND = "ROUTE_NOT_FOUND"
    ROUTE_EXPIRED = "ROUTE_EXPIRED"
    TARGET_MISMATCH = "TARGET_MISMATCH"
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    RATE_LIMITED = "RATE_LIMITED"
    SERVER_UNAVAILABLE = "SERVER_UNAVAILABLE"
    INTERNAL = "INTERNAL"


class Shown:
    """Prints its fields, and of a long payload only the beginning."""

    __slots__ = ()

    def __str__(self) -> str:
        told = (f"{f.name}={_in_text(getattr(self, f.name))}" for f in fields(cast(Any, self)))
        return f"{type(self).__name__}({', '.join(told)})"


def _in_text(value: object) -> str:
    if isinstance(value, bytes) and len(value) > MOST_SHOWN:
        return f"{value[:MOST_SHOWN]!r}… ({len(value)} bytes)"
    return repr(value)


# -- client to server --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hello(Shown):
    """Opens a client connection."""


@dataclass(frozen=True, slots=True)
class Join(Shown):
    peer_key: str


@dataclass(frozen=True, slots=True)
class Auth(Shown):
    public_key: str
    signature: str


@dataclass(frozen=True, slots=True)
class Leave(Shown):
    pass


@dataclass(frozen=True, slots=True)
class GetServers(Shown):
    cid: str
    limit: int


@dataclass(frozen=True, slots=True)
class Find(Shown):
    cid: str
    limit: int


@dataclass(frozen=True, slots=True)
class Lookup(Shown):
    cid: str
    peer_key: str


@dataclass(frozen=True, slots=True)
class Signal(Shown):
    route_id: str
    kind: str
    payload: bytes = b""


# -- server to client --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Welcome(Shown):
    """HELLO, the other way."""

    server_id: str


@dataclass(frozen=True, slots=True)
class Chal(Shown):
    nonce: str


@dataclass(frozen=True, slots=True)
class Joined(Shown):
    """OK JOIN."""


@dataclass(frozen=True, slots=True)
class Left(Shown):
    """OK LEAVE."""


@dataclass(frozen=True, slots=True)
class Try(Shown):
    cid: str  # the dash when nobody asked (FROG-13.1-04)
    uris: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Peers(Shown):
    cid: str
    peer_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found(Shown):
    cid: str
    peer_key: str
    route_id: str


@dataclass(frozen=True, slots=True)
class SignalFrom(Shown):
    route_id: str
    peer_key: str
    kind: str
    payload: bytes = b""


@dataclass(frozen=True, slots=True)
class Err(Shown):
    id: str
    code: str


# -- between sister servers --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SisterHello(Shown):
    server_id: str
    uri: str


@dataclass(frozen=True, slots=True)
class SisterChal(Shown):
    nonce: str


@dataclass(frozen=True, slots=True)
class SisterAuth(Shown):
    public_key: str
    signature: str


@dataclass(frozen=True, slots=True)
class SisterOk(Shown):
    """@OK AUTH."""


@dataclass(frozen=True, slots=True)
class SisterList(Shown):
    fcid: str
    limit: int


@dataclass(frozen=True, slots=True)
class SisterServers(Shown):
    fcid: str
    servers: tuple[tuple[str, str], ...] = ()  # server id and URI


@dataclass(frozen=True, slots=True)
class SisterFind(Shown):
    fcid: str
    server_id: str  # the origin
    peer_key: str  # who asks
    limit: int
    ttl: int


@dataclass(frozen=True, slots=True)
class SisterPeers(Shown):
    fcid: str
    server_id: str
    peer_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SisterLookup(Shown):
    route_id: str
    server_id: str
    source: str
    target: str
    ttl: int


@dataclass(frozen=True, slots=True)
class SisterFound(Shown):
    route_id: str
    peer_key: str


@dataclass(frozen=True, slots=True)
class SisterSignal(Shown):
    route_id: str
    peer_key: str
    kind: str
    payload: bytes = b""


@dataclass(frozen=True, slots=True)
class SisterErr(Shown):
    id: str
    code: str


ToServer = Hello | Join | Auth | Leave | GetServers | Find | Lookup | Signal
ToClient = Welcome | Chal | Joined | Left | Try | Peers | Found | SignalFrom | Err
Sister = (
    SisterHello
    | SisterChal
    | SisterAuth
    | SisterOk
    | SisterList
    | SisterServers
    | SisterFind
    | SisterPeers
    | SisterLookup
    | SisterFound
    | SisterSignal
    | SisterErr
)
Frame = ToServer | ToClient | Sister


# -- inputs that are no command ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Malformed(Shown):
    """A message that a receiver has to reject (section 5); what an error about it may say."""

    why: str
    id: str = DASH  # what the error echoes
    codes: tuple[Code, ...] = (Code.BAD_REQUEST,)
    other_ids: tuple[str, ...] = ()  # what it may echo instead (AMB-06)
    severe: bool = False  # broken framing: the connection may be closed without a word (FROG-15-08)
    sister: bool = False  # its first word began with @
    frame: type | None = None  # which command it would have been


@dataclass(frozen=True, slots=True)
class Stray(Shown):
    """A command that is never said in this direction, such as OK to a server (FROG-5-13)."""

    word: str


@dataclass(frozen=True, slots=True)
class Text(Shown):
    """A WebSocket text message (FROG-4-06)."""


@dataclass(frozen=True, slots=True)
class Opened(Shown):
    """The transport is up, with the subprotocol selected; `address` is where the other side dialled from."""

    address: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Hangup(Shown):
    """The transport ends; no close code means anything in FROG (AMB-42)."""

    code: int = field(default=1000, compare=False)


NoFrame = Malformed | Stray


@dataclass(frozen=True, slots=True)
class Heard(Shown):
    """Something came, on a connection or from the host, and when: challenges, routes and waits have their time."""

    what: Any
    at: float
