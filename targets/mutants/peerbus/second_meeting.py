"""Brokers that are wrong where two conditions meet, each of them harmless alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

from reference_impl.core import Channel, Expectation, Step
from reference_impl.peerbus.broker import BROADCAST, BrokerMachine, BrokerStep, State
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Ack, Envelope, Frame, Garbage, Input, Oversize, Register
from reference_impl.peerbus.signing import Profile
from targets.mutants.peerbus.shelf import broken_broker as broken

# -- order -------------------------------------------------------------------------------------------------------------


@broken("PB-5-13")
class FlushesTwoTables(BrokerMachine):
    """Flushes the direct messages first and the broadcast copies then, whichever was sent first."""

    def flush(self, state: State, channel: Channel, name: str) -> Iterator[Expectation]:
        yield from sorted(super().flush(state, channel, name), key=lambda e: e.template.envelope.to == BROADCAST)


@broken("PB-5-13", "PB-5-14")
class CountsPerConnection(BrokerMachine):
    """Numbers a sender's messages anew on each connection, and flushes by that number."""

    def __init__(self, tokens: frozenset[str], profile: Profile = Profile.CODE) -> None:
        super().__init__(tokens, profile)
        self.numbers: dict[str, int] = {}
        self.next: dict[Channel, int] = {}

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        self.next[channel] = self.numbers[envelope.id] = self.next.get(channel, 0) + 1
        return super().route(state, channel, envelope)

    def flush(self, state: State, channel: Channel, name: str) -> Iterator[Expectation]:
        yield from sorted(
            super().flush(state, channel, name), key=lambda e: self.numbers.get(e.template.envelope.id, 0)
        )


@broken("PB-5-13")
class FlushesByTime(BrokerMachine):
    """Flushes in the order of the messages' own timestamps."""

    def flush(self, state: State, channel: Channel, name: str) -> Iterator[Expectation]:
        yield from sorted(super().flush(state, channel, name), key=lambda e: str(e.template.envelope.ts))


# -- keys with a bar ---------------------------------------------------------------------------------------------------


@broken("PB-2.4-10", "PB-2.2-04")
class SplitsKeysAtEveryBar(BrokerMachine):
    """Looks in an acked key for an id and a name, and finds no copy of a peer whose name has a bar in it."""

    def ack(self, state: State, channel: Channel, frame: Ack) -> BrokerStep:
        return super().ack(state, channel, replace(frame, id="|".join(frame.id.split("|")[:2])))


@broken("PB-2.2-04")
class TakesBarsForCopies(BrokerMachine):
    """Takes a direct message's key with a bar in it for a copy of whom the rest names, and clears nothing."""

    def ack(self, state: State, channel: Channel, frame: Ack) -> BrokerStep:
        _, _, name = frame.id.partition("|")
        foreign = bool(name) and name != self.name_of(state, channel)
        return Step(state) if foreign else super().ack(state, channel, frame)


# -- names that are alike ----------------------------------------------------------------------------------------------


class RoutesLoosely(BrokerMachine):
    """Base of brokers that find a recipient under another spelling."""

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        step = super().route(state, channel, envelope)
        known = envelope.to in state.durable.peers or envelope.to == BROADCAST
        alike = [name for name in state.durable.peers if self.form(name) == self.form(envelope.to)]
        if known or not alike or not envelope.id or envelope.kind == "broadcast":
            return step
        return self.store(state, self.name_of(state, channel), envelope, [(envelope.id, min(alike))])

    def form(self, name: str) -> str:
        raise TypeError(type(self))


@broken("PB-3-25", "PB-2.1-05")
class RoutesInAnyCase(RoutesLoosely):
    """Finds a recipient whose name differs in case."""

    def form(self, name: str) -> str:
        return name.lower()


@broken("PB-3-25", "PB-2.1-05")
class RoutesTrimmed(RoutesLoosely):
    """Finds a recipient without the blanks around the name."""

    def form(self, name: str) -> str:
        return name.strip()


@broken("PB-3-25", "PB-2.1-05")
class RoutesComposed(RoutesLoosely):
    """Finds a recipient whose name is composed of other code points."""

    def form(self, name: str) -> str:
        return unicodedata.normalize("NFC", name)


@broken("PB-2.1-05", "PB-3-23")
class StarsAreEverybody(BrokerMachine):
    """Drops a direct message to a name that begins with a star: it takes that for a broadcast of the wrong kind."""

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        starred = envelope.to.startswith("*") and envelope.to != BROADCAST
        return Step(state) if starred else super().route(state, channel, envelope)


