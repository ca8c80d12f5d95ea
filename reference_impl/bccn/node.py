"""The node's rules: what a datagram does to it, and what a call of its host does.

Nothing is ever answered on the wire: what a datagram makes the node owe is a local event. Inputs come on two channels,
WIRE and API, in any order with each other; outputs go to WIRE, API, HOST (what recv yields) and LISTENERS.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Any

from reference_impl.bccn.addressing import Addressing
from reference_impl.bccn.codec import Codec, Malformed
from reference_impl.bccn.frames import (
    MAX_DATAGRAM,
    MAX_SEQ,
    UNKNOWN,
    Called,
    Close,
    Counted,
    Delivered,
    Done,
    Dropped,
    GetName,
    GetSeq,
    Heard,
    Input,
    Listen,
    Message,
    Mode,
    Named,
    Noise,
    Peer,
    Reason,
    Refused,
    Send,
    Sent,
    SetName,
    SetSeq,
    StartHeartbeat,
)
from reference_impl.bccn.tracker import NOBODY, Senders, Tracker
from reference_impl.core import Channel, Expectation, Level, Machine, Row, Step, Tick, anything, derived

LEAST_CAP = 512
"""Bytes of payload that every binding sends; 1400 is a ceiling, and one may cap its payloads below it (BCCN-SIZ-02)."""

SHORT = 100
"""Bytes of a heartbeat's payload: the text says "empty or a short status string" and no number (BCCN-CNV-10)."""

WIRE, API, HOST, LISTENERS = "wire", "api", "host", "listeners"


class Phase(enum.Enum):
    OPEN = "open"
    CLOSED = "closed"


class UnknownKey(enum.Enum):
    """How senders that do not know their name are told apart (BCCN-DUP-07)."""

    ADDRESS = "by their address"
    SRC = "not at all"


@dataclass(frozen=True, slots=True)
class Choices:
    """Where the text lets a receiver choose; it chooses once."""

    unknown: UnknownKey = UnknownKey.ADDRESS
    others_count: bool = False  # does a directed message for another node move the tracker?


ALL_CHOICES = tuple(Choices(unknown, others) for unknown in UnknownKey for others in (False, True))


@dataclass(frozen=True, slots=True)
class Config:
    key: bytes = b""
    copies: int = 1  # datagrams per notification (BCCN-DUP-13)
    first_seq: int = 1
    choices: Choices = Choices()


@dataclass(frozen=True, slots=True)
class Beat:
    interval: float
    due: float
    payload: bytes


@dataclass(frozen=True, slots=True)
class State:
    name: str = UNKNOWN  # BCCN-API-08
    seq: int = 1
    senders: Senders = NOBODY
    choices: Choices | None = None  # shown by the first messages
    listeners: tuple[str, ...] = ()
    beat: Beat | None = None
    sweep_at: float | None = None
    phase: Phase = Phase.OPEN


NodeStep = Step[State]

DROP_CLAUSE = {
    Reason.ENVELOPE: "BCCN-DLV-07",
    Reason.AUTH: "BCCN-INT-09",
    Reason.BODY: "BCCN-DLV-07",
    Reason.ADDRESS: "BCCN-DIR-13",
    Reason.DUPLICATE: "BCCN-DUP-02",
}
DELIVERY_CLAUSE = {Mode.PLAIN: "BCCN-DLV-01", Mode.ALL: "BCCN-DLV-02", Mode.DIRECTED: "BCCN-CHN-07"}


