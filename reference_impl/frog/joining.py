"""The half of the client's rules that makes it present: dial somebody, prove who it is, come back when that is over."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from typing import Any

from immutables import Map

from reference_impl.core import Channel, Expectation, Level, Machine, Step, one_of
from reference_impl.core.expectation import Hole
from reference_impl.frog.choosing import a_cid, drawn, jitter, proven, words
from reference_impl.frog.frames import (
    MOST_LISTED,
    Auth,
    Chal,
    Err,
    GetServers,
    Hangup,
    Hello,
    Join,
    Joined,
    Leave,
    Opened,
    Text,
    Welcome,
)
from reference_impl.frog.host import (
    DISCONNECTED,
    HOST,
    NETWORK,
    NOT_REGISTERED,
    TIMEOUT,
    UNTRUE,
    Depart,
    Dial,
    Parted,
    Refused,
    Reported,
    Request,
    Start,
    Status,
    Stop,
)
from reference_impl.frog.identifiers import is_network
from reference_impl.frog.identity import ClientProof, Identities
from reference_impl.frog.known import Backoff, Known
from reference_impl.frog.uri import why_not


class Phase(enum.Enum):
    STOPPED = "stopped"
    AWAY = "waiting for a dial, or dialling"
    GREETING = "HELLO is said"
    JOINING = "JOIN is said"
    PROVING = "AUTH is said"
    REGISTERED = "registered"
    LEAVING = "LEAVE is said"


@dataclass(frozen=True, slots=True)
class Config:
    """What a client ships with (FROG-41-01)."""

    bootstrap: tuple[str, ...]
    network: str
    seed: bytes
    cache: tuple[str, ...] = ()
    backoff: Backoff = field(default_factory=Backoff)
    patience_s: float = 15.0  # for a registration, and for the answer to a request

    def __post_init__(self) -> None:
        if not self.bootstrap:
            raise ValueError("there is no bootstrap server: name at least one")
        for uri in self.bootstrap:
            if fault := why_not(uri):
                raise ValueError(f"the bootstrap server {uri} is not canonical: {fault}")
        if not is_network(self.network):
            raise ValueError(f"{self.network!r} is no network: use 1 to 16 of A-Z, 0-9 and _")
        if len(self.seed) != 32:
            raise ValueError(f"the seed has {len(self.seed)} bytes: give it 32")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of the host, or of the client itself (ticket None), on its way or unanswered."""

    request: Request
    own: bool
    until: float


@dataclass(frozen=True, slots=True)
class State:
    known: Known
    now: float = 0.0
    phase: Phase = Phase.STOPPED
    connection: Channel = None
    uri: str = ""  # the one that was dialled: what is signed, whatever a server says (FROG-12.1-02, -03)
    server_id: str = ""
    attempt: int = 0
    jitter: float = 0.0
    until: float | None = None  # by when it has to be registered
    unsaid: Map[str, Asked] = Map()  # lane -> request
    outstanding: Map[str, Asked] = Map()  # CID -> request
    routes: Map[str, str] = Map()  # of this connection: route id -> the other peer (FROG-22-11)


ClientStep = Step[State]
OWN = 0  # the ticket of what the client asks for itself


