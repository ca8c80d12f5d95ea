"""Brokers, clients and codecs with a limit that the text does not give, or one that is counted wrongly."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from reference_impl.core import Channel, Expectation, Step
from reference_impl.core.expectation import any_order
from reference_impl.io.websocket import Message, Settings
from reference_impl.peerbus.broker import BrokerMachine, BrokerStep
from reference_impl.peerbus.broker import State as BrokerState
from reference_impl.peerbus.broker_io import Broker
from reference_impl.peerbus.client import ClientMachine, ClientStep, Seen, State
from reference_impl.peerbus.client_io import Client
from reference_impl.peerbus.codec import LineDecoder
from reference_impl.peerbus.frames import (
    MAX_MESSAGE,
    Binary,
    Deliver,
    Envelope,
    Frame,
    Garbage,
    Oversize,
    Peers,
    Register,
)
from reference_impl.peerbus.signing import Profile, Signing
from targets.mutants.peerbus.client_envelope import SendsOtherwise
from targets.mutants.peerbus.codec_canonical import signs_wrongly
from targets.mutants.peerbus.codec_lines import reads_lines_wrongly
from targets.mutants.peerbus.shelf import broken_broker as broken
from targets.mutants.peerbus.shelf import shelf

ASTRAL = re.compile("[\U00010000-\U0010ffff]")

# -- brokers -----------------------------------------------------------------------------------------------------------


@broken("PB-1-13")
class ReadsAMebiOfCharacters(Broker):
    """Counts the characters of a message where it should count bytes."""

    settings = Settings(max_size=4 * MAX_MESSAGE)

    def read(self, message: Message) -> Frame | Garbage | Binary:
        long = len(message) > MAX_MESSAGE
        return Oversize(len(message)) if long else super().read(message)  # type: ignore[return-value]


@broken("PB-2.1-27")
class FlushesAPage(BrokerMachine):
    """Delivers the first hundred of a backlog, and the rest another time."""

    def flush(self, state: BrokerState, channel: Channel, name: str) -> Iterator[Expectation]:
        yield from islice(super().flush(state, channel, name), 200)  # each stands there twice: owed, and allowed again


@broken("PB-3-23", "PB-5-12")
class AWindowOfSixtyFour(BrokerMachine):
    """Delivers nothing live to a peer that has 64 messages to ack."""

    def store(self, state: BrokerState, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        full = {
            state.bound[name] for name, mine in state.durable.pending.items() if name in state.bound and len(mine) >= 64
        }
        step = super().store(state, sender, envelope, rows)
        return replace(step, owes=tuple(debt for debt in step.owes if debt.channel not in full))


@broken("PB-3-24", "PB-5-02")
class KeepsTheLatest256(BrokerMachine):
    """Keeps 256 messages for a peer: one more drops the oldest."""

    def store(self, state: BrokerState, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        step = super().store(state, sender, envelope, rows)
        pending = step.state.durable.pending
        for name, mine in pending.items():
            if len(mine) > 256:
                pending = pending.set(name, mine.delete(min(mine.values(), key=lambda m: m.seq).key))
        return replace(step, state=replace(step.state, durable=replace(step.state.durable, pending=pending)))


class ComparesIds(BrokerMachine):
    """Base of brokers to which different ids are alike; the later one is then a repeat."""

    def route(self, state: BrokerState, channel: Channel, envelope: Envelope) -> BrokerStep:
        ids = {key.split("|")[0] for key in state.durable.keys}
        alike = any(id != envelope.id and self.form(id) == self.form(envelope.id) for id in ids)
        return Step(state) if alike else super().route(state, channel, envelope)

    def form(self, id: str) -> str:
        raise TypeError(type(self))


@broken("PB-3-26", "PB-3-23")
class IdsOfSixtyFour(ComparesIds):
    """Compares the first 64 characters of an id."""

    def form(self, id: str) -> str:
        return id[:64]


@broken("PB-3-26", "PB-3-23")
class IdsInAnyCase(ComparesIds):
    """Takes ids that differ in case for the same."""

    def form(self, id: str) -> str:
        return id.lower()


@broken("PB-3-26", "PB-3-23")
class IdsAreTrimmed(ComparesIds):
    """Takes ids that differ in blanks around them for the same."""

    def form(self, id: str) -> str:
        return id.strip()


@broken("PB-2.1-16")
class NamesOf255(BrokerMachine):
    """Turns a name of more than 255 bytes away."""

    def register(self, state: BrokerState, channel: Channel, frame: Register) -> BrokerStep:
        if len(frame.name.encode()) > 255:
            return self.refuse(state, channel, "PB-2.1-10", 1008)
        return super().register(state, channel, frame)


@broken("PB-3-10", "PB-3-23")
class BodiesOf65535(BrokerMachine):
    """Drops a body of more than 65,535 bytes."""

    def route(self, state: BrokerState, channel: Channel, envelope: Envelope) -> BrokerStep:
        return Step(state) if len(envelope.body) > 65_535 else super().route(state, channel, envelope)


@broken("PB-3-27")
class BroadcastsToSixteen(BrokerMachine):
    """Delivers a broadcast to sixteen peers and no more."""

    def store(self, state: BrokerState, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        return super().store(state, sender, envelope, rows[:16])


@broken("PB-2.3-02", "PB-2.1-25")
class ListsSixteen(BrokerMachine):
    """Lists sixteen peers and no more."""

    def peers_reply(self, state: BrokerState, channel: Channel, clause: str, lane: str) -> Expectation:
        return Expectation(clause, Peers(any_order(sorted(state.bound)[:16])), channel, lane=lane)


# -- clients -----------------------------------------------------------------------------------------------------------


@shelf.breaks("PB-1-15", role="client")
class BudgetInCharacters(Client):
    """Holds the characters of a body against the budget, not its bytes."""

    def send(self, to: str, body: bytes) -> str:
        budget = self.max_body
        self.max_body = budget + len(body) - len(body.decode())
        try:
            return super().send(to, body)
        finally:
            self.max_body = budget


@shelf.breaks("PB-5-06", "PB-5-04", role="client")
class RemembersOneLess(ClientMachine):
    """Remembers one id less than it is configured to."""

    def initial(self) -> State:
        return State(Seen(max(1, self.config.cache_size - 1)))


@shelf.breaks("PB-5-07", "PB-5-04", role="client")
class RepeatsTakeRoom(ClientMachine):
    """Gives a repeat a place of its own in its memory, so that others fall out early."""

    def duplicate(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        step = super().duplicate(state, channel, frame)
        return replace(step, state=replace(step.state, seen=crowded(step.state.seen)))


@shelf.breaks("PB-5-11", role="client")
class ForgeriesTakeRoom(ClientMachine):
    """Gives what does not verify a place in its memory, so that others fall out early."""

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        if self.codec.signing.verify(frame.envelope, self.config.secret):
            return super().deliver(state, channel, frame)
        return Step(replace(state, seen=crowded(state.seen)))


def crowded(seen: Seen) -> Seen:
    """One place further, with nothing in it."""
    oldest = seen.next - seen.size
    keys, order = seen.keys, seen.order
    if oldest in order:
        keys, order = keys.delete(order[oldest]), order.delete(oldest)
    return replace(seen, keys=keys, order=order, next=seen.next + 1)


@shelf.breaks("PB-3-15", "PB-3-06", role="client")
class SendsToSixtyFour(SendsOtherwise):
    """Cuts the name of a recipient behind 64 characters."""

    def other(self, envelope: Envelope) -> Envelope:
        return replace(envelope, to=envelope.to[:64])


# -- codecs ------------------------------------------------------------------------------------------------------------


@reads_lines_wrongly("PB-1-07", "PB-1-06")
class LinesThatFillTheBuffer(LineDecoder):
    """Gives up on a line that fills its buffer of 4,096 bytes to the last byte, line feed and all."""

    def line(self, line: bytes) -> Frame | Garbage:
        return Garbage("no room") if (len(line) + 1) % 4096 == 0 else super().line(line)


@signs_wrongly("PB-4-13")
class SignsTheFirst64Ki(Signing):
    """Hashes the first 65,536 bytes of what it signs."""

    def mac(self, envelope: Envelope, secret: bytes) -> bytes:
        return hmac.digest(secret, self.canonical(envelope)[:65_536], hashlib.sha256)


@signs_wrongly("PB-4-27")
class EscapesInPairs(Signing):
    """Escapes characters outside the basic plane as two surrogates in header strings."""

    def string(self, value: str) -> bytes:
        def pair(found: re.Match[str]) -> str:
            units = found[0].encode("utf-16-be").hex()
            return f"\\u{units[:4]}\\u{units[4:]}"

        return ASTRAL.sub(pair, super().string(value).decode()).encode()


@signs_wrongly("PB-4-10", "PB-4-09")
class LosesTrackOfQuotes(Signing):
    r"""Takes the quote behind a backslash for an escaped one, also where the backslash is escaped itself."""

    def body(self, body: bytes) -> bytes:
        if self.profile is not Profile.CODE or b'\\\\"' not in body:
            return super().body(body)
        inside, kept = False, bytearray()
        for at, byte in enumerate(body):
            inside ^= byte == 0x22 and body[at - 1] != 0x5C
            if inside or byte not in b" \t\r\n":
                kept.append(byte)
        return bytes(kept)
