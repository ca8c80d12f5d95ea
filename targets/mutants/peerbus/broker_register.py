"""Brokers that get registering or a takeover wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from immutables import Map

from reference_impl.core import Channel, Expectation, Step
from reference_impl.core.expectation import any_order
from reference_impl.io.websocket import WebSocket
from reference_impl.peerbus.broker import BrokerMachine, BrokerStep, PeerKnown, State
from reference_impl.peerbus.broker_io import Broker
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Close, Envelope, Garbage, Input, Oversize, Peers, Register
from reference_impl.peerbus.store import Store
from targets.mutants.peerbus.shelf import broken_broker as broken
from targets.mutants.peerbus.stores import ForgetsPeers


@broken("PB-2.1-02")
class FirstFrameMayBeAnything(BrokerMachine):
    """Ignores a first frame that is no register instead of closing."""

    def refuse_first(self, state: State, channel: Channel, _: Input) -> BrokerStep:
        return Step(state)


@broken("PB-2.1-07")
class RegistersFromBinary(Broker):
    """Accepts a register in a binary message."""

    def read(self, message: str | bytes) -> Any:
        frame = self.codec.decode(message) if isinstance(message, bytes) else None
        return frame if isinstance(frame, Register) else super().read(message)


@broken("PB-2.1-08")
class ForgivesGarbageAtFirst(BrokerMachine):
    """Ignores a first message that is no JSON."""

    def refuse_garbage(self, state: State, channel: Channel, _: Garbage) -> BrokerStep:
        return Step(state)


@broken("PB-2.1-09")
class TypeIsNotCaseSensitive(Codec):
    """Takes type "Register" for a register."""

    def control_type(self, members: dict[str, bytes]) -> str | None:
        lowered = {**members, "type": members.get("type", b"").lower()}
        return super().control_type(lowered)


@broken("PB-2.1-10")
class EmptyNameRegisters(BrokerMachine):
    """Registers a peer without a name."""

    def register(self, state: State, channel: Channel, frame: Register) -> BrokerStep:
        return self.bind(state, channel, frame) if not frame.name else super().register(state, channel, frame)


@broken("PB-2.1-11", "PB-6-01", "PB-6-04")
class AnyVersionRegisters(BrokerMachine):
    """Does not look at the register's version."""

    def register(self, state: State, channel: Channel, frame: Register) -> BrokerStep:
        return super().register(state, channel, replace(frame, protocol_version="v1"))


@broken("PB-6-05")
class OffersAVersion(BrokerMachine):
    """Answers a version mismatch with a peers frame instead of a close."""

    def refuse(self, state: State, channel: Channel, clause: str, code: int) -> BrokerStep:
        step = super().refuse(state, channel, clause, code)
        offer = Expectation(clause, Peers(("v1",)), channel)
        return replace(step, owes=(offer, *step.owes)) if clause == "PB-2.1-11" else step


@broken("PB-2.1-12", "PB-6-08")
class AnyTokenRegisters(BrokerMachine):
    """Does not look at the token."""

    def token_is_valid(self, token: str) -> bool:
        return True


@broken("PB-2.1-12")
class TokenPrefixRegisters(BrokerMachine):
    """Accepts a prefix of a token."""

    def token_is_valid(self, token: str) -> bool:
        return any(known.startswith(token) for known in self.tokens)


@broken("PB-6-07")
class KnowsOneTokenOnly(BrokerMachine):
    """Accepts the first of its tokens only."""

    def token_is_valid(self, token: str) -> bool:
        return token == min(self.tokens)


@broken("PB-6-06")
class TrustsTheHeader(Broker):
    """Takes the token of an Authorization header before the register's own."""

    def turn(self, channel: Channel, event: object) -> None:
        if isinstance(event, Register):
            carrier = self._lines[channel]._carrier
            request = carrier._connection.request if isinstance(carrier, WebSocket) else None
            header = request.headers.get("Authorization", "") if request else ""
            event = replace(event, token=header.removeprefix("Bearer ") or event.token)
        super().turn(channel, event)


@broken("PB-2.1-13")
class ClosesWithoutAReason(BrokerMachine):
    """Rejects with close code 1000."""

    def refuse(self, state: State, channel: Channel, clause: str, code: int) -> BrokerStep:
        step = super().refuse(state, channel, clause, code)
        return replace(step, owes=(Expectation(clause, Close(1000), channel),))


@broken("PB-2.1-14")
class RemembersTheRejected(BrokerMachine):
    """Records the name before it looks at version and token."""

    def register(self, state: State, channel: Channel, frame: Register) -> BrokerStep:
        peers = state.durable.peers.set(frame.name, None)
        step = super().register(replace(state, durable=replace(state.durable, peers=peers)), channel, frame)
        return replace(step, effects=(*step.effects, PeerKnown(frame.name)))


@broken("PB-2.1-16", "PB-2.1-25")
class AckForgetsTheNewcomer(BrokerMachine):
    """Lists everybody but the asker."""

    def peers_reply(self, state: State, channel: Channel, clause: str, lane: str) -> Expectation:
        names = [name for name, holder in state.bound.items() if holder != channel]
        return Expectation(clause, Peers(any_order(names)), channel, lane=lane)


