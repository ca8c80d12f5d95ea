"""What a server bounds: times (section 39), tables and rates (section 40). Zero means no bound."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from immutables import Map

MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Timers:
    """Seconds (FROG-39-01); they are no one's to change, but a test has no three minutes."""

    challenge_s: float = 30.0
    route_s: float = 180.0
    lookup_s: float = 3.0
    find_s: float = 1.5


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of each is kept at most (FROG-40-02)."""

    connections: int = 0
    connections_per_ip: int = 0
    peers: int = 0
    peers_per_network: int = 0
    challenges: int = 0
    routes: int = 0
    queue: int = 0  # messages on their way to one connection
    sisters: int = 0  # connections of them
    pending: int = 0  # floods under way


@dataclass(frozen=True, slots=True)
class Rates:
    """How many of each in a minute: connections by address, everything else by connection (FROG-40-01)."""

    connections: int = 0
    joins: int = 0
    failed_auths: int = 0
    getservers: int = 0
    finds: int = 0
    lookups: int = 0
    signals: int = 0
    floods: int = 6000  # @FIND and @LOOKUP of one sister (FROG-34-11)
    lists: int = 0
    relays: int = 0  # @SIGNAL of one sister


@dataclass(frozen=True, slots=True)
class Meter:
    """What was spent of each rate in the minute that runs, by whom."""

    rates: Rates = field(default_factory=Rates)
    spent: Map[tuple[Any, str], tuple[float, int]] = Map()

    def spend(self, who: Any, what: str, now: float) -> tuple[Meter, bool]:
        """The meter afterwards, and whether the rate allowed it."""
        rate: int = getattr(self.rates, what)
        if not rate:
            return self, True
        since, used = self.spent.get((who, what), (now, 0))
        if now - since >= MINUTE:
            since, used = now, 0
        if used >= rate:
            return self, False
        return replace(self, spent=self.spent.set((who, what), (since, used + 1))), True

    def swept(self, now: float) -> Meter:
        """Without the minutes that are over."""
        running = {key: window for key, window in self.spent.items() if now - window[0] < MINUTE}
        return replace(self, spent=Map(running))


def over(bound: int, count: int) -> bool:
    """Is there no room for one more?"""
    return bool(bound) and count >= bound
