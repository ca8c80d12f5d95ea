"""The broker's rules: who may register, what is stored, who is owed which delivery.

Frames are (connection, frame): the state is the whole broker's. Its durable half is what a crash leaves; every change of it
is also an effect, which the I/O shell commits before it sends what the same step owes (PB-3-22, PB-5-01).
"""

from __future__ import annotations

import enum
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from immutables import Map

from reference_impl.core import Channel, Expectation, Level, Machine, Row, Step, any_order, anything, derived
from reference_impl.core.expectation import Hole
from reference_impl.peerbus.frames import (
    VERSION,
    Ack,
    Binary,
    Close,
    Deliver,
    Envelope,
    Garbage,
    Input,
    Opened,
    Oversize,
    Peers,
    Register,
)
from reference_impl.peerbus.signing import Profile, canonical_body

BROADCAST = "*"
ANYBODY_ACKS = "anybody acks"
"""A choice that no broker should make: a peer's ack clears what waits for somebody else (PB-2.2-06)."""
ONE_ID = "one id, one message"
"""Is an id that was used for another message a duplicate, whatever its kind and recipients? "Dedupe key", says the text of the
id, and speaks of rows where it says what a duplicate is (PB-3-26, PB-3-30)."""
KINDS = ("msg", "broadcast")


class Phase(enum.Enum):
    """Where one connection stands."""

    NEW = "new"
    REGISTERED = "registered"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Message:
    """One durable row: one envelope for one recipient."""

    key: str
    recipient: str
    sender: str  # the connection's bound name, not the envelope's `from` (PB-3-20)
    seq: int
    envelope: Envelope


@dataclass(frozen=True, slots=True)
class Durable:
    """What survives a crash."""

    peers: Map[str, None] = Map()
    keys: Map[str, None] = Map()  # every row key ever stored: the first row stands (PB-3-26)
    pending: Map[str, Map[str, Message]] = Map()  # recipient -> key -> unacked message
    next_seq: int = 0


@dataclass(frozen=True, slots=True)
class Connection:
    name: str
    token: str


@dataclass(frozen=True, slots=True)
class State:
    durable: Durable = Durable()
    connections: Map[Channel, Connection | None] = Map()  # None: connected, not registered yet
    bound: Map[str, Channel] = Map()
    choices: Map[str, bool] = Map()  # contested inputs by their kind: is such a one obeyed?

    def phase(self, channel: Channel) -> Phase:
        if channel not in self.connections:
            return Phase.GONE
        return Phase.REGISTERED if self.connections[channel] else Phase.NEW


# -- effects: what the store must hold before the step's debts are paid ------------------------------------------------


@dataclass(frozen=True, slots=True)
class PeerKnown:
    name: str


@dataclass(frozen=True, slots=True)
class MessageStored:
    message: Message


@dataclass(frozen=True, slots=True)
class MessageAcked:
    """`cleared` is false for an ack that changed nothing; it is audited all the same (PB-6-15)."""

    key: str
    by: str
    cleared: bool


Effect = PeerKnown | MessageStored | MessageAcked
BrokerStep = Step[State]


def telling_code(code: int) -> int:
    """A close code that tells the reason (PB-2.1-13); the player says the usual one."""
    hole: int = Hole(  # type: ignore[assignment]  # a hole stands where an int will be
        "a close code that tells the reason",
        lambda value, _: value not in (1000, 1005, 1006),
        lambda _, __: code,
    )
    return hole


def relayed(envelope: Envelope) -> Envelope:
    """The envelope with its body as it came, or as the original writes it anew: the two sign the same (PB-3-11, PB-4-11)."""
    body = envelope.body
    label = f"the body {body[:80]!r}, {len(body)} bytes, {zlib.crc32(body):08x}"
    return replace(envelope, body=derived(label, lambda _: body, lambda got, _: same_body(got, body)))


def same_body(got: bytes, body: bytes) -> bool:
    return got == body or canonical_body(got, Profile.CODE) == canonical_body(body, Profile.CODE)