@broken("PB-3-23", "PB-2.1-05")
class NoLettersToOneself(BrokerMachine):
    """Drops what a peer sends to its own name."""

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        own = envelope.to == self.name_of(state, channel)
        return Step(state) if own else super().route(state, channel, envelope)


@broken("PB-3-28", "PB-3-27")
class LeavesOutNamesakes(BrokerMachine):
    """Leaves out of a broadcast everybody whose name begins with the sender's."""

    def store(self, state: State, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        others = [(key, name) for key, name in rows if envelope.to != BROADCAST or not name.startswith(sender)]
        return super().store(state, sender, envelope, others)


# -- a session that was good, and is not -------------------------------------------------------------------------------


@broken("PB-3-19")
class ThreeStrikes(BrokerMachine):
    """Closes a registered connection at its third unparsable frame."""

    def __init__(self, tokens: frozenset[str], profile: Profile = Profile.CODE) -> None:
        super().__init__(tokens, profile)
        self.strikes: dict[Channel, int] = {}

    def ignore(self, state: State, channel: Channel, event: Input) -> BrokerStep:
        self.strikes[channel] = self.strikes.get(channel, 0) + isinstance(event, Garbage)
        return self.too_long(state, channel, Oversize(0)) if self.strikes[channel] >= 3 else Step(state)


@broken("PB-3-33", "PB-3-35")
class KeepsALonelyBroadcast(BrokerMachine):
    """Queues a broadcast for all known peers when nobody else is connected."""

    def store(self, state: State, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        if envelope.to == BROADCAST and not rows:
            rows = [(f"{envelope.id}|{name}", name) for name in sorted(state.durable.peers) if name != sender]
        return super().store(state, sender, envelope, rows)


@broken("PB-2.1-14")
class KnowsWhoWasTurnedAway(BrokerMachine):
    """Records the name of a register whose token is wrong, if its version was right."""

    def register(self, state: State, channel: Channel, frame: Register) -> BrokerStep:
        if frame.protocol_version == "v1" and frame.name and not self.token_is_valid(frame.token):
            durable = replace(state.durable, peers=state.durable.peers.set(frame.name, None))
            return super().register(replace(state, durable=durable), channel, frame)
        return super().register(state, channel, frame)


# -- what is carried ---------------------------------------------------------------------------------------------------


class CarriesOtherwise(BrokerMachine):
    """Base of brokers that carry another envelope than came."""

    def store(self, state: State, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        return super().store(state, sender, self.carried(envelope), rows)

    def carried(self, envelope: Envelope) -> Envelope:
        raise TypeError(type(self))


@broken("PB-2.4-08", "PB-3-31")
class LowersTheTag(CarriesOtherwise):
    """Carries an upper-case MAC in lower case."""

    def carried(self, envelope: Envelope) -> Envelope:
        return replace(envelope, hmac=envelope.hmac.lower())


@broken("PB-3-07", "PB-3-31")
class WritesTimesItsWay(CarriesOtherwise):
    """Carries a timestamp that ends in +00:00 with a Z."""

    def carried(self, envelope: Envelope) -> Envelope:
        return replace(envelope, ts=re.sub(r"\+00:00$", "Z", envelope.ts))


@broken("PB-3-21", "PB-3-31")
class ComposesWhatItCarries(CarriesOtherwise):
    """Carries a sender's name composed of other code points."""

    def carried(self, envelope: Envelope) -> Envelope:
        return replace(envelope, sender=unicodedata.normalize("NFC", envelope.sender))


@broken("PB-3-23", "PB-3-31")
class DropsTheUnsigned(BrokerMachine):
    """Drops a message whose MAC is no MAC, which is not the broker's to judge."""

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        signed = re.fullmatch("[0-9a-fA-F]{64}", envelope.hmac)
        return super().route(state, channel, envelope) if signed else Step(state)


@broken("PB-3-14", "PB-2-03")
class WantsATypeToBeText(Codec):
    """Takes a frame whose type is no string for garbage."""

    def decode(self, text: bytes) -> Frame | Garbage:
        frame = super().decode(text)
        if isinstance(frame, Envelope) and self.members(text).get("type", b'""')[:1] != b'"':
            return Garbage("type is not a string")
        return frame
