"""Brokers that get order, durability or the audit chain wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from immutables import Map

from reference_impl.core import Channel, Expectation, Step
from reference_impl.peerbus import audit
from reference_impl.peerbus.broker import BrokerMachine, BrokerStep, Durable, State
from reference_impl.peerbus.broker_io import Broker, Line
from reference_impl.peerbus.frames import Ack, Close, Deliver, Frame
from reference_impl.peerbus.store import Store
from targets.mutants.peerbus.shelf import broken_broker as broken


@broken("PB-5-12")
class SwapsNeighbours(Broker):
    """Sends every other delivery only after the one that follows it."""

    held: Any = None

    def put(self, line: Line, frame: Frame | Close) -> None:
        if isinstance(frame, Deliver) and self.held is None:
            self.held = (line, frame)
            return
        super().put(line, frame)
        if self.held is not None:
            super().put(*self.held)
            self.held = None


@broken("PB-5-13")
class FlushesNewestFirst(BrokerMachine):
    """Delivers the backlog last in, first out."""

    def flush(self, state: State, channel: Channel, name: str) -> Iterator[Expectation]:
        yield from reversed(list(super().flush(state, channel, name)))


@broken("PB-5-13")
class FlushesByKey(BrokerMachine):
    """Delivers the backlog in the order of its keys, as a store that is sorted by them gives it."""

    def flush(self, state: State, channel: Channel, name: str) -> Iterator[Expectation]:
        yield from sorted(super().flush(state, channel, name), key=lambda debt: str(debt.template.delivery_key))


@broken("PB-5-14")
class LiveOvertakesTheFlush(BrokerMachine):
    """Delivers what comes at register time by id, not by age."""

    def flush(self, state: State, channel: Channel, name: str) -> Iterator[Expectation]:
        yield from sorted(super().flush(state, channel, name), key=lambda e: str(e.template.delivery_key)[::-1])


@broken("PB-5-24")
class RedeliversTheAcked(BrokerMachine):
    """Forgets acks at a reconnect."""

    def ack(self, state: State, channel: Channel, frame: Ack) -> BrokerStep:
        return Step(state)


@broken("PB-6-12")
class NeedsTheAuditRow(Broker):
    """Delivers after a restart only what the audit chain knows, and audits nothing."""

    def open_store(self, state_dir: Path) -> Store:
        class Unaudited(Store):
            def append(self, events: Any) -> None:
                pass

            def load(self) -> Durable:
                return replace(super().load(), pending=Map())

        return Unaudited(state_dir / "peerbus.sqlite", self.codec)


@broken("PB-6-13")
class ChainStartsAnew(Broker):
    """Starts a new chain at every restart without saying so."""

    def open_store(self, state_dir: Path) -> Store:
        store = Store(state_dir / "peerbus.sqlite", self.codec)
        store._last_hash = audit.link(audit.GENESIS, b"another beginning")
        return store


@broken("PB-6-14")
class ChainIsWipedAtRestart(Broker):
    """Deletes the audit rows when it starts."""

    def open_store(self, state_dir: Path) -> Store:
        store = Store(state_dir / "peerbus.sqlite", self.codec)
        store._db.execute("DELETE FROM audit")
        store._last_hash = audit.GENESIS
        return store


@broken("PB-6-15")
class DeliveriesAreNotAudited(Broker):
    """Does not record deliveries."""

    def open_store(self, state_dir: Path) -> Store:
        class Unrecorded(Store):
            def delivered(self, deliveries: Any) -> None:
                pass

        return Unrecorded(state_dir / "peerbus.sqlite", self.codec)


@broken("PB-3-23")
class LeavesLateReadersBehind(Broker):
    """Keeps what a peer had no room for until it registers again, though it reads on."""

    def catch_up(self, channel: Channel) -> None:
        pass


@broken("PB-3-24", "PB-2.2-03")
class ForgetsLongBodies(Broker):
    """Delivers what has waited without its body, if that is long."""

    def fetched(self, frame: Frame) -> Frame:
        return frame
