"""Relays that get a delivery wrong: its id, when the blob goes, whether it comes again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from immutables import Map

from reference_impl.core import Channel, Expectation
from reference_impl.trueseal.frames import (
    MAX_ENVELOPE,
    BadHeartbeat,
    Deliver,
    Hangup,
    Heartbeat,
    Push,
    ReceiveOpened,
)
from reference_impl.trueseal.relay import Inbox, RelayMachine, RelayStep, State
from targets.mutants.trueseal.shelf import broken_relay as broken
from targets.mutants.trueseal.steps import also

Debts = tuple[Expectation, Expectation]


class OtherIds(RelayMachine):
    """Gives blobs other ids than their numbers; a wrong choice is its subclass's fault."""

    def delivery(
        self, inbox: Inbox, number: int, id: int | None, envelope: bytes, channel: Channel, clause: str
    ) -> Debts:
        return super().delivery(inbox, number, self.id_of(inbox, number, id, channel), envelope, channel, clause)

    def id_of(self, inbox: Inbox, number: int, id: int | None, channel: Channel) -> int:
        return number if id is None else id


@broken("TS-DLV-02")
class OneIdForAll(OtherIds):
    """Delivers every blob under the same id."""

    def id_of(self, inbox: Inbox, number: int, id: int | None, channel: Channel) -> int:
        return 7


@broken("TS-DLV-02")
class IdsOfThreeBits(OtherIds):
    """Counts blobs in 3 bits, so that nine outstanding ones share an id."""

    def id_of(self, inbox: Inbox, number: int, id: int | None, channel: Channel) -> int:
        return number % 8


@broken("TS-DLV-02")
class IdsOfTheSession(OtherIds):
    """Counts the deliveries of each session anew, so that a blob comes again under another id."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(limit)
        self.said: Counter[Channel] = Counter()

    def id_of(self, inbox: Inbox, number: int, id: int | None, channel: Channel) -> int:
        self.said[channel] += 1
        return self.said[channel]


@broken("TS-DLV-02")
class IdsByContent(OtherIds):
    """Makes an id from the envelope, so that equal ones share it."""

    def delivery(
        self, inbox: Inbox, number: int, id: int | None, envelope: bytes, channel: Channel, clause: str
    ) -> Debts:
        same = int.from_bytes(envelope[:7].ljust(7, b"\x00"), "big") ^ len(envelope)
        return super().delivery(inbox, same, same, envelope, channel, clause)


@broken("TS-DLV-05")
class AddsALineEnd(RelayMachine):
    """Delivers an envelope with a line end behind it."""

    def delivery(
        self, inbox: Inbox, number: int, id: int | None, envelope: bytes, channel: Channel, clause: str
    ) -> Debts:
        return super().delivery(inbox, number, number, envelope + b"\n", channel, clause)

    def shown(self, inbox: Inbox, frame: Deliver) -> int | None:
        return frame.blob_id if frame.blob_id in inbox.new else None


@broken("TS-DLV-05", "TS-PUSH-04")
class AltersRepeats(RelayMachine):
    """Marks a blob that is delivered again with a byte in front."""

    def receive_opened(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        known = state.durable.inbox(event.device).delivered
        step = super().receive_opened(state, channel, event)
        return replace(step, owes=tuple(self.marked(debt, known) for debt in step.owes))

    def marked(self, debt: Expectation, known: Map[int, tuple[int, bytes]]) -> Expectation:
        frame = debt.template
        if isinstance(frame, Deliver) and frame.blob_id in known:
            return replace(debt, template=replace(frame, envelope=b"\x01" + frame.envelope))
        return debt


def cleared(state: State, device: bytes | None, *ids: int) -> State:
    """Without these blobs of the device."""
    if device is None:
        return state
    inbox = state.durable.inbox(device)
    kept = {id: blob for id, blob in inbox.delivered.items() if id not in ids}
    return replace(state, durable=state.durable.keep(device, replace(inbox, delivered=Map(kept))))


@broken("TS-DLV-06", "TS-DLV-08", "TS-DACK-05")
class DeletesOnDelivery(RelayMachine):
    """Deletes a blob once it is sent."""

    def spoke(self, state: State, expectation: Expectation, frame: Any) -> State:
        after = super().spoke(state, expectation, frame)
        if not isinstance(frame, Deliver):
            return after
        return cleared(after, after.sessions.get(expectation.channel), frame.blob_id)


@broken("TS-DLV-07", "TS-DACK-05")
class AHeartbeatIsAnAck(RelayMachine):
    """Takes a Heartbeat of the device for the ack of all that it was sent."""

    def beat(self, state: State, channel: Channel, event: Heartbeat | BadHeartbeat) -> RelayStep:
        step, device = super().beat(state, channel, event), state.sessions[channel]
        ids = state.durable.inbox(device).delivered if device is not None else ()
        return replace(step, state=cleared(step.state, device, *ids))


@broken("TS-DLV-07", "TS-SES-12")
class TheNextIsAnAck(RelayMachine):
    """Keeps one blob of each kind only: deletes an outstanding one when an equal one is pushed."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        known = state.durable.inbox(frame.recipient).delivered
        equal = [id for id, (_, envelope) in known.items() if envelope == frame.envelope]
        return super().push(cleared(state, frame.recipient, *equal), channel, frame)


