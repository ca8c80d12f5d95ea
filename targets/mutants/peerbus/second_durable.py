"""Brokers whose memory is right and whose disk is not: a restart shows it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from immutables import Map

from reference_impl.peerbus.broker import Durable, Effect, Message, MessageAcked, MessageStored, PeerKnown
from reference_impl.peerbus.broker_io import Broker
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Deliver, Envelope
from reference_impl.peerbus.store import Store
from targets.mutants.peerbus.shelf import broken_broker as broken


class KeepsOtherwise(Broker):
    """Base of brokers with another store."""

    store_type: type[Store] = Store

    def open_store(self, state_dir: Path) -> Store:
        return self.store_type(state_dir / "peerbus.sqlite", self.codec)


def reloaded(durable: Durable, change: Callable[[Message], Message]) -> Durable:
    """Every waiting message read otherwise than it was written."""
    pending = {
        name: Map({changed.key: changed for changed in map(change, mine.values())})
        for name, mine in durable.pending.items()
    }
    return replace(durable, pending=Map(pending))


# -- what is read back -------------------------------------------------------------------------------------------------


@broken("PB-5-13")
class CountsAnewAfterARestart(KeepsOtherwise):
    """Numbers what comes after a restart ahead of what has waited since before it."""

    class store_type(Store):
        def load(self) -> Durable:
            [[lowest]] = self._db.execute("SELECT coalesce(min(seq), 0) FROM messages")
            return replace(super().load(), next_seq=lowest - 1_000_000)


@broken("PB-5-13")
class ReadsTheQueueByKey(KeepsOtherwise):
    """Reads the queue back in the order of its keys."""

    class store_type(Store):
        def load(self) -> Durable:
            durable = super().load()
            keys = sorted(key for mine in durable.pending.values() for key in mine)
            return reloaded(durable, lambda m: replace(m, seq=keys.index(m.key) - len(keys)))


@broken("PB-3-21", "PB-3-31")
class ReadsFromOutOfTheRow(KeepsOtherwise):
    """Has the bound name in its row and takes it for `from` after a restart."""

    class store_type(Store):
        def load(self) -> Durable:
            return reloaded(super().load(), lambda m: replace(m, envelope=replace(m.envelope, sender=m.sender)))


@broken("PB-2.4-08", "PB-3-31", "PB-4-23")
class ReadsToOutOfTheRow(KeepsOtherwise):
    """Has the recipient in its row and takes it for `to` after a restart."""

    class store_type(Store):
        def load(self) -> Durable:
            return reloaded(super().load(), lambda m: replace(m, envelope=replace(m.envelope, to=m.recipient)))


@broken("PB-2.4-07", "PB-2.4-11", "PB-3-29")
class MakesTheKeyAnew(KeepsOtherwise):
    """Delivers a broadcast copy under its bare id after a restart."""

    class store_type(Store):
        def load(self) -> Durable:
            return reloaded(super().load(), lambda m: replace(m, key=m.envelope.id))


@broken("PB-5-02", "PB-2.1-23")
class ReadsTheSpoolOnce(KeepsOtherwise):
    """Empties the queue on disk when it has read it: a second restart finds nothing."""

    class store_type(Store):
        def load(self) -> Durable:
            durable = super().load()
            self._db.execute("UPDATE messages SET acked = 1")
            return durable


@broken("PB-3-26")
class SweepsTheAcked(KeepsOtherwise):
    """Deletes acked rows when it starts, so that their ids are new again."""

    class store_type(Store):
        def load(self) -> Durable:
            self._db.execute("DELETE FROM messages WHERE acked = 1")
            return super().load()


# -- what is written ---------------------------------------------------------------------------------------------------


class StoresAnew(Codec):
    """Decodes a body before it is kept; what is delivered at once is as it came."""

    def kept(self, envelope: Envelope) -> bytes:
        body = json.dumps(json.loads(envelope.body), ensure_ascii=False, separators=(",", ":")).encode()
        return super().kept(replace(envelope, body=body))


@broken("PB-3-31", "PB-3-11")
class KeepsBodiesDecoded(KeepsOtherwise):
    """Decodes the body for its store: number spelling and escapes are gone after a restart."""

    class store_type(Store):
        def __init__(self, path: Path, codec: Codec) -> None:
            super().__init__(path, StoresAnew(codec.profile))


class NoCase(Store):
    """Compares keys without regard to case where it clears one."""

    clears = "UPDATE messages SET acked = 1 WHERE key = ? COLLATE NOCASE"

    def write(self, effect: Effect) -> None:
        if isinstance(effect, MessageAcked):
            self._db.execute(self.clears, (effect.key,))
        else:
            super().write(effect)


@broken("PB-5-24", "PB-2.2-03")
class ClearsInAnyCase(KeepsOtherwise):
    """Clears on disk what differs from the acked key in case only."""

    store_type = NoCase


@broken("PB-5-24", "PB-2.2-03")
class ClearsByPrefix(KeepsOtherwise):
    """Clears on disk whatever begins with the acked key."""

    class store_type(NoCase):
        clears = "UPDATE messages SET acked = 1 WHERE substr(key, 1, length(?1)) = ?1"


@broken("PB-5-24", "PB-2.2-03")
class ClearsByPattern(KeepsOtherwise):
    """Clears on disk with LIKE, so that an underscore in the acked key stands for anything."""

    class store_type(NoCase):
        clears = "UPDATE messages SET acked = 1 WHERE key LIKE ?"


@broken("PB-2.4-10", "PB-3-30")
class ClearsEveryCopyOnDisk(KeepsOtherwise):
    """Clears on disk all copies of a broadcast with one ack."""

    class store_type(NoCase):
        id = "substr({0}, 1, instr({0} || '|', '|'))"
        clears = f"UPDATE messages SET acked = 1 WHERE {id.format('key')} = {id.format('?1')}"


@broken("PB-3-29", "PB-5-01")
class KeepsOneCopy(KeepsOtherwise):
    """Has the id unique on disk, so that only the first copy of a broadcast is kept."""

    class store_type(Store):
        def write(self, effect: Effect) -> None:
            copies = "SELECT 1 FROM messages WHERE substr(key, 1, length(?1) + 1) = ?1 || '|'"
            is_copy = isinstance(effect, MessageStored) and effect.message.key != effect.message.envelope.id
            if not (is_copy and self._db.execute(copies, (effect.message.envelope.id,)).fetchone()):  # type: ignore[union-attr]
                super().write(effect)


@broken("PB-2.1-22")
class LowersNamesOnDisk(KeepsOtherwise):
    """Keeps the names of peers in lower case."""

    class store_type(Store):
        def write(self, effect: Effect) -> None:
            super().write(PeerKnown(effect.name.lower()) if isinstance(effect, PeerKnown) else effect)


@broken("PB-2.1-22")
class NamesOf64OnDisk(KeepsOtherwise):
    """Keeps the first 64 characters of a name."""

    class store_type(Store):
        def write(self, effect: Effect) -> None:
            super().write(PeerKnown(effect.name[:64]) if isinstance(effect, PeerKnown) else effect)


@broken("PB-2.2-03", "PB-3-22", "PB-5-01")
class DeliveredIsDoneOnDisk(KeepsOtherwise):
    """Marks a delivered message as done on disk, acked or not."""

    class store_type(Store):
        def delivered(self, deliveries: Sequence[tuple[str, Deliver]]) -> None:
            super().delivered(deliveries)
            for _, frame in deliveries:
                self._db.execute("UPDATE messages SET acked = 1 WHERE key = ?", (frame.delivery_key,))