class NodeMachine(Machine[State]):
    """One node as a table: (phase, kind of input) -> row."""

    def __init__(
        self,
        config: Config | None = None,
        codec: Codec | None = None,
        addressing: Addressing | None = None,
        tracker: Tracker | None = None,
    ) -> None:
        self.config, self.codec = config or Config(), codec or Codec()
        self.addressing, self.tracker = addressing or Addressing(), tracker or Tracker()

    def initial(self) -> State:
        return State(seq=self.config.first_seq)

    def receive(self, state: State, channel: Channel, event: Input) -> NodeStep:
        return self.obey(state.phase, state, channel, event)

    def deadline(self, state: State) -> float | None:
        due = state.beat.due if state.beat else None
        return min((time for time in (state.sweep_at, due) if time is not None), default=None)

    # -- datagrams ------------------------------------------------------------------------------------------------

    def noise(self, state: State, channel: Channel, event: Noise) -> NodeStep:
        """Silence, and no trace (BCCN-INT-13, BCCN-DLV-07)."""
        return self.drop(state, event.garbage.reason)

    def hear(self, state: State, channel: Channel, event: Heard) -> NodeStep:
        mine = self.addressing.is_for(state.name, event.message.chan)
        return self.take(state.choices or self.config.choices, mine, state, event)

    def take(self, choices: Choices, mine: bool, state: State, event: Heard) -> NodeStep:
        state = replace(state, choices=choices)
        if mine:
            return self.track(state, event)
        counted = self.tracked(state, event) if choices.others_count else None
        return self.drop(counted or state, Reason.ADDRESS)

    def track(self, state: State, event: Heard) -> NodeStep:
        tracked = self.tracked(state, event)
        if tracked is None:
            return self.drop(state, Reason.DUPLICATE)  # BCCN-DUP-15
        message, mode = event.message, self.addressing.mode(event.message.chan)
        delivered = Expectation(DELIVERY_CLAUSE[mode], Delivered(message, mode, event.peer), HOST)
        return Step(tracked, (delivered, *(self.calling(p, message, mode) for p in self.callees(state, message))))

    def calling(self, pattern: str, message: Message, mode: Mode) -> Expectation:
        """Whether what is directed at this node goes to listeners is a binding's choice.

        They are in no order, nor are the calls for two messages: callbacks may run in threads of their own (L858).
        """
        level = Level.MAY if mode is Mode.DIRECTED else Level.MUST
        return Expectation(
            DELIVERY_CLAUSE[mode], Called(pattern, message), LISTENERS, level, lane=f"{pattern} {message}"
        )

    def tracked(self, state: State, event: Heard) -> State | None:
        """The state once this message counts as heard; None where it is stale."""
        message, key = event.message, self.tracker_key(state, event.message, event.peer)
        beat = message.chan == f"heartbeat/{message.src}"
        senders = self.tracker.heard(state.senders, key, message.seq, event.at, beat)
        if senders is None:
            return None
        sweep_at = event.at + self.tracker.ttl if state.sweep_at is None else state.sweep_at
        return replace(state, senders=senders, sweep_at=sweep_at)

    def tracker_key(self, state: State, message: Message, peer: Peer) -> str:
        """The whole src; a space, which no src has, keeps addresses apart from names (BCCN-DUP-06..08)."""
        if message.src == UNKNOWN and state.choices and state.choices.unknown is UnknownKey.ADDRESS:
            return f"{UNKNOWN} {peer[0]}"
        return message.src

    def callees(self, state: State, message: Message) -> tuple[str, ...]:
        """ALL goes to every listener, whatever its pattern (BCCN-DLV-02); so does what is directed at this node."""
        if self.addressing.mode(message.chan) is not Mode.PLAIN:
            return state.listeners
        return tuple(p for p in state.listeners if self.addressing.interested(p, message.chan))

    def drop(self, state: State, reason: Reason) -> NodeStep:
        told = Expectation(DROP_CLAUSE[reason], Dropped(reason), HOST, Level.MAY)
        return Step(state, (told,), clauses=(DROP_CLAUSE[reason],))

    def ignore(self, state: State, channel: Channel, _: Input) -> NodeStep:
        return Step(state)

    # -- calls of the host ----------------------------------------------------------------------------------------

    def set_name(self, state: State, channel: Channel, event: SetName) -> NodeStep:
        name = event.name or UNKNOWN
        try:
            self.codec.src(name)
        except Malformed as error:
            return self.refuse(state, "BCCN-SRC-04", str(error))
        return self.done(replace(state, name=name), "BCCN-API-10")

    def get_name(self, state: State, channel: Channel, _: GetName) -> NodeStep:
        clause = "BCCN-API-08" if state.name == UNKNOWN else "BCCN-API-10"
        return Step(state, (Expectation(clause, Named(state.name), API),))

    def set_seq(self, state: State, channel: Channel, event: SetSeq) -> NodeStep:
        if not 0 <= event.seq <= MAX_SEQ:
            return self.refuse(state, "BCCN-SEQ-02", f"seq {event.seq}")
        return self.done(replace(state, seq=event.seq), "BCCN-API-12")

    def get_seq(self, state: State, channel: Channel, _: GetSeq) -> NodeStep:
        return Step(state, (Expectation("BCCN-API-12", Counted(state.seq), API),))

    def send(self, state: State, channel: Channel, event: Send) -> NodeStep:
        """A refused send sends nothing and takes no number (BCCN-API-13)."""
        try:
            data = self.datagram(state, event)
        except Malformed as error:
            return self.refuse(state, "BCCN-SIZ-01", str(error))
        return self.done(replace(state, seq=self.next_seq(state)), "BCCN-API-01", self.copies(data))

    def datagram(self, state: State, event: Send) -> bytes:
        message = Message(self.source(state, event), state.seq, event.chan, event.payload)
        data = self.codec.encode(message, event.key or self.config.key)
        if not self.fits(data):
            raise Malformed(Reason.ENVELOPE, f"{len(data)} bytes are more than {MAX_DATAGRAM}")
        return data

    def source(self, state: State, event: Send) -> str:
        return event.src or state.name  # BCCN-API-02, -10

    def fits(self, data: bytes) -> bool:
        return len(data) <= MAX_DATAGRAM  # BCCN-SIZ-01..03

    def next_seq(self, state: State) -> int:
        return (state.seq + 1) & MAX_SEQ  # a wrap looks like a restart to receivers (BCCN-DUP-16)

    def copies(self, data: bytes) -> tuple[Expectation, ...]:
        return (Expectation("BCCN-TRN-01", Sent(data), WIRE),) * self.config.copies

    def listen(self, state: State, channel: Channel, event: Listen) -> NodeStep:
        return self.done(replace(state, listeners=(*state.listeners, event.pattern)), "BCCN-CNV-01")

    def start_heartbeat(self, state: State, channel: Channel, event: StartHeartbeat) -> NodeStep:
        """The first one at once: whoever watches need not wait an interval to see this node."""
        beat = Beat(event.interval, event.at, event.payload)
        return self.done(replace(state, beat=beat), "BCCN-CNV-08")

    def done(self, state: State, clause: str, sent: tuple[Expectation, ...] = ()) -> NodeStep:
        return Step(state, (*sent, Expectation(clause, Done(), API)))

    def refuse(self, state: State, clause: str, why: str) -> NodeStep:
        return Step(state, (Expectation(clause, Refused(anything(str, why)), API),), clauses=(clause,))

    def refuse_closed(self, state: State, channel: Channel, _: Input) -> NodeStep:
        return self.refuse(state, "BCCN-API-05", "the node is closed")

    def close(self, state: State, channel: Channel, _: Close) -> NodeStep:
        closed = replace(state, phase=Phase.CLOSED, beat=None, sweep_at=None)
        return self.done(closed, "BCCN-API-05")

    # -- time -----------------------------------------------------------------------------------------------------

    def tick(self, state: State, channel: Channel, event: Tick) -> NodeStep:
        swept = self.sweep(state, event.at)
        return self.heartbeat(swept, event.at) if swept.beat and swept.beat.due <= event.at else Step(swept)

    def sweep(self, state: State, at: float) -> State:
        if state.sweep_at is None or at < state.sweep_at:
            return state
        kept = self.tracker.swept(state.senders, at)
        return replace(state, senders=kept, sweep_at=at + self.tracker.ttl if kept else None)

    def heartbeat(self, state: State, at: float) -> NodeStep:
        """One per Tick, however late it comes: a backlog of heartbeats tells nobody anything."""
        assert state.beat, "a heartbeat is due only where one was started"
        step = self.send(state, API, Send(self.heartbeat_chan(state), state.beat.payload))
        sent = tuple(replace(e, template=Sent(self.beat_like(e.template.data))) for e in step.owes if e.channel == WIRE)
        return Step(replace(step.state, beat=replace(state.beat, due=at + state.beat.interval)), sent)

    def beat_like(self, data: bytes) -> Any:
        """That datagram, or one with another short payload: what a heartbeat says is free (BCCN-CNV-10)."""

        def admits(other: bytes, _: Any) -> bool:
            """All but the payload is as it was (BCCN-CNV-08), and that is short (BCCN-CNV-10)."""
            wanted, said = (self.codec.decode(each, self.config.key) for each in (data, other))
            if not isinstance(said, Message) or not isinstance(wanted, Message) or len(said.payload) > SHORT:
                return other == data
            return self.codec.encode(said, self.config.key) == other and replace(said, payload=wanted.payload) == wanted

        return derived(f"a heartbeat like {data!r}", lambda _: data, admits)

    def heartbeat_chan(self, state: State) -> str:
        return f"heartbeat/{state.name}"  # BCCN-CNV-08

    # -- what the text leaves open --------------------------------------------------------------------------------

    def alternatives(self, state: State, channel: Channel, event: Input) -> tuple[NodeStep, ...]:
        """Each no wider than its clause.

        Any other name is taken (BCCN-API-10), a lower number is sent (BCCN-SEQ-04), a beat comes each interval (BCCN-CNV-09).
        """
        if state.phase is Phase.CLOSED:
            return ()
        match event:
            case Heard():
                return tuple(self.other_hearings(state, event))
            case SetName(name=name) if name.endswith("/") or "*" in name:  # BCCN-SRC-09
                return (self.refuse(state, "BCCN-SRC-09", "the name looks like a wildcard"),)
            case Send() if state.seq == MAX_SEQ:
                return (self.refuse(state, "BCCN-SEQ-08", "the counter is at its end"),)
            case Tick(at=at) if state.seq == MAX_SEQ and state.beat and state.beat.due <= at:  # nor is a heartbeat sent
                return (Step(replace(state, beat=replace(state.beat, due=at + state.beat.interval))),)
            case Send(payload=payload) if len(payload) > LEAST_CAP:
                return (self.refuse(state, "BCCN-SIZ-02", "the payload is longer than this binding sends"),)
            case StartHeartbeat(interval=interval, at=at, payload=payload):  # the first one an interval later
                return (self.done(replace(state, beat=Beat(interval, at + interval, payload)), "BCCN-CNV-08"),)
        return ()

    def other_hearings(self, state: State, event: Heard) -> list[NodeStep]:
        """Other choices while none is shown (BCCN-DUP-07, BCCN-DIR-13), and targets with two readings (BCCN-DIR-12)."""
        name, chan = state.name, event.message.chan
        readings = {self.addressing.is_for(name, chan)} | (
            {True, False} if self.addressing.is_open(name, chan) else set()
        )
        choices = (state.choices,) if state.choices else ALL_CHOICES
        taken: list[NodeStep] = []
        if len(choices) * len(readings) > 1:  # else it is what `hear` says
            taken = [self.take(choice, mine, state, event) for choice in choices for mine in sorted(readings)]
        return [*taken, self.drop(state, Reason.DUPLICATE)] if self.is_remembered(state, event) else taken

    def is_remembered(self, state: State, event: Heard) -> bool:
        """Is it stale for a node that forgets nobody, or not yet (BCCN-DUP-11)? What is news is no repeat (BCCN-DUP-05)."""
        last = state.senders.get(self.tracker_key(state, event.message, event.peer))
        forgotten = last is not None and self.tracker.is_forgotten(last, event.at)
        return bool(last and forgotten and not self.tracker.is_news(last.seq, event.message.seq))


