"""Brokers that mix up two connections of a name, or two things that happen at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from immutables import Map

from reference_impl.core import Channel, Expectation, Step
from reference_impl.core.expectation import any_order
from reference_impl.peerbus.broker import BrokerMachine, BrokerStep, Connection, Phase
from reference_impl.peerbus.broker import State as BrokerState
from reference_impl.peerbus.frames import Close, Envelope, Input, Oversize, Peers, Register
from reference_impl.peerbus.signing import Profile
from targets.mutants.peerbus.shelf import broken_broker as broken

# -- a broker and the old connection of a name -------------------------------------------------------------------------


class RemembersTakeovers(BrokerMachine):
    """Base of brokers to which a name that was taken over is not the same any more."""

    def __init__(self, tokens: frozenset[str], profile: Profile = Profile.CODE) -> None:
        super().__init__(tokens, profile)
        self.displaced: dict[Channel, str] = {}

    def take_over(self, state: BrokerState, channel: Channel, frame: Register, holder: Channel) -> BrokerStep:
        self.displaced[holder] = frame.name
        return super().take_over(state, channel, frame, holder)


@broken("PB-2.1-18", "PB-2.1-34")
class TheOldFreesTheName(RemembersTakeovers):
    """Frees the name when the displaced connection has ended, though another holds it now."""

    def receive(self, state: BrokerState, channel: Channel, event: Input) -> BrokerStep:
        if isinstance(event, Close) and (name := self.displaced.pop(channel, "")) in state.bound:
            return Step(replace(state, bound=state.bound.delete(name)))
        return super().receive(state, channel, event)

    def hang_up(self, state: BrokerState, channel: Channel, event: Close | Oversize) -> BrokerStep:
        held = state.connections[channel]
        if held and held.name not in state.bound:
            state = replace(state, bound=state.bound.set(held.name, channel))
        return super().hang_up(state, channel, event)


@broken("PB-2.1-18", "PB-2.3-02")
class ListsTheTakenTwice(RemembersTakeovers):
    """Lists a name twice that was taken over."""

    def peers_reply(self, state: BrokerState, channel: Channel, clause: str, lane: str) -> Expectation:
        twice = {name for name in self.displaced.values() if name in state.bound}
        return Expectation(clause, Peers(any_order([*state.bound, *twice])), channel, lane=lane)


@broken("PB-2.1-17")
class TheSecondTakeoverClosesNobody(RemembersTakeovers):
    """Closes the displaced connection at a name's first takeover only."""

    def take_over(self, state: BrokerState, channel: Channel, frame: Register, holder: Channel) -> BrokerStep:
        again = frame.name in self.displaced.values()
        step = super().take_over(state, channel, frame, holder)
        return replace(step, owes=step.owes[1:]) if again else step


@broken("PB-3-28")
class HearsItselfAfterATakeover(RemembersTakeovers):
    """Leaves the sender's first connection out of a broadcast: one that took over hears itself."""

    def route(self, state: BrokerState, channel: Channel, envelope: Envelope) -> BrokerStep:
        name = self.name_of(state, channel)
        step = super().route(state, channel, envelope)
        if envelope.to != "*" or envelope.kind != "broadcast" or name not in self.displaced.values():
            return step
        own = self.store(step.state, name, envelope, [(f"{envelope.id}|{name}", name)])
        return replace(own, owes=(*step.owes, *own.owes), effects=(*step.effects, *own.effects))


@broken("PB-2.1-19", "PB-5-12")
class TakeoverFlushesTheBroadcastsOnly(RemembersTakeovers):
    """Flushes broadcast copies alone to a name that was taken over."""

    def flush(self, state: BrokerState, channel: Channel, name: str) -> Iterator[Expectation]:
        for debt in super().flush(state, channel, name):
            if name not in self.displaced.values() or "|" in debt.template.delivery_key:
                yield debt


@broken("PB-2.1-20", "PB-6-09")
class AnyTokenAfterATakeover(RemembersTakeovers):
    """Lets a different valid token have a name that was taken over once."""

    def register(self, state: BrokerState, channel: Channel, frame: Register) -> BrokerStep:
        holder = state.bound.get(frame.name)
        held = state.connections.get(holder)
        if held and frame.token in self.tokens and frame.name in self.displaced.values():
            state = replace(state, connections=state.connections.set(holder, replace(held, token=frame.token)))
        return super().register(state, channel, frame)


@broken("PB-2.1-32")
class SecondRegisterChangesTheToken(BrokerMachine):
    """Ignores a second register, but for its token: the first one cannot take over any more."""

    def ignore(self, state: BrokerState, channel: Channel, event: Input) -> BrokerStep:
        held = state.connections[channel]
        if not isinstance(event, Register) or not held:
            return Step(state)
        return Step(replace(state, connections=state.connections.set(channel, Connection(held.name, event.token))))


@broken("PB-2.1-14", "PB-2.1-21")
class ClosesTheOldFirst(BrokerMachine):
    """Closes the holder of a name before it looks at the newcomer's version."""

    def register(self, state: BrokerState, channel: Channel, frame: Register) -> BrokerStep:
        holder = state.bound.get(frame.name)
        held = state.connections.get(holder)
        if held and held.token == frame.token and frame.protocol_version != "v1":
            freed = self.hang_up(state, holder, Close(1008))
            step = super().register(freed.state, channel, frame)
            return replace(step, owes=(Expectation("", Close(1008), holder), *step.owes))
        return super().register(state, channel, frame)


@broken("PB-2.3-06", "PB-2.3-02", "PB-3-23")
class LeavesWithItsNamesakes(BrokerMachine):
    """Frees every name that begins with the one that leaves."""

    def hang_up(self, state: BrokerState, channel: Channel, event: Close | Oversize) -> BrokerStep:
        held = state.connections[channel]
        if held and held.name not in state.bound:  # went with another already
            return Step(replace(state, connections=state.connections.delete(channel)), voids=frozenset([channel]))
        step = super().hang_up(state, channel, event)
        if state.phase(channel) is not Phase.REGISTERED or not held:
            return step
        left = Map({name: holder for name, holder in step.state.bound.items() if not name.startswith(held.name)})
        return replace(step, state=replace(step.state, bound=left))


@broken("PB-3-23")
class HoldsBackUntilTheBacklogIsAcked(BrokerMachine):
    """Delivers nothing live to a peer that has not acked its whole backlog."""

    def __init__(self, tokens: frozenset[str], profile: Profile = Profile.CODE) -> None:
        super().__init__(tokens, profile)
        self.flushed: dict[str, int] = {}

    def bind(self, state: BrokerState, channel: Channel, frame: Register) -> BrokerStep:
        self.flushed[frame.name] = state.durable.next_seq
        return super().bind(state, channel, frame)

    def store(self, state: BrokerState, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        step = super().store(state, sender, envelope, rows)
        waiting = state.durable.pending
        behind = {
            state.bound[name]
            for name, since in self.flushed.items()
            if name in state.bound and any(m.seq < since for m in waiting.get(name, Map()).values())
        }
        return replace(step, owes=tuple(debt for debt in step.owes if debt.channel not in behind))
