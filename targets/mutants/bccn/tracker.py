"""Trackers with one fault each."""

from __future__ import annotations

from reference_impl.bccn.frames import UNKNOWN, Heard, Message, Peer
from reference_impl.bccn.node import NodeMachine, State
from reference_impl.bccn.tracker import Last, Senders, Tracker
from targets.mutants.bccn.shelf import shelf


@shelf.breaks("BCCN-DUP-01", "BCCN-DUP-02", "BCCN-DUP-13", role="node")
class RemembersNobody(Tracker):
    """Takes every message for news."""

    def is_news(self, last: int, seq: int) -> bool:
        return True


@shelf.breaks("BCCN-DUP-02", "BCCN-DUP-15", role="node")
class OnlyRepeatsAreStale(Tracker):
    """Takes a lower number that it has not seen for news."""

    def is_news(self, last: int, seq: int) -> bool:
        return seq != last


@shelf.breaks("BCCN-DUP-03", role="node")
class SanityIsInclusive(Tracker):
    """Drops a number that is exactly SANITY behind."""

    def is_news(self, last: int, seq: int) -> bool:
        return seq > last or last - seq > self.sanity


@shelf.breaks("BCCN-DUP-03", role="node")
class SanityIsOneLess(Tracker):
    """Takes a number that is SANITY - 1 behind."""

    def is_news(self, last: int, seq: int) -> bool:
        return seq > last or last - seq >= max(1, self.sanity - 1)


@shelf.breaks("BCCN-DUP-04", "BCCN-DUP-10", role="node")
class KeepsTheHighest(Tracker):
    """Delivers after a restart, but keeps the highest number."""

    def heard(self, senders: Senders, key: str, seq: int, at: float, beat: bool = False) -> Senders | None:
        after = super().heard(senders, key, seq, at, beat)
        before = senders.get(key)
        return after.set(key, Last(max(seq, before.seq), at)) if after is not None and before else after


@shelf.breaks("BCCN-DUP-05", role="node")
class GapsAreSuspicious(Tracker):
    """Drops a number that is far ahead."""

    def is_news(self, last: int, seq: int) -> bool:
        return super().is_news(last, seq) and seq - last < 100_000


@shelf.breaks("BCCN-DUP-06", "BCCN-DUP-14", role="node")
class KeyIsTheParent(NodeMachine):
    """Leaves the last token of a name out of the tracker's key."""

    def tracker_key(self, state: State, message: Message, peer: Peer) -> str:
        return message.src.rpartition("/")[0] or message.src


@shelf.breaks("BCCN-DUP-06", role="node")
class KeyHasTheAddress(NodeMachine):
    """Takes a name from another address for another sender."""

    def tracker_key(self, state: State, message: Message, peer: Peer) -> str:
        return f"{message.src} {peer[0]}"


@shelf.breaks("BCCN-SRC-06", "BCCN-DUP-06", role="node")
class KeyIgnoresCase(NodeMachine):
    """Tracks names without regard to case."""

    def tracker_key(self, state: State, message: Message, peer: Peer) -> str:
        return super().tracker_key(state, message, peer).lower()


@shelf.breaks("BCCN-SRC-08", role="node")
class AnyQuestionMarkIsUnknown(NodeMachine):
    """Takes every name with a "?" in it for an unknown sender."""

    def tracker_key(self, state: State, message: Message, peer: Peer) -> str:
        return f"? {peer[0]}" if "?" in message.src else message.src


@shelf.breaks("BCCN-DUP-08", role="node")
class ChannelIsInTheKey(NodeMachine):
    """Counts each channel of a sender by itself."""

    def tracker_key(self, state: State, message: Message, peer: Peer) -> str:
        return f"{super().tracker_key(state, message, peer)} {message.chan}"


@shelf.breaks("BCCN-DUP-07", "BCCN-SRC-07", role="node")
class UnknownSendersSpeakOnce(NodeMachine):
    """Takes everything that an unknown sender says after its first message for a duplicate."""

    def tracked(self, state: State, event: Heard) -> State | None:
        spoken = self.tracker_key(state, event.message, event.peer) in state.senders
        return None if event.message.src == UNKNOWN and spoken else super().tracked(state, event)


@shelf.breaks("BCCN-DUP-09", role="node")
class BeginsAtZero(Tracker):
    """Takes an unknown sender for one whose last number was 0."""

    def heard(self, senders: Senders, key: str, seq: int, at: float, beat: bool = False) -> Senders | None:
        return super().heard(senders if key in senders else senders.set(key, Last(0, at)), key, seq, at, beat)


@shelf.breaks("BCCN-DUP-10", "BCCN-DUP-03", role="node")
class NobodyRestarts(Tracker):
    """Takes every lower number for stale."""

    def is_news(self, last: int, seq: int) -> bool:
        return seq > last


@shelf.breaks("BCCN-DUP-11", role="node")
class NobodyIsForgotten(Tracker):
    """Keeps senders for ever."""

    def is_forgotten(self, last: Last, at: float) -> bool:
        return False


@shelf.breaks("BCCN-DUP-12", role="node")
class HeartbeatsDoNotMatter(Tracker):
    """Keeps a sender as long as any, however many heartbeats it misses."""

    def is_forgotten(self, last: Last, at: float) -> bool:
        return at - last.at > self.ttl


@shelf.breaks("BCCN-DUP-15", role="node")
class StaleNumbersCount(Tracker):
    """Drops a stale message, but remembers its number."""

    def heard(self, senders: Senders, key: str, seq: int, at: float, beat: bool = False) -> Senders | None:
        if (before := senders.get(key)) and before.seq > seq and not self.is_news(before.seq, seq):
            self.stale = (key, seq)
        elif before and getattr(self, "stale", ("", 0))[0] == key:
            senders = senders.set(key, Last(self.stale[1], at))
            self.stale = ("", 0)
        return super().heard(senders, key, seq, at, beat)


@shelf.breaks("BCCN-DUP-16", "BCCN-DUP-10", role="node")
class DifferencesAreSigned(Tracker):
    """Subtracts as a signed 64-bit machine does."""

    def is_news(self, last: int, seq: int) -> bool:
        behind = (last - seq + 2**63) % 2**64 - 2**63
        return seq > last or behind >= self.sanity


@shelf.breaks("BCCN-DUP-05", "BCCN-DUP-10", role="node")
class NumbersAreSigned(Tracker):
    """Compares numbers as a signed 64-bit machine does."""

    def is_news(self, last: int, seq: int) -> bool:
        signed_last, signed_seq = ((n + 2**63) % 2**64 - 2**63 for n in (last, seq))
        return signed_seq > signed_last


@shelf.breaks("BCCN-DUP-02", role="node")
class NumbersAreFloats(Tracker):
    """Compares numbers with the precision of a double."""

    def is_news(self, last: int, seq: int) -> bool:
        return float(seq) > float(last) or float(last) - float(seq) >= self.sanity or (last > 2**52 and seq != last)
