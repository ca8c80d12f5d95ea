"""What passes between a client and its host, and what it asks of the network."""

from __future__ import annotations

from dataclasses import dataclass, field

from reference_impl.frog.frames import Shown

HOST, NETWORK = "host", "network"

NOT_REGISTERED, DISCONNECTED, TIMEOUT, UNTRUE = "NOT_REGISTERED", "DISCONNECTED", "TIMEOUT", "UNTRUE"
"""Why an operation came to nothing, where no server said it."""


# -- the host wants ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Start(Shown):
    """Be present."""


@dataclass(frozen=True, slots=True)
class Stop(Shown):
    """Be gone, without a word."""


@dataclass(frozen=True, slots=True)
class Depart(Shown):
    """Leave, and do not come back."""


@dataclass(frozen=True, slots=True)
class AskPeers(Shown):
    """A ticket is the host's own name for a request."""

    ticket: int
    limit: int


@dataclass(frozen=True, slots=True)
class AskRoute(Shown):
    ticket: int
    peer_key: str


@dataclass(frozen=True, slots=True)
class AskServers(Shown):
    ticket: int
    limit: int


@dataclass(frozen=True, slots=True)
class SendSignal(Shown):
    ticket: int
    route_id: str
    kind: str
    payload: bytes = b""


Request = AskPeers | AskRoute | AskServers
Wish = Start | Stop | Depart | Request | SendSignal


# -- the host is told --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Status(Shown):
    """Registered at that server, or no longer."""

    registered: bool
    uri: str = ""


@dataclass(frozen=True, slots=True)
class GotPeers(Shown):
    ticket: int
    peer_keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GotRoute(Shown):
    ticket: int
    route_id: str


@dataclass(frozen=True, slots=True)
class GotServers(Shown):
    ticket: int
    uris: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused(Shown):
    """A request came to nothing: the server's code, or one of ours."""

    ticket: int
    code: str


@dataclass(frozen=True, slots=True)
class Signalled(Shown):
    """A signal came."""

    route_id: str
    peer_key: str
    kind: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class Reported(Shown):
    """An error that answers no request, such as one about a route."""

    id: str
    code: str


@dataclass(frozen=True, slots=True)
class Parted(Shown):
    """It left."""


Told = Status | GotPeers | GotRoute | GotServers | Refused | Signalled | Reported | Parted


# -- the network -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dial(Shown):
    """Open a connection to that server; the jitter is drawn now, for the wait before the next one."""

    uri: str
    jitter: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Dialled(Shown):
    """A connection that a server asked for is up."""

    uri: str


@dataclass(frozen=True, slots=True)
class DialFailed(Shown):
    """It came to nothing."""

    uri: str
