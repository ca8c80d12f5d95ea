"""The server's rules: who is registered, who finds whom, which signals pass along which route.

Inputs are (connection, Heard): the state is the whole server's, and its `now` is the moment of the last input. What is said
between servers is in the modules below this one: `handshake`, `gossip`, `flooding`, `relaying`.

    Opened(address)     on a new channel: somebody connected, a client or a sister; its first word tells
    Dialled(uri)        on a new channel: a connection that `Dial(uri)` asked for is up, `frog.v1` selected
    DialFailed(uri)     on NETWORK: it came to nothing
    a frame, Malformed, Stray, Text    on the connection's: one message came
    Hangup()            on the connection's: it is over
    Tick(at)            on CLOCK: `deadline(state)` has come; a server with seeds wants its first at once

What is owed is frames and `Hangup()` on connections, and `Dial(uri)` on NETWORK.
"""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from reference_impl.core import Channel, Expectation, Row, Step, Tick, one_of
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
    Heard,
    Hello,
    Join,
    Leave,
    Lookup,
    Malformed,
    Opened,
    Peers,
    Signal,
    SignalFrom,
    Sister,
    SisterAuth,
    SisterChal,
    SisterErr,
    SisterFind,
    SisterFound,
    SisterHello,
    SisterList,
    SisterLookup,
    SisterOk,
    SisterPeers,
    SisterServers,
    SisterSignal,
    Stray,
    Text,
    ToServer,
)
from reference_impl.frog.host import Dial, DialFailed, Dialled
from reference_impl.frog.identifiers import network_of
from reference_impl.frog.limits import over
from reference_impl.frog.presence import Connection, Phase, State
from reference_impl.frog.registration import OVERLOAD, Config, ServerStep
from reference_impl.frog.relaying import Relaying
from reference_impl.frog.routes import Route
from reference_impl.frog.sisters import NEVER, Adjacent

__all__ = ["TABLE", "Config", "Phase", "ServerMachine", "ServerStep", "State"]


