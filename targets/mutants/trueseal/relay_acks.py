"""Relays that get a DeliverAck wrong."""

from __future__ import annotations

from dataclasses import replace

from immutables import Map

from reference_impl.core import Channel, Step
from reference_impl.trueseal.codec import Codec
from reference_impl.trueseal.frames import (
    ID_SIZE,
    MAX_ENVELOPE,
    BadDeliverAck,
    DeliverAck,
    ReceiveOpened,
)
from reference_impl.trueseal.relay import Deleted, Inbox, RelayMachine, RelayStep, State
from targets.mutants.trueseal.relay_deliveries import cleared
from targets.mutants.trueseal.shelf import broken_relay as broken


@broken("TS-DACK-04")
class KeepsTheAcked(RelayMachine):
    """Does not delete a blob on its ack."""

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        return Step(state)


@broken("TS-DACK-04")
class AcksOfOneByte(RelayMachine):
    """Looks at the lowest byte of an acked id only, and finds nothing from the 256th blob on."""

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        return super().deliver_ack(state, channel, DeliverAck(frame.blob_id & 0xFF))


@broken("TS-DACK-04")
class OneAckOfASession(RelayMachine):
    """Heeds the first ack of a session only."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(limit)
        self.heeded: set[Channel] = set()

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        if channel in self.heeded:
            return Step(state)
        self.heeded.add(channel)
        return super().deliver_ack(state, channel, frame)


@broken("TS-DACK-04")
class AcksOfThisSession(RelayMachine):
    """Heeds an ack only for what was new in this session, so that a repeat can never be acked."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(limit)
        self.old: dict[Channel, frozenset[int]] = {}

    def receive_opened(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        self.old[channel] = frozenset(state.durable.inbox(event.device).delivered)
        return super().receive_opened(state, channel, event)

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        if frame.blob_id in self.old[channel]:
            return Step(state)
        return super().deliver_ack(state, channel, frame)


@broken("TS-DACK-05", "TS-DACK-06", "TS-DLV-07")
class OneAckForAll(RelayMachine):
    """Deletes everything that the device was sent on any ack."""

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        device = state.sessions[channel]
        ids = state.durable.inbox(device or b"").delivered
        step = super().deliver_ack(state, channel, frame)
        gone = tuple(Deleted(number) for number, _ in ids.values())
        return replace(step, state=cleared(step.state, device, *ids), effects=gone) if step.effects else step


@broken("TS-DACK-06", "TS-DLV-07")
class AcksAreCumulative(RelayMachine):
    """Deletes all blobs up to the acked one."""

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        device = state.sessions[channel]
        older = [id for id in state.durable.inbox(device or b"").delivered if id < frame.blob_id]
        step = super().deliver_ack(state, channel, frame)
        return replace(step, state=cleared(step.state, device, *older)) if step.effects else step


def deleted(state: State, device: bytes, number: int) -> RelayStep:
    """Without this blob, whether it was delivered or not."""
    inbox = state.durable.inbox(device)
    known = {id: blob for id, blob in inbox.delivered.items() if blob[0] != number}
    new = inbox.new.delete(number) if number in inbox.new else inbox.new
    return Step(replace(state, durable=state.durable.keep(device, Inbox(new, Map(known)))), effects=(Deleted(number),))


@broken("TS-DACK-07")
class AcksForOthers(RelayMachine):
    """Deletes the blob with the acked id whoever it is for."""

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        for device, inbox in state.durable.inboxes.items():
            if frame.blob_id in inbox.new or frame.blob_id in inbox.delivered:
                return deleted(state, device, frame.blob_id)
        return Step(state)


@broken("TS-DACK-07")
class AcksForTheDelivered(RelayMachine):
    """Deletes another device's blob on an ack of its id, once that device has been sent it."""

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        for device, inbox in state.durable.inboxes.items():
            if frame.blob_id in inbox.delivered:
                return deleted(state, device, frame.blob_id)
        return Step(state)


class GuessesTheBlob(RelayMachine):
    """An ack that fits no blob deletes one all the same."""

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        inbox = state.durable.inbox(state.sessions[channel] or b"")
        if frame.blob_id in inbox.delivered or not inbox.delivered:
            return super().deliver_ack(state, channel, frame)
        return super().deliver_ack(state, channel, DeliverAck(self.guess(sorted(inbox.delivered), frame.blob_id)))

    def guess(self, ids: list[int], acked: int) -> int:
        return ids[0]


@broken("TS-DACK-08", "TS-DLV-07")
class UnknownAcksTheOldest(GuessesTheBlob):
    """Takes an ack of an unknown id for one of the oldest blob."""


@broken("TS-DACK-08", "TS-DLV-07")
class RepeatedAcksTheNext(GuessesTheBlob):
    """Takes a repeated ack for one of the blob that follows."""

    def guess(self, ids: list[int], acked: int) -> int:
        return next((id for id in ids if id > acked), acked)


@broken("TS-DACK-08", "TS-DLV-07")
class AcksByTheLowerHalf(GuessesTheBlob):
    """Compares the lower half of an id only."""

    def guess(self, ids: list[int], acked: int) -> int:
        return acked & 0xFFFF_FFFF


@broken("TS-DACK-08", "TS-DLV-07")
class PadsShortAcks(Codec):
    """Reads an id that is too short as a small one, and deletes that blob."""

    def deliver_ack(self, body: bytes) -> DeliverAck | BadDeliverAck:
        return super().deliver_ack(body.rjust(ID_SIZE, b"\x00"))


@broken("TS-DACK-08", "TS-DLV-07")
class ManyIdsInOneAck(RelayMachine):
    """Takes a DeliverAck that is too long for a list of ids."""

    def ignore(self, state: State, channel: Channel, event: object) -> RelayStep:
        if not isinstance(event, BadDeliverAck) or len(event.body) < ID_SIZE:
            return super().ignore(state, channel, event)
        step: RelayStep = Step(state)
        for at in range(0, len(event.body) - ID_SIZE + 1, ID_SIZE):
            acked = DeliverAck(int.from_bytes(event.body[at : at + ID_SIZE], "big"))
            after = self.deliver_ack(step.state, channel, acked)
            step = replace(after, effects=(*step.effects, *after.effects))
        return step
