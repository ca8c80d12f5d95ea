"""One session's rules: both sides greet, then frames flow; what breaks a rule is told by an Error and ends the session.

The peers are equal: nothing here knows who connected. Two channels: the wire, and the host behind the peer. What the
text leaves open stands in `alternatives`, as an optional debt, or as a hole that admits more than one value.
"""

from __future__ import annotations

import enum
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from immutables import Map

from reference_impl.core import Channel, Expectation, Level, Machine, Row, Step, anything, fresh, one_of
from reference_impl.core.expectation import Entropy, Hole
from reference_impl.sbp.codec import namespaced
from reference_impl.sbp.frames import (
    ID_SIZE,
    MAX_FRAME,
    MAX_HANDSHAKE,
    PROTOCOL,
    VERSION,
    Ack,
    Acked,
    Answered,
    BadFlags,
    BadHandshake,
    Close,
    Code,
    Delivered,
    Ended,
    Error,
    Established,
    Failed,
    Frame,
    Handshake,
    Hangup,
    Malformed,
    Message,
    Opened,
    Oversize,
    Ping,
    Pong,
    Send,
    SendClose,
    SendPing,
    Text,
    UnknownOp,
)

WIRE = "wire"
HOST = "host"
VIOLATION = (Code.PROTOCOL_VIOLATION, Code.INVALID_FRAME)


class Phase(enum.Enum):
    DOWN = "down"
    GREETING = "greeting"  # the transport is up, the other side's Handshake has not come
    OPEN = "open"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Config:
    """What a peer is told by its operator."""

    peer_id: str
    caps: tuple[str, ...] | None = None
    metadata: str | None = None
    receipt: bool = False  # acknowledge each Message
    limit: int = MAX_FRAME


@dataclass(frozen=True, slots=True)
class State:
    phase: Phase = Phase.DOWN
    used: Map[bytes, None] = field(default_factory=Map)  # ids of either side: none comes again (SBP-FID-08, -09)
    said: Map[bytes, None] = field(default_factory=Map)  # our own: an Ack of another one is stray
    pings: int = 0  # of ours without a Pong: one more is stray


PeerStep = Step[State]


def new_id(entropy: Entropy) -> bytes:
    return entropy(ID_SIZE)


def fresh_id(state: State) -> Any:
    return fresh(new_id, state.used, "a fresh id")


def error_id(offending: bytes | None, used: Collection[bytes]) -> Any:
    """The failing frame's id where it is known (SBP-ERR-06, a SHOULD), else a fresh one."""
    return Hole(
        f"the id {offending.hex()}, or a fresh one" if offending else "a fresh id",
        lambda value, _: value == offending or value not in used,
        lambda entropy, _: offending or new_id(entropy),
    )


def any_ts() -> Any:
    """A timestamp is always allowed and never demanded (SBP-FLAGS-07)."""
    return anything(object, None)


