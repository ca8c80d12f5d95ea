"""Who was heard last with which number: the receiver's defence against duplicates (section SEQUENCE NUMBERS AND DEDUP).

The text gives no SANITY, and its rule cannot see a shallow restart: a sender that begins again less than SANITY behind
itself is taken for a stale one until it has caught up. It is no replay protection: a restart makes old numbers news.
"""

from __future__ import annotations

from dataclasses import dataclass

from immutables import Map

SANITY = 1000
DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Last:
    """What is known of one sender."""

    seq: int
    at: float
    beats: bool = False  # it has sent a heartbeat


Senders = Map[str, Last]
NOBODY: Senders = Map()


class Tracker:
    """The rules; what they are applied to is the node's state."""

    def __init__(self, sanity: int = SANITY, ttl: float = DAY_S, beat_ttl: float = DAY_S) -> None:
        self.sanity, self.ttl, self.beat_ttl = sanity, ttl, beat_ttl

    def heard(self, senders: Senders, key: str, seq: int, at: float, beat: bool = False) -> Senders | None:
        """The senders once this message counts; None where it is stale, and then nothing changes (BCCN-DUP-15)."""
        last = senders.get(key)
        if last and self.is_forgotten(last, at):
            last = None
        if last and not self.is_news(last.seq, seq):
            return None
        return senders.set(key, Last(seq, at, beat or bool(last and last.beats)))  # also downwards (BCCN-DUP-04)

    def is_news(self, last: int, seq: int) -> bool:
        """Behind by SANITY or more is a sender that started again (BCCN-DUP-02, -03, -05, -10, -16)."""
        return seq > last or last - seq >= self.sanity

    def is_forgotten(self, last: Last, at: float) -> bool:
        """Not heard for too long; sooner for a sender whose heartbeats stay away (BCCN-DUP-11, -12)."""
        return at - last.at > (self.beat_ttl if last.beats else self.ttl)

    def swept(self, senders: Senders, at: float) -> Senders:
        """Senders come and go: without this the table would grow for ever."""
        return Map({key: last for key, last in senders.items() if not self.is_forgotten(last, at)})
