"""Brokers that get an envelope or its way to the recipient wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from immutables import Map

from reference_impl.core import Channel, Expectation, Step
from reference_impl.peerbus.broker import BrokerMachine, BrokerStep, Effect, Message, MessageStored, State
from reference_impl.peerbus.broker_io import Broker
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Deliver, Envelope, Garbage, Input, Oversize
from reference_impl.peerbus.store import Store
from targets.mutants.peerbus.shelf import broken_broker as broken
from targets.mutants.peerbus.stores import ForgetsMessages


@broken("PB-3-01")
class AddsATenthField(Codec):
    """Adds a received_at member to every envelope it relays."""

    def relayed(self, envelope: Envelope) -> bytes:
        return super().relayed(envelope)[:-1] + b',"received_at":"now"}'


@broken("PB-3-02")
class OmitsEmptyFields(Codec):
    """Leaves empty strings out of the envelope."""

    def relayed(self, envelope: Envelope) -> bytes:
        return super().relayed(envelope).replace(b'"source":"",', b"").replace(b'"ts":"",', b"")


@broken("PB-3-08")
class TrimsSource(BrokerMachine):
    """Trims blanks off `source`."""

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        return super().route(state, channel, replace(envelope, source=envelope.source.strip()))


@broken("PB-3-07")
class RestampsMessages(BrokerMachine):
    """Replaces an empty `ts` with a time of its own."""

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        return super().route(state, channel, replace(envelope, ts=envelope.ts or "1970-01-01T00:00:00Z"))


@broken("PB-3-10", "PB-3-11")
class ReencodesBodies(Codec):
    """Parses the body and writes it again."""

    def relayed(self, envelope: Envelope) -> bytes:
        body = json.dumps(json.loads(envelope.body), separators=(",", ":")).encode()
        return super().relayed(replace(envelope, body=body))


@broken("PB-3-14")
class UnknownTypesAreDropped(Codec):
    """Takes a frame with an unknown type for garbage."""

    def decode(self, text: bytes) -> Any:
        frame = super().decode(text)
        typed = isinstance(frame, Envelope) and b'"type"' in text
        return Garbage("unknown type") if typed else frame


@broken("PB-3-17")
class IdIsOptional(BrokerMachine):
    """Routes an envelope without an id, under a key of its own."""

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        return super().route(state, channel, replace(envelope, id=envelope.id or f"auto-{state.durable.next_seq}"))


@broken("PB-3-18")
class EmptyToMeansEverybody(BrokerMachine):
    """Broadcasts an envelope without a recipient."""

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        if envelope.to:
            return super().route(state, channel, envelope)
        return super().route(state, channel, replace(envelope, to="*", kind="broadcast"))


@broken("PB-3-19")
class GarbageCloses(BrokerMachine):
    """Closes a registered connection that sends something unparsable."""

    def ignore(self, state: State, channel: Channel, event: Input) -> BrokerStep:
        return self.too_long(state, channel, Oversize(0)) if isinstance(event, Garbage) else Step(state)


@broken("PB-3-20", "PB-3-28")
class RoutesByFrom(BrokerMachine):
    """Leaves out of a broadcast whoever `from` names, not who sent it."""

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        if envelope.to != "*" or envelope.kind != "broadcast" or not envelope.id:
            return super().route(state, channel, envelope)
        names = sorted(name for name in state.bound if name != envelope.sender)
        return self.store(state, envelope.sender, envelope, [(f"{envelope.id}|{name}", name) for name in names])


@broken("PB-3-21")
class CorrectsFrom(BrokerMachine):
    """Writes the bound name into `from`."""

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        return super().route(state, channel, replace(envelope, sender=self.name_of(state, channel)))


@broken("PB-3-22", "PB-5-01")
class DeliversWithoutPersisting(Broker):
    """Keeps messages in memory only."""

    def open_store(self, state_dir: Path) -> Store:
        return ForgetsMessages(state_dir / "peerbus.sqlite", self.codec)


@broken("PB-3-23", "PB-2.1-05")
class DeliversAtRegisterOnly(BrokerMachine):
    """Queues for a connected recipient too."""

    def store(self, state: State, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        step = super().store(state, sender, envelope, rows)
        return replace(step, owes=tuple(e for e in step.owes if envelope.to == "*"))


@broken("PB-3-24")
class OfflineIsDropped(BrokerMachine):
    """Drops messages for peers that are not connected."""

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        online = envelope.to in state.bound or envelope.to == "*"
        return super().route(state, channel, envelope) if online else Step(state)


@broken("PB-3-25")
class QueuesForStrangers(BrokerMachine):
    """Keeps messages for names that never registered."""

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        if envelope.to in ("", "*"):
            return super().route(state, channel, envelope)
        known = replace(state.durable, peers=state.durable.peers.set(envelope.to, None))
        return super().route(replace(state, durable=known), channel, envelope)


@broken("PB-3-26")
class DuplicateIdIsDeliveredAgain(BrokerMachine):
    """Delivers a message whose id was used before once more."""

    def store(self, state: State, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        step = super().store(state, sender, envelope, rows)
        again = [
            self.delivery(Message(key, name, sender, 0, envelope), state.bound[name], "")
            for key, name in rows
            if key in state.durable.keys and name in state.bound
        ]
        return replace(step, owes=(*step.owes, *again))


@broken("PB-3-26")
class DuplicateIdReplacesTheFirst(BrokerMachine):
    """Overwrites a pending message with a later one of the same id."""

    def store(self, state: State, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        step = super().store(state, sender, envelope, rows)
        pending = step.state.durable.pending
        for key, name in rows:
            if old := pending.get(name, Map()).get(key):
                pending = pending.set(name, pending[name].set(key, replace(old, envelope=envelope)))
        return replace(step, state=replace(step.state, durable=replace(step.state.durable, pending=pending)))


@broken("PB-3-27")
class BroadcastReachesOneOnly(BrokerMachine):
    """Delivers a broadcast to one peer."""

    def store(self, state: State, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        return super().store(state, sender, envelope, rows[:1])


@broken("PB-3-28")
class SenderHearsItself(BrokerMachine):
    """Broadcasts to the sender as well."""

    def store(self, state: State, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        own = [(f"{envelope.id}|{sender}", sender)] if envelope.to == "*" else []
        return super().store(state, sender, envelope, rows + own)


@broken("PB-3-29")
class BroadcastsAreNotDurable(Broker):
    """Keeps broadcast copies in memory only."""

    def open_store(self, state_dir: Path) -> Store:
        class DirectOnly(Store):
            def write(self, effect: Effect) -> None:
                if not (isinstance(effect, MessageStored) and effect.message.envelope.to == "*"):
                    super().write(effect)

        return DirectOnly(state_dir / "peerbus.sqlite", self.codec)


@broken("PB-3-30")
class BroadcastIdsAreNotDeduplicated(BrokerMachine):
    """Delivers the same broadcast again when it is sent again."""

    def store(self, state: State, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        if envelope.to != "*":
            return super().store(state, sender, envelope, rows)
        keys = state.durable.keys
        for key, _ in rows:
            keys = keys.delete(key) if key in keys else keys
        forgotten = replace(state, durable=replace(state.durable, keys=keys))
        return replace(super().store(forgotten, sender, envelope, rows), effects=())


@broken("PB-3-32", "PB-4-23")
class ResignsCopies(BrokerMachine):
    """Replaces the MAC of a broadcast copy with one over the row key."""

    def delivery(self, message: Message, channel: Channel, clause: str) -> Expectation:
        debt = super().delivery(message, channel, clause)
        if message.key == message.envelope.id:
            return debt
        return replace(debt, template=Deliver(message.key, replace(message.envelope, hmac="0" * 64)))


@broken("PB-3-33", "PB-5-16")
class BackfillsNewcomers(BrokerMachine):
    """Sends a newcomer the broadcasts that others still have pending."""

    def flush(self, state: State, channel: Channel, name: str) -> Iterator[Expectation]:
        yield from super().flush(state, channel, name)
        copies = {m.envelope.id: m for mine in state.durable.pending.values() for m in mine.values() if "|" in m.key}
        for id, message in copies.items():
            yield self.delivery(replace(message, key=f"{id}|{name}", recipient=name), channel, "")


@broken("PB-3-35", "PB-5-16")
class BroadcastsToTheAbsent(BrokerMachine):
    """Queues a copy for every known peer, connected or not."""

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        if envelope.to != "*" or envelope.kind != "broadcast" or not envelope.id:
            return super().route(state, channel, envelope)
        sender = self.name_of(state, channel)
        names = sorted(name for name in state.durable.peers if name != sender)
        return self.store(state, sender, envelope, [(f"{envelope.id}|{name}", name) for name in names])


@broken("PB-3-09")
class KindDoesNotMatter(BrokerMachine):
    """Routes by `to` alone."""

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        kind = "broadcast" if envelope.to == "*" else "msg"
        return super().route(state, channel, replace(envelope, kind=kind))