class PeerMachine(Machine[State]):
    """The session as a table: (phase, kind of input) -> row.

    `remembers`: keep every id, to judge reuse. `chatter`: a host that we do not see may send Messages at any time.
    """

    def __init__(self, config: Config, *, remembers: bool = True, chatter: bool = False) -> None:
        self.config, self.remembers, self.chatter = config, remembers, chatter

    def initial(self) -> State:
        return State()

    def receive(self, state: State, channel: Channel, event: object) -> PeerStep:
        if channel == WIRE:
            state = self.noted(state, getattr(event, "id", None))
        step = self.obey(state.phase, state, channel, event)
        if self.config.receipt and isinstance(event, Frame) and step.state.phase is Phase.OPEN:
            return self.with_receipt(step, event, Level.MUST if isinstance(event, Message) else Level.MAY)
        return step

    def spoke(self, state: State, expectation: Expectation, frame: object) -> State:
        """What it said comes under its id alone (SBP-FID-09); an Ack of it, or a Pong for a Ping, is no stray (SBP-SES-07)."""
        id = getattr(frame, "id", None) if expectation.channel == WIRE else None
        if id is None or not self.remembers:
            return state
        pings = state.pings + isinstance(frame, Ping)
        return replace(self.noted(state, id), said=state.said.set(id, None), pings=pings)

    def noted(self, state: State, id: bytes | None) -> State:
        return replace(state, used=state.used.set(id, None)) if id and self.remembers else state

    def alternatives(self, state: State, channel: Channel, event: object) -> tuple[PeerStep, ...]:
        """Where the specification leaves a choice, the choices that the reference does not take."""
        if channel == HOST or state.phase not in (Phase.GREETING, Phase.OPEN):
            return ()
        state = self.noted(state, getattr(event, "id", None))
        match state.phase, event:
            case Phase.GREETING, Handshake() if self.questionable(event):
                return (self.reject(state, event.id, "SBP-LIM-04", VIOLATION),)
            case Phase.OPEN, Handshake() | BadHandshake():
                return self.disliked(state, event.id, "SBP-SES-05", BadHandshake.codes)
            case Phase.OPEN, UnknownOp():
                return self.disliked(state, event.id, "SBP-CTRL-04", (*VIOLATION, Code.UNSUPPORTED_FEATURE))
            case Phase.OPEN, Pong() | Ack() if self.stray(state, event):
                return self.disliked(state, event.id, "SBP-SES-07", VIOLATION)
            case Phase.OPEN, Error():
                return (self.end(state, "the other side failed"),)
            case Phase.OPEN, Malformed(fatal=False):
                return (Step(state, (self.complaint(state, event.id, "SBP-CMP-02", event.codes),)),)
        return ()

    def disliked(self, state: State, id: bytes | None, clause: str, codes: tuple[int, ...]) -> tuple[PeerStep, ...]:
        """What nobody has to take: an Error, or an Error and the end."""
        return Step(state, (self.complaint(state, id, clause, codes),)), self.reject(state, id, clause, codes)

    def stray(self, state: State, frame: Pong | Ack) -> bool:
        return frame.of not in state.said if isinstance(frame, Ack) else not state.pings

    def questionable(self, frame: Handshake) -> bool:
        """Larger than advised (SBP-LIM-04) or with keys not namespaced (SBP-HSP-07): what a receiver does is not said."""
        return frame.size > MAX_HANDSHAKE or not namespaced(frame.metadata)

    # -- greeting -------------------------------------------------------------------------------------------------

    def opened(self, state: State, channel: Channel, _: Opened) -> PeerStep:
        """The own Handshake at once, without waiting for the other one (SBP-HS-02, SBP-SES-02)."""
        greeting = replace(state, phase=Phase.GREETING)
        free: tuple[Frame, ...] = (Ping(fresh_id(state), any_ts()),)
        if self.chatter:
            free += (Message(fresh_id(state), anything(str, ""), anything(bytes, b""), any_ts()),)
        unasked = (Expectation("SBP-HSP-09", frame, WIRE, Level.MAY, "unasked", True) for frame in free)
        return Step(greeting, (Expectation("SBP-HS-02", self.greeting(state), WIRE), *unasked))

    def greeting(self, state: State) -> Handshake:
        known = self.config
        return Handshake(
            fresh_id(state),
            known.peer_id,
            anything(object, known.caps),
            anything(object, known.metadata),
            PROTOCOL,
            VERSION,
            any_ts(),
            anything(int, 0),
        )

    def greeted(self, state: State, channel: Channel, frame: Handshake) -> PeerStep:
        """Unknown caps and metadata are the host's to ignore (SBP-HSP-11, -12)."""
        if not self.understands(frame):
            return self.reject(state, frame.id, "SBP-HSP-10", (Code.UNSUPPORTED_VERSION,), Level.MUST)
        told = Established(frame.peer_id, anything(object, frame.caps), anything(object, frame.metadata))
        return Step(replace(state, phase=Phase.OPEN), (Expectation("SBP-CMP-01", told, HOST),))

    def understands(self, frame: Handshake) -> bool:
        return frame.protocol == PROTOCOL and frame.version == VERSION

    def too_early(self, state: State, channel: Channel, frame: Frame) -> PeerStep:
        return self.reject(state, frame.id, "SBP-HS-03", VIOLATION)

    def bad_handshake(self, state: State, channel: Channel, event: BadHandshake) -> PeerStep:
        return self.reject(state, event.id, "SBP-HSP-08", event.codes)

    def bad_flags_early(self, state: State, channel: Channel, event: BadFlags) -> PeerStep:
        """Two rules are broken at once, and either code says so."""
        return self.reject(state, event.id, "SBP-FLAGS-05", (Code.INVALID_FRAME, Code.PROTOCOL_VIOLATION))

    # -- an open session ------------------------------------------------------------------------------------------

    def ignore(self, state: State, channel: Channel, _: object) -> PeerStep:
        return Step(state)

    def pong(self, state: State, channel: Channel, frame: Ping) -> PeerStep:
        """One Pong for one Ping, under an id of its own (SBP-SES-06, SBP-FID-09)."""
        answer = Expectation("SBP-SES-06", Pong(fresh_id(state), any_ts()), WIRE, Level.SHOULD, "pongs")
        return Step(state, (answer,))

    def deliver(self, state: State, channel: Channel, frame: Message) -> PeerStep:
        """To the host, in order (SBP-SES-10); acknowledged only where that was asked for (SBP-SES-08)."""
        told = Delivered(frame.subject, frame.data, one_of(frame.ts, None))
        return Step(state, (Expectation("SBP-SES-10", told, HOST, lane="messages"),))

    def with_receipt(self, step: PeerStep, frame: Frame, level: Level) -> PeerStep:
        """Receipt mode: an Ack of this frame, and of no other (SBP-ACK-03, SBP-SEM-02)."""
        receipt = Ack(fresh_id(step.state), frame.id, any_ts())
        owed = Expectation("SBP-ACK-03", receipt, WIRE, level, f"ack {frame.id.hex()}")
        return replace(step, owes=(*step.owes, owed))

    def answered(self, state: State, channel: Channel, frame: Pong) -> PeerStep:
        counted = replace(state, pings=max(0, state.pings - 1))
        return Step(counted, (self.telling(Answered(anything(object, frame.ts)), "SBP-SES-07"),))

    def acked(self, state: State, channel: Channel, frame: Ack) -> PeerStep:
        return Step(state, (self.telling(Acked(frame.of), "SBP-FID-07"),))

    def failed(self, state: State, channel: Channel, frame: Error) -> PeerStep:
        """Whoever sent it ends the session if it has to end (SBP-SES-11)."""
        return Step(
            state, (self.telling(Failed(frame.code, frame.message, anything(bytes, frame.details)), "SBP-SES-11"),)
        )

    def telling(self, told: object, clause: str) -> Expectation:
        """Events that a host may have no ear for."""
        return Expectation(clause, told, HOST, Level.SHOULD, lane=type(told).__name__)

    # -- what breaks a rule ---------------------------------------------------------------------------------------

    def reject(
        self,
        state: State,
        id: bytes | None,
        clause: str,
        codes: tuple[int, ...],
        level: Level = Level.SHOULD,
        close_code: int = 1002,
    ) -> PeerStep:
        """An Error with one of these codes, then the end (SBP-CMP-02). Older debts need not be paid any more."""
        complaint = replace(self.complaint(state, id, clause, codes), level=level)
        step = self.end(state, clause, clause, close_code=close_code)
        return replace(step, owes=(complaint, *step.owes))

    def complaint(self, state: State, id: bytes | None, clause: str, codes: tuple[int, ...]) -> Expectation:
        """In no order with answers to other frames: a Pong or an Ack may come later."""
        words = Code(codes[0]).name.replace("_", " ").lower()
        error = Error(
            error_id(id, state.used), one_of(*map(int, codes)), anything(str, words), anything(bytes, b""), any_ts()
        )
        return Expectation(clause, error, WIRE, lane="errors")

    def end(
        self, state: State, why: str, clause: str = "SBP-CMP-02", level: Level = Level.MUST, close_code: int = 1000
    ) -> PeerStep:
        """The transport ends; a Close may announce it."""
        goodbye = Expectation(clause, Close(fresh_id(state), anything(object, None), any_ts()), WIRE, Level.MAY)
        closing = Expectation(clause, Hangup(anything(int, close_code)), WIRE, level)
        owes = (goodbye, closing, self.telling(Ended(anything(str, why)), clause))
        return Step(replace(state, phase=Phase.OVER), owes, lapses=frozenset([WIRE, HOST]))

    def bad_flags(self, state: State, channel: Channel, event: BadFlags) -> PeerStep:
        return self.reject(state, event.id, "SBP-FLAGS-06", event.codes, Level.MUST)

    def malformed(self, state: State, channel: Channel, event: Malformed) -> PeerStep:
        return self.reject(state, event.id, "SBP-CMP-02", event.codes)

    def too_large(self, state: State, channel: Channel, event: Oversize) -> PeerStep:
        return self.reject(state, event.id, "SBP-LIM-03", (Code.PROTOCOL_VIOLATION,), close_code=1009)

    def text(self, state: State, channel: Channel, _: Text) -> PeerStep:
        """Not SBP: whether an Error goes before the end is free, and no text says which."""
        codes = (*VIOLATION, Code.UNSUPPORTED_FEATURE)
        return self.reject(state, None, "SBP-SES-01", codes, Level.MAY, 1003)

    # -- what the host wants --------------------------------------------------------------------------------------

    def send(self, state: State, channel: Channel, request: Send) -> PeerStep:
        message = Message(fresh_id(state), request.subject, request.data, anything(object, request.ts))
        return Step(state, (Expectation("SBP-SEM-01", message, WIRE, lane="sends"),))

    def ping(self, state: State, channel: Channel, _: SendPing) -> PeerStep:
        return Step(state, (Expectation("SBP-PING-01", Ping(fresh_id(state), any_ts()), WIRE, lane="sends"),))

    def close(self, state: State, channel: Channel, request: SendClose) -> PeerStep:
        """A Close, then the end; no reply is waited for (SBP-SES-09)."""
        goodbye = Close(fresh_id(state), anything(object, request.reason), any_ts())
        step = self.end(state, "closed by the host", "SBP-SES-09", Level.SHOULD)
        return replace(step, owes=(Expectation("SBP-CLOSE-01", goodbye, WIRE), *step.owes[1:]))

    # -- the end --------------------------------------------------------------------------------------------------

    def dismissed(self, state: State, channel: Channel, frame: Close) -> PeerStep:
        """The other side ends the transport, or we do; nothing is owed (SBP-SES-09)."""
        return self.end(state, frame.reason or "closed by the other side", "SBP-SES-09", Level.SHOULD)

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> PeerStep:
        over = replace(state, phase=Phase.OVER)
        told = self.telling(Ended(anything(str, f"the transport ended: {event.code}")), "SBP-SES-09")
        return Step(over, (told,), voids=frozenset([WIRE]), lapses=frozenset([HOST]))


