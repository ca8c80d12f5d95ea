"""Relays whose durable half is wrong: all is well until they are killed or started again."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from reference_impl.core import Channel, Expectation
from reference_impl.io.sqlite import StoreFailed
from reference_impl.trueseal.frames import Deliver, DeliverAck, Push
from reference_impl.trueseal.relay import Deleted, Durable, Effect, RelayMachine, RelayStep, State, Stored
from reference_impl.trueseal.relay_io import Relay
from reference_impl.trueseal.store import RelayStore
from targets.mutants.trueseal.protobuf import sorted_fields
from targets.mutants.trueseal.shelf import broken_relay as broken
from targets.mutants.trueseal.stores import AlteringRelayStore, ForgetfulRelayStore, OneBehindRelayStore, OtherNumbers


class OtherStore(Relay):
    """Keeps its blobs in another store."""

    kind: type[RelayStore] = RelayStore

    def open_store(self, state_dir: Path) -> RelayStore:
        return self.kind(state_dir / "relay.sqlite")


@broken("TS-ACK-03")
class KeepsNothing(OtherStore):
    """Keeps its inboxes in memory only."""

    class kind(ForgetfulRelayStore):
        forgets = Stored


@broken("TS-ACK-03", "TS-ACK-05")
class StoresOneBehind(OtherStore):
    """Writes a blob together with the next one, or when it is stopped; a kill loses the last."""

    kind = OneBehindRelayStore

    async def stop(self) -> None:
        assert isinstance(self.store, OneBehindRelayStore), "opened as one"
        self.flush()
        self.store.finish()
        await super().stop()


@broken("TS-ACK-03", "TS-ACK-05")
class StoresSoon(Relay):
    """Acks at once and stores a little later; whoever kills it in between loses the blob."""

    def flush(self) -> None:
        batch, effects = self._batch, list(self._batch.effects) if self._batch else []
        if batch:
            batch.effects = []
        super().flush()
        if effects:
            asyncio.get_running_loop().call_later(0.05, self.write_late, effects)

    def write_late(self, effects: list[Effect]) -> None:
        if not self.ended:
            with contextlib.suppress(StoreFailed):
                self.store.commit(effects)

    ended = False

    async def stop(self) -> None:
        await asyncio.sleep(0.1)  # a proper end loses nothing
        self.ended = True
        await super().stop()

    def kill(self) -> None:
        self.ended = True
        super().kill()


@broken("TS-ACK-03", "TS-PUSH-05")
class LosesTheEmpty(OtherStore):
    """Does not find empty envelopes when it starts again."""

    class kind(RelayStore):
        def load(self) -> Durable:
            self._db.execute("DELETE FROM blobs WHERE length(envelope) = 0")
            return super().load()


@broken("TS-ACK-03", "TS-DLV-08")
class NoNeedToStore(RelayMachine):
    """Does not store what it can deliver at once."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        step = super().push(state, channel, frame)
        return replace(step, effects=()) if state.served.get(frame.recipient) else step


@broken("TS-DLV-08", "TS-DLV-06")
class DeletesWhenSent(Relay):
    """Deletes a blob from its file when it is sent, and keeps it in memory until the ack: a restart loses it."""

    def flush(self) -> None:
        if self._batch:
            sent = [frame.blob_id for _, frame in self._batch.frames if isinstance(frame, Deliver)]
            self._batch.effects += [Deleted(number) for number in sent]
        super().flush()


@broken("TS-DACK-04")
class ForgetsAcks(OtherStore):
    """Deletes what is acked from memory only."""

    class kind(ForgetfulRelayStore):
        forgets = Deleted


@broken("TS-DACK-04")
class ForgetsAcksOfTheOld(OtherStore):
    """Deletes from its file only what came since it was started."""

    class kind(RelayStore):
        first = 1

        def load(self) -> Durable:
            found = super().load()
            self.first = found.next
            return found

        def write(self, effect: Effect) -> None:
            if not (isinstance(effect, Deleted) and effect.number < self.first):
                super().write(effect)


@broken("TS-DACK-06", "TS-DLV-07")
class DeletesUpTo(OtherStore):
    """Deletes from its file all that came before the acked blob, for whoever it is."""

    class kind(RelayStore):
        def write(self, effect: Effect) -> None:
            super().write(effect)
            if isinstance(effect, Deleted):
                self._db.execute("DELETE FROM blobs WHERE number < ?", (effect.number,))


@broken("TS-DLV-02")
class NumbersAnew(OtherStore):
    """Numbers its blobs anew when it starts again, so that one comes under an id that it had not before."""

    kind = OtherNumbers


@broken("TS-DLV-02", "TS-DACK-06")
class CountsAnew(RelayMachine):
    """Counts ids from one when it starts again, so that a new blob has the id of one that still waits."""

    def __init__(self, *limit: int) -> None:
        super().__init__(*limit)
        self.first: int | None = None  # the number of the first blob since the start

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        self.first = self.first or state.durable.next
        return super().push(state, channel, frame)

    def delivery(self, *blob: Any) -> tuple[Expectation, Expectation]:
        inbox, number, id, *rest = blob
        since = number - self.first + 1 if self.first and number >= self.first else number
        return super().delivery(inbox, number, since if id is None else id, *rest)


@broken("TS-DLV-05", "TS-PUSH-04")
class StoresSerializedAgain(OtherStore):
    """Parses an Envelope to store it: after a restart its fields are in another order."""

    class kind(AlteringRelayStore):
        def altered(self, envelope: bytes) -> bytes:
            return sorted_fields(envelope)


@broken("TS-DLV-05", "TS-PUSH-04")
class StoresText(OtherStore):
    """Stores an envelope as UTF-8: after a restart what was none is replaced."""

    class kind(AlteringRelayStore):
        def altered(self, envelope: bytes) -> bytes:
            return envelope.decode("utf-8", "replace").encode()


@broken("TS-DLV-05", "TS-ACK-03")
class StoresUpTo65535(OtherStore):
    """Has a column for 65,535 bytes: after a restart the rest of an envelope is gone."""

    class kind(AlteringRelayStore):
        def altered(self, envelope: bytes) -> bytes:
            return envelope[:65_535]


@broken("TS-DACK-04")
class ForgetsAcksWhenAlone(RelayMachine):
    """Deletes what is acked from its file only while another session is up."""

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        step = super().deliver_ack(state, channel, frame)
        return replace(step, effects=()) if len(state.sessions) == 1 else step
