"""The client's rules: register, verify, dedupe, surface, ack after the host consumed, redial.

Three channels: the network (dialling is something owed), the current connection, and the host behind the client.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from immutables import Map

from reference_impl.core import (
    Channel,
    Expectation,
    Level,
    Machine,
    Row,
    Step,
    anything,
    derived,
    fresh,
    one_of,
    text,
)
from reference_impl.core.expectation import Entropy
from reference_impl.peerbus import jsontext
from reference_impl.peerbus.codec import Codec
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
from reference_impl.peerbus.host import (
    HOST,
    NETWORK,
    UNTOLD,
    Consumed,
    Dial,
    PeersListed,
    PeersRequest,
    Refused,
    SendRequest,
    Start,
    Status,
    Stop,
    Surfaced,
)
from reference_impl.peerbus.signing import MIN_SECRET, Profile

SOURCE = "peer-bus"


class Phase(enum.Enum):
    OFFLINE = "offline"
    REGISTERING = "registering"
    ONLINE = "online"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Config:
    """What a client is told by its operator."""

    name: str
    token: str
    secret: bytes
    cache_size: int = 4096  # PB-5-06

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("the client's name is empty: give it a name (PB-2.1-06)")
        if len(self.secret) < MIN_SECRET:
            raise ValueError(f"the secret has {len(self.secret)} bytes: give it at least {MIN_SECRET} (PB-4-20)")
        if self.cache_size < 1:
            raise ValueError("the dedupe cache has no room: give it a size of at least 1 (PB-5-04)")


@dataclass(frozen=True, slots=True)
class Seen:
    """The last `size` surfaced ids, oldest out first (PB-5-04), each with the keys it was consumed under."""

    size: int
    keys: Map[str, tuple[str, ...]] = Map()
    order: Map[int, str] = Map()
    next: int = 0

    def add(self, id: str) -> Seen:
        if id in self.keys:
            return self
        keys, order = self.keys.set(id, ()), self.order.set(self.next, id)
        oldest = self.next - self.size
        if oldest in order:
            keys, order = keys.delete(order[oldest]), order.delete(oldest)
        return replace(self, keys=keys, order=order, next=self.next + 1)

    def consumed(self, id: str, *keys: str) -> Seen:
        if id not in self.keys:
            return self
        return replace(self, keys=self.keys.set(id, tuple(dict.fromkeys((*self.keys[id], *keys)))))


@dataclass(frozen=True, slots=True)
class Copy:
    """One delivery of a message: what to ack, and where it came from."""

    key: str
    connection: Channel


@dataclass(frozen=True, slots=True)
class State:
    seen: Seen
    phase: Phase = Phase.STOPPED
    connection: Channel = None
    attempt: int = 0
    asked: int = 0  # peers requests not answered yet
    waiting: Map[str, tuple[Copy, ...]] = Map()  # what the host has not consumed yet, by id
    arriving: frozenset[str] = frozenset()  # ... nor seen yet
    sent_ids: Map[str, None] = Map()
    repeats_ids: bool = False  # as no client should (PB-3-04): looked past, so that the rest is seen


ClientStep = Step[State]


class ClientMachine(Machine[State]):
    """The client as a table: (phase, kind of input) -> row."""

    config_type: type[Config] = Config

    def __init__(self, config: Config, codec: Codec | None = None) -> None:
        self.config = config
        self.codec = codec or Codec()

    def initial(self) -> State:
        return State(Seen(self.config.cache_size))

    def receive(self, state: State, channel: Channel, event: object) -> ClientStep:
        if channel not in (HOST, NETWORK) and channel != state.connection and not isinstance(event, Opened):
            return Step(state)  # the last words of a connection already given up
        if self.codec.profile is Profile.DOCUMENT and self.contested(state.phase, event):
            return self.ignore(state, channel, event)
        return self.obey(state.phase, state, channel, event)

    def alternatives(self, state: State, channel: Channel, event: object) -> tuple[ClientStep, ...]:
        """A binary message before the ack: section 1 says ignore, section 2.1 says rejected. Another version in a
        delivery: the document says reject, the code does not look. Either conforms."""
        match state.phase, event:
            case Phase.REGISTERING, Binary() if channel == state.connection:
                return (self.give_up(state, channel, event),)
        if self.codec.profile is Profile.CODE and self.contested(state.phase, event):
            return (Step(state, clauses=("PB-3-03",)),)
        return ()

    def contested(self, phase: Phase, event: object) -> bool:
        """A delivery of another version than v1, or of an envelope of one."""
        if phase is not Phase.ONLINE or not isinstance(event, Deliver):
            return False
        return {event.protocol_version, event.envelope.protocol_version} != {VERSION}

    def spoke(self, state: State, expectation: Expectation, frame: object) -> State:
        match frame:
            case Envelope():
                repeats = state.repeats_ids or frame.id in state.sent_ids  # PB-3-04
                return replace(state, sent_ids=state.sent_ids.set(frame.id, None), repeats_ids=repeats)
            case Surfaced():
                return self.remember(state, frame)
        return state

    def remember(self, state: State, message: Surfaced) -> State:
        """Only what was surfaced is seen (PB-5-07): a message lost with its connection has to come again."""
        waiting = state.waiting.set(message.id, state.waiting.get(message.id, ()))
        arriving = state.arriving - {message.id}
        return replace(state, seen=state.seen.add(message.id), waiting=waiting, arriving=arriving)

    # -- connecting -----------------------------------------------------------------------------------------------

    def start(self, state: State, channel: Channel, _: Start) -> ClientStep:
        return Step(replace(state, phase=Phase.OFFLINE), (self.dialling(0),))

    def dialling(self, attempt: int) -> Expectation:
        return Expectation("PB-5-21", Dial(anything(int, attempt)), NETWORK)

    def opened(self, state: State, channel: Channel, _: Opened) -> ClientStep:
        """The first frame is the register (PB-2.1-01), with name and token as configured (PB-2.1-03)."""
        register = Register(self.config.token, self.config.name)
        registering = replace(state, phase=Phase.REGISTERING, connection=channel)
        return Step(registering, (Expectation("PB-2.1-01", register, channel),))

    def accepted(self, state: State, channel: Channel, _: Peers) -> ClientStep:
        """Registered. Acks that an earlier connection did not carry may follow; a late ack does no harm (2.2)."""
        online = replace(state, phase=Phase.ONLINE, attempt=0)
        up = Expectation("PB-2.1-29", Status(True), HOST, lane="status")
        done = frozenset(key for keys in state.seen.keys.values() for key in keys)
        if not done:
            return Step(online, (up,))
        late = Ack(text(f"a consumed key: {sorted(done)}", done.__contains__, min(done)))
        return Step(online, (up, Expectation("PB-2.2-05", late, channel, Level.MAY, lane="late acks", repeats=True)))

    def dropped(self, state: State, channel: Channel, _: Input) -> ClientStep:
        """Redial under the same name (PB-5-21); what was not surfaced yet comes again, so it need not be now."""
        surfaced = Map({id: copies for id, copies in state.waiting.items() if id not in state.arriving})
        offline = State(
            state.seen,
            Phase.OFFLINE,
            attempt=state.attempt + 1,
            waiting=surfaced,
            sent_ids=state.sent_ids,
            repeats_ids=state.repeats_ids,
        )
        owes = (
            *self.going_down(state),
            *[self.refusing("peers", "PB-7-04")] * state.asked,
            self.dialling(state.attempt),
        )
        return Step(offline, owes, voids=frozenset([channel]), lapses=frozenset([HOST]))

    def going_down(self, state: State) -> tuple[Expectation, ...]:
        if state.phase is not Phase.ONLINE:
            return ()
        return (Expectation("PB-5-21", Status(False), HOST, Level.SHOULD, lane="status"),)

    def give_up(self, state: State, channel: Channel, event: Input) -> ClientStep:
        """Whatever is not `peers` rejects the register (PB-2.1-30): close, and dial again."""
        step = self.dropped(state, channel, event)
        return replace(step, owes=(Expectation("PB-2.1-30", Close(anything(int, 1002)), channel), *step.owes))

    def too_long(self, state: State, channel: Channel, event: Oversize) -> ClientStep:
        step = self.dropped(state, channel, event)
        closing = Expectation("PB-1-14", Close(anything(int, 1009)), channel, Level.SHOULD)
        return replace(step, owes=(closing, *step.owes))

    def stop(self, state: State, channel: Channel, _: Stop) -> ClientStep:
        closing = () if state.connection is None else (Expectation("", Close(anything(int, 1000)), state.connection),)
        return Step(replace(state, phase=Phase.STOPPED, connection=None), (*closing, *self.going_down(state)))

    def too_late(self, state: State, channel: Channel, _: Opened) -> ClientStep:
        """A dial that came up after the stop: nobody wants the connection."""
        return Step(state, (Expectation("", Close(anything(int, 1000)), channel, Level.SHOULD),))

    # -- receiving ------------------------------------------------------------------------------------------------

    def ignore(self, state: State, channel: Channel, _: object) -> ClientStep:
        return Step(state)

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        """Verify, dedupe, surface; the ack waits for the host (PB-2.4-15..18, PB-7-02)."""
        envelope = frame.envelope
        if not frame.delivery_key:
            return Step(state, clauses=("PB-2.4-12", "PB-2.4-13", "PB-5-19"))
        if not self.codec.signing.verify(envelope, self.config.secret):
            return Step(state, clauses=("PB-4-18", "PB-4-22"))
        if envelope.id in state.waiting:
            return self.repeated(state, channel, frame)
        if envelope.id in state.seen.keys:
            return self.duplicate(state, channel, frame)
        waiting = state.waiting.set(envelope.id, (Copy(frame.delivery_key, channel),))
        surfacing = Expectation("PB-2.4-17", self.surfaced(envelope), HOST, lane="messages")
        return Step(replace(state, waiting=waiting, arriving=state.arriving | {envelope.id}), (surfacing,))

    def surfaced(self, envelope: Envelope) -> Surfaced:
        """What the host gets; its body is the same JSON value, however it is spelled."""
        body = self.codec.signing.body(envelope.body)
        same = derived(f"the JSON value {body!r}", lambda _: body, lambda got, _: same_json(got, body))
        to, kind = (
            one_of(value, UNTOLD) for value in (envelope.to, envelope.kind)
        )  # PB-2.4-17 names id, sender and body
        return Surfaced(envelope.id, envelope.sender, to, envelope.source, kind, same)

    def repeated(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        """Another copy of what the host has not consumed yet: never surfaced again (PB-5-07), acked with the first."""
        copy, copies = Copy(frame.delivery_key, channel), state.waiting[frame.envelope.id]
        if copy in copies:
            return Step(state, clauses=("PB-5-07",))
        waiting = state.waiting.set(frame.envelope.id, (*copies, copy))
        return Step(replace(state, waiting=waiting), clauses=("PB-5-07",))

    def duplicate(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        """The host consumed it before: not surfaced again (PB-5-07), acked at once (PB-5-09)."""
        seen = state.seen.consumed(frame.envelope.id, frame.delivery_key)
        acks = self.acking(frame.delivery_key, channel, "PB-5-09")
        return Step(replace(state, seen=seen), acks, clauses=("PB-5-07",))

    def consumed(self, state: State, channel: Channel, event: Consumed) -> ClientStep:
        """Now, and only now, the ack (PB-2.2-05); offline it is left to the broker's redelivery."""
        copies = state.waiting.get(event.id)
        if copies is None:
            return Step(state)
        seen = state.seen.consumed(event.id, *(copy.key for copy in copies))
        done = replace(state, seen=seen, waiting=state.waiting.delete(event.id))
        return Step(done, tuple(self.acks(state, copies)))

    def acks(self, state: State, copies: tuple[Copy, ...]) -> Iterator[Expectation]:
        """The copy that was surfaced must be acked where it came from; the others return and are acked then, or now."""
        if state.phase is Phase.ONLINE and copies:
            surfaced = copies[0].key if copies[0].connection == state.connection else None
            for key in dict.fromkeys(copy.key for copy in copies):
                level = Level.MUST if key == surfaced else Level.SHOULD
                yield from self.acking(key, state.connection, "PB-2.4-18", level)

    def acking(
        self, key: str, channel: Channel, clause: str, level: Level = Level.MUST
    ) -> tuple[Expectation, Expectation]:
        """By key (PB-2.4-09). More than one ack of a consumed message does no harm (2.2)."""
        ack, lane = Ack(key), f"ack {key}"
        again = Expectation(clause, ack, channel, Level.MAY, lane, repeats=True)
        return Expectation(clause, ack, channel, level, lane), again

    def listed(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        """A reply if one was asked for (PB-2.3-05); otherwise news nobody waits for (PB-2.1-31)."""
        if not state.asked:
            return Step(state)
        answer = Expectation("PB-2.3-05", PeersListed(self.others_at_least(frame.names)), HOST, lane="peers")
        return Step(replace(state, asked=state.asked - 1), (answer,))

    def others_at_least(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """In any order; a host may be told of itself, or not."""
        wanted, own = sorted(names), self.config.name
        others = [name for name in wanted if name != own]
        label = f"in any order: {wanted}, with or without {own}"
        hole: tuple[str, ...] = derived(label, lambda _: tuple(wanted), lambda got, _: sorted(got) in (wanted, others))
        return hole

    # -- sending --------------------------------------------------------------------------------------------------

    def ask_peers(self, state: State, channel: Channel, _: PeersRequest) -> ClientStep:
        asking = Expectation("PB-2.3-01", Peers(), state.connection, lane="peers")
        return Step(replace(state, asked=state.asked + 1), (asking,))

    def refuse_send(self, state: State, channel: Channel, _: SendRequest) -> ClientStep:
        return Step(state, (self.refusing("send", "PB-2.1-15"),))

    def refuse_peers(self, state: State, channel: Channel, _: PeersRequest) -> ClientStep:
        return Step(state, (self.refusing("peers", "PB-2.1-15"),))

    def refusing(self, what: str, clause: str) -> Expectation:
        return Expectation(clause, Refused(what), HOST, Level.SHOULD, lane="refusals")

    def send(self, state: State, channel: Channel, request: SendRequest) -> ClientStep:
        """A bare envelope, all nine fields, signed (PB-3-12, -13, -15, -16)."""
        body = self.codec.signing.body(jsontext.compact(request.body or b"null"))  # PB-4-11
        envelope = Envelope(
            id=fresh(new_id),
            sender=self.config.name,  # PB-3-05
            to=request.to,
            ts=anything(str, request.ts),
            source=anything(str, SOURCE),
            kind="broadcast" if request.to == "*" else "msg",
            body=derived(f"the body {body!r}", lambda _: body, lambda got, _: self.codec.signing.body(got) == body),
            hmac=derived("its HMAC", self.signature),
        )
        return Step(state, (Expectation("PB-7-03", envelope, state.connection, lane="sends"),))

    def signature(self, envelope: Envelope) -> str:
        return self.codec.signing.sign(envelope, self.config.secret)


def new_id(entropy: Entropy) -> str:
    """32 hex digits: unique without coordination (PB-3-04)."""
    return entropy(16).hex()


def same_json(got: bytes, wanted: bytes) -> bool:
    """What a host is told may be spelled otherwise; what no reader takes for JSON is the same only as it stands."""
    try:
        return got == wanted or bool(json.loads(got) == json.loads(wanted))
    except (ValueError, RecursionError):
        return False


M = ClientMachine
OFFLINE, REGISTERING, ONLINE, STOPPED = Phase.OFFLINE, Phase.REGISTERING, Phase.ONLINE, Phase.STOPPED

TABLE: dict[tuple[Phase, type], Row] = {
    (STOPPED, Start): Row(("PB-2.1-29",), M.start),
    (STOPPED, Opened): Row((), M.too_late),
    (STOPPED, Close): Row((), M.ignore),
    (STOPPED, Stop): Row((), M.ignore),
    (STOPPED, Consumed): Row((), M.ignore),
    (STOPPED, PeersRequest): Row((), M.refuse_peers),
    (STOPPED, SendRequest): Row((), M.refuse_send),
    (OFFLINE, Opened): Row(("PB-2.1-01",), M.opened),
    (OFFLINE, Close): Row(("PB-2.1-15",), M.dropped),
    (OFFLINE, Consumed): Row(("PB-2.2-05",), M.consumed),
    (OFFLINE, PeersRequest): Row(("PB-2.1-15",), M.refuse_peers),
    (OFFLINE, SendRequest): Row(("PB-2.1-15",), M.refuse_send),
    (OFFLINE, Stop): Row((), M.stop),
    (REGISTERING, Peers): Row(("PB-2.1-29",), M.accepted),
    (REGISTERING, Deliver): Row(("PB-2.1-30",), M.give_up),
    (REGISTERING, Ack): Row(("PB-2.1-30",), M.give_up),
    (REGISTERING, Register): Row(("PB-2.1-30",), M.give_up),
    (REGISTERING, Envelope): Row(("PB-2.1-30",), M.give_up),
    (REGISTERING, Garbage): Row(("PB-2.1-30",), M.give_up),
    (REGISTERING, Binary): Row(("PB-1-11",), M.ignore),
    (REGISTERING, Oversize): Row(("PB-1-14",), M.too_long),
    (REGISTERING, Close): Row(("PB-2.1-15", "PB-5-21"), M.dropped),
    (REGISTERING, Consumed): Row(("PB-2.2-05",), M.consumed),
    (REGISTERING, PeersRequest): Row(("PB-2.1-15",), M.refuse_peers),
    (REGISTERING, SendRequest): Row(("PB-2.1-15",), M.refuse_send),
    (REGISTERING, Stop): Row((), M.stop),
    (ONLINE, Peers): Row(("PB-2.3-05",), M.listed),
    (ONLINE, Deliver): Row(("PB-7-02",), M.deliver),
    (ONLINE, Ack): Row(("PB-5-25",), M.ignore),
    (ONLINE, Register): Row(("PB-5-25",), M.ignore),
    (ONLINE, Envelope): Row(("PB-5-25",), M.ignore),
    (ONLINE, Garbage): Row(("PB-5-25",), M.ignore),
    (ONLINE, Binary): Row(("PB-1-11",), M.ignore),
    (ONLINE, Oversize): Row(("PB-1-14",), M.too_long),
    (ONLINE, Close): Row(("PB-5-21", "PB-7-05"), M.dropped),
    (ONLINE, Consumed): Row(("PB-2.2-05", "PB-5-17"), M.consumed),
    (ONLINE, PeersRequest): Row(("PB-2.3-01", "PB-7-04"), M.ask_peers),
    (ONLINE, SendRequest): Row(("PB-7-03",), M.send),
    (ONLINE, Stop): Row((), M.stop),
}

ClientMachine.table = TABLE
