"""Clients that get messages wrong: whether they are kept, acked, surfaced, and how often."""

from __future__ import annotations

from dataclasses import replace

from immutables import Map

from reference_impl.core import Channel, Step
from reference_impl.trueseal.client import HOST, ClientMachine, ClientStep, Durable, Effect, Kept, State
from reference_impl.trueseal.client_io import Client
from reference_impl.trueseal.frames import Deliver, DeliverAck, Hangup, Received
from reference_impl.trueseal.store import ClientStore
from targets.mutants.trueseal.client_stores import OtherStore
from targets.mutants.trueseal.protobuf import sorted_fields
from targets.mutants.trueseal.shelf import broken_client as broken
from targets.mutants.trueseal.steps import also, twice, without
from targets.mutants.trueseal.stores import ForgetfulClientStore, OneBehindClientStore


@broken("TS-DLV-03")
class NeverAcks(ClientMachine):
    """Sends no DeliverAck."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return without(super().deliver(state, channel, frame), DeliverAck)


@broken("TS-DLV-03")
class AcksWithTheNext(ClientMachine):
    """Acks a message when the next one comes."""

    last: DeliverAck | None = None

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        step = without(super().deliver(state, channel, frame), DeliverAck)
        due, self.last = self.last, DeliverAck(frame.blob_id)
        return also(step, channel, due) if due else step

    def receive_lost(self, state: State, channel: Channel, event: Hangup) -> ClientStep:
        self.last = None
        return super().receive_lost(state, channel, event)


@broken("TS-DLV-03")
class AcksEveryOther(ClientMachine):
    """Takes an ack for one of all that came before, and sends every other one."""

    count = 0

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        self.count += 1
        step = super().deliver(state, channel, frame)
        return step if self.count % 2 == 0 else without(step, DeliverAck)


@broken("TS-DLV-03", "TS-DACK-02")
class AcksWhatItDoesNotKeep(OtherStore):
    """Acks messages that it keeps in memory only."""

    class kind(ForgetfulClientStore):
        forgets = Kept

    def received(self) -> list[bytes]:
        return list(self.player.state.durable.envelopes)


@broken("TS-DACK-02", "TS-DLV-03")
class KeepsOneBehind(OtherStore):
    """Writes a message together with the next one, or when it is stopped; a kill behind the ack loses the last."""

    kind = OneBehindClientStore

    def received(self) -> list[bytes]:
        assert isinstance(self.store, OneBehindClientStore), "opened as one"
        late = [effect.envelope for effect in self.store.late if isinstance(effect, Kept)]
        return list(dict.fromkeys([*super().received(), *late]))

    async def stop(self) -> None:
        assert isinstance(self.store, OneBehindClientStore), "opened as one"
        self.store.finish()
        await super().stop()


@broken("TS-DLV-04")
class NoSignForIds(ClientMachine):
    """Acks a message whose id has its highest bit set, and surfaces nothing."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        step = super().deliver(state, channel, frame)
        return step if frame.blob_id < 2**63 else without(step, Received)


@broken("TS-DLV-04", "TS-DLV-03")
class ZeroIsNoId(ClientMachine):
    """Takes id 0 for none, and passes over the message."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return super().deliver(state, channel, frame) if frame.blob_id else Step(state)


@broken("TS-DLV-09")
class SurfacesRepeats(ClientMachine):
    """Surfaces a message as often as it comes."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return self.fresh(state, channel, frame)


@broken("TS-DLV-09")
class LeavesRepeatsUnacked(ClientMachine):
    """Does not ack what it knows already."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        step = super().deliver(state, channel, frame)
        return without(step, DeliverAck) if frame.envelope in state.durable.envelopes else step


@broken("TS-DLV-09")
class EndsForRepeats(ClientMachine):
    """Takes a repeat for a fault of the relay, and ends the session."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        if frame.envelope in state.durable.envelopes:
            return self.end(state, channel, frame)
        return super().deliver(state, channel, frame)