class BrokerMachine(Machine[State]):
    """The broker as a table: (phase of the connection, kind of input) -> row."""

    def __init__(self, tokens: frozenset[str], profile: Profile = Profile.CODE) -> None:
        self.tokens, self.profile = tokens, profile

    def initial(self) -> State:
        return State()

    def crash(self, state: State) -> State:
        return State(durable=state.durable, choices=state.choices)

    def receive(self, state: State, channel: Channel, event: Input) -> BrokerStep:
        phase = state.phase(channel)
        if phase is Phase.GONE and not isinstance(event, Opened):
            return Step(state)
        choice = self.contested(phase, event)
        if choice and not state.choices.get(choice, self.profile is Profile.CODE):
            return self.ignore(state, channel, event)
        if isinstance(event, Ack) and ANYBODY_ACKS not in state.choices and self.foreign(state, channel, event):
            state = self.chosen(state, ANYBODY_ACKS, False)
        if state.choices.get(ONE_ID, True) and self.is_reused(state, channel, event):
            if state.choices.get(ONE_ID):
                return Step(state, clauses=("PB-3-26",))
            state = self.chosen(state, ONE_ID, False)
        return self.obey(phase, self.chosen(state, choice, True), channel, event)

    def foreign(self, state: State, channel: Channel, frame: Ack) -> str:
        """For whom the acked message waits, if that is not the one who acks."""
        if state.phase(channel) is not Phase.REGISTERED:
            return ""
        mine = self.name_of(state, channel)
        waiting = state.durable.pending
        return next((name for name in waiting if name != mine and frame.id in waiting[name]), "")

    def is_reused(self, state: State, channel: Channel, event: Input) -> bool:
        """Would it make a row though its id has made one, of another kind or for others?"""
        if not isinstance(event, Envelope) or state.phase(channel) is not Phase.REGISTERED:
            return False
        rows = (event.id, *(f"{event.id}|{name}" for name in state.durable.peers))
        return any(key in state.durable.keys for key in rows) and bool(self.route(state, channel, event).effects)

    def alternatives(self, state: State, channel: Channel, event: Input) -> tuple[BrokerStep, ...]:
        """Contested inputs, which a conforming broker may also drop: each kind of them always, or never. And what is warned
        about only: it is looked past, so that the rest is seen."""
        if isinstance(event, Ack) and self.foreign(state, channel, event) and ANYBODY_ACKS not in state.choices:
            lax = self.chosen(state, ANYBODY_ACKS, True)
            return (self.obey(state.phase(channel), lax, channel, event),)
        if ONE_ID not in state.choices and self.is_reused(state, channel, event):
            return (Step(self.chosen(state, ONE_ID, True), clauses=("PB-3-26",)),)
        choice = self.contested(state.phase(channel), event)
        if self.profile is not Profile.CODE or not choice or choice in state.choices:
            return ()
        return (Step(self.chosen(state, choice, False), clauses=("PB-3-03",)),)

    def chosen(self, state: State, choice: str, obeyed: bool) -> State:
        return replace(state, choices=state.choices.set(choice, obeyed)) if choice else state

    def contested(self, phase: Phase, event: Input) -> str:
        """Another version than v1, or a third kind: the document rejects it, the code does not look. Says which of them."""
        if phase is not Phase.REGISTERED or not isinstance(event, Ack | Peers | Envelope):
            return ""
        if event.protocol_version != VERSION:
            return f"{type(event).__name__} of {'another' if event.protocol_version else 'no'} version"
        return "third kind" if isinstance(event, Envelope) and event.kind not in KINDS else ""

    # -- a new connection -----------------------------------------------------------------------------------------

    def opened(self, state: State, channel: Channel, _: Opened) -> BrokerStep:
        return Step(replace(state, connections=state.connections.set(channel, None)))

    def refuse(self, state: State, channel: Channel, clause: str, code: int) -> BrokerStep:
        """Close and forget; a rejected register leaves no trace (PB-2.1-14)."""
        gone = replace(state, connections=state.connections.delete(channel))
        return Step(gone, (Expectation(clause, Close(telling_code(code)), channel),))

    def refuse_binary(self, state: State, channel: Channel, _: Binary) -> BrokerStep:
        return self.refuse(state, channel, "PB-2.1-07", 1003)

    def refuse_garbage(self, state: State, channel: Channel, _: Garbage) -> BrokerStep:
        return self.refuse(state, channel, "PB-2.1-08", 1007)

    def refuse_first(self, state: State, channel: Channel, _: Input) -> BrokerStep:
        return self.refuse(state, channel, "PB-2.1-09", 1008)

    def register(self, state: State, channel: Channel, frame: Register) -> BrokerStep:
        """Checks in the order of section 2: version, name, token, binding."""
        if frame.protocol_version != VERSION:
            return self.refuse(state, channel, "PB-2.1-11", 1008)
        if not frame.name:
            return self.refuse(state, channel, "PB-2.1-10", 1008)
        if not self.token_is_valid(frame.token):
            return self.refuse(state, channel, "PB-2.1-12", 1008)
        holder = state.bound.get(frame.name)
        if holder is None:
            return self.bind(state, channel, frame)
        held = state.connections[holder]
        assert held is not None, "a bound name belongs to a registered connection"
        if held.token != frame.token:
            return self.refuse(state, channel, "PB-2.1-20", 1008)
        return self.take_over(state, channel, frame, holder)

    def token_is_valid(self, token: str) -> bool:
        return token in self.tokens

    def take_over(self, state: State, channel: Channel, frame: Register, holder: Channel) -> BrokerStep:
        """The old connection goes at once; what it was owed falls to the new one (PB-2.1-17..19)."""
        without = replace(state, connections=state.connections.delete(holder))
        step = self.bind(without, channel, frame)
        closing = Expectation("PB-2.1-17", Close(anything(int, 1008)), holder)
        return replace(step, owes=(closing, *step.owes), lapses=frozenset([holder]))

    def bind(self, state: State, channel: Channel, frame: Register) -> BrokerStep:
        durable = replace(state.durable, peers=state.durable.peers.set(frame.name, None))  # PB-2.1-22
        bound = replace(
            state,
            durable=durable,
            connections=state.connections.set(channel, Connection(frame.name, frame.token)),
            bound=state.bound.set(frame.name, channel),
        )
        # In the empty lane: no delivery comes before it (PB-2.1-26).
        owes = (self.peers_reply(bound, channel, "PB-2.1-24", ""), *self.flush(bound, channel, frame.name))
        return Step(bound, owes, (PeerKnown(frame.name),))

    def flush(self, state: State, channel: Channel, name: str) -> Iterator[Expectation]:
        """Everything unacked, after the ack of the register (PB-2.1-23, -26..28); it may come again meanwhile."""
        waiting = state.durable.pending.get(name, Map()).values()
        for message in sorted(waiting, key=lambda m: m.seq):
            debt = self.delivery(message, channel, "PB-2.1-27")
            yield debt
            yield replace(debt, level=Level.MAY, repeats=True)  # in its lane: once it was said, and no sooner

    # -- a registered connection ----------------------------------------------------------------------------------

    def ignore(self, state: State, channel: Channel, _: Input) -> BrokerStep:
        return Step(state)

    def list_peers(self, state: State, channel: Channel, _: Peers) -> BrokerStep:
        return Step(state, (self.peers_reply(state, channel, "PB-2.3-02", "peers"),))

    def peers_reply(self, state: State, channel: Channel, clause: str, lane: str) -> Expectation:
        return Expectation(clause, Peers(any_order(state.bound.keys())), channel, lane=lane)

    def ack(self, state: State, channel: Channel, frame: Ack) -> BrokerStep:
        """Clears the acking peer's own message; whatever else is acked is a silent no-op (PB-2.2-06..08)."""
        if not frame.id:
            return Step(state, clauses=("PB-2.2-08",))
        name = self.name_of(state, channel)
        if state.choices.get(ANYBODY_ACKS):
            name = self.foreign(state, channel, frame) or name
        mine = state.durable.pending.get(name, Map())
        if frame.id not in mine:
            return Step(state, effects=(MessageAcked(frame.id, name, cleared=False),), clauses=("PB-2.2-06",))
        pending = state.durable.pending.set(name, mine.delete(frame.id))
        cleared = replace(state, durable=replace(state.durable, pending=pending))

        def owed(debt: Expectation) -> bool:
            """A delivery that is still on its way: whoever takes its name over may ack what its old connection had heard."""
            return isinstance(debt.template, Deliver) and debt.template.delivery_key == frame.id

        return Step(cleared, effects=(MessageAcked(frame.id, name, cleared=True),), moot=owed, clauses=("PB-2.2-04",))

    def route(self, state: State, channel: Channel, envelope: Envelope) -> BrokerStep:
        """Who gets a row for this envelope (section 3)."""
        if not envelope.id or not envelope.to:
            return Step(state, clauses=("PB-3-17", "PB-3-18"))
        if (envelope.to == BROADCAST) != (envelope.kind == "broadcast"):
            return Step(state)
        sender = self.name_of(state, channel)
        if envelope.to == BROADCAST:
            names = sorted(name for name in state.bound if name != sender)  # PB-3-27, -28, -35
            rows = [(f"{envelope.id}|{name}", name) for name in names]
        else:
            rows = [(envelope.id, envelope.to)] if envelope.to in state.durable.peers else []  # PB-3-25
        return self.store(state, sender, envelope, rows)

    def store(self, state: State, sender: str, envelope: Envelope, rows: list[tuple[str, str]]) -> BrokerStep:
        """One durable row per recipient, then a delivery to each that is connected (PB-3-22..24, PB-3-29)."""
        durable, owes, effects = state.durable, [], []
        for key, recipient in rows:
            if key in durable.keys:  # PB-3-26, PB-3-30
                continue
            message = Message(key, recipient, sender, durable.next_seq, envelope)
            mine = durable.pending.get(recipient, Map())
            durable = replace(
                durable,
                keys=durable.keys.set(key, None),
                pending=durable.pending.set(recipient, mine.set(key, message)),
                next_seq=durable.next_seq + 1,
            )
            effects.append(MessageStored(message))
            if recipient in state.bound:
                clause = "PB-3-23" if key == envelope.id else "PB-3-27"
                owes.append(self.delivery(message, state.bound[recipient], clause))
        return Step(replace(state, durable=durable), tuple(owes), tuple(effects))

    def delivery(self, message: Message, channel: Channel, clause: str) -> Expectation:
        """Order binds per sender only (PB-5-12..15)."""
        frame = Deliver(message.key, relayed(message.envelope))  # PB-2.4-06, -07, -11
        return Expectation(clause, frame, channel, lane=f"from {message.sender}")

    # -- the end of a connection ----------------------------------------------------------------------------------

    def hang_up(self, state: State, channel: Channel, _: Close | Oversize) -> BrokerStep:
        """A name is free once its connection is gone (PB-2.3-06)."""
        held = state.connections[channel]
        bound = state.bound.delete(held.name) if held else state.bound
        gone = replace(state, connections=state.connections.delete(channel), bound=bound)
        return Step(gone, voids=frozenset([channel]))

    def too_long(self, state: State, channel: Channel, event: Oversize) -> BrokerStep:
        step = self.hang_up(state, channel, event)
        return replace(step, owes=(Expectation("PB-1-13", Close(telling_code(1009)), channel),))

    def name_of(self, state: State, channel: Channel) -> str:
        held = state.connections[channel]
        assert held is not None, "only a registered connection has a name"
        return held.name


