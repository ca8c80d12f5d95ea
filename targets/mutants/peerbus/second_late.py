"""Brokers that write to disk later than they should, or not on one path: a kill shows it."""

from __future__ import annotations

from pathlib import Path

from reference_impl.peerbus.broker import Effect, MessageAcked, MessageStored, PeerKnown
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.store import Store
from targets.mutants.peerbus.second_durable import KeepsOtherwise
from targets.mutants.peerbus.shelf import broken_broker as broken


class Late(Store):
    """Holds back one kind of effect until it is closed in order; a power cut takes it."""

    held: type = type(None)

    def __init__(self, path: Path, codec: Codec) -> None:
        super().__init__(path, codec)
        self.waiting: list[Effect] = []

    def write(self, effect: Effect) -> None:
        if isinstance(effect, self.held):
            self.waiting.append(effect)
        else:
            super().write(effect)

    def settle(self) -> None:
        for effect in self.waiting:
            super().write(effect)
        self.waiting.clear()


class WritesAtTheEnd(KeepsOtherwise):
    """Base of brokers that write one kind of thing when they are stopped."""

    async def stop(self) -> None:
        await self._listener.stop()
        self.flush()
        if isinstance(self.store, Late):
            self.store.settle()
        self.store.close()


@broken("PB-2.2-04")
class StoresAcksWhenItStops(WritesAtTheEnd):
    """Writes acks to disk when it is stopped: a kill brings back what was acked."""

    class store_type(Late):
        held = MessageAcked


@broken("PB-2.1-22")
class StoresPeersWhenItStops(WritesAtTheEnd):
    """Writes the names of peers to disk when it is stopped: a kill forgets those who had registered."""

    class store_type(Late):
        held = PeerKnown


@broken("PB-5-01", "PB-3-24")
class QueuesInMemory(KeepsOtherwise):
    """Writes to disk what it delivers at once, and keeps in memory what waits for somebody who is away."""

    def turn(self, channel: object, event: object) -> None:
        self.bound = self.player.state.bound
        super().turn(channel, event)

    def open_store(self, state_dir: Path) -> Store:
        broker = self

        class Selective(Store):
            def write(self, effect: Effect) -> None:
                if not (isinstance(effect, MessageStored) and effect.message.recipient not in broker.bound):
                    super().write(effect)

        return Selective(state_dir / "peerbus.sqlite", self.codec)
