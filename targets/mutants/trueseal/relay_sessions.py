"""Relays that get sessions wrong: their handshakes, their ports, how long they last, what they are owed."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

from reference_impl.core import Channel, Step
from reference_impl.io.tcp import Stream
from reference_impl.trueseal.frames import (
    MAX_ENVELOPE,
    Ack,
    BadHeartbeat,
    Deliver,
    DeliverAck,
    Heartbeat,
    Push,
    PushOpened,
    ReceiveOpened,
)
from reference_impl.trueseal.noise import Noise, Pattern, Secured
from reference_impl.trueseal.noise_io import Sealed
from reference_impl.trueseal.relay import RelayMachine, RelayStep, State
from reference_impl.trueseal.relay_io import Relay
from targets.mutants.trueseal.shelf import broken_relay as broken
from targets.mutants.trueseal.steps import also, without

XX_OPENING = 32  # bytes of its first message; that of NK has 48


class Guessing(Secured):
    """Shakes hands in whichever way the other side begins."""

    other: Noise
    expects: Pattern

    def _shake(self, message: bytes) -> bytes:
        began = Pattern.XX if len(message) == XX_OPENING else Pattern.NK
        if began is not self.expects:
            self.noise, self.expects = self.other, began
        return super()._shake(message)


class TakesEither(Relay):
    """Speaks both handshakes on one of its ports."""

    on: Pattern

    def secured(self, pattern: Pattern) -> Secured:
        honest = super().secured(pattern)
        if pattern is not self.on:
            return honest
        guessing = Guessing(honest.noise)
        guessing.expects = pattern
        guessing.other = super().secured(Pattern.NK if pattern is Pattern.XX else Pattern.XX).noise
        return guessing

    async def converse_as_it_is(self, sealed: Sealed | None) -> None:
        if sealed:
            key = sealed.remote_static
            await self.converse(sealed, ReceiveOpened(key) if key else PushOpened())


@broken("TS-SES-01", "TS-SES-11")
class ReceivesOnThePushPort(TakesEither):
    """Takes XX on the push port as well."""

    on = Pattern.NK

    async def handle_push(self, stream: Stream) -> None:
        await self.converse_as_it_is(await self.shaken(stream, Pattern.NK))


@broken("TS-SES-06", "TS-SES-11")
class PushesOnTheReceivePort(TakesEither):
    """Takes NK on the receive port as well."""

    on = Pattern.XX

    async def handle_receive(self, stream: Stream) -> None:
        await self.converse_as_it_is(await self.shaken(stream, Pattern.XX))


@broken("TS-SES-11")
class OnePort(TakesEither):
    """Has one listener, and says its port twice."""

    on = Pattern.NK

    @property
    def ports(self) -> tuple[int, int]:
        return self._push.port, self._push.port

    async def handle_push(self, stream: Stream) -> None:
        await self.converse_as_it_is(await self.shaken(stream, Pattern.NK))


@broken("TS-SES-04", "TS-ACK-06")
class OnePushPerSession(RelayMachine):
    """Ends a Push Session behind its first Ack."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        return self.then_end(super().push(state, channel, frame), channel)


@broken("TS-SES-04")
class SixtyFourPushes(RelayMachine):
    """Takes 64 pushes in a session, and ends it for the next."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(limit)
        self.pushes: Counter[Channel] = Counter()

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        self.pushes[channel] += 1
        if self.pushes[channel] > 64:
            return self.malformed(state, channel, frame)
        return super().push(state, channel, frame)


@broken("TS-SES-04", "TS-PUSH-02")
class OneRecipientPerSession(RelayMachine):
    """Takes all pushes of a session to be for the recipient of the first."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(limit)
        self.first: dict[Channel, bytes] = {}

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        recipient = self.first.setdefault(channel, frame.recipient)
        return super().push(state, channel, replace(frame, recipient=recipient))


