"""The servers that a client knows: those it was shipped with, and those it learned (sections 21 and 41)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from immutables import Map

MOST_LEARNED = 64
MOST_WAITS = 50  # the longest backoff, in first ones
MOST_FAILURES = 3  # in a row, after which a learned server is forgotten (FROG-21-09, FROG-42-01)


@dataclass(frozen=True, slots=True)
class Backoff:
    """Wait before a dial: none before the first, then doubling up to a bound, plus up to half as jitter (FROG-41-05)."""

    first_s: float = 0.5
    most_s: float = 25.0

    def wait(self, attempt: int, jitter: float) -> float:
        if attempt == 0:
            return 0.0
        return min(self.most_s, self.first_s * 2.0 ** min(attempt - 1, 30)) * (1 + jitter / 2)

    def latest(self, attempt: int) -> float:
        return self.wait(attempt, 1.0)


@dataclass(frozen=True, slots=True)
class Known:
    """Exact URIs, each once (FROG-41-02). A round tries each before one comes again."""

    bootstrap: tuple[str, ...]  # never forgotten (FROG-41-04)
    learned: Map[str, int] = Map()  # URI -> failures in a row
    tried: frozenset[str] = frozenset()  # in this round
    best: str = ""  # where it was registered last (FROG-21-09)

    def every(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.bootstrap, *self.learned)))

    def next(self) -> tuple[str, ...]:
        """Whom to dial: the best first, then any that was not tried in this round."""
        if self.best and self.best not in self.tried:
            return (self.best,)
        return tuple(uri for uri in self.every() if uri not in self.tried) or self.every()

    def dialled(self, uri: str) -> Known:
        """A server that had its turn begins a new round."""
        return replace(self, tried=frozenset([uri]) if uri in self.tried else self.tried | {uri})

    def learn(self, uris: tuple[str, ...]) -> Known:
        """The codec has left out what is not canonical (FROG-8-25)."""
        learned = self.learned
        for uri in uris:
            if uri not in self.bootstrap and uri not in learned and len(learned) < MOST_LEARNED:
                learned = learned.set(uri, 0)
        return replace(self, learned=learned)

    def succeeded(self, uri: str) -> Known:
        learned = self.learned.set(uri, 0) if uri in self.learned else self.learned
        return replace(self, learned=learned, best=uri, tried=frozenset())

    def failed(self, uri: str) -> Known:
        best = "" if uri == self.best else self.best
        failures = self.learned.get(uri)
        if failures is None:
            return replace(self, best=best)
        learned = self.learned.set(uri, failures + 1) if failures + 1 < MOST_FAILURES else self.learned.delete(uri)
        return replace(self, learned=learned, best=best)