class Joining(Machine[State]):
    """How a client comes to be registered, and how it ends."""

    def __init__(self, config: Config, identities: Identities | None = None) -> None:
        self.config, self.identities = config, identities or Identities()
        public_key = self.identities.public_key(config.seed)
        self.peer_key = f"{config.network}:{self.identities.id_of(public_key)}"

    def initial(self) -> State:
        bootstrap = tuple(dict.fromkeys(self.config.bootstrap))
        cache = tuple(uri for uri in self.config.cache if why_not(uri) is None)
        return State(Known(bootstrap).learn(cache))

    # -- connecting -----------------------------------------------------------------------------------------------------

    def start(self, state: State, channel: Channel, _: Start) -> ClientStep:
        away = replace(state, phase=Phase.AWAY)
        return Step(away, (self.dialling(away),))

    def dialling(self, state: State) -> Expectation:
        """Whom: any that is known (FROG-41-02); when: after the backoff (FROG-15-13, FROG-41-05)."""
        wait = self.config.backoff.wait(state.attempt, state.jitter)
        not_before = state.now + wait if wait else None
        due = state.now + self.config.backoff.latest(state.attempt)
        dial = Dial(self.a_server(state), jitter())
        return Expectation("FROG-41-02", dial, NETWORK, not_before=not_before, due=due)

    def a_server(self, state: State) -> Any:
        every, next = state.known.every(), state.known.next()
        label = f"one of {sorted(every)}"
        return Hole(label, lambda got, _: got in every, lambda entropy, _: drawn(entropy, list(next), 1)[0])

    def opened(self, state: State, channel: Channel, _: Opened) -> ClientStep:
        until = state.now + self.config.patience_s
        greeting = replace(state, phase=Phase.GREETING, connection=channel, until=until)
        return Step(greeting, (Expectation("FROG-16-01", Hello(), channel),))

    def opened_in_haste(self, state: State, channel: Channel) -> ClientStep:
        """JOIN may come right behind HELLO (AMB-66)."""
        step = self.opened(state, channel, Opened())
        joining = Expectation("FROG-46-01", Join(self.peer_key), channel)
        return Step(replace(step.state, phase=Phase.JOINING), (*step.owes, joining))

    def too_late(self, state: State, channel: Channel, _: Opened) -> ClientStep:
        """A dial that came up after the stop: nobody wants the connection."""
        return Step(state, (Expectation("", Hangup(), channel, Level.SHOULD),))

    def welcomed(self, state: State, channel: Channel, frame: Welcome) -> ClientStep:
        """The server's id is what goes into the proof (FROG-16-04)."""
        joining = replace(state, phase=Phase.JOINING, server_id=frame.server_id)
        owes = (Expectation("FROG-46-01", Join(self.peer_key), channel), self.own_request(channel, Level.MAY))
        return Step(joining, owes)

    def welcomed_late(self, state: State, channel: Channel, frame: Welcome) -> ClientStep:
        """It had said JOIN already; a second welcome changes nothing."""
        if state.server_id:
            return self.given_up(state, channel, frame)
        return Step(replace(state, server_id=frame.server_id), (self.own_request(channel, Level.MAY),))

    def challenged(self, state: State, channel: Channel, frame: Chal) -> ClientStep:
        if not state.server_id:
            return self.given_up(state, channel, frame)
        proof = ClientProof(frame.nonce, state.uri, self.peer_key, state.server_id)  # FROG-12.1-01
        public_key, signature = self.identities.sign(self.config.seed, proof)
        holds = proven(
            f"the signature of {proof}", lambda got: self.identities.verify(public_key, got, proof), signature
        )
        auth = Expectation("FROG-12.1-01", Auth(public_key, holds), channel)
        return Step(replace(state, phase=Phase.PROVING), (auth,))

    def joined(self, state: State, channel: Channel, _: Joined) -> ClientStep:
        """Present; and who else is there to be present at (FROG-41-03)?"""
        known = state.known.succeeded(state.uri)
        registered = replace(state, phase=Phase.REGISTERED, attempt=0, until=None, known=known)
        up = Expectation("FROG-17-11", Status(True, state.uri), HOST, lane="status")
        return Step(registered, (up, self.own_request(channel, Level.SHOULD)))

    def own_request(self, channel: Channel, level: Level) -> Expectation:
        """What it asks for itself, and may ask again."""
        servers = GetServers(a_cid(()), one_of(*range(MOST_LISTED, 0, -1)))
        return Expectation("FROG-41-03", servers, channel, level, lane="own", repeats=True)

    # -- the end of a connection ----------------------------------------------------------------------------------------

    def dropped(self, state: State, channel: Channel, what: object) -> ClientStep:
        """Every request fails, and after a while there is another dial (FROG-18-06, FROG-43-03)."""
        registered = state.phase is Phase.REGISTERED
        known = state.known if registered else state.known.failed(state.uri)
        away = State(known, state.now, Phase.AWAY, attempt=state.attempt + 1, jitter=state.jitter)
        owes = (*self.going_down(state), self.dialling(away))
        gone = frozenset([state.connection])
        if isinstance(what, Hangup):
            return Step(away, owes, voids=gone, lapses=frozenset([HOST]))
        return Step(away, owes, lapses=gone | {HOST})  # what it had said before it gave up may still be on its way

    def going_down(self, state: State) -> tuple[Expectation, ...]:
        waiting = (*state.unsaid.values(), *state.outstanding.values())
        tickets = sorted(asked.request.ticket for asked in waiting if not asked.own)
        owes = tuple(self.refusing(ticket, DISCONNECTED, "FROG-44-01") for ticket in tickets)
        if state.phase in (Phase.REGISTERED, Phase.LEAVING):
            owes = (Expectation("FROG-18-06", Status(False), HOST, Level.SHOULD, lane="status"), *owes)
        return owes

    def given_up(self, state: State, channel: Channel, what: object) -> ClientStep:
        """This server is of no use: close, and try another."""
        step = self.dropped(state, channel, what)
        closing = Expectation("FROG-42-01", Hangup(), channel, Level.SHOULD)
        return replace(step, owes=(closing, *self.may_report(what), *step.owes))

    def may_report(self, what: object) -> tuple[Expectation, ...]:
        """An error that answers no request of the host may be told to it even where there is no registration."""
        if not isinstance(what, Err):
            return ()
        return (Expectation("FROG-46-01", Reported(what.id, what.code), HOST, Level.MAY, lane="errors"),)

    def not_let_in(self, state: State, channel: Channel, frame: Err) -> ClientStep:
        """Whatever the code: this server does not want us now. An error about another request says nothing of that."""
        if frame.id in state.outstanding:
            return self.fail(state, frame.id, frame.code, "FROG-20-04")
        return self.given_up(state, channel, frame)

    def text(self, state: State, channel: Channel, what: Text) -> ClientStep:
        step = self.dropped(state, channel, what)
        return replace(step, owes=(Expectation("FROG-4-06", Hangup(1003), channel), *step.owes))

    def stop(self, state: State, channel: Channel, _: Stop | Depart) -> ClientStep:
        """Gone, without a word."""
        stopped = State(state.known, state.now)
        closing = () if state.connection is None else (Expectation("", Hangup(), state.connection),)
        return Step(stopped, (*closing, *self.going_down(state)), lapses=frozenset([NETWORK]))

    def depart(self, state: State, channel: Channel, _: Depart) -> ClientStep:
        leaving = replace(state, phase=Phase.LEAVING, until=state.now + self.config.patience_s)
        return Step(leaving, (Expectation("FROG-46-01", Leave(), state.connection, lane="sends"),))

    def depart_unregistered(self, state: State, channel: Channel, event: Depart) -> ClientStep:
        """It never was there; a server that was greeted may be told (FROG-19-03)."""
        step = self.stop(state, channel, event)
        parted = Expectation("FROG-46-01", Parted(), HOST, lane="status")
        if state.connection is None:
            return replace(step, owes=(*step.owes, parted))
        farewell = Expectation("FROG-19-03", Leave(), state.connection, Level.MAY)
        return replace(step, owes=(farewell, *step.owes, parted), lapses=step.lapses | {state.connection})

    def parted(self, state: State, channel: Channel, what: object) -> ClientStep:
        """OK LEAVE, or the connection is gone: it left, and does not come back."""
        parted = Expectation("FROG-46-01", Parted(), HOST, lane="status")
        over = isinstance(what, Hangup)
        closing = () if over else (Expectation("", Hangup(), channel, Level.SHOULD),)
        gone = frozenset([channel]) if over else frozenset()
        return Step(State(state.known, state.now), (*closing, *self.going_down(state), parted), voids=gone)

    # -- requests that come to nothing ----------------------------------------------------------------------------------

    def ignore(self, state: State, channel: Channel, _: object) -> ClientStep:
        return Step(state)

    def fail(self, state: State, cid: str, code: str, clause: str) -> ClientStep:
        asked = state.outstanding[cid]
        answered = replace(state, outstanding=state.outstanding.delete(cid))
        return Step(answered, () if asked.own else (self.refusing(asked.request.ticket, code, clause),))

    def refusing(self, ticket: int, code: str, clause: str) -> Expectation:
        """One of our own codes may be in any words."""
        said = words(code) if code in (DISCONNECTED, NOT_REGISTERED, TIMEOUT, UNTRUE) else code
        return Expectation(clause, Refused(ticket, said), HOST, lane=f"ask {ticket}")
