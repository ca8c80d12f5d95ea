"""Clients whose durable outbox is wrong: all is well until they are killed or started again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from immutables import Map

from reference_impl.core import Channel
from reference_impl.trueseal.client import ClientMachine, ClientStep, Effect, Outgoing, Settled, State
from reference_impl.trueseal.client_io import Client
from reference_impl.trueseal.frames import MAX_ENVELOPE, Ack, Error, InSession, Push, Start, Submit
from reference_impl.trueseal.store import ClientStore
from targets.mutants.trueseal.protobuf import sorted_fields
from targets.mutants.trueseal.shelf import broken_client as broken
from targets.mutants.trueseal.steps import without
from targets.mutants.trueseal.stores import ForgetfulClientStore, OneBehindClientStore


class OtherStore(Client):
    """Keeps what it must remember in another store."""

    kind: type[ClientStore] = ClientStore

    def open_store(self, state_dir: Path) -> ClientStore:
        return self.kind(state_dir / "client.sqlite")


@broken("TS-ACK-07")
class AnOutboxInMemory(OtherStore):
    """Forgets at a restart what was not Acked."""

    class kind(ForgetfulClientStore):
        forgets = Outgoing


@broken("TS-ACK-07")
class AnOutboxOneBehind(OtherStore):
    """Writes what it is to push together with the next thing; a kill loses the last."""

    kind = OneBehindClientStore

    def received(self) -> list[bytes]:
        return list(self.player.state.durable.envelopes)

    async def stop(self) -> None:
        assert isinstance(self.store, OneBehindClientStore), "opened as one"
        self.store.finish()
        await super().stop()


@broken("TS-ERR-05", "TS-ACK-07")
class ForgetsAnswers(OtherStore):
    """Pushes after a restart what was answered before it."""

    class kind(ForgetfulClientStore):
        forgets = Settled


@broken("TS-ERR-05", "TS-ERR-04")
class ForgetsRejections(ClientMachine):
    """Pushes after a restart what was rejected before it."""

    def rejected(self, state: State, channel: Channel, event: Error) -> ClientStep:
        return replace(super().rejected(state, channel, event), effects=())


@broken("TS-ACK-07")
class ForgetsItsAcks(ClientMachine):
    """Pushes after a restart what was Acked before it."""

    def acked(self, state: State, channel: Channel, event: Ack) -> ClientStep:
        return replace(super().acked(state, channel, event), effects=())


@broken("TS-ACK-07")
class StartsWithNothing(ClientMachine):
    """Leaves what an earlier client left in the outbox where it is."""

    def start(self, state: State, channel: Channel, event: Start) -> ClientStep:
        return without(super().start(state, channel, event), InSession)


@broken("TS-ACK-07")
class StartsWithTheFirst(ClientMachine):
    """Pushes the first of what an earlier client left in the outbox, and no more."""

    def start(self, state: State, channel: Channel, event: Start) -> ClientStep:
        first = Map(sorted(state.durable.outbox.items())[:1])
        return super().start(replace(state, durable=replace(state.durable, outbox=first)), channel, event)


@broken("TS-PUSH-10", "TS-ACK-07")
class AnOutboxSerializedAgain(OtherStore):
    """Parses an Envelope to store it: after a restart it is pushed with its fields in another order."""

    class kind(ClientStore):
        def write(self, effect: Effect) -> None:
            if isinstance(effect, Outgoing):
                push = replace(effect.push, envelope=sorted_fields(effect.push.envelope))
                effect = replace(effect, push=push)
            super().write(effect)


@broken("TS-PUSH-09", "TS-ACK-07")
class AnOutboxOfTheLastRecipient(OtherStore):
    """Keeps one recipient for all that is in the outbox: after a restart everything goes to the last."""

    class kind(ClientStore):
        def write(self, effect: Effect) -> None:
            super().write(effect)
            if isinstance(effect, Outgoing):
                self._db.execute("UPDATE outbox SET recipient = ?", (effect.push.recipient,))


@broken("TS-SIZE-03", "TS-SIZE-04")
class KeepsTheRefused(ClientMachine):
    """Refuses an envelope over the limit, and has it in its outbox: the next client dials for it."""

    def submit(self, state: State, channel: Channel, event: Submit) -> ClientStep:
        step = super().submit(state, channel, event)
        if len(event.envelope) <= MAX_ENVELOPE:
            return step
        blob = state.durable.next
        durable = replace(state.durable, next=blob + 1)
        kept = (Outgoing(blob, Push(event.recipient, event.envelope)),)
        return replace(step, state=replace(state, durable=durable), effects=kept)
