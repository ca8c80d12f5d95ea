"""Relays that are wrong where two sessions, two frames or two conditions meet."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.io.tcp import Stream
from reference_impl.trueseal.codec import MAX_PLAINTEXT, Codec, Reader
from reference_impl.trueseal.frames import (
    MAX_ENVELOPE,
    Ack,
    Deliver,
    Error,
    Frame,
    Hangup,
    Heartbeat,
    NoFrame,
    Push,
    ReceiveOpened,
)
from reference_impl.trueseal.noise import Pattern
from reference_impl.trueseal.noise_io import Sealed
from reference_impl.trueseal.relay import Phase, RelayMachine, RelayStep, State
from reference_impl.trueseal.relay_io import Relay
from targets.mutants.trueseal.shelf import broken_relay as broken
from targets.mutants.trueseal.steps import without


class Counts(RelayMachine):
    """Counts something per session."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(limit)
        self.count: Counter[Channel] = Counter()


@broken("TS-SES-08", "TS-SES-10")
class APusherTakesAReceiverAlong(RelayMachine):
    """Does not deliver any more to the session that was opened last once a Push Session has ended."""

    def hang_up(self, state: State, channel: Channel, event: Hangup) -> RelayStep:
        step = super().hang_up(state, channel, event)
        if state.phase(channel) is not Phase.PUSH or not any(step.state.served.values()):
            return step
        last = max((other for served in step.state.served.values() for other in served), key=lambda c: int(str(c)))
        served = step.state.served
        for device, sessions in served.items():
            served = served.set(device, tuple(other for other in sessions if other != last))
        return replace(step, state=replace(step.state, served=served))


class Batching(Relay):
    """Sends something else for what came at once."""

    def flush(self) -> None:
        if self._batch:
            self._batch.frames = self.sent(self._batch.frames)
        super().flush()

    def sent(self, frames: list[tuple[Channel, Any]]) -> list[tuple[Channel, Any]]:
        return frames


@broken("TS-SES-08")
class OneWakeUpForABatch(Batching):
    """Delivers the first of what arrives at once for a session."""

    def sent(self, frames: list[tuple[Channel, Any]]) -> list[tuple[Channel, Any]]:
        first: dict[Channel, Any] = {}
        for channel, frame in frames:
            if isinstance(frame, Deliver):
                first.setdefault(channel, frame)
        return [(c, frame) for c, frame in frames if not isinstance(frame, Deliver) or first[c] is frame]


@broken("TS-ACK-06", "TS-ERR-01")
class NothingBehindAnError(Batching):
    """Does not answer pushes that came together with a rejected one, behind it."""

    def sent(self, frames: list[tuple[Channel, Any]]) -> list[tuple[Channel, Any]]:
        failed: set[Channel] = set()
        kept = []
        for channel, frame in frames:
            if not (channel in failed and isinstance(frame, Ack | Error)):
                kept.append((channel, frame))
            if isinstance(frame, Error):
                failed.add(channel)
        return kept


@broken("TS-ACK-06", "TS-HB-02")
class ABeatIsAnAnswer(Batching):
    """Does not answer a Heartbeat that came together with a Push."""

    def sent(self, frames: list[tuple[Channel, Any]]) -> list[tuple[Channel, Any]]:
        answered = {channel for channel, frame in frames if isinstance(frame, Ack | Error)}
        return [(c, frame) for c, frame in frames if not (isinstance(frame, Heartbeat) and c in answered)]


@broken("TS-PUSH-05", "TS-SES-08")
class AnEmptyOneWaits(RelayMachine):
    """Delivers an empty envelope when its device connects, and not as it arrives."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        step = super().push(state, channel, frame)
        return step if frame.envelope else without(step, Deliver)


@broken("TS-SES-08")
class SixteenDevicesAtOnce(RelayMachine):
    """Delivers as it arrives to the sixteen devices that have been connected longest."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        step = super().push(state, channel, frame)
        receivers = sorted((c for sessions in state.served.values() for c in sessions), key=lambda c: int(str(c)))
        late = set(receivers[16:])
        return replace(step, owes=tuple(debt for debt in step.owes if debt.channel not in late))


@broken("TS-SES-10", "TS-SES-08")
class DeliveriesOf256(Counts):
    """Delivers 256 blobs in a session, and nothing that arrives behind them."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        step = super().push(state, channel, frame)
        for other in state.served.get(frame.recipient, ()):
            self.count[other] += 1
        over = {other for other, count in self.count.items() if count > 256}
        return replace(step, owes=tuple(debt for debt in step.owes if debt.channel not in over))


@broken("TS-SIZE-05", "TS-SIZE-09")
class WeighsTheFirst(Counts):
    """Holds the first Push of a session against the operator's limit."""

    def receive(self, state: State, channel: Channel, event: Any) -> RelayStep:
        self.count[channel] += isinstance(event, Push)
        if self.count[channel] > 1 and isinstance(event, Push):
            return self.obey(state.phase(channel), state, channel, event)
        return super().receive(state, channel, event)


@broken("TS-HB-02")
class SixteenBeats(Counts):
    """Answers sixteen Heartbeats of a session."""

    def beat(self, state: State, channel: Channel, frame: Any) -> RelayStep:
        self.count[channel] += 1
        return super().beat(state, channel, frame) if self.count[channel] <= 16 else Step(state)


@broken("TS-SES-09", "TS-DLV-08")
class UnackedFirst(RelayMachine):
    """Gives a device that comes back what it has not acked, and what is new another time."""

    def serve(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        inbox = state.durable.inbox(event.device)
        step = super().serve(state, channel, event)
        new = {f"blob {number}" for number in inbox.new} if inbox.delivered else set()
        return replace(step, owes=tuple(debt for debt in step.owes if debt.lane not in new))


@broken("TS-SES-12", "TS-ACK-01")
class OneOfEqualPushes(RelayMachine):
    """Acks a Push that is equal to the one before it in its session, and stores it once."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(limit)
        self.last: dict[Channel, Push] = {}

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        same = self.last.get(channel) == frame
        self.last[channel] = frame
        return Step(state, (self.answer(Ack(), channel, ""),)) if same else super().push(state, channel, frame)


@broken("TS-PUSH-04", "TS-DLV-05")
class AByteShortAt65536(RelayMachine):
    """Stores an envelope of 65,536 bytes without its last."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        if len(frame.envelope) == 65_536:
            frame = replace(frame, envelope=frame.envelope[:-1])
        return super().push(state, channel, frame)


@broken("TS-ACK-01", "TS-FRM-01")
class AFullMessageGoesOn(Codec):
    """Takes a Noise message that is full to the last byte for one that goes on in the next."""

    def reader(self) -> Reader:
        class Waiting(Reader):
            held: Frame | NoFrame | None = None

            def read(self, message: bytes) -> Frame | NoFrame | None:
                got, held = super().read(message), self.held
                self.held = got if got is not None and len(message) == MAX_PLAINTEXT else None
                return held if self.held or (got is None and held) else got

        return Waiting(self)


@broken("TS-SES-01", "TS-SES-06")
class OneHandshakeAtATime(Relay):
    """Shakes hands with one after the other, so that whoever does not go on holds everybody up."""

    handshake_s = 600.0
    shaking: asyncio.Lock | None = None

    async def shaken(self, stream: Stream, pattern: Pattern) -> Sealed | None:
        self.shaking = self.shaking or asyncio.Lock()
        async with self.shaking:
            return await super().shaken(stream, pattern)
