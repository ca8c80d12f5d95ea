"""The half of the server's rules that every connection meets: who is let in, who is registered, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from immutables import Map

from reference_impl.core import Channel, Expectation, Level, Machine, Step, anything, one_of
from reference_impl.frog.choosing import an_id, some_of
from reference_impl.frog.frames import (
    MOST_LISTED,
    Auth,
    Chal,
    Code,
    Err,
    Find,
    Found,
    GetServers,
    Hangup,
    Hello,
    Join,
    Joined,
    Leave,
    Left,
    Lookup,
    Malformed,
    Opened,
    Peers,
    Signal,
    Sister,
    SisterErr,
    SisterHello,
    Stray,
    Text,
    ToServer,
    Try,
    Welcome,
)
from reference_impl.frog.identifiers import DASH, network_of
from reference_impl.frog.identity import ClientProof, Identities
from reference_impl.frog.limits import Bounds, Meter, Rates, Timers, over
from reference_impl.frog.presence import Connection, Phase, State
from reference_impl.frog.routes import Ending
from reference_impl.frog.sisters import Mesh, Overlay, Target

SWEEP_S = 60.0  # between two looks at what has expired (FROG-40-03)
OVERLOAD = (Code.RATE_LIMITED, Code.SERVER_UNAVAILABLE)  # FROG-40-04
ALLOWED = {  # what may be said when (FROG-15-01); the machines' tables say what it does
    (Phase.NEW, Hello),
    (Phase.NEW, SisterHello),
    *((Phase.HELLO_OK, kind) for kind in (Join, GetServers, Leave)),
    *((Phase.AUTH_PENDING, kind) for kind in (Auth, Leave)),
    *((Phase.REGISTERED, kind) for kind in (Leave, GetServers, Find, Lookup, Signal)),
}
CONFUSED = (Code.BAD_REQUEST, Code.BAD_STATE)  # AMB-07, AMB-08


@dataclass(frozen=True, slots=True)
class Config:
    server_id: str
    uri: str  # the canonical public one: what clients have to sign (FROG-12.1-04)
    timers: Timers = field(default_factory=Timers)
    bounds: Bounds = field(default_factory=Bounds)
    rates: Rates = field(default_factory=Rates)
    key: bytes = b""  # the Ed25519 seed with which it proves its id to sisters
    mesh: Mesh = field(default_factory=Mesh)
    slack_s: float = 0.0  # for a judge: how far a target's clock may be from ours
    remembers: bool = False  # for a judge: nonces are never used twice, and nothing expired is forgotten


ServerStep = Step[State]


class Registration(Machine[State]):
    """What a server does with every connection, whatever is asked on it later."""

    def __init__(self, config: Config, identities: Identities | None = None) -> None:
        self.config, self.identities = config, identities or Identities()

    def initial(self) -> State:
        targets = Map({seed.uri: Target(True, seed.server_id) for seed in self.config.mesh.seeds})
        overlay = Overlay(targets=targets)
        return State(meter=Meter(self.config.rates), overlay=replace(overlay, alarm=overlay.earliest()))

    # -- a new connection -----------------------------------------------------------------------------------------------

    def opened(self, state: State, channel: Channel, event: Opened) -> ServerStep:
        """Admission (FROG-40-01, FROG-40-02); no role yet (FROG-14-01)."""
        meter, allowed = state.meter.spend(event.address, "connections", state.now)
        bounds, near = self.config.bounds, 0
        if bounds.connections_per_ip:
            near = sum(held.address == event.address for held in state.connections.values())
        full = over(bounds.connections, len(state.connections)) or over(bounds.connections_per_ip, near)
        if full or not allowed:
            return Step(state, (Expectation("FROG-40-02", Hangup(1013), channel),))
        connections = state.connections.set(channel, Connection(address=event.address))
        return Step(self.sweeping(replace(state, connections=connections, meter=meter)))

    def hello(self, state: State, channel: Channel, _: Hello) -> ServerStep:
        """The reply, and from now on perhaps a TRY that nobody asked for (FROG-15-09, FROG-21-08)."""
        owes = (
            Expectation("FROG-16-02", Welcome(self.config.server_id), channel),
            Expectation("FROG-30-04", self.trying(state, DASH, MOST_LISTED), channel, Level.MAY, "unasked", True),
        )
        return Step(state.moved(channel, Connection(Phase.HELLO_OK)), owes)

    def trying(self, state: State, cid: str, most: int) -> Try:
        """Verified sisters only, never itself (FROG-21-06, FROG-21-07, FROG-30-04)."""
        return Try(cid, some_of(set(state.verified.values()) - {self.config.uri}, min(most, MOST_LISTED)))

    # -- registration ---------------------------------------------------------------------------------------------------

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        """A challenge for whoever claims the key, also one that is registered (FROG-17-01, FROG-17.1-01)."""
        meter, allowed = state.meter.spend(channel, "joins", state.now)
        if not allowed or self.is_full(state, frame.peer_key):
            return self.error(state, channel, "FROG-40-04", DASH, OVERLOAD if not allowed else OVERLOAD[::-1])
        expires_at = state.now + self.config.timers.challenge_s
        pending = Connection(Phase.AUTH_PENDING, frame.peer_key, expires_at=expires_at)
        challenge = Expectation("FROG-17-01", Chal(an_id("a fresh nonce", state.nonces)), channel, lane="session")
        return Step(replace(state, meter=meter).moved(channel, pending), (challenge,))

    def is_full(self, state: State, peer_key: str) -> bool:
        """Is there no room for one more peer? One that comes back needs none."""
        bounds, pending = self.config.bounds, len(state.challenges)
        if over(bounds.challenges, pending):
            return True
        mates = state.networks.get(network_of(peer_key), Map())
        crowded = over(bounds.peers, len(state.peers) + pending) or over(bounds.peers_per_network, len(mates))
        return crowded and peer_key not in state.peers

    def auth(self, state: State, channel: Channel, frame: Auth) -> ServerStep:
        """One try per challenge, in its time (FROG-17-05 to FROG-17-10)."""
        held = state.connections[channel]
        if self.expired(state, held):
            return self.auth_failed(state, channel, "FROG-17-06", (Code.AUTH_FAILED, Code.BAD_STATE))  # AMB-13
        if not self.proven(held, frame):
            return self.auth_failed(state, channel)
        return self.registered(state, channel)

    def expired(self, state: State, held: Connection) -> bool:
        return state.now >= held.expires_at

    def proven(self, held: Connection, frame: Auth) -> bool:
        proof = ClientProof(held.nonce, self.config.uri, held.peer_key, self.config.server_id)
        return bool(held.nonce) and self.identities.verify(frame.public_key, frame.signature, proof)

    def auth_failed(
        self,
        state: State,
        channel: Channel,
        clause: str = "FROG-17-10",
        codes: tuple[Code, ...] = (Code.AUTH_FAILED,),
    ) -> ServerStep:
        """Back to where it may JOIN again; too many of these end the connection."""
        meter, allowed = state.meter.spend(channel, "failed_auths", state.now)
        state = replace(state, meter=meter).moved(channel, Connection(Phase.HELLO_OK))
        step = self.error(state, channel, clause, DASH, codes)
        return step if allowed else self.and_close(step, channel, silent=False)

    def registered(self, state: State, channel: Channel) -> ServerStep:
        """From this very moment found under its key, and no other connection is (FROG-17-11, FROG-17.1-02)."""
        key = state.connections[channel].peer_key
        joined = Expectation("FROG-17-11", Joined(), channel, lane="session")
        before = state.peers.get(key)
        if before is None:
            return Step(state.registered(channel, key), (joined,))
        replaced = state.unregistered(before, Ending.REPLACED).moved(before, Connection(Phase.OVER))
        closing = Expectation("FROG-17.1-03", Hangup(), before, Level.SHOULD)
        return Step(replaced.registered(channel, key), (joined, closing), lapses=frozenset([before]))

    def leave(self, state: State, channel: Channel, _: Leave) -> ServerStep:
        """First gone, then told so (FROG-19-01); before registration a courtesy (FROG-19-03)."""
        level = Level.MUST if state.phase(channel) is Phase.REGISTERED else Level.SHOULD
        left = state.unregistered(channel, Ending.CLOSED).moved(channel, Connection(Phase.OVER))
        clause = "FROG-19-01" if level is Level.MUST else "FROG-19-03"
        owes = (
            Expectation(clause, Left(), channel, level, lane="session"),
            Expectation("FROG-19-02", Hangup(), channel, Level.SHOULD),
        )
        return Step(left, owes, lapses=frozenset([channel]))

    # -- what is refused ------------------------------------------------------------------------------------------------

    def error(
        self,
        state: State,
        channel: Channel,
        clause: str,
        id: str,
        codes: tuple[Code, ...],
        other_ids: tuple[str, ...] = (),
        lane: str = "",
        level: Level = Level.MUST,
    ) -> ServerStep:
        """An error with one of these codes; nothing else changes (FROG-5-24, FROG-15-14)."""
        err = Err(one_of(id, *other_ids), one_of(*codes))
        lane = lane or ("session" if id == DASH else f"cid {id}")
        return Step(state, (Expectation(clause, err, channel, level, lane=lane),))

    def metered(
        self, state: State, channel: Channel, what: str, id: str, act: Callable[[State], ServerStep]
    ) -> ServerStep:
        """Within its rate (FROG-40-01)."""
        meter, allowed = state.meter.spend(channel, what, state.now)
        if not allowed:
            return self.error(state, channel, "FROG-40-04", id, OVERLOAD)
        return act(replace(state, meter=meter))

    def reply(self, state: State, channel: Channel, clause: str, frame: Try | Peers | Found) -> ServerStep:
        """With the request's CID (FROG-20-01), in any order with other replies (FROG-20-03)."""
        return Step(state, (Expectation(clause, frame, channel, lane=f"cid {frame.cid}"),))

    def and_close(self, step: ServerStep, channel: Channel, silent: bool) -> ServerStep:
        """An error may end the connection (FROG-38-07), and of broken framing not even the error is owed."""
        owes = tuple(replace(debt, level=Level.MAY) if silent else debt for debt in step.owes)
        closing = Expectation(step.owes[0].clause, Hangup(), channel)
        return Step(step.state.dropped(channel), (*owes, closing), lapses=frozenset([channel]))

    def bad_state(self, state: State, channel: Channel, frame: ToServer) -> ServerStep:
        """Well-formed, and not now: a CID is echoed (FROG-15-03), else the dash (FROG-15-04), though sections 20 and 38
        would have a signal's route id echoed."""
        match frame:
            case GetServers() | Find() | Lookup():
                return self.error(state, channel, "FROG-15-03", frame.cid, (Code.BAD_STATE,))
            case Signal():
                return self.error(state, channel, "FROG-15-04", DASH, (Code.BAD_STATE,), (frame.route_id,))
        return self.error(state, channel, "FROG-15-02", DASH, (Code.BAD_STATE,))

    def joined_already(self, state: State, channel: Channel, _: Join) -> ServerStep:
        return self.error(state, channel, "FROG-17-13", DASH, (Code.BAD_STATE,))

    def malformed(self, state: State, channel: Channel, event: Malformed) -> ServerStep:
        """Parsed first; where the command is also not for now, a server may say that instead (AMB-02)."""
        phase, codes = state.phase(channel), event.codes
        if phase is not Phase.AUTH_PENDING:
            codes = tuple(code for code in codes if code is not Code.AUTH_FAILED)
        if event.frame and (phase, event.frame) not in ALLOWED:
            codes += (Code.BAD_STATE,)
        step = self.error(state, channel, "FROG-15-05", event.id, codes, event.other_ids)
        return self.other_family(step) if event.sister and phase is Phase.NEW else step

    def other_family(self, step: ServerStep) -> ServerStep:
        """While no role is chosen an error may be of either family (AMB-09)."""

        def other(frame: Err | SisterErr) -> Err | SisterErr:
            return (SisterErr if isinstance(frame, Err) else Err)(frame.id, frame.code)

        return replace(step, owes=tuple(replace(debt, template=other(debt.template)) for debt in step.owes))

    def stray(self, state: State, channel: Channel, _: Stray) -> ServerStep:
        """Never said to a server (FROG-5-13)."""
        return self.error(state, channel, "FROG-5-13", DASH, CONFUSED)

    def mixed(self, state: State, channel: Channel, frame: Sister) -> ServerStep:
        """A sister's command on a client's connection: refused as the client is (FROG-14-04, AMB-08)."""
        return self.error(state, channel, "FROG-14-04", DASH, CONFUSED, ids_of(frame))

    def sister_refused(self, state: State, channel: Channel, what: object) -> ServerStep:
        """On a connection of a sister, or of nobody yet, in the sisters' family (FROG-14-03, AMB-09)."""
        ids = (DASH,) if isinstance(what, Malformed | Stray) else (*ids_of(what), DASH)
        err = SisterErr(one_of(*ids), one_of(Code.BAD_STATE, Code.BAD_REQUEST))
        return Step(state, (Expectation("FROG-28-02", err, channel, lane="session"),))

    def ignore(self, state: State, channel: Channel, _: object) -> ServerStep:
        """An error is never answered with an error (AMB-33)."""
        return Step(state)

    def too_late(self, state: State, channel: Channel, _: object) -> ServerStep:
        """It left or was replaced, and is about to be closed: whatever it still says may be refused (AMB-16, AMB-17)."""
        refusal = Err(anything(str, DASH), one_of(Code.BAD_STATE, *Code))
        sisterly = SisterErr(refusal.id, refusal.code)
        frames = (refusal, Left(), sisterly)
        return Step(state, tuple(Expectation("FROG-17.1-04", it, channel, Level.MAY, "session") for it in frames))

    # -- the end of a connection, and of everything else ----------------------------------------------------------------

    def text(self, state: State, channel: Channel, _: Text) -> ServerStep:
        """The connection is closed, and whoever was registered on it is gone (FROG-4-06, FROG-18-05)."""
        closing = Expectation("FROG-4-06", Hangup(1003), channel)
        return Step(state.dropped(channel), (closing,), lapses=frozenset([channel]))

    def hung_up(self, state: State, channel: Channel, _: Hangup) -> ServerStep:
        return Step(state.dropped(channel), voids=frozenset([channel]))

    def sweeping(self, state: State) -> State:
        """Something is there that may expire: look after it later."""
        if state.sweep_at is not None or self.config.remembers:
            return state
        return replace(state, sweep_at=state.now + SWEEP_S)

    def sweep(self, state: State) -> ServerStep:
        """Forget what expired long enough ago: challenges, routes, minutes (FROG-39-04, FROG-39-07)."""
        long_ago = state.now - self.config.timers.route_s - SWEEP_S
        expired = [route_id for route_id, route in state.routes.by_id.items() if route.used_at < long_ago]
        pending = [channel for channel in state.challenges if not self.expired(state, state.connections[channel])]
        state = replace(
            state,
            routes=state.routes.without(iter(expired)),
            challenges=Map(dict.fromkeys(pending)),
            meter=state.meter.swept(state.now),
            sweep_at=None,
        )
        return Step(self.sweeping(state) if state.connections or len(state.routes) else state)


def ids_of(frame: object) -> tuple[str, ...]:
    """The correlation id of a command, where it has one (section 38)."""
    ids = (getattr(frame, name, None) for name in ("cid", "fcid", "route_id"))
    return tuple(id for id in ids if isinstance(id, str))
