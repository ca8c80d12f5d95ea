"""Nodes whose memory of senders is wrong where two senders, or two conditions, meet."""

from __future__ import annotations

import zlib
from dataclasses import replace

from immutables import Map

from reference_impl.bccn.frames import MAX_SEQ, UNKNOWN, Heard, Message, Mode, Noise, Peer, Reason, SetName
from reference_impl.bccn.node import NodeMachine, NodeStep, State
from reference_impl.bccn.tracker import NOBODY, Last, Senders, Tracker
from reference_impl.core import Channel
from targets.mutants.bccn.shelf import shelf

# -- whose number it is ------------------------------------------------------------------------------------------------


@shelf.breaks("BCCN-DUP-06", "BCCN-DUP-14", role="node")
class KeysOf64(NodeMachine):
    """Tells senders apart by the first 64 characters of their names."""

    def tracker_key(self, state: State, message: Message, peer: Peer) -> str:
        return super().tracker_key(state, message, peer)[:64]


@shelf.breaks("BCCN-DUP-06", "BCCN-DUP-14", role="node")
class KeysAreHashed(NodeMachine):
    """Keeps its senders in 256 slots, and takes those of one slot for one."""

    def tracker_key(self, state: State, message: Message, peer: Peer) -> str:
        return str(zlib.crc32(super().tracker_key(state, message, peer).encode("latin-1")) & 0xFF)


@shelf.breaks("BCCN-DUP-06", "BCCN-SRC-06", role="node")
class KeysAreNumbersToo(NodeMachine):
    """Takes names for the same that differ in the leading zeros of a last number."""

    def tracker_key(self, state: State, message: Message, peer: Peer) -> str:
        head, slash, tail = super().tracker_key(state, message, peer).rpartition("/")
        return head + slash + (str(int(tail)) if tail.isascii() and tail.isdigit() else tail)


@shelf.breaks("BCCN-DUP-08", role="node")
class AllCountsApart(NodeMachine):
    """Counts what a sender says to everybody by itself."""

    def tracker_key(self, state: State, message: Message, peer: Peer) -> str:
        key = super().tracker_key(state, message, peer)
        return f"{key} all" if self.addressing.mode(message.chan) is Mode.ALL else key


@shelf.breaks("BCCN-DUP-08", role="node")
class DirectedCountsApart(NodeMachine):
    """Counts what a sender directs at a name by itself."""

    def tracker_key(self, state: State, message: Message, peer: Peer) -> str:
        key = super().tracker_key(state, message, peer)
        return f"{key} directed" if self.addressing.mode(message.chan) is Mode.DIRECTED else key


@shelf.breaks("BCCN-DUP-07", "BCCN-DUP-02", role="node")
class UnknownByPort(NodeMachine):
    """Tells senders without a name apart by their port, and so takes the second copy of one for news."""

    def tracker_key(self, state: State, message: Message, peer: Peer) -> str:
        return f"{UNKNOWN} {peer[0]} {peer[1]}" if message.src == UNKNOWN else message.src


@shelf.breaks("BCCN-DUP-01", "BCCN-DUP-02", role="node")
class RemembersSixteen(Tracker):
    """Remembers sixteen senders, and forgets the oldest for a seventeenth."""

    def heard(self, senders: Senders, key: str, seq: int, at: float, beat: bool = False) -> Senders | None:
        kept = super().heard(senders, key, seq, at, beat)
        if kept is None or len(kept) <= 16:
            return kept
        return kept.delete(min((k for k in kept if k != key), key=lambda k: kept[k].at))


# -- which number it is ------------------------------------------------------------------------------------------------


@shelf.breaks("BCCN-DUP-02", "BCCN-DUP-01", role="node")
class ZeroMeansNobody(Tracker):
    """Takes a sender whose last number was 0 for one that it has not heard."""

    def heard(self, senders: Senders, key: str, seq: int, at: float, beat: bool = False) -> Senders | None:
        last = senders.get(key)
        return super().heard(senders.delete(key) if last and last.seq == 0 else senders, key, seq, at, beat)


@shelf.breaks("BCCN-DUP-02", "BCCN-DUP-01", role="node")
class TheLargestMeansNobody(Tracker):
    """Takes a sender whose last number was the largest for one that it has not heard."""

    def heard(self, senders: Senders, key: str, seq: int, at: float, beat: bool = False) -> Senders | None:
        last = senders.get(key)
        return super().heard(senders.delete(key) if last and last.seq == MAX_SEQ else senders, key, seq, at, beat)


@shelf.breaks("BCCN-DUP-16", "BCCN-DUP-10", role="node")
class NobodyRestartsAtZero(Tracker):
    """Takes 0 for stale, however far the sender was."""

    def is_news(self, last: int, seq: int) -> bool:
        return seq != 0 and super().is_news(last, seq)