M = NodeMachine
OPEN, CLOSED = Phase.OPEN, Phase.CLOSED

# The specification as a table. A pair that is absent cannot happen; the selftests sweep the product.
TABLE: dict[tuple[Phase, type], Row] = {
    (OPEN, Heard): Row(("BCCN-BODY-01", "BCCN-DUP-01"), M.hear),
    (OPEN, Noise): Row(("BCCN-TRN-05",), M.noise),
    (OPEN, SetName): Row(("BCCN-DIR-17",), M.set_name),
    (OPEN, GetName): Row((), M.get_name),
    (OPEN, SetSeq): Row((), M.set_seq),
    (OPEN, GetSeq): Row(("BCCN-API-12",), M.get_seq),
    (OPEN, Send): Row(("BCCN-SEQ-04", "BCCN-SEQ-08", "BCCN-SIZ-01", "BCCN-SIZ-03"), M.send),
    (OPEN, Listen): Row((), M.listen),
    (OPEN, StartHeartbeat): Row(("BCCN-CNV-09",), M.start_heartbeat),
    (OPEN, Tick): Row(("BCCN-DUP-11",), M.tick),
    (OPEN, Close): Row((), M.close),
    (CLOSED, Heard): Row(("BCCN-API-05",), M.ignore),
    (CLOSED, Noise): Row(("BCCN-API-05",), M.ignore),
    (CLOSED, SetName): Row((), M.set_name),
    (CLOSED, GetName): Row((), M.get_name),
    (CLOSED, SetSeq): Row((), M.set_seq),
    (CLOSED, GetSeq): Row((), M.get_seq),
    (CLOSED, Send): Row(("BCCN-API-05",), M.refuse_closed),
    (CLOSED, Listen): Row((), M.listen),
    (CLOSED, StartHeartbeat): Row(("BCCN-API-05",), M.refuse_closed),
    (CLOSED, Tick): Row((), M.ignore),
    (CLOSED, Close): Row((), M.close),
}

NodeMachine.table = TABLE
