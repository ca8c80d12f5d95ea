"""The client's rules: push until it is answered, persist before the ack, surface once, keep a Receive Session.

Channels: the host, the network (dialling a Receive Session is something owed), each Receive Session, each Push Session, and
PUSHES for the pushes themselves: into which session a client puts a blob, how many into one, and how many it lets wait until
others were answered, is its own choice.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from immutables import Map

from reference_impl.core import Channel, Expectation, Level, Machine, Row, Step
from reference_impl.core.expectation import Hole
from reference_impl.trueseal.frames import (
    FRAMES,
    MAX_ENVELOPE,
    NO_FRAMES,
    Ack,
    BadAnswer,
    BadHeartbeat,
    Beat,
    Deliver,
    DeliverAck,
    Dial,
    Error,
    Hangup,
    Heartbeat,
    InSession,
    Push,
    Pushed,
    PushOpened,
    PushSession,
    Queued,
    Received,
    ReceiveOpened,
    Refused,
    Rejected,
    Start,
    Submit,
    Trailing,
    UnknownType,
)

HOST, NETWORK, PUSHES = "host", "network", "pushes"
FIRST = PushSession(1)


class Phase(enum.Enum):
    """Where one channel stands: the host's, the network's, a session's."""

    STOPPED = "stopped"
    RUNNING = "running"
    NETWORK = "network"
    PUSHING = "pushing"
    LISTENING = "listening"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Durable:
    """What survives a crash."""

    outbox: Map[int, Push] = Map()  # what was neither Acked nor rejected
    next: int = 1
    envelopes: Map[bytes, None] = Map()  # what was received
    ids: Map[int, None] = Map()  # under which ids


@dataclass(frozen=True, slots=True)
class State:
    durable: Durable = Durable()
    running: bool = False
    listening: Channel = None  # the Receive Session
    pushing: Map[PushSession, tuple[int, ...]] = Map()  # the blobs that each waits for an answer for, oldest first
    session: PushSession = FIRST  # where the reference pushes next
    beats: int = 0  # Heartbeats of our own without an answer yet, on the Receive Session

    @property
    def under_way(self) -> frozenset[int]:
        """The blobs that were pushed and wait for an answer."""
        return frozenset(blob for blobs in self.pushing.values() for blob in blobs)

    @property
    def waiting(self) -> list[int]:
        """Those that are to be pushed, again or for the first time."""
        return sorted(set(self.durable.outbox) - self.under_way)

    def phase(self, channel: Channel) -> Phase:
        match channel:
            case "host":
                return Phase.RUNNING if self.running else Phase.STOPPED
            case "network":
                return Phase.NETWORK
            case PushSession():
                return Phase.PUSHING if channel in self.pushing else Phase.GONE
        return Phase.LISTENING if channel == self.listening else Phase.GONE


# -- effects: what the store must hold before the step's debts are paid ------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outgoing:
    blob: int
    push: Push


@dataclass(frozen=True, slots=True)
class Settled:
    """Acked or rejected: out of the outbox, for good (TS-ERR-05)."""

    blob: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A message, under the id that it came with."""

    blob_id: int
    envelope: bytes


Effect = Outgoing | Settled | Kept
ClientStep = Step[State]


def any_session(mine: PushSession) -> Any:
    """A Push Session of the speaker's choice."""
    return Hole("any session", lambda value, _: isinstance(value, PushSession), lambda _, __: mine)


