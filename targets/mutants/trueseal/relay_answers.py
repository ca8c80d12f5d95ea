"""Relays that get the answer to a Push wrong: none, too early, too late, out of order, or an untrue one."""

from __future__ import annotations

from collections import Counter
from typing import Any

from reference_impl.core import Channel, Expectation, Step
from reference_impl.io.durable import Batch
from reference_impl.io.sqlite import StoreFailed
from reference_impl.trueseal.frames import MAX_ENVELOPE, Ack, DeliverAck, Error, Oversize, Push, ReceiveOpened
from reference_impl.trueseal.relay import RelayMachine, RelayStep, State
from reference_impl.trueseal.relay_io import Relay
from targets.mutants.trueseal.shelf import broken_relay as broken
from targets.mutants.trueseal.steps import also, without


@broken("TS-ACK-01")
class AcksOnlyTheKnown(RelayMachine):
    """Does not Ack a Push to a device that never connected."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        step = super().push(state, channel, frame)
        return step if frame.recipient in state.served else without(step, Ack)


@broken("TS-ACK-01", "TS-ACK-06", "TS-SES-04")
class AcksEverySecond(RelayMachine):
    """Acks every other Push of a session."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(limit)
        self.pushes: Counter[Channel] = Counter()

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        self.pushes[channel] += 1
        step = super().push(state, channel, frame)
        return step if self.pushes[channel] % 2 else without(step, Ack)


class HoldsAcks(RelayMachine):
    """Acks later; until when is its subclass's fault."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(limit)
        self.held: list[tuple[bytes, int, Expectation]] = []

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        step = super().push(state, channel, frame)
        if self.ready(state, frame):
            return step
        acks = [debt for debt in step.owes if isinstance(debt.template, Ack)]
        self.held += [(frame.recipient, state.durable.next, ack) for ack in acks]
        return without(step, Ack)

    def ready(self, state: State, frame: Push) -> bool:
        return False

    def released(self, step: RelayStep, device: bytes | None, number: int | None = None) -> RelayStep:
        due = [held for held in self.held if held[0] == device and number in (None, held[1])]
        self.held = [held for held in self.held if held not in due]
        for _, _, ack in due:
            step = also(step, ack.channel, Ack())
        return step


@broken("TS-ACK-04")
class AcksWhenOnline(HoldsAcks):
    """Acks a Push once its recipient is connected."""

    def ready(self, state: State, frame: Push) -> bool:
        return bool(state.served.get(frame.recipient))

    def receive_opened(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        return self.released(super().receive_opened(state, channel, event), event.device)


@broken("TS-ACK-04")
class AcksWhenReceived(HoldsAcks):
    """Acks a Push once its recipient has acked it."""

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        device = state.sessions[channel]
        return self.released(super().deliver_ack(state, channel, frame), device, frame.blob_id)


@broken("TS-ACK-05", "TS-ERR-06")
class AcksFirst(Relay):
    """Sends the Ack before it stores, and does not take it back."""

    def flush(self) -> None:
        batch, self._batch = self._batch, None
        if not batch:
            return
        for receiver, frame in batch.frames:
            if line := self._lines.get(receiver):
                self.put(line, frame)
        try:
            self.store.commit(batch.effects)
        except StoreFailed:
            self.undo(batch)


@broken("TS-ACK-05")
class AcksWhatFailed(Relay):
    """Acks a Push that the store does not take, and keeps it in memory."""

    def undo(self, batch: Batch[State]) -> None:
        for receiver, frame in batch.frames:
            if line := self._lines.get(receiver):
                self.put(line, frame)


@broken("TS-ERR-06", "TS-ACK-05")
class AFailureIsAnError(Relay):
    """Answers a Push that the store does not take with an Error."""

    def undo(self, batch: Batch[State]) -> None:
        self.player.state = batch.before
        for receiver, frame in batch.frames:
            if isinstance(frame, Ack) and (line := self._lines.get(receiver)):
                self.put(line, Error())


@broken("TS-ACK-06")
class OneAckForABatch(Relay):
    """Answers pushes that come at once with one Ack."""

    def flush(self) -> None:
        if self._batch:
            acked: set[Channel] = set()
            kept = []
            for channel, frame in self._batch.frames:
                if frame != Ack() or channel not in acked:
                    kept.append((channel, frame))
                if frame == Ack():
                    acked.add(channel)
            self._batch.frames = kept
        super().flush()


@broken("TS-ACK-06")
class ErrorsFirst(Relay):
    """Sends the Errors of what came at once before its Acks, which wait for the store."""

    def flush(self) -> None:
        if self._batch:
            self._batch.frames.sort(key=lambda said: not isinstance(said[1], Error))
        super().flush()


@broken("TS-ACK-06", "TS-ACK-01")
class AcksTwice(RelayMachine):
    """Acks a Push to a connected device when it is stored and when it is sent."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        step = super().push(state, channel, frame)
        return also(step, channel, Ack()) if state.served.get(frame.recipient) else step