@shelf.breaks("BCCN-DUP-02", "BCCN-DUP-15", role="node")
class TheSecondRepeatIsNews(Tracker):
    """Takes a number that was stale for a restart when it comes once more."""

    def __init__(self, *arguments: float) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.stale: dict[str, int] = {}

    def heard(self, senders: Senders, key: str, seq: int, at: float, beat: bool = False) -> Senders | None:
        kept = super().heard(senders, key, seq, at, beat)
        if kept is not None or self.stale.get(key) != seq:
            self.stale[key] = seq if kept is None else -1
            return kept
        return senders.set(key, Last(seq, at, beat))


@shelf.breaks("BCCN-DUP-10", "BCCN-DUP-04", role="node")
class OneRestartOnly(Tracker):
    """Lets a sender start again once; the second time it is stale."""

    def __init__(self, *arguments: float) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.restarted: set[str] = set()

    def heard(self, senders: Senders, key: str, seq: int, at: float, beat: bool = False) -> Senders | None:
        kept = super().heard(senders, key, seq, at, beat)
        if kept is None or key not in senders or seq > senders[key].seq:
            return kept
        again = key in self.restarted
        self.restarted.add(key)
        return None if again else kept


@shelf.breaks("BCCN-DUP-05", "BCCN-SEQ-02", role="node")
class GapsOf32Bits(Tracker):
    """Subtracts in 32 bits: a number that is 2 to the 32nd ahead is the same."""

    def is_news(self, last: int, seq: int) -> bool:
        ahead = ((seq - last + (1 << 31)) & 0xFFFF_FFFF) - (1 << 31)
        return ahead > 0 or -ahead >= self.sanity


# -- when it is forgotten ----------------------------------------------------------------------------------------------


@shelf.breaks("BCCN-DUP-02", "BCCN-DUP-11", role="node")
class ForgetsAllWithOne(Tracker):
    """Forgets everybody when somebody was not heard for too long."""

    def swept(self, senders: Senders, at: float) -> Senders:
        kept = super().swept(senders, at)
        return kept if len(kept) == len(senders) else NOBODY


@shelf.breaks("BCCN-DUP-12", role="node")
class BeatsOnce(Tracker):
    """Forgets that a sender has heartbeats when it says something else."""

    def heard(self, senders: Senders, key: str, seq: int, at: float, beat: bool = False) -> Senders | None:
        kept = super().heard(senders, key, seq, at, beat)
        return kept and kept.set(key, replace(kept[key], beats=beat))


@shelf.breaks("BCCN-DUP-02", "BCCN-DIR-17", role="node")
class ANewNameForgets(NodeMachine):
    """Forgets all senders when it takes a name."""

    def set_name(self, state: State, channel: Channel, event: SetName) -> NodeStep:
        return super().set_name(replace(state, senders=Map()), channel, event)


@shelf.breaks("BCCN-INT-13", "BCCN-DLV-07", role="node")
class NoiseForgets(NodeMachine):
    """Forgets all senders when a datagram is malformed."""

    def noise(self, state: State, channel: Channel, event: Noise) -> NodeStep:
        return super().noise(replace(state, senders=Map()), channel, event)


@shelf.breaks("BCCN-DLV-07", "BCCN-INT-13", role="node")
class DeafToTheNext(NodeMachine):
    """Drops the datagram that follows a malformed one from the same address."""

    def __init__(self, *parts: object) -> None:
        super().__init__(*parts)  # type: ignore[arg-type]
        self.suspect: Peer | None = None

    def noise(self, state: State, channel: Channel, event: Noise) -> NodeStep:
        self.suspect = event.peer
        return super().noise(state, channel, event)

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        suspect, self.suspect = self.suspect, None
        return self.drop(state, Reason.ENVELOPE) if suspect == event.peer else super().hear(state, channel, event)


@shelf.breaks("BCCN-DUP-11", role="node")
class TheSilentNeverRestart(NodeMachine):
    """Believes in no restart of a sender that it had forgotten: its low numbers are repeats, however far they have gone down."""

    met = Map[str, int]()

    def track(self, state: State, event: Heard) -> NodeStep:
        key, seq = self.tracker_key(state, event.message, event.peer), event.message.seq
        last = state.senders.get(key)
        if seq <= self.met.get(key, -1) and (last is None or self.tracker.is_forgotten(last, event.at)):
            return self.drop(state, Reason.DUPLICATE)
        step = super().track(state, event)
        self.met = self.met.set(key, seq if step.state.senders.get(key) != last else self.met.get(key, -1))
        return step