class ServerMachine(Relaying):
    """The server as a table: (phase of the connection, kind of input) -> row."""

    def deadline(self, state: State) -> float | None:
        times = [at for at in (state.sweep_at, state.overlay.alarm) if at is not None and at < NEVER]
        return min(times, default=None)

    def receive(self, state: State, channel: Channel, event: Heard | Tick) -> ServerStep:
        state = replace(state, now=max(state.now, event.at))
        if isinstance(event, Tick):
            return self.awake(state)
        phase = state.phase(channel)
        if phase is Phase.GONE and not isinstance(event.what, Opened | Dialled | DialFailed):
            return Step(state)  # the last words of a connection that is gone
        return self.obey(phase, state, channel, event.what)

    def awake(self, state: State) -> ServerStep:
        """Whatever is due by now."""
        if state.sweep_at is not None and state.sweep_at <= state.now:
            state = self.forgetting(self.sweep(state).state)
        if state.overlay.alarm > state.now:
            return Step(state)
        owes, lapses = tuple[Expectation, ...](), frozenset[Channel]()
        for due in (self.answers_due, self.handshakes_due, self.dials, self.questions):
            step = due(state)
            state, owes, lapses = step.state, owes + step.owes, lapses | step.lapses
        state = replace(state, overlay=replace(state.overlay, alarm=state.overlay.earliest()))
        return Step(state, owes, lapses=lapses)

    def spoke(self, state: State, expectation: Expectation, frame: object) -> State:
        match frame:
            case Dial():
                return self.dialling(state, frame)
            case SisterFind() | SisterLookup():
                return self.copied(state, expectation, frame)
            case SisterList():
                return self.questioned(state, expectation.channel, frame)
            case Chal(nonce) | SisterChal(nonce) if expectation.channel in state.connections:
                held = replace(state.connections[expectation.channel], nonce=nonce)
                nonces = state.nonces.set(nonce, None) if self.config.remembers else state.nonces
                return replace(state, connections=state.connections.set(expectation.channel, held), nonces=nonces)
            case Found():
                return state.routed(expectation.channel, frame)
        return state

    # -- what else conforms ---------------------------------------------------------------------------------------------

    def alternatives(self, state: State, channel: Channel, event: Heard | Tick) -> tuple[ServerStep, ...]:
        """Where the specification leaves a choice, the choices that the reference does not take."""
        if isinstance(event, Tick):
            return ()
        step, phase, what = self.receive(state, channel, event), state.phase(channel), event.what
        others = self.other_choices(replace(state, now=max(state.now, event.at)), phase, channel, what)
        if len(step.owes) == 1 and isinstance(step.owes[0].template, Err | SisterErr):
            silent = isinstance(what, Malformed) and what.severe
            said = (step, self.other_family(step)) if phase is Phase.NEW else (step,)
            others += (*said[1:], *(self.and_close(each, channel, silent) for each in said))
        return others

    def other_choices(self, state: State, phase: Phase, channel: Channel, what: object) -> tuple[ServerStep, ...]:
        match phase, what:
            case Phase.AUTH_PENDING, Auth():
                return self.other_auths(state, channel, what)
            case Phase.AUTH_PENDING, Malformed(codes=codes) if Code.AUTH_FAILED in codes:
                return self.spent(state, channel, self.malformed(state, channel, what), Connection(Phase.HELLO_OK))
            case Phase.HELLO_OK | Phase.AUTH_PENDING | Phase.REGISTERED, Leave():
                return (self.stay(self.leave(state, channel, what), channel),)
            case Phase.OVER, Join() | GetServers():
                return (self.obey(Phase.HELLO_OK, state, channel, what),)
            case Phase.REGISTERED, Signal():
                return self.other_signals(state, channel, what)
            case Phase.SISTER, SisterSignal():
                return self.other_relays(state, channel, what)
            case Phase.SISTER, SisterErr(id) if (route := state.routes.get(id)) and self.may_be_over(state, route):
                return (Step(state),)
            case _, Stray("ERR"):
                return (Step(state),)  # an error is never answered with an error (AMB-33)
        return ()

    def stay(self, step: ServerStep, channel: Channel) -> ServerStep:
        """It left, and may begin again on the same connection (AMB-16)."""
        back = step.state.moved(channel, Connection(Phase.HELLO_OK))
        return replace(step, state=back, owes=tuple(d for d in step.owes if not isinstance(d.template, Hangup)))

    def other_auths(self, state: State, channel: Channel, frame: Auth) -> tuple[ServerStep, ...]:
        """A failed AUTH may leave the challenge open (AMB-13); at the very end of its time it may fail or not."""
        held = state.connections[channel]
        if not self.proven(held, frame):
            return self.spent(state, channel, self.auth(state, channel, frame), held)
        if abs(state.now - held.expires_at) <= self.config.slack_s:
            return self.auth_failed(state, channel), self.registered(state, channel)
        if self.expired(state, held):
            return self.spent(state, channel, self.auth(state, channel, frame), held)
        return ()

    def spent(self, state: State, channel: Channel, failed: ServerStep, kept: Connection) -> tuple[ServerStep, ...]:
        """The connection stands as it is kept, or with a challenge that nobody can answer any more."""
        if channel not in failed.state.connections:
            return ()
        useless = replace(state.connections[channel], nonce="")
        return tuple(replace(failed, state=failed.state.moved(channel, held)) for held in (kept, useless))

    def other_signals(self, state: State, channel: Channel, frame: Signal) -> tuple[ServerStep, ...]:
        route = state.routes.get(frame.route_id)
        if route is None or not self.may_be_over(state, route):
            return ()
        over = self.route_over(state, channel, frame, route)
        if route.endpoint(state.connections[channel].peer_key) != channel:
            return (over,)
        return self.carried(state, channel, frame, route), over

    def other_relays(self, state: State, channel: Channel, frame: SisterSignal) -> tuple[ServerStep, ...]:
        route = state.routes.get(frame.route_id)
        if route is None or not self.may_be_over(state, route):
            return ()
        stranger = route.endpoint(frame.peer_key) != Adjacent(state.sister(channel))
        codes = (*self.why_over(route), *((Code.TARGET_MISMATCH,) if stranger else ()))
        over = self.unsent(state, channel, frame, "FROG-37-02", codes)
        onward = None if stranger else self.onward(state, route, frame)
        return (over,) if onward is None else (Step(self.used(state, frame.route_id), (onward,)), over)

    def may_be_over(self, state: State, route: Route) -> bool:
        """Is it at the very end of its life, or was it not refreshed (FROG-25-03 is a SHOULD)?"""
        earliest = route.created_at + self.config.timers.route_s - self.config.slack_s
        latest = route.used_at + self.config.timers.route_s + self.config.slack_s
        return route.ended is None and earliest <= state.now <= latest

    # -- requests with a CID --------------------------------------------------------------------------------------------

    def get_servers(self, state: State, channel: Channel, frame: GetServers) -> ServerStep:
        """FROG-21-01; a limit beyond 7 is no command at all (FROG-21-02)."""
        return self.metered(state, channel, "getservers", frame.cid, lambda now: self.tried(now, channel, frame))

    def tried(self, state: State, channel: Channel, frame: GetServers) -> ServerStep:
        return self.reply(state, channel, "FROG-21-01", self.trying(state, frame.cid, frame.limit))

    def find(self, state: State, channel: Channel, frame: Find) -> ServerStep:
        return self.metered(state, channel, "finds", frame.cid, lambda now: self.found_some(now, channel, frame))

    def found_some(self, state: State, channel: Channel, frame: Find) -> ServerStep:
        """Others of its own network (FROG-22-03, FROG-22-04), no more than it asked for (FROG-22-06)."""
        others = self.candidates(state, state.connections[channel].peer_key)
        if len(others) < frame.limit and state.overlay.live:
            return self.find_afar(state, channel, frame)
        some = some_of(others, min(frame.limit, MOST_LISTED), least=min(1, len(others)))
        return self.reply(state, channel, "FROG-22-02", Peers(frame.cid, some))

    def lookup(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        own = state.connections[channel].peer_key
        if network_of(frame.peer_key) != network_of(own):
            return self.error(state, channel, "FROG-23-02", frame.cid, (Code.BAD_REQUEST,))
        if frame.peer_key == own:
            return self.error(state, channel, "FROG-23-03", frame.cid, (Code.BAD_REQUEST,))
        return self.metered(state, channel, "lookups", frame.cid, lambda now: self.looked_up(now, channel, frame))

    def looked_up(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        """The local table decides, by the whole key (FROG-24-01); each hit is a new route (FROG-24-10)."""
        target = state.peers.get(frame.peer_key)
        if target is None:
            return self.missed(state, channel, frame)
        if over(self.config.bounds.routes, len(state.routes)):
            return self.error(state, channel, "FROG-40-04", frame.cid, OVERLOAD[::-1])
        found = Found(frame.cid, frame.peer_key, an_id("a fresh route id", state.routes.by_id))  # FROG-24-04
        state = replace(state, lookups=state.lookups.set((channel, frame.cid), target))
        return self.reply(state, channel, "FROG-23-05", found)

    def missed(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        """Nobody to ask: at once, or after the time of a lookup (FROG-23-06, FROG-24-08, AMB-47); else sisters (FROG-24-02)."""
        if state.overlay.live:
            return self.look_afar(state, channel, frame)
        err = Err(frame.cid, one_of(Code.PEER_NOT_FOUND, Code.LOOKUP_TIMEOUT))
        due = state.now + self.config.timers.lookup_s
        return Step(state, (Expectation("FROG-23-06", err, channel, lane=f"cid {frame.cid}", due=due),))

    # -- signaling ------------------------------------------------------------------------------------------------------

    def signal(self, state: State, channel: Channel, frame: Signal) -> ServerStep:
        return self.metered(state, channel, "signals", frame.route_id, lambda now: self.relay(now, channel, frame))

    def relay(self, state: State, channel: Channel, frame: Signal) -> ServerStep:
        """Only along a living route, from the very connection that is its side (section 26)."""
        route = state.routes.get(frame.route_id)
        if route is None:
            return self.signal_error(state, channel, frame, "FROG-26-07", (Code.ROUTE_NOT_FOUND,))
        if route.ended or state.now >= route.used_at + self.config.timers.route_s:
            return self.route_over(state, channel, frame, route)
        if route.endpoint(state.connections[channel].peer_key) != channel:  # and so of its network (FROG-26-09)
            codes = (Code.TARGET_MISMATCH, Code.ROUTE_NOT_FOUND)  # a stranger need not learn that it exists (AMB-19)
            return self.signal_error(state, channel, frame, "FROG-26-05", codes)
        return self.carried(state, channel, frame, route)

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        """The same bytes to the other side, in order; the sender hears nothing (FROG-26-01, FROG-26-15, FROG-26-16)."""
        source = state.connections[channel].peer_key  # FROG-26-04
        if isinstance(route.opposite(source), Adjacent):
            return self.sent_afar(state, channel, frame, route)
        delivery = SignalFrom(frame.route_id, source, frame.kind, frame.payload)
        lane = f"route {frame.route_id} from {source}"
        state = replace(state, routes=state.routes.used(frame.route_id, state.now))  # FROG-25-03
        return Step(state, (Expectation("FROG-26-03", delivery, route.opposite(source), lane=lane),))

    def route_over(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        """Expired, or forgotten already, or its other end is gone: each has its code (FROG-25-07, AMB-18)."""
        codes: tuple[Code, ...] = (Code.ROUTE_EXPIRED, Code.ROUTE_NOT_FOUND)
        if route.ended:
            codes += (Code.PEER_NOT_FOUND,)
        if route.endpoint(state.connections[channel].peer_key) != channel:
            codes += (Code.TARGET_MISMATCH,)
        return self.signal_error(state, channel, frame, "FROG-26-08", codes)

    def signal_error(
        self, state: State, channel: Channel, frame: Signal, clause: str, codes: tuple[Code, ...]
    ) -> ServerStep:
        """FROG-20-06."""
        return self.error(state, channel, clause, frame.route_id, codes, lane=f"route {frame.route_id}")


M = ServerMachine
NEW, HELLO_OK, AUTH_PENDING, REGISTERED = Phase.NEW, Phase.HELLO_OK, Phase.AUTH_PENDING, Phase.REGISTERED
OVER, SISTER = Phase.OVER, Phase.SISTER
SHAKING = (
    *(Phase.TO_PROVE, Phase.TO_CHALLENGE, Phase.TO_ACKNOWLEDGE),
    *(Phase.GREETING, Phase.GREETED, Phase.PROVING, Phase.CHALLENGING),
)
SISTERS = (*SHAKING, Phase.UNAUTHORISED, SISTER)
CLIENTS = (HELLO_OK, AUTH_PENDING, REGISTERED)
CLIENT_WORDS, SISTER_WORDS = get_args(ToServer), get_args(Sister)

# The specification as a table. A pair that is absent cannot happen; the selftests sweep the product.
TABLE: dict[tuple[Phase, type], Row] = {
    (Phase.GONE, Opened): Row(("FROG-14-01",), M.opened),
    (NEW, Hello): Row(("FROG-14-01", "FROG-15-01", "FROG-16-02"), M.hello),
    (NEW, SisterHello): Row(("FROG-14-01",), M.sister_hello),
    (HELLO_OK, Join): Row(("FROG-17-01", "FROG-17-02"), M.join),
    (HELLO_OK, GetServers): Row(("FROG-21-01",), M.get_servers),
    (HELLO_OK, Leave): Row(("FROG-19-03",), M.leave),
    (AUTH_PENDING, Auth): Row(("FROG-17-05",), M.auth),
    (AUTH_PENDING, Leave): Row(("FROG-19-03",), M.leave),
    (REGISTERED, Leave): Row(("FROG-19-01",), M.leave),
    (REGISTERED, GetServers): Row(("FROG-21-01",), M.get_servers),
    (REGISTERED, Find): Row(("FROG-22-02",), M.find),
    (REGISTERED, Lookup): Row(("FROG-23-05", "FROG-24-01"), M.lookup),
    (REGISTERED, Signal): Row(("FROG-26-03",), M.signal),
    (REGISTERED, Join): Row(("FROG-17-13",), M.joined_already),
}
WRONG_STATE = Row(("FROG-15-01", "FROG-15-02"), M.bad_state)
TABLE = {(phase, kind): WRONG_STATE for phase in (NEW, *CLIENTS) for kind in CLIENT_WORDS} | TABLE
TABLE |= {(phase, kind): Row(("FROG-14-02", "FROG-14-04"), M.mixed) for phase in CLIENTS for kind in SISTER_WORDS}
TABLE |= {
    (NEW, kind): Row(("FROG-28-02",), M.sister_refused) for kind in SISTER_WORDS if kind not in (SisterHello, SisterErr)
}
TABLE |= {(NEW, SisterErr): Row(("FROG-28-01",), M.ignore)}
BETWEEN_SERVERS: dict[tuple[Phase, type], Row] = {  # section 28; what is absent is refused
    (Phase.GONE, Dialled): Row(("FROG-29-03",), M.dialled),
    (Phase.GONE, DialFailed): Row(("FROG-33-08",), M.dial_failed),
    (Phase.TO_PROVE, SisterAuth): Row(("FROG-29-03", "FROG-29-09"), M.proof_of_dialler),
    (Phase.TO_CHALLENGE, SisterChal): Row(("FROG-29-03",), M.prove),
    (Phase.TO_ACKNOWLEDGE, SisterOk): Row(("FROG-28-06", "FROG-27-02"), M.completed),
    (Phase.GREETING, SisterHello): Row(("FROG-29-01", "FROG-29-05"), M.hello_back),
    (Phase.GREETED, SisterChal): Row(("FROG-29-03",), M.prove),
    (Phase.PROVING, SisterOk): Row(("FROG-29-03",), M.acknowledged),
    (Phase.CHALLENGING, SisterAuth): Row(("FROG-29-13", "FROG-30-01"), M.proof_of_dialled),
    **{(phase, SisterErr): Row(("FROG-28-01",), M.told_off) for phase in SHAKING},
    (SISTER, SisterList): Row(("FROG-33-01",), M.listed),
    (SISTER, SisterServers): Row(("FROG-33-08",), M.servers),
    (SISTER, SisterFind): Row(("FROG-34-06", "FROG-35-03"), M.find_of_sister),
    (SISTER, SisterPeers): Row(("FROG-35-10", "FROG-35-09"), M.peers_of_sister),
    (SISTER, SisterLookup): Row(("FROG-34-06", "FROG-36-04"), M.lookup_of_sister),
    (SISTER, SisterFound): Row(("FROG-36-08", "FROG-36-07"), M.found_by_sister),
    (SISTER, SisterSignal): Row(("FROG-37-01", "FROG-37-02"), M.signal_of_sister),
    (SISTER, SisterErr): Row(("FROG-37-11",), M.error_of_sister),
}
TABLE |= {(phase, kind): Row(("FROG-28-02",), M.not_now) for phase in SISTERS for kind in SISTER_WORDS}
TABLE |= {(phase, kind): Row(("FROG-14-03",), M.sister_refused) for phase in SISTERS for kind in (*CLIENT_WORDS, Stray)}
TABLE |= {(phase, Malformed): Row(("FROG-5-24",), M.misread) for phase in SISTERS}
TABLE |= {(Phase.UNAUTHORISED, SisterErr): Row(("FROG-28-01",), M.ignore)} | BETWEEN_SERVERS
TABLE |= {(OVER, kind): Row(("FROG-17.1-04",), M.too_late) for kind in (*CLIENT_WORDS, *SISTER_WORDS, Malformed, Stray)}
for _phase in (NEW, *CLIENTS):
    TABLE[_phase, Malformed] = Row(("FROG-15-05", "FROG-5-24"), M.malformed)
    TABLE[_phase, Stray] = Row(("FROG-5-13",), M.stray)
for _phase in (NEW, *CLIENTS, OVER, *SISTERS):
    TABLE[_phase, Text] = Row(("FROG-4-06",), M.text)
    TABLE[_phase, Hangup] = Row(("FROG-18-02",), M.hung_up)

ServerMachine.table = TABLE
