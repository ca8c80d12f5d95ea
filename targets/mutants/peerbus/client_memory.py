"""Clients that forget what they have surfaced, or remember what they should not."""

from __future__ import annotations

from dataclasses import replace

from immutables import Map

from reference_impl.core import Channel, Expectation, Step
from reference_impl.peerbus.client import ClientMachine, ClientStep, Copy, Seen, State
from reference_impl.peerbus.frames import Deliver, Input
from reference_impl.peerbus.host import HOST, Consumed, Surfaced
from targets.mutants.peerbus.shelf import shelf


@shelf.breaks("PB-5-07", "PB-5-03", "PB-2.4-16", "PB-7-02", role="client")
class SurfacesEverything(ClientMachine):
    """Surfaces a message as often as it comes."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        fresh = replace(state, seen=Seen(self.config.cache_size), waiting=Map())
        return super().deliver(fresh, channel, frame)


@shelf.breaks("PB-5-07", role="client")
class RemembersTheConsumed(ClientMachine):
    """Surfaces a repeat again as long as the host has not consumed the first."""

    def repeated(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return Step(state, (Expectation("", self.surfaced(frame.envelope), HOST),))


@shelf.breaks("PB-5-05", "PB-5-08", role="client")
class DedupesByKey(ClientMachine):
    """Tells messages apart by their delivery key."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        verified = frame.delivery_key and self.codec.signing.verify(frame.envelope, self.config.secret)
        if not verified or frame.delivery_key in state.seen.keys:
            return Step(state, self.acking(frame.delivery_key, channel, "") if verified else ())
        seen = state.seen.add(frame.delivery_key)
        waiting = state.waiting.set(frame.envelope.id, (Copy(frame.delivery_key, channel),))
        return Step(replace(state, seen=seen, waiting=waiting), (Expectation("", self.surfaced(frame.envelope), HOST),))

    def remember(self, state: State, message: Surfaced) -> State:
        return state


@shelf.breaks("PB-5-08", role="client")
class ForgetsNoKey(ClientMachine):
    """Suppresses a new message under a key that it has acked before."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        used = any(frame.delivery_key in keys for keys in state.seen.keys.values())
        if used and frame.envelope.id not in state.seen.keys:
            return Step(state, self.acking(frame.delivery_key, channel, ""))
        return super().deliver(state, channel, frame)


@shelf.breaks("PB-5-05", role="client")
class FoldsIds(ClientMachine):
    """Takes ids that differ in case for the same."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        alike = any(id != frame.envelope.id and id.lower() == frame.envelope.id.lower() for id in state.seen.keys)
        return Step(state) if alike else super().deliver(state, channel, frame)


@shelf.breaks("PB-5-09", role="client")
class LeavesRepeatsUnacked(ClientMachine):
    """Suppresses a repeat without acking it."""

    def duplicate(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        return Step(state)


@shelf.breaks("PB-5-10", "PB-5-23", role="client")
class ForgetsWhenItRedials(ClientMachine):
    """Has a memory per connection."""

    def dropped(self, state: State, channel: Channel, event: Input) -> ClientStep:
        step = super().dropped(state, channel, event)
        return replace(step, state=replace(step.state, seen=Seen(self.config.cache_size), waiting=Map()))


@shelf.breaks("PB-5-11", role="client")
class RemembersForgeries(ClientMachine):
    """Counts a message as seen before it has verified it."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        step = super().deliver(state, channel, frame)
        known = frame.envelope.id in state.seen.keys or frame.envelope.id in state.waiting
        if step.owes or known or not frame.delivery_key:
            return step
        return replace(step, state=replace(step.state, seen=state.seen.add(frame.envelope.id)))


@shelf.breaks("PB-5-04", role="client")
class RemembersForEver(ClientMachine):
    """Has no bound on its memory."""

    def initial(self) -> State:
        return State(Seen(1 << 40))


@shelf.breaks("PB-5-06", role="client")
class RemembersOneId(ClientMachine):
    """Remembers one id, whatever the configured size."""

    def initial(self) -> State:
        return State(Seen(1))


@shelf.breaks("PB-2.4-18", role="client")
class ForgetsAcksWhenFull(ClientMachine):
    """Forgets the key of a message that has dropped out of the memory before it was consumed."""

    def consumed(self, state: State, channel: Channel, event: Consumed) -> ClientStep:
        return super().consumed(state, channel, event) if event.id in state.seen.keys else Step(state)
