"""What passes between a client and its host, and between a client and the network."""

from __future__ import annotations

from dataclasses import dataclass

HOST = "host"
NETWORK = "network"
UNTOLD = "\0untold"
"""In the place of what an API does not tell its host; no peer's name and no kind."""


@dataclass(frozen=True, slots=True)
class Start:
    """The host wants the client up."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The host is done with the client."""


@dataclass(frozen=True, slots=True)
class SendRequest:
    """The host sends a message; `to` is a peer's name, or `*`."""

    to: str
    body: bytes
    ts: str = ""


@dataclass(frozen=True, slots=True)
class PeersRequest:
    """The host wants to know who is registered."""


@dataclass(frozen=True, slots=True)
class Consumed:
    """The host has consumed the message with this envelope id."""

    id: str


@dataclass(frozen=True, slots=True)
class Dial:
    """A new connection is wanted; `attempt` counts the failures since the last success."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Surfaced:
    """A message for the host."""

    id: str
    sender: str
    to: str
    source: str
    kind: str
    body: bytes


@dataclass(frozen=True, slots=True)
class PeersListed:
    """The answer to a PeersRequest."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """The host's request fails: there is no registered connection."""

    what: str  # send, peers


@dataclass(frozen=True, slots=True)
class Status:
    """The host is told whether there is a registered connection."""

    connected: bool
