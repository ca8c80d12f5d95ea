"""Routes: for a while, two peers that may signal, each by the very connection it had (section 25)."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace

from immutables import Map

from reference_impl.core import Channel

Side = Channel
"""Which way a peer is reached: its connection, or `Adjacent`, the next server that way."""


class Ending(enum.Enum):
    """Why a route is over before its time."""

    CLOSED = "a peer left"
    REPLACED = "a peer came back on another connection"


@dataclass(frozen=True, slots=True)
class Route:
    """`a` looked up `b` (FROG-3.12-01)."""

    peer_a: str
    peer_b: str
    side_a: Side
    side_b: Side
    created_at: float
    used_at: float  # when it last carried a signal (FROG-25-03)
    ended: Ending | None = None

    def endpoint(self, peer_key: str) -> Side | None:
        """The side of that peer; None for a stranger."""
        return {self.peer_a: self.side_a, self.peer_b: self.side_b}.get(peer_key)

    def opposite(self, peer_key: str) -> Side:
        """Where its signals go (FROG-26-11)."""
        return self.side_b if peer_key == self.peer_a else self.side_a


@dataclass(frozen=True, slots=True)
class Routes:
    """All routes by id, and which of them a connection is a side of."""

    by_id: Map[str, Route] = Map()
    by_side: Map[Side, Map[str, None]] = Map()

    def __len__(self) -> int:
        return len(self.by_id)

    def __contains__(self, route_id: object) -> bool:
        return route_id in self.by_id

    def get(self, route_id: str) -> Route | None:
        return self.by_id.get(route_id)

    def add(self, route_id: str, route: Route) -> Routes:
        by_side = self.by_side
        for side in (route.side_a, route.side_b):
            by_side = by_side.set(side, by_side.get(side, Map()).set(route_id, None))
        return Routes(self.by_id.set(route_id, route), by_side)

    def used(self, route_id: str, now: float) -> Routes:
        refreshed = replace(self.by_id[route_id], used_at=now)
        return replace(self, by_id=self.by_id.set(route_id, refreshed))

    def end(self, side: Side, why: Ending) -> Routes:
        """Every route of a connection that is gone expires with it (FROG-25-05)."""
        by_id = self.by_id
        for route_id in self.by_side.get(side, Map()):
            if by_id[route_id].ended is None:
                by_id = by_id.set(route_id, replace(by_id[route_id], ended=why))
        return replace(self, by_id=by_id)

    def without(self, route_ids: Iterator[str]) -> Routes:
        by_id, by_side = self.by_id, self.by_side
        for route_id in route_ids:
            route, by_id = by_id[route_id], by_id.delete(route_id)
            for side in {route.side_a, route.side_b}:
                rest = by_side[side].delete(route_id)
                by_side = by_side.set(side, rest) if rest else by_side.delete(side)
        return Routes(by_id, by_side)