@broken("TS-DLV-09")
class ForgetsWithTheSession(ClientMachine):
    """Knows repeats within a session only."""

    def receive_lost(self, state: State, channel: Channel, event: Hangup) -> ClientStep:
        step = super().receive_lost(state, channel, event)
        durable = replace(step.state.durable, envelopes=Map(), ids=Map())
        return replace(step, state=replace(step.state, durable=durable))


@broken("TS-DLV-09")
class ForgetsWithTheProcess(OtherStore):
    """Does not know after a restart what it has received, and surfaces it again."""

    class kind(ClientStore):
        def load(self) -> Durable:
            return replace(super().load(), envelopes=Map(), ids=Map())


@broken("TS-DLV-09")
class KnowsTheLastOnly(ClientMachine):
    """Takes a message for a repeat only if it is that of the last Deliver."""

    last: Deliver | None = None

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        repeated, self.last = frame == self.last, frame
        return (self.duplicate if repeated else self.fresh)(state, channel, frame)


class Alike(ClientMachine):
    """Takes different messages for the same."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        known = frame.blob_id in state.durable.ids or frame.envelope in state.durable.envelopes
        alike = any(self.looks(other) == self.looks(frame.envelope) for other in state.durable.envelopes)
        return (
            without(super().deliver(state, channel, frame), Received)
            if alike and not known
            else super().deliver(state, channel, frame)
        )

    def looks(self, envelope: bytes) -> object:
        return envelope


@broken("TS-DLV-09", "TS-DLV-04")
class AlikeByTheirBeginning(Alike):
    """Tells messages apart by their first 64 bytes."""

    def looks(self, envelope: bytes) -> object:
        return envelope[:64]


@broken("TS-DLV-09", "TS-DLV-04")
class AlikeByTheirFields(Alike):
    """Tells messages apart by their length and their last 16 bytes."""

    def looks(self, envelope: bytes) -> object:
        return len(envelope), envelope[-16:]


@broken("TS-DLV-09")
class SurfacesTwice(ClientMachine):
    """Surfaces a message when it is kept and when it is acked."""

    def fresh(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return twice(super().fresh(state, channel, frame), Received)


@broken("TS-DLV-04")
class SurfacesLater(ClientMachine):
    """Acks a message at once, and surfaces it when the next one comes."""

    last: Received | None = None

    def fresh(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        step = without(super().fresh(state, channel, frame), Received)
        due, self.last = self.last, Received(frame.envelope)
        return also(step, HOST, due) if due else step


class Tells(Client):
    """Tells its host another message than it has kept."""

    def _perform(self, channel: Channel, frame: object) -> None:
        super()._perform(channel, Received(self.told(frame.envelope)) if isinstance(frame, Received) else frame)

    def told(self, envelope: bytes) -> bytes:
        return envelope


@broken("TS-DLV-04")
class TellsItSerializedAgain(Tells):
    """Surfaces an Envelope with its fields in the order of their numbers."""

    def told(self, envelope: bytes) -> bytes:
        return sorted_fields(envelope)


@broken("TS-DLV-04")
class TellsUpTo4096(Tells):
    """Surfaces the first 4,096 bytes of a message."""

    def told(self, envelope: bytes) -> bytes:
        return envelope[:4_096]


@broken("TS-DLV-04", "TS-DLV-03")
class KeepsUpTo65535(OtherStore):
    """Has a column for 65,535 bytes: what it kept of a larger message is cut."""

    class kind(ClientStore):
        def write(self, effect: Effect) -> None:
            super().write(replace(effect, envelope=effect.envelope[:65_535]) if isinstance(effect, Kept) else effect)


@broken("TS-DLV-03", "TS-DLV-04")
class KeepsNoEmptyMessage(ClientMachine):
    """Acks an empty message as one that has nothing to keep."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        if frame.envelope:
            return super().deliver(state, channel, frame)
        return also(Step(state), channel, DeliverAck(frame.blob_id))