@broken("TS-ERR-01", "TS-SIZE-05")
class EndsForLargeEnvelopes(RelayMachine):
    """Ends the session for an envelope over the limit, without an Error."""

    def reject_size(self, state: State, channel: Channel, event: Any) -> RelayStep:
        return self.malformed(state, channel, event)


@broken("TS-ERR-03", "TS-SIZE-07")
class ShowsTheRejected(RelayMachine):
    """Rejects an envelope over the limit, and delivers it to a connected device all the same."""

    def weighed(self, event: Any) -> Any:
        return event

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        if len(frame.envelope) <= self.limit:
            return super().push(state, channel, frame)
        step = super().push(state, channel, frame)
        owes = without(step, Ack).owes
        return also(Step(state, owes), channel, Error())


@broken("TS-ERR-06", "TS-SES-12")
class RejectsTheSameAgain(RelayMachine):
    """Rejects an envelope that waits in the inbox already."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        if any(envelope == frame.envelope for _, _, envelope in state.durable.inbox(frame.recipient).envelopes()):
            return self.reject_short(state, channel, frame)
        return super().push(state, channel, frame)


@broken("TS-ERR-06", "TS-SES-04")
class AnInboxOfSixteen(RelayMachine):
    """Rejects for good what comes for an inbox that holds sixteen blobs."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        if sum(1 for _ in state.durable.inbox(frame.recipient).envelopes()) >= 16:
            return self.reject_short(state, channel, frame)
        return super().push(state, channel, frame)


@broken("TS-ERR-06")
class RejectsTheZeroKey(RelayMachine):
    """Rejects a Push to a key that begins with zero as one to nobody."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        return (super().push if frame.recipient[0] else self.reject_short)(state, channel, frame)


class CountsErrors(RelayMachine):
    """Answers a later rejection of a session in another way."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(limit)
        self.errors: Counter[Channel] = Counter()

    def answer(self, frame: Ack | Error, channel: Channel, clause: str) -> Expectation:
        self.errors[channel] += isinstance(frame, Error)
        return super().answer(frame, channel, clause)


@broken("TS-ERR-07", "TS-ACK-06")
class TiresOfRejecting(CountsErrors):
    """Does not answer the third bad Push of a session any more."""

    def reject_short(self, state: State, channel: Channel, event: Any) -> RelayStep:
        return Step(state) if self.errors[channel] >= 2 else super().reject_short(state, channel, event)

    def reject_size(self, state: State, channel: Channel, event: Any) -> RelayStep:
        return Step(state) if self.errors[channel] >= 2 else super().reject_size(state, channel, event)


@broken("TS-ERR-07", "TS-SIZE-06")
class GivesWay(CountsErrors):
    """Acks an envelope over the limit if it is pushed again in the same session."""

    def reject_size(self, state: State, channel: Channel, event: Oversize) -> RelayStep:
        if self.errors[channel]:
            return Step(state, (self.answer(Ack(), channel, "TS-ACK-01"),))
        return super().reject_size(state, channel, event)


@broken("TS-ERR-08", "TS-ERR-06")
class RejectsTheRest(CountsErrors):
    """Rejects everything behind an Error in the same session."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        if self.errors[channel]:
            return self.reject_short(state, channel, frame)
        return super().push(state, channel, frame)