@broken("TS-SES-07", "TS-DLV-10")
class OneInboxPerAddress(Relay):
    """Names the inbox by the key that was first seen from an address."""

    device: bytes | None = None

    async def handle_receive(self, stream: Stream) -> None:
        if sealed := await self.shaken(stream, Pattern.XX):
            self.device = self.device or sealed.remote_static
            assert self.device, "XX shows the device's key"
            await self.converse(sealed, ReceiveOpened(self.device))


@broken("TS-SES-08")
class WaitsForAWord(RelayMachine):
    """Delivers what arrives only once the device says something."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        return without(super().push(state, channel, frame), Deliver)

    def beat(self, state: State, channel: Channel, event: Heartbeat | BadHeartbeat) -> RelayStep:
        step, device = super().beat(state, channel, event), state.sessions[channel]
        inbox = state.durable.inbox(device or b"")
        return also(step, channel, *(Deliver(number, envelope) for number, envelope in sorted(inbox.new.items())))


class Window(RelayMachine):
    """Delivers so many blobs that are not acked, and the next one when one of them is."""

    most = 1

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        step = super().push(state, channel, frame)
        full = len(state.durable.inbox(frame.recipient).delivered) >= self.most
        return without(step, Deliver) if full else step

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        step = super().deliver_ack(state, channel, frame)
        inbox = step.state.durable.inbox(state.sessions[channel] or b"")
        room = self.most - len(inbox.delivered)
        waiting = sorted(inbox.new.items())[: max(room, 0)]
        return also(step, channel, *(Deliver(number, envelope) for number, envelope in waiting))


@broken("TS-SES-08")
class OneAtATime(Window):
    """Delivers what arrives only once what came before is acked."""


@broken("TS-SES-08")
class SixteenAtATime(Window):
    """Has no more than sixteen blobs out to a device without an ack."""

    most = 16


@broken("TS-SES-09")
class OnlyWhatArrives(RelayMachine):
    """Delivers what arrives while the device is connected, and nothing that waited."""

    def receive_opened(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        return without(super().receive_opened(state, channel, event), Deliver)


@broken("TS-SES-09")
class APageOfTheInbox(RelayMachine):
    """Delivers the first fifty blobs that wait, and no more."""

    def receive_opened(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        step = super().receive_opened(state, channel, event)
        delivers = [debt for debt in step.owes if isinstance(debt.template, Deliver)]
        return replace(step, owes=tuple(delivers[: 2 * 50]))


@broken("TS-SES-10")
class EndsTheIdle(Relay):
    """Ends a Receive Session that was silent for a while."""

    idle_s = 0.3

    async def converse(self, sealed: Sealed, opened: PushOpened | ReceiveOpened) -> None:
        idle = asyncio.create_task(self.expire(sealed)) if isinstance(opened, ReceiveOpened) else None
        try:
            await super().converse(sealed, opened)
        finally:
            if idle:
                idle.cancel()

    async def expire(self, sealed: Sealed) -> None:
        await asyncio.sleep(self.idle_s)
        await sealed.close()


@broken("TS-SES-10", "TS-SES-08")
class EndsBehindTheAck(RelayMachine):
    """Ends a Receive Session once everything is acked."""

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        step = super().deliver_ack(state, channel, frame)
        left = step.state.durable.inbox(state.sessions[channel] or b"")
        return step if left.new or left.delivered or not step.effects else self.then_end(step, channel)


@broken("TS-SES-12", "TS-ACK-01")
class StoresOnce(RelayMachine):
    """Acks an envelope that waits in the inbox already, and does not store it again."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        waiting = state.durable.inbox(frame.recipient).envelopes()
        if any(envelope == frame.envelope for _, _, envelope in waiting):
            return also(Step(state), channel, Ack())
        return super().push(state, channel, frame)


@broken("TS-SES-12", "TS-SES-08")
class NotToItself(RelayMachine):
    """Takes what is pushed to the only connected device for its own, and does not deliver it there."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        step = super().push(state, channel, frame)
        devices = {device for device, channels in state.served.items() if channels}
        return without(step, Deliver) if devices == {frame.recipient} else step
