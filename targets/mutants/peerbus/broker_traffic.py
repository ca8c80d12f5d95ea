"""Brokers that get acks, the list of peers or the deliver frame wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from immutables import Map

from reference_impl.core import Channel, Expectation, Step
from reference_impl.core.expectation import any_order
from reference_impl.peerbus.broker import BrokerMachine, BrokerStep, Message, MessageAcked, State
from reference_impl.peerbus.broker_io import Broker
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Ack, Deliver, Envelope, Input, Oversize, Peers
from reference_impl.peerbus.store import Store
from targets.mutants.peerbus.shelf import broken_broker as broken
from targets.mutants.peerbus.stores import ForgetsAcks

# -- acks ----------------------------------------------------------------------------------------------------------


@broken("PB-2.2-04", "PB-5-24")
class AcksClearNothing(BrokerMachine):
    """Ignores every ack."""

    def ack(self, state: State, channel: Channel, frame: Ack) -> BrokerStep:
        return Step(state)


@broken("PB-2.2-04")
class AcksAreNotDurable(Broker):
    """Does not store acks."""

    def open_store(self, state_dir: Path) -> Store:
        return ForgetsAcks(state_dir / "peerbus.sqlite", self.codec)


@broken("PB-2.2-06")
class UnknownAckCloses(BrokerMachine):
    """Closes on an ack of an id it does not know."""

    def ack(self, state: State, channel: Channel, frame: Ack) -> BrokerStep:
        known = frame.id in state.durable.keys or not frame.id
        return super().ack(state, channel, frame) if known else self.too_long(state, channel, Oversize(0))


@broken("PB-2.2-06")
class AnybodyMayAck(BrokerMachine):
    """Clears a message whoever acks its key."""

    def ack(self, state: State, channel: Channel, frame: Ack) -> BrokerStep:
        pending = state.durable.pending
        for name, mine in pending.items():
            if frame.id in mine:
                cleared = replace(state.durable, pending=pending.set(name, mine.delete(frame.id)))
                return Step(replace(state, durable=cleared), effects=(MessageAcked(frame.id, name, True),))
        return Step(state)


@broken("PB-2.2-07")
class SecondAckCloses(BrokerMachine):
    """Closes on an ack of what was acked before."""

    def ack(self, state: State, channel: Channel, frame: Ack) -> BrokerStep:
        waiting = any(frame.id in mine for mine in state.durable.pending.values())
        if frame.id in state.durable.keys and not waiting:
            return self.too_long(state, channel, Oversize(0))
        return super().ack(state, channel, frame)


@broken("PB-2.2-08")
class EmptyAckClearsAll(BrokerMachine):
    """Takes an ack without an id for an ack of everything."""

    def ack(self, state: State, channel: Channel, frame: Ack) -> BrokerStep:
        if frame.id:
            return super().ack(state, channel, frame)
        pending = state.durable.pending.set(self.name_of(state, channel), Map())
        return Step(replace(state, durable=replace(state.durable, pending=pending)))


@broken("PB-2.2-09")
class AcksAreAnswered(BrokerMachine):
    """Confirms every ack with a peers frame."""

    def ack(self, state: State, channel: Channel, frame: Ack) -> BrokerStep:
        step = super().ack(state, channel, frame)
        return replace(step, owes=(self.peers_reply(state, channel, "", "peers"),))


# -- peers ---------------------------------------------------------------------------------------------------------


@broken("PB-2.3-02")
class AnswersTwice(BrokerMachine):
    """Sends two replies to a peers request."""

    def list_peers(self, state: State, channel: Channel, frame: Peers) -> BrokerStep:
        step = super().list_peers(state, channel, frame)
        return replace(step, owes=step.owes * 2)


@broken("PB-2.3-06")
class NamesNeverLeave(BrokerMachine):
    """Keeps a name bound after its connection is gone."""

    def hang_up(self, state: State, channel: Channel, event: Any) -> BrokerStep:
        return Step(state, voids=frozenset([channel]))


@broken("PB-2.3-07")
class FiltersByTheRequest(BrokerMachine):
    """Lists only the names that the request asks for, if it asks."""

    def list_peers(self, state: State, channel: Channel, frame: Peers) -> BrokerStep:
        if not frame.names:
            return super().list_peers(state, channel, frame)
        names = [name for name in state.bound if name in frame.names]
        return Step(state, (Expectation("", Peers(any_order(names)), channel, lane="peers"),))


# -- deliver -------------------------------------------------------------------------------------------------------


@broken("PB-2.4-01")
class DeliversInBatches(Codec):
    """Wraps the envelope in an array."""

    def relayed(self, envelope: Envelope) -> bytes:
        return b"[" + super().relayed(envelope) + b"]"


@broken("PB-2.4-03")
class RoutesAClientsDeliver(BrokerMachine):
    """Takes the envelope out of a client's deliver and routes it."""

    def ignore(self, state: State, channel: Channel, event: Input) -> BrokerStep:
        return self.route(state, channel, event.envelope) if isinstance(event, Deliver) else Step(state)


@broken("PB-2.4-04", "PB-2.4-11", "PB-5-18")
class DeliversWithoutKey(Codec):
    """Leaves delivery_key out."""

    def encode_deliver(self, frame: Deliver) -> bytes:
        return super().encode_deliver(frame).replace(b'"delivery_key"', b'"key"', 1)


@broken("PB-2.4-05")
class KeyGoesIntoTheEnvelope(Codec):
    """Writes delivery_key inside the envelope too."""

    def encode_deliver(self, frame: Deliver) -> bytes:
        key = self.signing.string(frame.delivery_key)
        return super().encode_deliver(frame)[:-2] + b',"delivery_key":' + key + b"}}"


@broken("PB-2.4-06")
class DirectKeysNameTheRecipient(BrokerMachine):
    """Uses "<id>|<recipient>" for direct messages as well."""

    def delivery(self, message: Message, channel: Channel, clause: str) -> Expectation:
        debt = super().delivery(message, channel, clause)
        direct = message.key == message.envelope.id
        frame = Deliver(f"{message.key}|{message.recipient}", message.envelope)
        return replace(debt, template=frame) if direct else debt


@broken("PB-2.4-07", "PB-4-25")
class CopiesShareTheId(BrokerMachine):
    """Delivers a broadcast copy under the bare id."""

    def delivery(self, message: Message, channel: Channel, clause: str) -> Expectation:
        return replace(
            super().delivery(message, channel, clause), template=Deliver(message.envelope.id, message.envelope)
        )


@broken("PB-2.4-08", "PB-4-23", "PB-3-34", "PB-3-31")
class RewritesTo(BrokerMachine):
    """Writes the recipient's name into a broadcast copy's `to`."""

    def delivery(self, message: Message, channel: Channel, clause: str) -> Expectation:
        envelope = replace(message.envelope, to=message.recipient)
        return replace(super().delivery(message, channel, clause), template=Deliver(message.key, envelope))


@broken("PB-2.4-10", "PB-3-30")
class OneAckClearsEveryCopy(BrokerMachine):
    """Clears all copies of a broadcast with the first ack."""

    def ack(self, state: State, channel: Channel, frame: Ack) -> BrokerStep:
        step = super().ack(state, channel, frame)
        prefix = frame.id.split("|")[0] + "|"
        if "|" not in frame.id:
            return step
        durable = step.state.durable
        pending = {
            name: Map({k: m for k, m in mine.items() if not k.startswith(prefix)})
            for name, mine in durable.pending.items()
        }
        return replace(step, state=replace(step.state, durable=replace(durable, pending=Map(pending))))
