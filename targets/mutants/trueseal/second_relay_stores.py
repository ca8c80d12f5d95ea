"""Relays whose memory is right and whose disk is not, where two blobs or two restarts meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reference_impl.core import Channel
from reference_impl.trueseal.frames import Hangup, ReceiveOpened
from reference_impl.trueseal.relay import Deleted, Durable, Effect, RelayMachine, RelayStep, State, Stored
from reference_impl.trueseal.relay_io import Relay
from reference_impl.trueseal.store import RelayStore
from targets.mutants.trueseal.relay_stores import OtherStore
from targets.mutants.trueseal.shelf import broken_relay as broken
from targets.mutants.trueseal.stores import AlteringRelayStore


class Deletes(RelayStore):
    """Deletes by another condition than the number; which one is its subclass's fault."""

    condition = "number = ?"

    def write(self, effect: Effect) -> None:
        if isinstance(effect, Deleted):
            self._db.execute(f"DELETE FROM blobs WHERE {self.condition}", (effect.number,))
        else:
            super().write(effect)


@broken("TS-DACK-06", "TS-DLV-07", "TS-SES-12")
class DeletesEqualsOnDisk(OtherStore):
    """Deletes from its file every blob with the envelope of the acked one, for whoever it is."""

    class kind(Deletes):
        condition = "envelope = (SELECT envelope FROM blobs WHERE number = ?)"


@broken("TS-DACK-06", "TS-DLV-07")
class DeletesTheInboxOnDisk(OtherStore):
    """Deletes from its file all that waits for the device that acks."""

    class kind(Deletes):
        condition = "device = (SELECT device FROM blobs WHERE number = ?)"


@broken("TS-DACK-06", "TS-DLV-07")
class DeletesByDigits(OtherStore):
    """Deletes from its file every blob whose number begins with the digits of the acked one."""

    class kind(Deletes):
        condition = "number LIKE ? || '%'"


@broken("TS-PUSH-02", "TS-ACK-03")
class DevicesAreTextOnDisk(OtherStore):
    """Ends a key at its first zero byte in its file: after a restart the inbox is another one's."""

    class kind(RelayStore):
        def write(self, effect: Effect) -> None:
            if isinstance(effect, Stored):
                effect = Stored(effect.number, effect.device.split(b"\0")[0], effect.envelope)
            super().write(effect)


@broken("TS-ACK-03", "TS-DLV-08")
class ReadsTheInboxesOnce(OtherStore):
    """Empties its file when it has read it: a second restart finds nothing."""

    class kind(RelayStore):
        def load(self) -> Durable:
            found = super().load()
            self._db.execute("DELETE FROM blobs")
            return found


@broken("TS-DACK-04")
class DeletesWhenItStops(Relay):
    """Deletes what was acked from its file when it is stopped: a kill brings it back."""

    late: list[Effect]

    def open_store(self, state_dir: Path) -> RelayStore:
        relay = self
        self.late = []

        class Later(RelayStore):
            def write(self, effect: Effect) -> None:
                if isinstance(effect, Deleted):
                    relay.late.append(effect)
                else:
                    super().write(effect)

            def settle(self) -> None:
                for effect in relay.late:
                    super().write(effect)

        return Later(state_dir / "relay.sqlite")

    async def stop(self) -> None:
        self.store.settle()  # type: ignore[attr-defined]  # it is the one from above
        await super().stop()


@broken("TS-SES-12", "TS-ACK-03")
class StoresOneOfEqual(OtherStore):
    """Keeps equal blobs of a device once in its file: after a restart the second is gone."""

    class kind(RelayStore):
        def write(self, effect: Effect) -> None:
            known = "SELECT 1 FROM blobs WHERE device = ? AND envelope = ?"
            if isinstance(effect, Stored) and self._db.execute(known, (effect.device, effect.envelope)).fetchone():
                return
            super().write(effect)


class FirstOfABatch(RelayStore):
    """Writes the first of some effects that come at once."""

    kind: type = type(None)

    def commit(self, effects: Sequence[Any]) -> None:
        first = [effect for effect in effects if isinstance(effect, self.kind)][:1]
        super().commit([effect for effect in effects if not isinstance(effect, self.kind)] + first)


@broken("TS-ACK-03", "TS-ACK-05")
class StoresTheFirstOfABatch(OtherStore):
    """Acks all pushes that come at once, and writes the first to its file."""

    class kind(FirstOfABatch):
        kind = Stored


@broken("TS-DACK-04")
class DeletesTheFirstOfABatch(OtherStore):
    """Deletes from its file the first of what was acked at once."""

    class kind(FirstOfABatch):
        kind = Deleted


@broken("TS-DACK-04")
class AGoodbyeUndoesItsAcks(Relay):
    """Does not delete from its file what was acked right before the session ended."""

    def turn(self, channel: Channel, event: object) -> None:
        super().turn(channel, event)
        if isinstance(event, Hangup) and self._batch:
            self._batch.effects = [effect for effect in self._batch.effects if not isinstance(effect, Deleted)]


@broken("TS-ACK-03", "TS-DLV-08")
class ALowerLimitHoldsBack(RelayMachine):
    """Does not deliver what was stored under a higher limit than it has now."""

    def serve(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        step = super().serve(state, channel, event)
        kept = (debt for debt in step.owes if len(getattr(debt.template, "envelope", b"")) <= self.limit)
        return replace(step, owes=tuple(kept))


@broken("TS-ACK-03", "TS-PUSH-04")
class KeepsTextColumns(OtherStore):
    """Has a text column: after a restart an envelope ends at its first zero byte."""

    class kind(AlteringRelayStore):
        def altered(self, envelope: bytes) -> bytes:
            return envelope.split(b"\0")[0]
