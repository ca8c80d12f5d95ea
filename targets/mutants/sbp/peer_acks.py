"""Peers that acknowledge wrongly, or take an Ack for more than it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Level
from reference_impl.sbp.frames import Ack, Acked, Frame, Message
from reference_impl.sbp.peer import PeerMachine, PeerStep, State, fresh_id
from reference_impl.sbp.peer_io import Session
from targets.mutants.sbp.shelf import shelf
from targets.mutants.sbp.steps import also


@shelf.breaks("SBP-SES-08", role="peer")
class AlwaysAcks(PeerMachine):
    """Acknowledges without being told to."""

    def deliver(self, state: State, channel: Channel, frame: Message) -> PeerStep:
        return also(super().deliver(state, channel, frame), Ack(fresh_id(state), frame.id))


@shelf.breaks("SBP-ACK-03", "SBP-SEM-02", role="peer")
class AcksEverySecondMessage(PeerMachine):
    """Takes an Ack for cumulative: every second one is enough."""

    count = 0

    def with_receipt(self, step: PeerStep, frame: Frame, level: Level) -> PeerStep:
        self.count += isinstance(frame, Message)
        return super().with_receipt(step, frame, level) if self.count % 2 else step


@shelf.breaks("SBP-ACK-03", role="peer")
class AcksTwice(PeerMachine):
    """Acknowledges each Message twice."""

    def with_receipt(self, step: PeerStep, frame: Frame, level: Level) -> PeerStep:
        return super().with_receipt(super().with_receipt(step, frame, level), frame, level)


@shelf.breaks("SBP-FID-07", "SBP-ACK-03", role="peer")
class AcksItsOwnId(PeerMachine):
    """Names the wrong frame."""

    def with_receipt(self, step: PeerStep, frame: Frame, level: Level) -> PeerStep:
        return super().with_receipt(step, replace(frame, id=bytes(16)), level)


@shelf.breaks("SBP-ACK-04", "SBP-FID-08", role="peer")
class AcksUnderTheAckedId(PeerMachine):
    """Gives an Ack the id that it acknowledges."""

    def with_receipt(self, step: PeerStep, frame: Frame, level: Level) -> PeerStep:
        step = super().with_receipt(step, frame, level)
        *others, last = step.owes
        return replace(step, owes=(*others, replace(last, template=Ack(frame.id, frame.id))))


@shelf.breaks("SBP-SEM-02", role="peer")
class AcksAreCumulative(Session):
    """Tells its host that everything up to the acknowledged frame was received."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.ids: list[bytes] = []

    def send(self, subject: str, data: bytes = b"", ts: int | None = None) -> bytes:
        self.ids.append(super().send(subject, data, ts))
        return self.ids[-1]

    def turn(self, channel: str, event: object) -> list[object]:
        if isinstance(event, Ack) and event.of in self.ids:
            for id in self.ids[: self.ids.index(event.of)]:
                self._on_event(self, Acked(id))
        return super().turn(channel, event)
