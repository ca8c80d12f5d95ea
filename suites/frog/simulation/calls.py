"""What peers do and what is known of it: each is on one server at a time; each request and each signal is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from reference_impl.frog.identifiers import network_of

NETWORKS = 2
"""Peers are of so many networks, and a fingerprint is in each of them: only whole keys tell peers apart."""


def key_of(peer: int) -> str:
    return f"NET{peer % NETWORKS}:P{peer // NETWORKS:025}"


@dataclass(slots=True, eq=False)
class Peer:
    """One client, wherever it is registered now."""

    number: int
    key: str
    server: int = -1
    channel: int = -1
    registered: bool = False
    since: float = 0.0  # when it last came or went

    @property
    def network(self) -> str:
        return network_of(self.key)


@dataclass(slots=True, eq=False)
class Call:
    """One request of a client: a lookup with a target, or a find with a limit."""

    cid: str
    peer: Peer
    server: int
    at: float
    ttl: int
    fanout: int
    target: Peer | None = None
    limit: int = 0
    answer: str = ""  # the answering command, and its code or nothing
    answered_at: float = 0.0
    count: int = 0  # of peers that were named
    route: str = ""
    reached: set[int] = field(default_factory=set)  # servers that read the request, its own included
    messages: int = 0  # between servers, both ways, but for signals
    path: set[frozenset[int]] = field(default_factory=set)  # links that carried @FOUND

    @property
    def is_found(self) -> bool:
        return self.answer == "FOUND"

    def others(self, peer: Peer) -> Peer:
        """The other end of its route."""
        assert self.target, "a lookup"
        return self.target if peer is self.peer else self.peer


@dataclass(slots=True, eq=False)
class Sent:
    """One signal; an intruder's has no receiver."""

    call: Call
    sender: Peer
    receiver: Peer | None
    at: float
    heard: bool = False
    seen: set[int] = field(default_factory=set)  # servers that passed it on


@dataclass(slots=True, eq=False)
class Ledger:
    """All of them, and what was disturbed when."""

    peers: dict[int, Peer] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    open: dict[tuple[int, int, str], Call] = field(default_factory=dict)  # by server, channel and CID
    by_route: dict[str, Call] = field(default_factory=dict)
    at: dict[tuple[int, int], Peer] = field(default_factory=dict)  # by server and channel
    here: dict[int, set[str]] = field(default_factory=dict)  # keys that a server has registered
    cuts: dict[frozenset[int], float] = field(default_factory=dict)

    def placed(self, peer: Peer, server: int, channel: int, now: float) -> None:
        peer.server, peer.channel, peer.registered, peer.since = server, channel, False, now
        self.at[server, channel] = peer

    def gone(self, peer: Peer, now: float) -> None:
        if peer.registered:
            self.here[peer.server].discard(peer.key)
        self.at.pop((peer.server, peer.channel), None)
        peer.server, peer.channel, peer.registered, peer.since = -1, -1, False, now

    def joined(self, peer: Peer, now: float) -> None:
        peer.registered, peer.since = True, now
        self.here.setdefault(peer.server, set()).add(peer.key)

    def undisturbed(self, call: Call, *peers: Peer) -> bool:
        """Since it was made nothing has befallen these peers, or a link of its route."""
        whole = all(self.cuts.get(link, -1.0) < call.at for link in call.path)
        return whole and all(peer.registered and peer.since <= call.at for peer in peers)

    def residents(self, server: int) -> Iterator[Peer]:
        return (peer for peer in list(self.at.values()) if peer.server == server)
