"""The relay's rules: what is stored, who is owed which delivery, what is deleted.

The state is the whole relay's, a channel is one session of either kind. Its durable half is the inboxes; every change of
them is also an effect, which the shell makes durable before it sends what the same step owes (TS-ACK-05).
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from immutables import Map

from reference_impl.core import Channel, Expectation, Level, Machine, Row, Step
from reference_impl.core.expectation import Hole
from reference_impl.trueseal.codec import U64
from reference_impl.trueseal.frames import (
    FRAMES,
    ID_SIZE,
    MAX_ENVELOPE,
    MAX_ID,
    NO_FRAMES,
    OPENINGS,
    Ack,
    BadAnswer,
    BadDeliverAck,
    BadHeartbeat,
    Deliver,
    DeliverAck,
    Error,
    Hangup,
    Heartbeat,
    Malformed,
    Oversize,
    Push,
    PushOpened,
    ReceiveOpened,
    ShortPush,
    Tag,
    Trailing,
    UnknownType,
)


class Phase(enum.Enum):
    """What one session is."""

    PUSH = "push"
    RECEIVE = "receive"
    GONE = "gone"


class Serving(enum.Enum):
    """Which of a device's sessions get its blobs as they arrive."""

    ALL = "all"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class Inbox:
    """One device's blobs, each under its number, which says when it came."""

    new: Map[int, bytes] = Map()  # never delivered yet: only the relay knows the id
    delivered: Map[int, tuple[int, bytes]] = Map()  # by id: the number and the envelope

    def envelopes(self) -> Iterator[tuple[int, int | None, bytes]]:
        """Number, id and envelope of each, as they came."""
        blobs = [(number, None, envelope) for number, envelope in self.new.items()]
        yield from sorted(blobs + [(n, id, envelope) for id, (n, envelope) in self.delivered.items()], key=first)


def first(blob: tuple[int, object, bytes]) -> int:
    return blob[0]


@dataclass(frozen=True, slots=True)
class Durable:
    """What survives a crash."""

    inboxes: Map[bytes, Inbox] = Map()
    next: int = 1

    def inbox(self, device: bytes) -> Inbox:
        return self.inboxes.get(device, Inbox())

    def keep(self, device: bytes, inbox: Inbox) -> Durable:
        return replace(self, inboxes=self.inboxes.set(device, inbox))


@dataclass(frozen=True, slots=True)
class State:
    durable: Durable = Durable()
    sessions: Map[Channel, bytes | None] = Map()  # the device of a Receive Session, None for a Push Session
    served: Map[bytes, tuple[Channel, ...]] = Map()  # a device's sessions, the newest last
    serving: Serving | None = None  # the relay's own choice, made when a device comes a second time, and kept
    displaced: frozenset[Channel] = frozenset()  # sessions that had to give way to a newer one

    def phase(self, channel: Channel) -> Phase:
        if channel not in self.sessions:
            return Phase.GONE
        return Phase.PUSH if self.sessions[channel] is None else Phase.RECEIVE

    def without(self, channel: Channel) -> State:
        """The session is over; whatever else a device has goes on."""
        served, device = self.served, self.sessions[channel]
        if device is not None:
            served = served.set(device, tuple(other for other in served[device] if other != channel))
        displaced = self.displaced - {channel}
        return replace(self, sessions=self.sessions.delete(channel), served=served, displaced=displaced)

    def recipients(self, device: bytes) -> tuple[Channel, ...]:
        """Where a device's blobs go."""
        sessions = self.served.get(device, ())
        return sessions[-1:] if self.serving is Serving.NEWEST else sessions


# -- effects: what the store must hold before the step's debts are paid ------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stored:
    number: int
    device: bytes
    envelope: bytes


@dataclass(frozen=True, slots=True)
class Deleted:
    number: int


Effect = Stored | Deleted
RelayStep = Step[State]


def blob_id(number: int, taken: frozenset[int]) -> Any:
    """An id that no other outstanding blob of the inbox has (TS-DLV-02); the player says the blob's number."""
    return Hole(
        f"an id, none of {sorted(taken)}" if taken else "an id",
        lambda value, _: isinstance(value, int) and 0 <= value <= MAX_ID and value not in taken,
        lambda _, __: number,
    )


def lane_of(number: int) -> str:
    """Deliveries of one blob."""
    return f"blob {number}"