@broken("TS-DLV-08", "TS-DACK-05")
class DeletesAtTheDrop(RelayMachine):
    """Takes the end of a session for the ack of all that it was sent."""

    def hang_up(self, state: State, channel: Channel, event: Hangup) -> RelayStep:
        device = state.sessions[channel]
        ids = state.durable.inbox(device).delivered if device is not None else ()
        return super().hang_up(cleared(state, device, *ids), channel, event)


@broken("TS-DLV-08", "TS-DLV-06")
class DeliversOnceWhileUp(RelayMachine):
    """Delivers on connecting only what was never sent before; a restart makes it forget that."""

    def receive_opened(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        known = state.durable.inbox(event.device).delivered
        step = super().receive_opened(state, channel, event)
        fresh = tuple(d for d in step.owes if not (isinstance(d.template, Deliver) and d.template.blob_id in known))
        return replace(step, owes=fresh)


@broken("TS-DLV-08")
class GivesUpAfterThree(RelayMachine):
    """Gives a blob up after three deliveries without an ack."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(limit)
        self.tries: Counter[tuple[bytes | None, int]] = Counter()

    def spoke(self, state: State, expectation: Expectation, frame: Any) -> State:
        after = super().spoke(state, expectation, frame)
        if not isinstance(frame, Deliver):
            return after
        device = after.sessions.get(expectation.channel)
        self.tries[device, frame.blob_id] += 1
        return cleared(after, device, frame.blob_id) if self.tries[device, frame.blob_id] == 3 else after


@broken("TS-DLV-10")
class DeliversToEverybody(RelayMachine):
    """Delivers a blob as it arrives to whoever is connected."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        number, step = state.durable.next, super().push(state, channel, frame)
        for other, device in state.sessions.items():
            if device not in (None, frame.recipient):
                step = also(step, other, Deliver(number, frame.envelope))
        return step


@broken("TS-DLV-10", "TS-SES-07")
class DeliversToTheFirst(RelayMachine):
    """Delivers what waits for devices that never connected to whoever connects."""

    def receive_opened(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        step = super().receive_opened(state, channel, event)
        for device, inbox in state.durable.inboxes.items():
            if device != event.device and device not in state.served:
                step = also(step, channel, *(Deliver(number, envelope) for number, envelope in inbox.new.items()))
        return step


@broken("TS-DLV-11")
class RepeatsAtEachPush(RelayMachine):
    """Delivers all that is not acked again whenever something comes for the device."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        step = super().push(state, channel, frame)
        known = state.durable.inbox(frame.recipient).delivered
        for other in state.served.get(frame.recipient, ()):
            step = also(step, other, *(Deliver(id, envelope) for id, (_, envelope) in known.items()))
        return step