M = BrokerMachine
NEW, REGISTERED, GONE = Phase.NEW, Phase.REGISTERED, Phase.GONE

# The specification as a table. A pair that is absent cannot happen; the selftests sweep the product.
TABLE: dict[tuple[Phase, type], Row] = {
    (GONE, Opened): Row(("PB-1-01",), M.opened),
    (NEW, Register): Row(("PB-2.1-16",), M.register),
    (NEW, Ack): Row(("PB-2.1-02", "PB-2.1-09"), M.refuse_first),
    (NEW, Peers): Row(("PB-2.1-02", "PB-2.1-09"), M.refuse_first),
    (NEW, Deliver): Row(("PB-2.1-02", "PB-2.1-09"), M.refuse_first),
    (NEW, Envelope): Row(("PB-2.1-02", "PB-2.1-09"), M.refuse_first),
    (NEW, Garbage): Row(("PB-2.1-08",), M.refuse_garbage),
    (NEW, Binary): Row(("PB-2.1-07",), M.refuse_binary),
    (NEW, Oversize): Row(("PB-1-13",), M.too_long),
    (NEW, Close): Row((), M.hang_up),
    (REGISTERED, Register): Row(("PB-2.1-32",), M.ignore),
    (REGISTERED, Ack): Row(("PB-2.2-09",), M.ack),
    (REGISTERED, Peers): Row(("PB-2.3-02", "PB-2.3-07"), M.list_peers),
    (REGISTERED, Deliver): Row(("PB-2.4-03",), M.ignore),
    (REGISTERED, Envelope): Row((), M.route),
    (REGISTERED, Garbage): Row(("PB-3-19",), M.ignore),
    (REGISTERED, Binary): Row(("PB-1-10",), M.ignore),
    (REGISTERED, Oversize): Row(("PB-1-13",), M.too_long),
    (REGISTERED, Close): Row(("PB-2.3-06",), M.hang_up),
}

BrokerMachine.table = TABLE