class RelayMachine(Machine[State]):
    """The relay as a table: (kind of session, kind of input) -> row."""

    freedoms: dict[tuple[Phase, type], tuple[Callable[..., RelayStep], ...]]

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        if not 0 < limit <= MAX_ENVELOPE:
            raise ValueError(
                f"a limit of {limit} bytes: an operator may lower {MAX_ENVELOPE}, not raise it (TS-SIZE-08)"
            )
        self.limit = limit

    def initial(self) -> State:
        return State()

    def crash(self, state: State) -> State:
        """The inboxes are durable; how a relay chooses does not change with its process."""
        return State(durable=state.durable, serving=state.serving)

    def receive(self, state: State, channel: Channel, event: Any) -> RelayStep:
        return self.obey(state.phase(channel), state, channel, self.weighed(event))

    def alternatives(self, state: State, channel: Channel, event: Any) -> tuple[RelayStep, ...]:
        """What the specification leaves open: a second table."""
        event = self.weighed(event)
        ways = self.freedoms.get((state.phase(channel), type(event)), ())
        return tuple(getattr(self, way.__name__)(state, channel, event) for way in ways)

    def weighed(self, event: Any) -> Any:
        """An envelope over the operator's limit is over the limit; exactly as many bytes are not (TS-SIZE-01, -02)."""
        too_large = isinstance(event, Push) and len(event.envelope) > self.limit
        return Oversize(len(event.envelope)) if too_large else event

    def spoke(self, state: State, expectation: Expectation, frame: Any) -> State:
        """A delivery shows the id of its blob, and from then on the blob has it. A session that was free to end is over."""
        if isinstance(frame, Hangup) and expectation.channel in state.sessions:
            return state.without(expectation.channel)
        device = state.sessions.get(expectation.channel)
        if not isinstance(frame, Deliver) or device is None:
            return state
        inbox = state.durable.inbox(device)
        if frame.blob_id in inbox.delivered:
            return state
        number = self.shown(inbox, frame)
        if number is None:
            return state  # acked by another session meanwhile: a late delivery
        shown = inbox.delivered.set(frame.blob_id, (number, frame.envelope))
        return replace(state, durable=state.durable.keep(device, Inbox(inbox.new.delete(number), shown)))

    def shown(self, inbox: Inbox, frame: Deliver) -> int | None:
        """Whose id it is: blobs with equal envelopes differ in nothing else, so any of them will do."""
        if inbox.new.get(frame.blob_id) == frame.envelope:
            return frame.blob_id  # as the reference numbers them
        return next((number for number, envelope in inbox.new.items() if envelope == frame.envelope), None)

    # -- sessions -------------------------------------------------------------------------------------------------

    def push_opened(self, state: State, channel: Channel, _: PushOpened) -> RelayStep:
        return Step(replace(state, sessions=state.sessions.set(channel, None)), self.own_beats(channel))

    def own_beats(self, channel: Channel) -> tuple[Expectation, ...]:
        """A relay may send Heartbeats of its own."""
        return (Expectation("TS-HB-01", Heartbeat(), channel, Level.MAY, lane="own heartbeats", repeats=True),)

    def receive_opened(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        """The device's inbox, all of it (TS-SES-09, TS-DLV-08); who else is connected as this device stays."""
        older = state.served.get(event.device, ())
        if older and state.serving is Serving.NEWEST:
            return self.displace(state, channel, event)
        return self.serve(replace(state, serving=Serving.ALL) if older else state, channel, event)

    def displace(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        """A relay may serve the newest session only; the others get nothing more while it lasts, and may be ended."""
        older = state.served.get(event.device, ())
        if not older or state.serving is Serving.ALL:
            return self.receive_opened(state, channel, event)
        chosen = replace(state, serving=Serving.NEWEST, displaced=state.displaced.union(older))
        step = self.serve(chosen, channel, event)
        anew = (other for other in older if other not in state.displaced)
        ending = tuple(Expectation("TS-SES-10", Hangup(), other, Level.MAY, lane="end") for other in anew)
        return replace(step, owes=(*ending, *step.owes), lapses=frozenset(older))

    def serve(self, state: State, channel: Channel, event: ReceiveOpened) -> RelayStep:
        sessions, device = state.sessions.set(channel, event.device), event.device
        served = state.served.set(device, (*state.served.get(device, ()), channel))
        inbox = state.durable.inbox(device)
        owes = [debt for blob in inbox.envelopes() for debt in self.delivery(inbox, *blob, channel, "TS-DLV-08")]
        return Step(replace(state, sessions=sessions, served=served), (*self.own_beats(channel), *owes))

    def hang_up(self, state: State, channel: Channel, _: Hangup) -> RelayStep:
        """Nothing is owed to a session that is gone; the inbox stays (TS-DACK-05)."""
        return replace(self.over(state, channel), voids=frozenset([channel]))

    def over(self, state: State, channel: Channel) -> RelayStep:
        """One that had given way to this session is perhaps served again, with whatever it may have missed."""
        after, device = state.without(channel), state.sessions[channel] or b""
        inbox = after.durable.inbox(device)
        again = (other for other in after.recipients(device) if other in after.displaced)
        missed = (self.delivery(inbox, *blob, other, "TS-DLV-08")[1] for other in again for blob in inbox.envelopes())
        return Step(after, tuple(missed))

    def both_ended(self, state: State, channel: Channel, _: Hangup) -> RelayStep:
        return Step(state, voids=frozenset([channel]))

    def end(self, state: State, channel: Channel, clause: str) -> RelayStep:
        """The relay ends the session; what it owed there it may still say."""
        step = self.over(state, channel)
        return replace(step, owes=(Expectation(clause, Hangup(), channel), *step.owes), lapses=frozenset([channel]))

    def unknown_type(self, state: State, channel: Channel, _: UnknownType) -> RelayStep:
        return self.end(state, channel, "TS-TYP-03")

    def malformed(self, state: State, channel: Channel, _: Any) -> RelayStep:
        """As an unknown type is: nobody knows what the other side takes this session for."""
        return self.end(state, channel, "TS-FRM-05")

    def ignore(self, state: State, channel: Channel, _: Any) -> RelayStep:
        return Step(state)

    def front(self, state: State, channel: Channel, event: Trailing) -> RelayStep:
        """The frame is taken, and the bytes behind it are not looked at."""
        return self.receive(state, channel, event.front)

    def beat(self, state: State, channel: Channel, _: Heartbeat | BadHeartbeat) -> RelayStep:
        return Step(state, (Expectation("TS-HB-02", Heartbeat(), channel, lane="heartbeats"),))

    # -- pushing --------------------------------------------------------------------------------------------------

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        """Stored, then Acked, then delivered wherever the recipient is connected; none waits for another (TS-ACK-04)."""
        number, inbox = state.durable.next, state.durable.inbox(frame.recipient)
        durable = state.durable.keep(frame.recipient, replace(inbox, new=inbox.new.set(number, frame.envelope)))
        owes = [self.answer(Ack(), channel, "TS-ACK-01")]
        for other in state.recipients(frame.recipient):  # TS-SES-08, TS-DLV-10
            debt, again = self.delivery(inbox, number, None, frame.envelope, other, "TS-SES-08")
            owes += [again] if other in state.displaced else [debt, again]
        stored = Stored(number, frame.recipient, frame.envelope)
        return Step(replace(state, durable=replace(durable, next=number + 1)), tuple(owes), (stored,))

    def answer(self, frame: Ack | Error, channel: Channel, clause: str) -> Expectation:
        """One for each Push, in the order of the pushes (TS-ACK-06)."""
        return Expectation(clause, frame, channel, lane="answers")

    def delivery(
        self, inbox: Inbox, number: int, id: int | None, envelope: bytes, channel: Channel, clause: str
    ) -> tuple[Expectation, Expectation]:
        """Verbatim (TS-DLV-05), in any order (TS-DLV-12), and perhaps again meanwhile (TS-DLV-11)."""
        known = blob_id(number, frozenset(inbox.delivered)) if id is None else id
        debt = Expectation(clause, Deliver(known, envelope), channel, lane=lane_of(number))
        return debt, replace(debt, clause="TS-DLV-11", level=Level.MAY, repeats=True)

    def reject_size(self, state: State, channel: Channel, _: Any) -> RelayStep:
        """Whichever limit it was (TS-SIZE-09): an Error, no Ack, nothing stored."""
        return Step(state, (self.answer(Error(), channel, "TS-SIZE-05"),))

    def reject_short(self, state: State, channel: Channel, _: Any) -> RelayStep:
        return Step(state, (self.answer(Error(), channel, "TS-PUSH-06"),))

    def reject_and_end(self, state: State, channel: Channel, event: ShortPush | Oversize) -> RelayStep:
        """The specification does not say that the session goes on (TS-ERR-08)."""
        return self.then_end(self.receive(state, channel, event), channel)

    def then_end(self, step: RelayStep, channel: Channel) -> RelayStep:
        ended = self.over(step.state, channel)
        ending = Expectation("TS-ERR-08", Hangup(), channel)
        return replace(step, state=ended.state, owes=(*step.owes, ending, *ended.owes))

    def turn_away(self, state: State, channel: Channel, event: Push | ShortPush | Oversize) -> RelayStep:
        """A Push where none belongs may be rejected like a bad one, and end the session like what nobody expects."""
        return self.then_end(self.reject_short(state, channel, event), channel)

    def complain(self, state: State, channel: Channel, event: Malformed) -> RelayStep:
        """A Push that is malformed in another way than by its short body may be rejected like one."""
        return self.reject_short(state, channel, event) if event.tag == Tag.PUSH else self.ignore(state, channel, event)

    def complain_and_end(self, state: State, channel: Channel, event: Malformed) -> RelayStep:
        return self.then_end(self.complain(state, channel, event), channel)

    # -- receiving ------------------------------------------------------------------------------------------------

    def deliver_ack(self, state: State, channel: Channel, frame: DeliverAck) -> RelayStep:
        """Deletes this blob and no other (TS-DACK-06), from the acking device's own inbox only (TS-DACK-07)."""
        device = state.sessions[channel]
        assert device is not None, "only a Receive Session has a device"
        inbox = state.durable.inbox(device)
        if frame.blob_id not in inbox.delivered:
            return Step(state, clauses=("TS-DACK-08",))
        number, _ = inbox.delivered[frame.blob_id]
        durable = state.durable.keep(device, replace(inbox, delivered=inbox.delivered.delete(frame.blob_id)))
        # Wherever it was on its way, also to this session, which may know the id of an earlier one: nothing is left to deliver.
        return Step(
            replace(state, durable=durable), effects=(Deleted(number),), moot=lambda debt: debt.lane == lane_of(number)
        )

    def deliver_ack_by_its_head(self, state: State, channel: Channel, event: BadDeliverAck) -> RelayStep:
        if len(event.body) < ID_SIZE:
            return Step(state)
        return self.deliver_ack(state, channel, DeliverAck(U64.unpack_from(event.body)[0]))


M = RelayMachine
PUSH, RECEIVE, GONE = Phase.PUSH, Phase.RECEIVE, Phase.GONE

PUSHED = (
    "TS-PUSH-01", "TS-PUSH-02", "TS-PUSH-03", "TS-PUSH-04", "TS-PUSH-05", "TS-DLV-01", "TS-DLV-05", "TS-ERR-06", "TS-SES-12",
    "TS-ACK-01", "TS-ACK-04", "TS-ACK-06", "TS-SES-04",
)  # fmt: skip
"""What is obeyed with a good Push: the last is what an answer is blamed on that nothing else explains."""

# The specification as a table. A pair that is absent cannot happen; the selftests sweep the product.
TABLE: dict[tuple[Phase, type], Row] = {
    (GONE, PushOpened): Row(("TS-SES-01", "TS-SES-11"), M.push_opened),
    (GONE, ReceiveOpened): Row(
        ("TS-ACK-03", "TS-DLV-02", "TS-DLV-05", "TS-DLV-08", "TS-DLV-10", "TS-SES-06", "TS-SES-07", "TS-SES-09"),
        M.receive_opened,
    ),
    (PUSH, Push): Row(PUSHED, M.push),
    (PUSH, ShortPush): Row(
        ("TS-ACK-06", "TS-PUSH-06", "TS-PUSH-07", "TS-PUSH-08", "TS-ERR-03", "TS-ERR-07", "TS-ERR-01"), M.reject_short
    ),
    (PUSH, Oversize): Row(
        ("TS-ACK-06", "TS-SIZE-05", "TS-SIZE-06", "TS-SIZE-07", "TS-ERR-03", "TS-ERR-07", "TS-ERR-01"), M.reject_size
    ),
    (PUSH, Heartbeat): Row(("TS-HB-02",), M.beat),
    (PUSH, BadHeartbeat): Row(("TS-HB-04",), M.malformed),
    (PUSH, UnknownType): Row(("TS-TYP-02", "TS-TYP-03"), M.unknown_type),
    (PUSH, Malformed): Row(("TS-FRM-05", "TS-FRM-06", "TS-FRM-07"), M.malformed),
    (PUSH, Trailing): Row(("TS-FRM-08",), M.malformed),
    (PUSH, DeliverAck): Row(("TS-TYP-04",), M.malformed),
    (PUSH, BadDeliverAck): Row(("TS-TYP-04",), M.malformed),
    (PUSH, Deliver): Row(("TS-TYP-04",), M.malformed),
    (PUSH, Ack): Row(("TS-TYP-04",), M.malformed),
    (PUSH, Error): Row(("TS-TYP-04",), M.malformed),
    (PUSH, BadAnswer): Row(("TS-TYP-04",), M.malformed),
    (PUSH, Hangup): Row(("TS-SES-12",), M.hang_up),
    (RECEIVE, DeliverAck): Row(("TS-TYP-04", "TS-DACK-04", "TS-DACK-06", "TS-DACK-07", "TS-DLV-07"), M.deliver_ack),
    (RECEIVE, BadDeliverAck): Row(("TS-DACK-08",), M.ignore),
    (RECEIVE, Heartbeat): Row(("TS-HB-02",), M.beat),
    (RECEIVE, BadHeartbeat): Row(("TS-HB-04",), M.malformed),
    (RECEIVE, UnknownType): Row(("TS-TYP-02", "TS-TYP-03"), M.unknown_type),
    (RECEIVE, Malformed): Row(("TS-FRM-05", "TS-FRM-06", "TS-FRM-07"), M.malformed),
    (RECEIVE, Trailing): Row(("TS-FRM-08",), M.malformed),
    (RECEIVE, Push): Row(("TS-TYP-04", "TS-SES-11"), M.malformed),
    (RECEIVE, ShortPush): Row(("TS-TYP-04", "TS-SES-11"), M.malformed),
    (RECEIVE, Oversize): Row(("TS-TYP-04", "TS-SES-11"), M.malformed),
    (RECEIVE, Deliver): Row(("TS-TYP-04",), M.malformed),
    (RECEIVE, Ack): Row(("TS-TYP-04",), M.malformed),
    (RECEIVE, Error): Row(("TS-TYP-04",), M.malformed),
    (RECEIVE, BadAnswer): Row(("TS-TYP-04",), M.malformed),
    (RECEIVE, Hangup): Row(("TS-DLV-06", "TS-DACK-05"), M.hang_up),
}
# What comes behind the end of a session is not read, but that the other side has ended it too; a session opens once.
TABLE |= {(GONE, kind): Row((), M.ignore) for kind in (*FRAMES, *NO_FRAMES)} | {(GONE, Hangup): Row((), M.both_ended)}
TABLE |= {(phase, kind): Row((), M.ignore) for phase in (PUSH, RECEIVE) for kind in OPENINGS}

# What else conforms, where the text is silent or its reading contested.
FREEDOMS: dict[tuple[Phase, type], tuple[Callable[..., RelayStep], ...]] = {
    (GONE, ReceiveOpened): (M.displace,),
    (PUSH, ShortPush): (M.reject_and_end,),
    (PUSH, Oversize): (M.reject_and_end,),
    (PUSH, BadHeartbeat): (M.beat, M.ignore),
    (PUSH, Malformed): (M.ignore, M.complain, M.complain_and_end),
    (PUSH, Trailing): (M.ignore, M.front),
    (PUSH, DeliverAck): (M.ignore,),
    (PUSH, BadDeliverAck): (M.ignore,),
    (PUSH, Deliver): (M.ignore,),
    (PUSH, Ack): (M.ignore,),
    (PUSH, Error): (M.ignore,),
    (PUSH, BadAnswer): (M.ignore,),
    (RECEIVE, BadDeliverAck): (M.malformed, M.deliver_ack_by_its_head),
    (RECEIVE, BadHeartbeat): (M.beat, M.ignore),
    (RECEIVE, Malformed): (M.ignore, M.complain, M.complain_and_end),
    (RECEIVE, Trailing): (M.ignore, M.front),
    (RECEIVE, Push): (M.push, M.ignore, M.reject_short, M.turn_away),
    (RECEIVE, ShortPush): (M.ignore, M.reject_short, M.turn_away),
    (RECEIVE, Oversize): (M.ignore, M.reject_size, M.turn_away),
    (RECEIVE, Deliver): (M.ignore,),
    (RECEIVE, Ack): (M.ignore,),
    (RECEIVE, Error): (M.ignore,),
    (RECEIVE, BadAnswer): (M.ignore,),
}

RelayMachine.table, RelayMachine.freedoms = TABLE, FREEDOMS
