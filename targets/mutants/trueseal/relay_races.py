"""Relays that go wrong when two things happen at once."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.io.carrier import HungUp
from reference_impl.trueseal.codec import Codec, Reader
from reference_impl.trueseal.frames import (
    MAX_ENVELOPE,
    Ack,
    Deliver,
    DeliverAck,
    Error,
    Frame,
    Hangup,
    Push,
    PushOpened,
    ReceiveOpened,
)
from reference_impl.trueseal.relay import RelayMachine, RelayStep, State
from reference_impl.trueseal.relay_io import Line, Relay
from targets.mutants.trueseal.shelf import broken_relay as broken
from targets.mutants.trueseal.steps import without


@broken("TS-SES-08")
class TheOldEndsTheNew(RelayMachine):
    """Forgets the device when one of its sessions ends, though it has connected again meanwhile."""

    def hang_up(self, state: State, channel: Channel, event: Hangup) -> RelayStep:
        step, device = super().hang_up(state, channel, event), state.sessions[channel]
        if device is None:
            return step
        return replace(step, state=replace(step.state, served=step.state.served.set(device, ())))


@broken("TS-SES-08")
class ServesTheOldest(RelayMachine):
    """Delivers what arrives to the oldest session of a device, dead or not, until that one ends."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        step = super().push(state, channel, frame)
        later = state.served.get(frame.recipient, ())[1:]
        return replace(step, owes=tuple(debt for debt in step.owes if debt.channel not in later))


@broken("TS-SES-09", "TS-DLV-08")
class NothingTwiceAtOnce(RelayMachine):
    """Delivers nothing that waits to a session while an older one of the same device is still up."""

    def receive_opened(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        step = super().receive_opened(state, channel, event)
        return without(step, Deliver) if state.served.get(event.device) else step


@broken("TS-SES-08", "TS-ACK-05")
class LosesTheWakeUp(Relay):
    """Does not wake a session for what arrives just after it was given its inbox."""

    window_s = 0.05

    def __init__(self, *given: Any, **told: Any) -> None:
        super().__init__(*given, **told)
        self.opened: dict[Channel, float] = {}

    def turn(self, channel: Channel, event: object) -> None:
        before = len(self._batch.frames) if self._batch else 0
        super().turn(channel, event)
        now = asyncio.get_running_loop().time()
        if isinstance(event, ReceiveOpened):
            self.opened[channel] = now
        elif isinstance(event, Push) and self._batch:
            awake = [said for said in self._batch.frames[before:] if not self.asleep(*said, now)]
            self._batch.frames[before:] = awake

    def asleep(self, channel: Channel, frame: object, now: float) -> bool:
        return isinstance(frame, Deliver) and now - self.opened[channel] < self.window_s


@broken("TS-DLV-02", "TS-DACK-06")
class NumbersABatch(Relay):
    """Reads the next id once for all that comes at once."""

    def turn(self, channel: Channel, event: object) -> None:
        before = len(self._batch.frames) if self._batch else 0
        super().turn(channel, event)
        if not (isinstance(event, Push) and self._batch):
            return
        first = next((frame.blob_id for _, frame in self._batch.frames if isinstance(frame, Deliver)), 0)
        for at, (receiver, frame) in enumerate(self._batch.frames[before:], before):
            if isinstance(frame, Deliver):
                self._batch.frames[at] = receiver, replace(frame, blob_id=first)


@broken("TS-ACK-06", "TS-ACK-01")
class AnswersTheNewest(RelayMachine):
    """Sends the answer to a Push to the Push Session that was opened last."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(limit)
        self.newest: Channel = None

    def push_opened(self, state: State, channel: Channel, event: PushOpened) -> RelayStep:
        self.newest = channel
        return super().push_opened(state, channel, event)

    def receive(self, state: State, channel: Channel, event: Any) -> RelayStep:
        step = super().receive(state, channel, event)
        newest = self.newest if self.newest in step.state.sessions else channel
        owes = tuple(replace(d, channel=newest) if isinstance(d.template, Ack | Error) else d for d in step.owes)
        return replace(step, owes=owes)


@broken("TS-FRM-06", "TS-SIZE-01")
class SharesAReader(Codec):
    """Gathers the pieces of large frames of all sessions in one place."""

    def reader(self) -> Reader:
        self.one: Reader = getattr(self, "one", None) or super().reader()
        return self.one


@broken("TS-DLV-01", "TS-FRM-01")
class BeatsInBetween(Relay):
    """Lets other frames go out between the messages of a large one."""

    def put(self, line: Line, frame: Frame | Hangup) -> None:
        if not isinstance(frame, Deliver):
            super().put(line, frame)
            return
        first, *rest = self.codec.encode(frame)
        line.say(first)
        for n, message in enumerate(rest, 1):
            asyncio.get_running_loop().call_later(0.02 * n, line.say, message)


@broken("TS-ACK-04", "TS-SES-08")
class OneWriterForAll(Relay):
    """Writes to all sessions in turn, so that whoever does not read holds everybody up."""

    writer: asyncio.Task[None] | None = None

    async def start(self, *address: Any, **told: Any) -> None:
        await super().start(*address, **told)
        self.queue: asyncio.Queue[tuple[Line, bytes | None]] = asyncio.Queue()
        self.writer = asyncio.create_task(self.write())

    def put(self, line: Line, frame: Frame | Hangup) -> None:
        messages = [None] if isinstance(frame, Hangup) else self.codec.encode(frame)
        for message in messages:
            self.queue.put_nowait((line, message))

    async def write(self) -> None:
        while True:
            line, message = await self.queue.get()
            with contextlib.suppress(HungUp):
                await (line._carrier.close() if message is None else line._carrier.send(message))

    async def stop(self) -> None:
        if self.writer:
            self.writer.cancel()
        await super().stop()

    def kill(self) -> None:
        if self.writer:
            self.writer.cancel()
        super().kill()


@broken("TS-DACK-04", "TS-DLV-07")
class AcksBySession(RelayMachine):
    """Heeds acks only of the session of a device that was opened first."""

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        oldest = state.served[state.sessions[channel] or b""][0]
        return super().deliver_ack(state, channel, frame) if channel == oldest else Step(state)
