"""What a server is told and knows of its sisters: whom it dials, who is live, and the floods that pass through it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from immutables import Map

from reference_impl.core import Channel
from reference_impl.frog.frames import SisterFind, SisterLookup
from reference_impl.frog.identifiers import ID_LENGTH, is_id
from reference_impl.frog.known import Backoff
from reference_impl.frog.uri import why_not

Request = SisterFind | SisterLookup
Key = Hashable
"""By what a flood is known everywhere: a route id, or the origin with its FCID (FROG-34-06)."""
Ticket = Hashable
"""By what it is known here: its key, or at its origin who asked, before it has one."""
NEVER = float("inf")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Adjacent:
    """A route's side beyond this server: the next server that way, by whichever connection (FROG-3.12-02, FROG-31-06)."""

    server_id: str


@dataclass(frozen=True, slots=True)
class Seed:
    """A server that the operator wants dialled, and perhaps who it has to be."""

    uri: str
    server_id: str = ""

    @classmethod
    def of(cls, text: str) -> Seed:
        """`URI` or `ID@URI`: no FROG URI has a user."""
        id, mark, uri = text.partition("@")
        seed = cls(uri, id) if mark and is_id(id) else cls(text)
        if fault := why_not(seed.uri):
            raise ValueError(f"{text} names no server: {fault}; write URI, or ID@URI with an id of {ID_LENGTH}")
        return seed


@dataclass(frozen=True, slots=True)
class Mesh:
    """Whom a server federates with, and how far (FROG-3.10-01): configured, on its allow list, or verified."""

    seeds: tuple[Seed, ...] = ()
    allowed: frozenset[str] = frozenset()
    discover: bool = False  # ask for others, verify them, and let the verified federate
    lookup_ttl: int = 5
    find_ttl: int = 3
    lookup_fanout: int = 7
    find_fanout: int = 7
    redial: Backoff = field(default_factory=Backoff)
    gossip_s: float = 60.0  # between two questions to the same sister
    most_dials: int = 8  # verifications under way at once (FROG-40-02)


@dataclass(frozen=True, slots=True)
class Link:
    """Who is at the other end of a sister's connection, as its @HELLO said, and which URI was dialled for it."""

    server_id: str = ""
    uri: str = ""
    dialled: str = ""  # empty: it dialled us


@dataclass(frozen=True, slots=True)
class Target:
    """A server that is dialled: a seed again and again, a candidate once."""

    seed: bool
    server_id: str = ""  # who it has to be
    met: str = ""  # who it was last
    failures: int = 0
    wait_s: float = 0.0  # before the next dial
    due: float | None = 0.0  # None: under way, or connected


@dataclass(frozen=True, slots=True)
class Flood:
    """One request that passes through, or began here (the pending state of sections 35 and 36)."""

    request: Request
    side: Channel | Adjacent  # where its answers go
    expires_at: float
    forget_at: float  # until then a duplicate is known (FROG-34-12, FROG-34-13)
    cid: str = ""  # at its origin
    asked: frozenset[str] = frozenset()
    answered: bool = False
    peers: frozenset[str] = frozenset()  # gathered at its origin
    heard: Map[tuple[str, tuple[str, ...]], Channel] = Map()  # answers, and on which connection they came

    @property
    def fields(self) -> tuple[str, ...]:
        """What a duplicate has to agree in; its TTL is another one with each way it took (AMB-21)."""
        match self.request:
            case SisterLookup(_, origin, source, target):
                return origin, source, target
            case SisterFind(_, origin, asker, limit):
                return origin, asker, str(limit)

    def open(self, now: float) -> bool:
        return now < self.expires_at and not self.answered


def key_of(request: Request) -> Key:
    if isinstance(request, SisterLookup):
        return request.route_id
    return request.server_id, request.fcid  # FROG-7.10-04


@dataclass(frozen=True, slots=True)
class Overlay:
    """The server's part of the mesh."""

    live: Map[str, Channel] = Map()  # the connection that is used for each sister (FROG-3.11-01)
    handshakes: Map[Channel, float] = Map()  # when each is over (FROG-29-10)
    targets: Map[str, Target] = Map()
    configured: frozenset[str] = frozenset()  # ids that were verified at a seed
    floods: Map[Ticket, Flood] = Map()
    names: Map[Key, Ticket] = Map()  # of the floods that began here
    due: Map[Ticket, float] = Map()  # when those are answered at the latest
    lists: Map[Channel, str] = Map()  # our @LIST that is not answered yet
    begun: int = 0  # floods, counted
    gossip_at: float = NEVER
    alarm: float = NEVER  # the earliest of all of these times

    def earliest(self) -> float:
        dials = (target.due for target in self.targets.values() if target.due is not None)
        return min((*self.handshakes.values(), *self.due.values(), *dials, self.gossip_at), default=NEVER)

    def waking(self, at: float) -> Overlay:
        return replace(self, alarm=min(self.alarm, at))

    def flood(self, key: Key) -> tuple[Ticket, Flood | None]:
        ticket = self.names.get(key, key)
        return ticket, self.floods.get(ticket)

    def kept(self, ticket: Ticket, flood: Flood) -> Overlay:
        return replace(self, floods=self.floods.set(ticket, flood))

    def begin(self, ticket: Ticket, flood: Flood) -> Overlay:
        """A flood of this server's own, with a time by which its client is answered."""
        overlay = replace(self.kept(ticket, flood), due=self.due.set(ticket, flood.expires_at), begun=self.begun + 1)
        return overlay.waking(flood.expires_at)

    def ended(self, ticket: Ticket) -> Overlay:
        """Its client has its answer, or is gone."""
        flood = replace(self.floods[ticket], answered=True)
        return replace(self.kept(ticket, flood), due=discard(self.due, ticket))

    def without(self, tickets: Iterator[Ticket]) -> Overlay:
        floods, gone = self.floods.mutate(), set(tickets)
        for ticket in gone:
            del floods[ticket]
        names = Map({key: ticket for key, ticket in self.names.items() if ticket not in gone}) if gone else self.names
        return replace(self, floods=floods.finish(), names=names)

    def shaking(self, channel: Channel, until: float) -> Overlay:
        return replace(self, handshakes=self.handshakes.set(channel, until)).waking(until)

    def shaken(self, channel: Channel) -> Overlay:
        return replace(self, handshakes=discard(self.handshakes, channel))

    def aimed(self, uri: str, target: Target) -> Overlay:
        aimed = replace(self, targets=self.targets.set(uri, target))
        return aimed if target.due is None else aimed.waking(target.due)

    def missed(self, uri: str, now: float) -> Overlay:
        """A dial failed or its connection is over: a seed is dialled again, a candidate is forgotten."""
        target = self.targets.get(uri)
        if target is None:
            return self
        if not target.seed:
            return replace(self, targets=self.targets.delete(uri))
        return self.aimed(uri, replace(target, failures=target.failures + 1, due=now + target.wait_s))

    def parted(self, channel: Channel, link: Link, instead: Channel | None, now: float) -> Overlay:
        """A sister's connection is over (FROG-32-03); another one with her may take its place (FROG-31-05)."""
        live = self.live
        if live.get(link.server_id) == channel:
            live = live.delete(link.server_id) if instead is None else live.set(link.server_id, instead)
        overlay = replace(self.shaken(channel), live=live, lists=discard(self.lists, channel))
        return overlay.missed(link.dialled, now) if link.dialled else overlay


def discard(things: Map[K, V], key: K) -> Map[K, V]:
    return things.delete(key) if key in things else things