M = PeerMachine
DOWN, GREETING, OPEN, OVER = Phase.DOWN, Phase.GREETING, Phase.OPEN, Phase.OVER

# The specification as a table. A pair that is absent cannot happen; the selftests sweep the product.
TABLE: dict[tuple[Phase, type], Row] = {
    (DOWN, Opened): Row(("SBP-HS-02", "SBP-HSP-09"), M.opened),
    (GREETING, Handshake): Row(("SBP-HSP-10", "SBP-HS-01", "SBP-CMP-01"), M.greeted),
    (GREETING, BadHandshake): Row(("SBP-HSP-08", "SBP-HSP-03"), M.bad_handshake),
    (GREETING, Ping): Row(("SBP-HS-03",), M.too_early),
    (GREETING, Pong): Row(("SBP-HS-03",), M.too_early),
    (GREETING, Close): Row(("SBP-HS-03",), M.too_early),
    (GREETING, UnknownOp): Row(("SBP-HS-03",), M.too_early),
    (GREETING, Message): Row(("SBP-HS-03",), M.too_early),
    (GREETING, Ack): Row(("SBP-HS-03",), M.too_early),
    (GREETING, Error): Row(("SBP-HS-03",), M.too_early),
    (GREETING, BadFlags): Row(("SBP-FLAGS-05", "SBP-HS-03"), M.bad_flags_early),
    (GREETING, Malformed): Row(("SBP-CMP-02", "SBP-HS-03"), M.malformed),
    (GREETING, Text): Row(("SBP-SES-01",), M.text),
    (GREETING, Oversize): Row(("SBP-LIM-03", "SBP-HS-03"), M.too_large),
    (GREETING, Hangup): Row((), M.hung_up),
    (GREETING, Send): Row(("SBP-HSP-09", "SBP-SES-03"), M.send),
    (GREETING, SendPing): Row(("SBP-HS-02",), M.ping),
    (GREETING, SendClose): Row(("SBP-CLOSE-01",), M.close),
    (OPEN, Handshake): Row(("SBP-SES-05",), M.ignore),
    (OPEN, BadHandshake): Row(("SBP-SES-05",), M.ignore),
    (OPEN, Ping): Row(("SBP-SES-06", "SBP-FID-09"), M.pong),
    (OPEN, Pong): Row(("SBP-SES-07",), M.answered),
    (OPEN, Close): Row(("SBP-SES-09", "SBP-CLOSE-01"), M.dismissed),
    (OPEN, UnknownOp): Row(("SBP-CTRL-04",), M.ignore),
    (OPEN, Message): Row(("SBP-MSG-04", "SBP-SES-10", "SBP-SES-08"), M.deliver),
    (OPEN, Ack): Row(("SBP-SES-07", "SBP-SEM-02"), M.acked),
    (OPEN, Error): Row(("SBP-SES-11", "SBP-ERR-05"), M.failed),
    (OPEN, BadFlags): Row(("SBP-FLAGS-05", "SBP-FLAGS-06"), M.bad_flags),
    (OPEN, Malformed): Row(("SBP-CMP-02",), M.malformed),
    (OPEN, Text): Row(("SBP-SES-01",), M.text),
    (OPEN, Oversize): Row(("SBP-LIM-03",), M.too_large),
    (OPEN, Hangup): Row((), M.hung_up),
    (OPEN, Send): Row(("SBP-SEM-01",), M.send),
    (OPEN, SendPing): Row(("SBP-PING-01",), M.ping),
    (OPEN, SendClose): Row(("SBP-CLOSE-01", "SBP-SES-09"), M.close),
}
WHATEVER = (Handshake, BadHandshake, Ping, Pong, Close, UnknownOp, Message, Ack, Error)
NO_MORE = (BadFlags, Malformed, Text, Oversize, Hangup)
WISHES = (Send, SendPing, SendClose)
TABLE |= {(OVER, kind): Row(("SBP-CMP-02",), M.ignore) for kind in (*WHATEVER, *NO_MORE, *WISHES)}
TABLE |= {(DOWN, kind): Row((), M.ignore) for kind in WISHES}  # there is no session to send on

PeerMachine.table = TABLE
