"""Clients that get acks, the list of peers or a delivery wrong."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Channel, Expectation, Step
from reference_impl.peerbus.client import ClientMachine, ClientStep, State
from reference_impl.peerbus.client_io import Client, NotConnected
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Ack, Deliver, Envelope, Frame, Peers
from reference_impl.peerbus.host import Consumed, PeersListed, PeersRequest, Refused, Surfaced
from targets.mutants.peerbus.shelf import shelf
from targets.mutants.peerbus.steps import also

# -- acks --------------------------------------------------------------------------------------------------------------


@shelf.breaks("PB-2.2-01", role="client")
class AcksUnderAnotherKey(Codec):
    """Calls the id of an ack `delivery_key`."""

    def encode(self, frame: Frame) -> bytes:
        text = super().encode(frame)
        return text.replace(b'"id":', b'"delivery_key":') if isinstance(frame, Ack) else text


@shelf.breaks("PB-2.2-05", "PB-2.2-02", "PB-5-17", "PB-2.4-18", "PB-7-02", role="client")
class AcksOnReceipt(ClientMachine):
    """Acks what it has surfaced, consumed or not."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        step = super().deliver(state, channel, frame)
        if not any(isinstance(owed.template, Surfaced) for owed in step.owes):
            return step
        return also(step, *self.acking(frame.delivery_key, channel, ""))

    def consumed(self, state: State, channel: Channel, event: Consumed) -> ClientStep:
        return replace(super().consumed(state, channel, event), owes=())


@shelf.breaks("PB-2.2-05", "PB-2.2-02", "PB-5-17", role="client")
class AcksWhatItHasSeen(ClientMachine):
    """Acks a repeat at once, though the host has not consumed the first."""

    def repeated(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return also(super().repeated(state, channel, frame), *self.acking(frame.delivery_key, channel, ""))


@shelf.breaks("PB-2.4-18", "PB-7-02", role="client")
class NeverAcks(ClientMachine):
    """Acks nothing that is consumed."""

    def consumed(self, state: State, channel: Channel, event: Consumed) -> ClientStep:
        return replace(super().consumed(state, channel, event), owes=())


# -- peers -------------------------------------------------------------------------------------------------------------


@shelf.breaks("PB-2.3-01", role="client")
class AsksWithNames(ClientMachine):
    """Asks for peers with its own name in the list."""

    def ask_peers(self, state: State, channel: Channel, event: PeersRequest) -> ClientStep:
        step = super().ask_peers(state, channel, event)
        return replace(step, owes=(Expectation("", Peers((self.config.name,)), state.connection),))


@shelf.breaks("PB-2.3-05", role="client")
class ExpectsTheReplyNext(ClientMachine):
    """Loses a delivery that comes while it waits for a peers reply."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return Step(state) if state.asked else super().deliver(state, channel, frame)


@shelf.breaks("PB-7-04", "PB-2.3-05", role="client")
class TellsNoNames(ClientMachine):
    """Answers its host's question with an empty list."""

    def listed(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        step = super().listed(state, channel, frame)
        return replace(step, owes=tuple(replace(owed, template=PeersListed(())) for owed in step.owes))


# -- deliver -----------------------------------------------------------------------------------------------------------


@shelf.breaks("PB-2.4-02", role="client")
class SendsDelivers(Codec):
    """Sends its messages as deliver frames."""

    def encode(self, frame: Frame) -> bytes:
        return self.encode_deliver(Deliver(frame.id, frame)) if isinstance(frame, Envelope) else super().encode(frame)


@shelf.breaks("PB-2.4-09", "PB-4-25", role="client")
class AcksById(ClientMachine):
    """Acks the envelope's id."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        key = frame.envelope.id if frame.delivery_key else ""
        return super().deliver(state, channel, replace(frame, delivery_key=key))


@shelf.breaks("PB-4-25", role="client")
class AcksBroadcastsById(ClientMachine):
    """Acks the id of a broadcast copy, and the key of a direct message."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        key = frame.delivery_key.split("|")[0] if frame.envelope.to == "*" else frame.delivery_key
        return super().deliver(state, channel, replace(frame, delivery_key=key))


@shelf.breaks("PB-2.4-12", "PB-2.4-13", "PB-5-19", role="client")
class InventsAKey(ClientMachine):
    """Takes the id for the key where there is none."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        key = frame.delivery_key or frame.envelope.id
        return super().deliver(state, channel, replace(frame, delivery_key=key))


@shelf.breaks("PB-2.4-14", role="client")
class RemembersTheKeyless(ClientMachine):
    """Drops a delivery without a key, but counts its message as seen."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        if frame.delivery_key:
            return super().deliver(state, channel, frame)
        return Step(replace(state, seen=state.seen.add(frame.envelope.id)))


@shelf.breaks("PB-2.4-14", "PB-5-25", role="client")
class ClosesOnTheKeyless(ClientMachine):
    """Hangs up on a delivery without a key."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return super().deliver(state, channel, frame) if frame.delivery_key else self.give_up(state, channel, frame)


@shelf.breaks("PB-2.4-17", role="client")
class SwapsTheNames(ClientMachine):
    """Tells its host the recipient as the sender."""

    def surfaced(self, envelope: Envelope) -> Surfaced:
        return super().surfaced(replace(envelope, sender=envelope.to, to=envelope.sender))


@shelf.breaks("PB-2.3-05", "PB-7-04", role="client")
class AnswersWhatItRefused(Client):
    """Keeps a question that it has refused in its queue, where it takes the answer to the next one."""

    def _perform(self, frame: object) -> None:
        if frame == Refused("peers"):
            self._asked[0].set_exception(NotConnected("not now"))
        else:
            super()._perform(frame)
