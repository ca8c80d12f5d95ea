"""The history of a scenario: what hosts asked and were told, what the proxy and machines did. Promises are functions of it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import TargetError
from harness.judging.result import TimelineEntry

SHOWN = 300
"""Characters of one moment that people are shown."""


@dataclass(frozen=True)
class Moment:
    """One thing that happened at one end, or on the way between two."""

    t: float
    who: str  # an end of the scenario, or a line of the proxy
    kind: str  # asked, answered, refused, told, fault, wire, note
    what: str
    data: Mapping[str, Any] = field(default_factory=dict)
    of: int = -1  # an answer: the place of its question

    def __str__(self) -> str:
        shown = " ".join(f"{key}={str(value)[:80]}" for key, value in self.data.items())
        return f"{self.kind} {self.what} {shown}".rstrip()[:SHOWN]


@dataclass(frozen=True)
class Breach:
    """A promise that was not kept."""

    clause: str
    expected: str
    observed: str


class History:
    """Moments in the order in which they came. Whoever waits is woken by each."""

    def __init__(self) -> None:
        self.moments: list[Moment] = []
        self.seats: dict[str, str] = {}  # end -> its seat
        self.death: TargetError | None = None  # of a party that nobody killed
        self.began = time.perf_counter()
        self._waiting: asyncio.Event = asyncio.Event()
        self._places: dict[tuple[str, str, str], list[int]] = defaultdict(
            list
        )  # by who, kind and what: looked at often

    def add(self, who: str, kind: str, what: str, data: Mapping[str, Any] | None = None, of: int = -1) -> int:
        """Write it down; returns its place."""
        self._places[who, kind, what].append(len(self.moments))
        self.moments.append(Moment(time.perf_counter() - self.began, who, kind, what, data or {}, of))
        self._wake()
        return len(self.moments) - 1

    def died(self, who: str, death: TargetError) -> None:
        self.add(who, "fault", "died", {"why": str(death)})
        self.death = self.death or death
        self._wake()

    def _wake(self) -> None:
        self._waiting.set()

    async def until(self, holds: Callable[[], bool], patience_s: float) -> bool:
        """Does it come to hold within that time? Looked at behind every moment; a death ends the waiting."""
        try:
            async with asyncio.timeout(patience_s):
                while not holds():
                    if self.death:
                        raise self.death.with_traceback(None)
                    self._waiting.clear()
                    await self._waiting.wait()
        except TimeoutError:
            return holds()
        return True

    # -- reading --------------------------------------------------------------------------------------------------

    def told(self, who: str, what: str, since: int = 0) -> list[Moment]:
        """What the host of that end was told, of one kind."""
        return [self.moments[place] for place in self._places.get((who, "told", what), ()) if place >= since]

    def count(self, who: str, kind: str, what: str) -> int:
        """How many moments of that kind there were."""
        return len(self._places.get((who, kind, what), ()))

    def answers(self, who: str, op: str) -> Iterator[tuple[int, Moment, int, Moment]]:
        """Each answered question of an end: place and moment of the question, and of its answer."""
        for place in self._places.get((who, "answered", op), ()):
            moment = self.moments[place]
            yield moment.of, self.moments[moment.of], place, moment

    def faults(self, *whats: str) -> list[tuple[int, Moment]]:
        places = sorted(
            n for (_, kind, what), all in self._places.items() if kind == "fault" and what in whats for n in all
        )
        return [(n, self.moments[n]) for n in places]

    def timeline(self, columns: Mapping[str, str]) -> list[TimelineEntry]:
        """For people: what an end was asked and told stands in its column, what passed the proxy goes through its own."""
        return [entry for moment in self.moments for entry in _entries(moment, columns, self.seats)]


def _entries(moment: Moment, columns: Mapping[str, str], seats: Mapping[str, str]) -> Iterator[TimelineEntry]:
    if moment.kind != "wire":
        own = columns.get(seats.get(moment.who, moment.who), columns["proxy"])
        column = columns["proxy"] if "fault" in moment.data or "connection" in moment.data else own
        yield TimelineEntry(round(moment.t, 6), column, column, moment.kind, f"{moment.who}: {moment}")
        return
    up = moment.data.get("way") == "up"
    sides = (columns["client"], columns["server"]) if up else (columns["server"], columns["client"])
    said = str(moment.data.get("text", ""))[:SHOWN]
    raw, size = str(moment.data.get("raw", "")), int(moment.data.get("size", 0))
    for sender, receiver in ((sides[0], columns["proxy"]), (columns["proxy"], sides[1])):
        yield TimelineEntry(round(moment.t, 6), sender, receiver, "frame", said, raw, size)


# -- promises that many protocols make -----------------------------------------------------------------------------------


def lost(clause: str, owed: Iterable[str], surfaced: Sequence[str]) -> Iterator[Breach]:
    """Everything that is owed has surfaced, and as often."""
    missing = list((Counter(owed) - Counter(surfaced)).elements())
    if missing:
        yield Breach(
            clause, "everything that was promised arrives", f"{len(missing)} missing, the first: {missing[0][:120]}"
        )


def repeated(clause: str, surfaced: Iterable[str], sent: Iterable[str] = ()) -> Iterator[Breach]:
    """Nothing has surfaced twice, or more often than it was sent."""
    said = Counter(sent)
    for one, times in Counter(surfaced).items():
        if times > max(1, said[one]):
            yield Breach(clause, "each message surfaces once", f"{times} times: {one[:120]}")
            return


def strange(clause: str, sent: Iterable[str], surfaced: Iterable[str]) -> Iterator[Breach]:
    """Nothing has surfaced that was not sent, byte for byte."""
    known = set(sent)
    for one in surfaced:
        if one not in known:
            yield Breach(clause, "only what was sent, byte for byte", f"nobody sent {one[:160]}")
            return


def disordered(clause: str, sent: Sequence[str], surfaced: Iterable[str]) -> Iterator[Breach]:
    """What has surfaced came in the order in which it was sent."""
    places = {one: place for place, one in reversed(list(enumerate(sent)))}
    last = -1
    for one in dict.fromkeys(surfaced):
        place = places.get(one, last)
        if place < last:
            yield Breach(clause, "one sender's messages in their order", f"{one[:120]} came behind a later one")
            return
        last = place
