"""Clients that hang up where they should stay, or come back as they should not."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Channel, Expectation
from reference_impl.peerbus.client import ClientMachine, ClientStep, Phase, State
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Close, Deliver, Frame, Garbage, Input, Opened, Register
from targets.mutants.peerbus.shelf import shelf


@shelf.breaks("PB-2.1-34", "PB-5-21", "PB-7-05", role="client")
class ComesBackAsAnother(ClientMachine):
    """Redials under another name."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        name = f"{self.config.name}-{state.attempt}" if state.attempt else self.config.name
        return replace(step, owes=(Expectation("", Register(self.config.token, name), channel),))


@shelf.breaks("PB-5-20", role="client")
class SendsACursor(Codec):
    """Says in its register where it wants to resume."""

    def encode(self, frame: Frame) -> bytes:
        text = super().encode(frame)
        return text[:-1] + b',"last_id":""}' if isinstance(frame, Register) else text


@shelf.breaks("PB-5-21", "PB-7-05", role="client")
class RetiresAfterGoodbye(ClientMachine):
    """Does not redial after a clean close."""

    def dropped(self, state: State, channel: Channel, event: Input) -> ClientStep:
        step = super().dropped(state, channel, event)
        if isinstance(event, Close) and event.code == 1000:
            return replace(step, state=replace(step.state, phase=Phase.STOPPED))
        return step


@shelf.breaks("PB-5-21", "PB-7-05", role="client")
class RetiresAfterACrash(ClientMachine):
    """Does not redial when the connection broke without a close frame."""

    def dropped(self, state: State, channel: Channel, event: Input) -> ClientStep:
        step = super().dropped(state, channel, event)
        if isinstance(event, Close) and event.code == 1006:
            return replace(step, state=replace(step.state, phase=Phase.STOPPED))
        return step


@shelf.breaks("PB-5-25", role="client")
class ClosesOnForgery(ClientMachine):
    """Hangs up on a message that does not verify."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        if frame.delivery_key and not self.codec.signing.verify(frame.envelope, self.config.secret):
            return self.give_up(state, channel, frame)
        return super().deliver(state, channel, frame)


@shelf.breaks("PB-5-25", role="client")
class ClosesOnNoise(ClientMachine):
    """Hangs up on what it cannot parse."""

    def receive(self, state: State, channel: Channel, event: object) -> ClientStep:
        if isinstance(event, Garbage) and channel == state.connection:
            return self.give_up(state, channel, event)
        return super().receive(state, channel, event)