class ClientMachine(Machine[State]):
    """The client as a table: (phase of the channel, kind of input) -> row."""

    freedoms: dict[tuple[Phase, type], tuple[Callable[..., ClientStep], ...]]

    def initial(self) -> State:
        return State()

    def crash(self, state: State) -> State:
        return State(durable=state.durable)

    def receive(self, state: State, channel: Channel, event: Any) -> ClientStep:
        return self.obey(state.phase(channel), state, channel, event)

    def alternatives(self, state: State, channel: Channel, event: Any) -> tuple[ClientStep, ...]:
        """What the specification leaves open: a second table."""
        ways = self.freedoms.get((state.phase(channel), type(event)), ())
        return tuple(getattr(self, way.__name__)(state, channel, event) for way in ways)

    def spoke(self, state: State, expectation: Expectation, frame: Any) -> State:
        match frame:
            case InSession(session, push):
                return self.flew(state, session, push)
            case Hangup() if expectation.channel == state.session:
                return replace(state, session=PushSession(state.session.number + 1))
            case Heartbeat() if expectation.clause == "TS-HB-01" and expectation.channel == state.listening:
                return replace(state, beats=state.beats + 1)
        return state

    def flew(self, state: State, session: PushSession, push: Push) -> State:
        """Which blob it was: those that are equal differ in nothing, so the first that is not under way will do."""
        blob = next((blob for blob in state.waiting if state.durable.outbox[blob] == push), None)
        if blob is None:
            return state
        return replace(state, pushing=state.pushing.set(session, (*state.pushing.get(session, ()), blob)))

    # -- the host -------------------------------------------------------------------------------------------------

    def start(self, state: State, channel: Channel, _: Start) -> ClientStep:
        started = replace(state, running=True)
        return Step(started, (self.dialling(), *self.pushes(started, started.waiting)))

    def dialling(self) -> Expectation:
        return Expectation("TS-SES-06", Dial(), NETWORK)

    def submit(self, state: State, channel: Channel, event: Submit) -> ClientStep:
        """Into the outbox, then to the relay; what is over the limit is refused before anything is dialled."""
        if len(event.envelope) > MAX_ENVELOPE:
            refusal = Expectation("TS-SIZE-03", Refused("push"), HOST, lane="submits")
            return Step(state, (refusal,), clauses=("TS-SIZE-04",))
        blob, push = state.durable.next, Push(event.recipient, event.envelope)  # TS-PUSH-09, TS-PUSH-10
        durable = replace(state.durable, outbox=state.durable.outbox.set(blob, push), next=blob + 1)
        queued = replace(state, durable=durable)
        telling = Expectation("TS-SIZE-01", Queued(blob), HOST, lane="submits")
        pushes = self.pushes(queued, [blob]) if state.running else ()
        return Step(queued, (telling, *pushes), (Outgoing(blob, push),))

    def pushes(self, state: State, blobs: Iterable[int]) -> tuple[Expectation, ...]:
        """In any order: nothing ties one blob to another (TS-SES-12). While one is under way, the others may wait."""
        level = Level.SHOULD if state.under_way else Level.MUST
        return tuple(
            Expectation(
                "TS-PUSH-01",
                InSession(any_session(state.session), state.durable.outbox[blob]),
                PUSHES,
                level,
                lane=f"blob {blob}",
                suffices=True,
            )
            for blob in sorted(blobs)
        )

    def resume(self, state: State, step: ClientStep) -> ClientStep:
        """Something is under way no more. If nothing is, what has waited must not wait longer."""
        return replace(step, owes=(*step.owes, *self.pushes(state, state.waiting)), voids=step.voids | {PUSHES})

    def beat(self, state: State, channel: Channel, _: Beat) -> ClientStep:
        if state.listening is None:
            return Step(state, (Expectation("TS-HB-01", Refused("heartbeat"), HOST, Level.SHOULD, lane="beats"),))
        beating = Expectation("TS-HB-03", Heartbeat(), state.listening, lane="heartbeats")
        return Step(replace(state, beats=state.beats + 1), (beating,))

    # -- a Push Session -------------------------------------------------------------------------------------------

    def acked(self, state: State, channel: Channel, _: Ack) -> ClientStep:
        """Only now is the blob delivered, as far as we are concerned (TS-ACK-07)."""
        return self.answered(state, channel, Pushed, "TS-ACK-07")

    def rejected(self, state: State, channel: Channel, _: Error) -> ClientStep:
        """Never again (TS-ERR-04, TS-ERR-05)."""
        return self.answered(state, channel, Rejected, "TS-ERR-04")

    def answered(self, state: State, channel: Channel, told: type[Pushed] | type[Rejected], clause: str) -> ClientStep:
        """The answer is for the oldest Push of its session (TS-ACK-06); behind the last one the session is closed."""
        assert isinstance(channel, PushSession), "a Push Session has a channel of its own kind"
        if not state.pushing[channel]:
            return self.end(state, channel, None)  # an answer to nothing
        blob, *rest = state.pushing[channel]
        durable = replace(state.durable, outbox=state.durable.outbox.delete(blob))
        after = replace(state, durable=durable, pushing=state.pushing.set(channel, tuple(rest)))
        telling = Expectation(clause, told(blob), HOST, Level.SHOULD, lane=f"blob {blob}")
        closing = () if rest else (Expectation("TS-SES-05", Hangup(), channel, Level.SHOULD, lane="end"),)
        return self.resume(after, Step(after, (telling, *closing), (Settled(blob),)))

    def unasked(self, state: State, channel: Channel, event: Ack | Error) -> ClientStep:
        """An answer to nothing may be passed over."""
        asked = isinstance(channel, PushSession) and state.pushing[channel]
        return self.receive(state, channel, event) if asked else self.ignore(state, channel, event)

    def for_all_its_body(self, state: State, channel: Channel, event: BadAnswer) -> ClientStep:
        """An answer with a body is the answer that its tag says."""
        return self.receive(state, channel, event.answer)

    def push_lost(self, state: State, channel: Channel, _: Any) -> ClientStep:
        """What had no answer is pushed again, in another session (TS-ACK-07)."""
        assert isinstance(channel, PushSession), "a Push Session has a channel of its own kind"
        session = PushSession(max(state.session.number, channel.number + 1))
        lost = replace(state, pushing=state.pushing.delete(channel), session=session)
        return self.resume(lost, Step(lost, voids=frozenset([channel])))

    # -- a Receive Session ----------------------------------------------------------------------------------------

    def own_beats(self, channel: Channel) -> tuple[Expectation, ...]:
        """A client may send Heartbeats of its own."""
        return (Expectation("TS-HB-01", Heartbeat(), channel, Level.MAY, lane="own heartbeats", repeats=True),)

    def listen(self, state: State, channel: Channel, _: ReceiveOpened) -> ClientStep:
        return Step(replace(state, listening=channel, beats=0), self.own_beats(channel))

    def deliver(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        """Persist, ack, surface; what is known is acked again and surfaced no more (TS-DLV-09)."""
        if frame.envelope in state.durable.envelopes:
            return self.duplicate(state, channel, frame)
        return self.fresh(state, channel, frame)

    def fresh(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        telling = Expectation("TS-DLV-04", Received(frame.envelope), HOST, lane=f"message {frame.blob_id}")
        return replace(self.duplicate(state, channel, frame), owes=(telling, *self.acking(channel, frame)))

    def duplicate(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        """The ack comes behind the effect (TS-DLV-03, TS-DACK-02)."""
        known = replace(
            state.durable,
            envelopes=state.durable.envelopes.set(frame.envelope, None),
            ids=state.durable.ids.set(frame.blob_id, None),
        )
        new = frame.envelope not in state.durable.envelopes or frame.blob_id not in state.durable.ids
        effects = (Kept(frame.blob_id, frame.envelope),) if new else ()
        return Step(replace(state, durable=known), self.acking(channel, frame), effects)

    def acking(self, channel: Channel, frame: Deliver) -> tuple[Expectation, Expectation]:
        """The id verbatim (TS-DACK-03); a second ack does no harm."""
        ack = Expectation("TS-DLV-03", DeliverAck(frame.blob_id), channel, lane=f"ack {frame.blob_id}")
        return ack, replace(ack, level=Level.MAY, repeats=True)

    def deliver_otherwise(self, state: State, channel: Channel, frame: Deliver) -> ClientStep:
        """By which of the two a client knows a duplicate, id or envelope, is its own choice."""
        if frame.blob_id in state.durable.ids:
            return self.duplicate(state, channel, frame)
        return self.fresh(state, channel, frame)

    def receive_lost(self, state: State, channel: Channel, _: Hangup) -> ClientStep:
        offline = replace(state, listening=None, beats=0)
        return Step(offline, (self.dialling(),), voids=frozenset([channel]))

    def not_reached(self, state: State, channel: Channel, _: Hangup) -> ClientStep:
        """Nobody there, or not the relay we trust (TS-SES-06): try again."""
        return Step(state, (self.dialling(),))

    # -- either session -------------------------------------------------------------------------------------------

    def answer_beat(self, state: State, channel: Channel, _: Heartbeat | BadHeartbeat) -> ClientStep:
        """A Heartbeat that answers ours ends the exchange, any other is answered (TS-HB-02, TS-HB-05)."""
        if channel == state.listening and state.beats:
            return Step(replace(state, beats=state.beats - 1), clauses=("TS-HB-05",))
        return Step(state, (Expectation("TS-HB-02", Heartbeat(), channel, lane="heartbeats"),))

    def end(self, state: State, channel: Channel, _: Any, clause: str = "TS-FRM-05") -> ClientStep:
        """Close it, and go on as if it had been lost."""
        lost = self.push_lost if isinstance(channel, PushSession) else self.receive_lost
        step = lost(state, channel, Hangup())
        return replace(step, owes=(Expectation(clause, Hangup(), channel, lane="end"), *step.owes))

    def unknown_type(self, state: State, channel: Channel, event: UnknownType) -> ClientStep:
        return self.end(state, channel, event, "TS-TYP-03")

    def both_ended(self, state: State, channel: Channel, _: Hangup) -> ClientStep:
        return Step(state, voids=frozenset([channel]))

    def ignore(self, state: State, channel: Channel, _: Any) -> ClientStep:
        return Step(state)

    def front(self, state: State, channel: Channel, event: Trailing) -> ClientStep:
        """The frame is taken, and the bytes behind it are not looked at."""
        return self.receive(state, channel, event.front)


M = ClientMachine
STOPPED, RUNNING, GONE = Phase.STOPPED, Phase.RUNNING, Phase.GONE
PUSHING, LISTENING = Phase.PUSHING, Phase.LISTENING
SESSIONS, WIRE, WISHES = (PUSHING, LISTENING), (*FRAMES, *NO_FRAMES), (Start, Submit, Beat)

# The specification as a table. First what nobody expects: a session is closed for it.
TABLE: dict[tuple[Phase, type], Row] = {
    (phase, kind): Row(("TS-TYP-04", "TS-FRM-05", "TS-FRM-06", "TS-FRM-07"), M.end)
    for phase in SESSIONS
    for kind in WIRE
}
TABLE |= {
    (STOPPED, Start): Row(("TS-SES-06",), M.start),
    (STOPPED, Submit): Row(("TS-SIZE-01", "TS-SIZE-03"), M.submit),
    (STOPPED, Beat): Row((), M.beat),
    (RUNNING, Start): Row((), M.ignore),
    (RUNNING, Submit): Row(("TS-SIZE-01", "TS-SIZE-03", "TS-PUSH-09", "TS-PUSH-10", "TS-PUSH-01"), M.submit),
    (RUNNING, Beat): Row(("TS-HB-03",), M.beat),
    (Phase.NETWORK, Hangup): Row(("TS-SES-02", "TS-SES-06"), M.not_reached),
    (GONE, ReceiveOpened): Row(("TS-SES-06",), M.listen),
    (PUSHING, Ack): Row(("TS-SES-05", "TS-ACK-06", "TS-ACK-07"), M.acked),
    (PUSHING, Error): Row(("TS-SES-05", "TS-ACK-06", "TS-ERR-04", "TS-ERR-05"), M.rejected),
    (PUSHING, Hangup): Row(("TS-ACK-07",), M.push_lost),
    (LISTENING, Deliver): Row(
        ("TS-TYP-04", "TS-DLV-03", "TS-DLV-04", "TS-DLV-09", "TS-DACK-02", "TS-DACK-03", "TS-DACK-01"), M.deliver
    ),
    (LISTENING, Hangup): Row(("TS-SES-06",), M.receive_lost),
}
TABLE |= {(phase, Heartbeat): Row(("TS-HB-02",), M.answer_beat) for phase in SESSIONS}
TABLE |= {(phase, UnknownType): Row(("TS-TYP-02", "TS-TYP-03"), M.unknown_type) for phase in SESSIONS}
# A Push Session begins with the Push that goes into it. What comes behind the end of a session is not read, but that the other
# side has ended it too.
TABLE |= {(phase, PushOpened): Row((), M.ignore) for phase in (GONE, *SESSIONS)}
TABLE |= {(phase, ReceiveOpened): Row((), M.ignore) for phase in SESSIONS}
TABLE |= {(GONE, kind): Row((), M.ignore) for kind in WIRE} | {(GONE, Hangup): Row((), M.both_ended)}

# What else conforms, where the text is silent or its reading contested: whatever closes a session may be passed over.
FREEDOMS: dict[tuple[Phase, type], tuple[Callable[..., ClientStep], ...]] = {
    pair: (M.ignore,) for pair, row in TABLE.items() if row.action is M.end
}
FREEDOMS |= {(phase, BadHeartbeat): (M.ignore, M.answer_beat) for phase in SESSIONS}
FREEDOMS |= {(phase, Trailing): (M.ignore, M.front) for phase in SESSIONS}
FREEDOMS |= {(PUSHING, kind): (M.unasked,) for kind in (Ack, Error)}
FREEDOMS |= {(PUSHING, BadAnswer): (M.ignore, M.for_all_its_body)}
FREEDOMS |= {(LISTENING, Deliver): (M.deliver_otherwise,)}

ClientMachine.table, ClientMachine.freedoms = TABLE, FREEDOMS