@broken("PB-2.1-25", "PB-2.3-02", "PB-2.3-06")
class ListsEverybodyEverSeen(BrokerMachine):
    """Lists known names, not live ones."""

    def peers_reply(self, state: State, channel: Channel, clause: str, lane: str) -> Expectation:
        return Expectation(clause, Peers(any_order(state.durable.peers.keys())), channel, lane=lane)


@broken("PB-2.1-17")
class KeepsTheOldConnection(BrokerMachine):
    """Does not close the displaced connection."""

    def take_over(self, state: State, channel: Channel, frame: Register, holder: Channel) -> BrokerStep:
        return replace(self.bind(state, channel, frame), voids=frozenset())


@broken("PB-2.1-18")
class TakeoverDoesNotMoveTheName(BrokerMachine):
    """Leaves the name bound to the displaced connection, and keeps that open."""

    def take_over(self, state: State, channel: Channel, frame: Register, holder: Channel) -> BrokerStep:
        step = self.bind(state, channel, frame)
        kept = replace(step.state, bound=step.state.bound.set(frame.name, holder))
        return replace(step, state=kept, owes=step.owes[:1])


@broken("PB-2.1-19")
class TakeoverLosesTheQueue(BrokerMachine):
    """Does not flush what is pending to a connection that takes over."""

    def take_over(self, state: State, channel: Channel, frame: Register, holder: Channel) -> BrokerStep:
        step = super().take_over(state, channel, frame, holder)
        return replace(step, owes=step.owes[:2])


@broken("PB-2.1-20", "PB-6-09")
class AnyTokenTakesOver(BrokerMachine):
    """Lets a different valid token take a connected name."""

    def register(self, state: State, channel: Channel, frame: Register) -> BrokerStep:
        holder = state.bound.get(frame.name)
        if holder is not None and frame.token in self.tokens and frame.protocol_version == "v1":
            return self.take_over(state, channel, frame, holder)
        return super().register(state, channel, frame)


@broken("PB-2.1-21")
class FailedClaimFreesTheName(BrokerMachine):
    """Unbinds the holder when another token is turned away."""

    def refuse(self, state: State, channel: Channel, clause: str, code: int) -> BrokerStep:
        step = super().refuse(state, channel, clause, code)
        return replace(step, state=replace(step.state, bound=Map())) if clause == "PB-2.1-20" else step


@broken("PB-2.1-22")
class PeersAreNotDurable(Broker):
    """Does not store who registered."""

    def open_store(self, state_dir: Path) -> Store:
        return ForgetsPeers(state_dir / "peerbus.sqlite", self.codec)


@broken("PB-2.1-23", "PB-2.2-03", "PB-5-02")
class UnackedIsNotRequeued(BrokerMachine):
    """Forgets a message once it was delivered live."""

    def store(self, state: State, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        step = super().store(state, sender, envelope, rows)
        pending = step.state.durable.pending
        for key, recipient in rows:
            if recipient in state.bound and key in pending.get(recipient, Map()):
                pending = pending.set(recipient, pending[recipient].delete(key))
        return replace(step, state=replace(step.state, durable=replace(step.state.durable, pending=pending)))


@broken("PB-2.1-24", "PB-2.3-03")
class RegisterIsNotAcked(BrokerMachine):
    """Says nothing when a register succeeds."""

    def bind(self, state: State, channel: Channel, frame: Register) -> BrokerStep:
        step = super().bind(state, channel, frame)
        return replace(step, owes=step.owes[1:])


@broken("PB-2.1-26")
class DeliversBeforeTheAck(BrokerMachine):
    """Flushes the backlog first and acks the register then."""

    def bind(self, state: State, channel: Channel, frame: Register) -> BrokerStep:
        step = super().bind(state, channel, frame)
        return replace(step, owes=(*step.owes[1:], step.owes[0]))


@broken("PB-2.1-27", "PB-2.1-28", "PB-5-22", "PB-3-24")
class FlushesOneMessageOnly(BrokerMachine):
    """Delivers only the oldest of the backlog at register."""

    def flush(self, state: State, channel: Channel, name: str) -> Iterator[Expectation]:
        yield from list(super().flush(state, channel, name))[:1]


@broken("PB-2.1-32")
class SecondRegisterCloses(BrokerMachine):
    """Closes a registered connection that registers again."""

    def ignore(self, state: State, channel: Channel, event: Input) -> BrokerStep:
        return self.too_long(state, channel, Oversize(0)) if isinstance(event, Register) else Step(state)


@broken("PB-2.1-32")
class SecondRegisterIsAnswered(BrokerMachine):
    """Answers a second register with the list of peers."""

    def ignore(self, state: State, channel: Channel, event: Input) -> BrokerStep:
        if isinstance(event, Register):
            return Step(state, (self.peers_reply(state, channel, "", "peers"),))
        return Step(state)


@broken("PB-2.1-34")
class WaitsForTheOldPeer(Broker):
    """Acks a newcomer only when the displaced connection has ended by itself."""

    def turn(self, channel: Channel, event: object) -> None:
        holder = self.player.state.bound.get(event.name) if isinstance(event, Register) else None
        if holder in self._lines:
            self._lines[holder].hang_up(1008)
        else:
            super().turn(channel, event)
