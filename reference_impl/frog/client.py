"""The client's rules: dial somebody, register, ask and signal for the host, come back when the connection is gone.

Channels: the network (a dial is something owed), the current connection, the host, and the clock. Every input is Heard, for its
moment; the state's `now` is the last of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from reference_impl.core import Channel, Expectation, Row, Step, Tick
from reference_impl.frog.choosing import a_cid
from reference_impl.frog.frames import (
    MOST_LISTED,
    Chal,
    Code,
    Err,
    Find,
    Found,
    GetServers,
    Hangup,
    Heard,
    Joined,
    Kind,
    Left,
    Lookup,
    Malformed,
    Opened,
    Peers,
    Signal,
    SignalFrom,
    Stray,
    Text,
    ToClient,
    Try,
    Welcome,
)
from reference_impl.frog.host import (
    HOST,
    NETWORK,
    NOT_REGISTERED,
    TIMEOUT,
    UNTRUE,
    AskPeers,
    AskRoute,
    AskServers,
    Depart,
    Dial,
    GotPeers,
    GotRoute,
    GotServers,
    Reported,
    Request,
    SendSignal,
    Signalled,
    Start,
    Stop,
    Wish,
)
from reference_impl.frog.identifiers import DASH, is_peer_key, network_of
from reference_impl.frog.joining import OWN, Asked, ClientStep, Config, Joining, Phase, State

__all__ = ["TABLE", "ClientMachine", "Config", "Phase", "State"]


class ClientMachine(Joining):
    """The client as a table: (phase, kind of input) -> row."""

    def deadline(self, state: State) -> float | None:
        times = [asked.until for asked in state.outstanding.values()]
        return min(times if state.until is None else [*times, state.until], default=None)

    def receive(self, state: State, channel: Channel, event: Heard | Tick) -> ClientStep:
        state = replace(state, now=max(state.now, event.at))
        if isinstance(event, Tick):
            return self.time_is_up(state)
        if self.stale(state, channel, event):
            return Step(state)
        return self.obey(state.phase, state, channel, event.what)

    def stale(self, state: State, channel: Channel, event: Heard) -> bool:
        """Are these the last words of a connection already given up?"""
        elsewhere = channel not in (HOST, NETWORK) and channel != state.connection
        return elsewhere and not isinstance(event.what, Opened)

    def alternatives(self, state: State, channel: Channel, event: Heard | Tick) -> tuple[ClientStep, ...]:
        """Where the specification leaves a choice, the choices that the reference does not take."""
        if isinstance(event, Tick) or channel == HOST or self.stale(state, channel, event):
            return ()
        state = replace(state, now=max(state.now, event.at))
        match state.phase, event.what:
            case Phase.AWAY, Opened():
                return (self.opened_in_haste(state, channel),)
            case Phase.REGISTERED, Malformed() | Stray() | Welcome() | Chal() | Joined() | Left():
                return (self.given_up(state, channel, event.what),)  # AMB-49
            case Phase.GREETING | Phase.JOINING | Phase.PROVING, Malformed() | Stray() | Peers() | Found() | Left():
                return (Step(state),)  # AMB-49; nor does the text say what becomes of a farewell that nobody asked for
            case Phase.GREETING, Try():  # later it is learned from, and who has learned need not dial what it knows
                return (Step(state),)
            case Phase.REGISTERED, Peers() as peers if self.lies(state, peers) and self.are_mates(peers.peer_keys):
                got = GotPeers(state.outstanding[peers.cid].request.ticket, peers.peer_keys)
                return Step(state), self.answer(state, peers.cid, got, "FROG-20-04")  # AMB-25 binds servers alone
            case Phase.REGISTERED, Peers() | Found() if self.lies(state, event.what):
                return (Step(state),)  # AMB-65
        return ()

    def spoke(self, state: State, expectation: Expectation, frame: object) -> State:
        match frame:
            case Dial(uri, jitter):
                return replace(state, uri=uri, jitter=jitter, known=state.known.dialled(uri))
            case GetServers(cid) | Find(cid) | Lookup(cid):
                return self.asked(state, expectation, cid)
        return state

    def asked(self, state: State, expectation: Expectation, cid: str) -> State:
        """The lane says which request it was."""
        asked = state.unsaid.get(expectation.lane)
        if asked is None:
            asked = Asked(AskServers(OWN, MOST_LISTED), True, state.now + self.config.patience_s)
            return replace(state, outstanding=state.outstanding.set(cid, asked))
        outstanding = state.outstanding.set(cid, asked)
        return replace(state, outstanding=outstanding, unsaid=state.unsaid.delete(expectation.lane))

    def time_is_up(self, state: State) -> ClientStep:
        """A server that does not answer is given up; a request that is not answered has failed."""
        if state.until is not None and state.until <= state.now:
            give_up = self.parted if state.phase is Phase.LEAVING else self.given_up
            return give_up(state, state.connection, None)
        late = [cid for cid, asked in state.outstanding.items() if asked.until <= state.now]
        owes, outstanding = [], state.outstanding
        for cid in sorted(late):
            if not outstanding[cid].own:
                owes.append(self.refusing(outstanding[cid].request.ticket, TIMEOUT, "FROG-44-01"))
            outstanding = outstanding.delete(cid)
        return Step(replace(state, outstanding=outstanding), tuple(owes))

    # -- what the server says -------------------------------------------------------------------------------------------

    def tried(self, state: State, channel: Channel, frame: Try) -> ClientStep:
        """Advice, no more: remembered for later (FROG-15-11, FROG-15-12, FROG-41-06)."""
        if frame.cid == DASH:
            return Step(replace(state, known=state.known.learn(frame.uris)))
        asked = state.outstanding.get(frame.cid)
        if asked is None or not isinstance(asked.request, AskServers):
            return Step(state)  # AMB-64
        learnt = replace(state, known=state.known.learn(frame.uris))
        return self.answer(learnt, frame.cid, GotServers(asked.request.ticket, frame.uris), "FROG-20-04")

    def found_some(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        asked = state.outstanding.get(frame.cid)
        if asked is None or not isinstance(asked.request, AskPeers):
            return Step(state)  # AMB-64
        if self.lies(state, frame):
            return self.fail(state, frame.cid, UNTRUE, "FROG-3.3-01")
        return self.answer(state, frame.cid, GotPeers(asked.request.ticket, frame.peer_keys), "FROG-20-04")

    def found(self, state: State, channel: Channel, frame: Found) -> ClientStep:
        asked = state.outstanding.get(frame.cid)
        if asked is None or not isinstance(asked.request, AskRoute):
            return Step(state)  # AMB-64
        if self.lies(state, frame):
            return self.fail(state, frame.cid, UNTRUE, "FROG-23-05")
        routed = replace(state, routes=state.routes.set(frame.route_id, frame.peer_key))
        return self.answer(routed, frame.cid, GotRoute(asked.request.ticket, frame.route_id), "FROG-20-04")

    def lies(self, state: State, frame: Peers | Found) -> bool:
        """Does it name peers of another network, more than were asked for, or another target (AMB-65)?"""
        match frame, state.outstanding.get(frame.cid):
            case Peers(), Asked(AskPeers(limit=limit)):
                return not self.are_mates(frame.peer_keys) or len(frame.peer_keys) > limit
            case Found(), Asked(AskRoute(peer_key=wanted)):
                return frame.peer_key != wanted
        return False

    def are_mates(self, peer_keys: tuple[str, ...]) -> bool:
        return all(network_of(key) == self.config.network for key in peer_keys)

    def failed(self, state: State, channel: Channel, frame: Err) -> ClientStep:
        """The answer to a request, or news about a route (FROG-20-04, FROG-38-02)."""
        if frame.id in state.outstanding:
            return self.fail(state, frame.id, frame.code, "FROG-20-04")
        told = Expectation("FROG-46-01", Reported(frame.id, frame.code), HOST, lane="errors")
        gone = frame.code in (Code.ROUTE_NOT_FOUND, Code.ROUTE_EXPIRED, Code.PEER_NOT_FOUND)
        if gone and frame.id in state.routes:
            state = replace(state, routes=state.routes.delete(frame.id))
        return Step(state, (told,))

    def signalled(self, state: State, channel: Channel, frame: SignalFrom) -> ClientStep:
        """The route it came by leads back (AMB-61)."""
        if network_of(frame.peer_key) != self.config.network:
            return Step(state)
        told = Signalled(frame.route_id, frame.peer_key, frame.kind, frame.payload)
        routes = state.routes.set(frame.route_id, frame.peer_key)
        owes = (Expectation("FROG-46-01", told, HOST, lane=f"route {frame.route_id}"),)
        return Step(replace(state, routes=routes), owes)

    def answer(self, state: State, cid: str, told: GotPeers | GotRoute | GotServers, clause: str) -> ClientStep:
        asked = state.outstanding[cid]
        answered = replace(state, outstanding=state.outstanding.delete(cid))
        owes = () if asked.own else (Expectation(clause, told, HOST, lane=f"ask {told.ticket}"),)
        return Step(answered, owes)

    # -- what the host wants --------------------------------------------------------------------------------------------

    def ask(self, state: State, channel: Channel, request: Request) -> ClientStep:
        """A CID that no other request has just now (FROG-20-05); several may be out at once (FROG-20-02)."""
        if not self.legal(request):
            return Step(state, (self.refusing(request.ticket, NOT_REGISTERED, "FROG-23-04"),))
        cid = a_cid(state.outstanding)
        frame: GetServers | Find | Lookup
        match request:
            case AskPeers(_, limit):
                frame = Find(cid, limit)
            case AskServers(_, limit):
                frame = GetServers(cid, limit)
            case AskRoute(_, peer_key):
                frame = Lookup(cid, peer_key)
        lane = f"ask {request.ticket}"
        asked = Asked(request, False, state.now + self.config.patience_s)
        asking = Expectation("FROG-46-01", frame, state.connection, lane=lane)
        return Step(replace(state, unsaid=state.unsaid.set(lane, asked)), (asking,))

    def legal(self, request: Request) -> bool:
        """Nothing that a server would have to refuse is ever sent (FROG-21-02, FROG-22-01, FROG-23-01 to -04)."""
        match request:
            case AskRoute(_, key):
                return is_peer_key(key) and network_of(key) == self.config.network and key != self.peer_key
            case AskPeers(_, limit) | AskServers(_, limit):
                return 1 <= limit <= MOST_LISTED

    def send(self, state: State, channel: Channel, request: SendSignal) -> ClientStep:
        """Only along a route that was found, or that a signal came by (FROG-22-11)."""
        if request.route_id not in state.routes or request.kind not in list(Kind):
            return self.refuse(state, channel, request)
        signal = Signal(request.route_id, request.kind, request.payload)
        return Step(state, (Expectation("FROG-46-01", signal, state.connection, lane=f"route {request.route_id}"),))

    def refuse(self, state: State, channel: Channel, request: Request | SendSignal) -> ClientStep:
        return Step(state, (self.refusing(request.ticket, NOT_REGISTERED, "FROG-22-11"),))


M = ClientMachine
P = Phase
HANDSHAKE = (P.GREETING, P.JOINING, P.PROVING)
ASKING = (AskPeers, AskRoute, AskServers, SendSignal)
SERVER_WORDS = get_args(ToClient)

TABLE: dict[tuple[Phase, type], Row] = {
    (P.STOPPED, Start): Row(("FROG-41-01",), M.start),
    (P.STOPPED, Opened): Row((), M.too_late),
    (P.STOPPED, Hangup): Row((), M.ignore),
    (P.STOPPED, Stop): Row((), M.ignore),
    (P.STOPPED, Depart): Row((), M.depart_unregistered),
    (P.AWAY, Opened): Row(("FROG-16-01",), M.opened),
    (P.AWAY, Hangup): Row(("FROG-41-05",), M.dropped),
    (P.GREETING, Welcome): Row(("FROG-16-04",), M.welcomed),
    (P.JOINING, Welcome): Row(("FROG-16-04",), M.welcomed_late),
    (P.JOINING, Chal): Row(("FROG-12.1-01",), M.challenged),
    (P.JOINING, Try): Row(("FROG-15-11",), M.tried),
    (P.JOINING, Err): Row(("FROG-42-01",), M.not_let_in),
    (P.PROVING, Err): Row(("FROG-42-01",), M.not_let_in),
    (P.PROVING, Joined): Row(("FROG-17-11",), M.joined),
    (P.PROVING, Try): Row(("FROG-15-11",), M.tried),
    (P.REGISTERED, Try): Row(("FROG-15-11", "FROG-21-09"), M.tried),
    (P.REGISTERED, Peers): Row(("FROG-20-04",), M.found_some),
    (P.REGISTERED, Found): Row(("FROG-20-04",), M.found),
    (P.REGISTERED, Err): Row(("FROG-20-04",), M.failed),
    (P.REGISTERED, SignalFrom): Row(("FROG-46-01",), M.signalled),
    (P.REGISTERED, Depart): Row(("FROG-46-01",), M.depart),
    (P.REGISTERED, SendSignal): Row(("FROG-22-11",), M.send),
    (P.LEAVING, Left): Row(("FROG-46-01",), M.parted),
    (P.LEAVING, Hangup): Row(("FROG-46-01",), M.parted),
    (P.LEAVING, Text): Row(("FROG-4-06",), M.parted),
}
TABLE |= {(P.REGISTERED, kind): Row(("FROG-20-02",), M.ask) for kind in (AskPeers, AskRoute, AskServers)}
ELSEWHERE: dict[tuple[Phase, type], Row] = {}
for _phase in HANDSHAKE:  # what does not belong here is no server of ours
    ELSEWHERE |= {(_phase, kind): Row(("FROG-42-01",), M.given_up) for kind in (*SERVER_WORDS, Malformed, Stray)}
for _phase in (P.REGISTERED, P.LEAVING):
    ELSEWHERE |= {
        (_phase, kind): Row(("FROG-46-01",), M.ignore) for kind in (*SERVER_WORDS, Malformed, Stray)
    }  # AMB-49
for _phase in (*HANDSHAKE, P.REGISTERED):
    ELSEWHERE |= {
        (_phase, Text): Row(("FROG-4-06",), M.text),
        (_phase, Hangup): Row(("FROG-18-06", "FROG-41-05"), M.dropped),
    }
for _phase in Phase:
    ELSEWHERE |= {(_phase, kind): Row(("FROG-22-11",), M.refuse) for kind in ASKING}
    ELSEWHERE[_phase, Stop] = Row((), M.stop)
for _phase in (P.AWAY, *HANDSHAKE):
    ELSEWHERE[_phase, Depart] = Row(("FROG-19-03",), M.depart_unregistered)
ELSEWHERE[P.LEAVING, Depart] = Row((), M.ignore)
TABLE = ELSEWHERE | TABLE

ClientMachine.table = TABLE
INPUTS = (*SERVER_WORDS, Malformed, Stray, Text, Opened, Hangup, *get_args(Wish))
