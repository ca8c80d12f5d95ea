"""Requests that pass from sister to sister, each server answering for itself: @FIND and @LOOKUP (sections 34 to 36)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Container
from dataclasses import dataclass, replace
from typing import Any

from reference_impl.core import Channel, Expectation, Level, Step, one_of
from reference_impl.core.expectation import Hole
from reference_impl.frog.choosing import an_fcid, an_id, some_of
from reference_impl.frog.frames import (
    MOST_LISTED,
    Code,
    Err,
    Find,
    Found,
    Lookup,
    Peers,
    SisterErr,
    SisterFind,
    SisterFound,
    SisterLookup,
    SisterPeers,
)
from reference_impl.frog.gossip import Gossip
from reference_impl.frog.identifiers import DASH, network_of
from reference_impl.frog.limits import over
from reference_impl.frog.presence import Phase, State
from reference_impl.frog.registration import OVERLOAD, ServerStep
from reference_impl.frog.routes import Route, Side
from reference_impl.frog.sisters import Adjacent, Flood, Request, Ticket, key_of


class Flooding(Gossip):
    """A request is seen once, answered from the local table, and passed on with one hop less."""

    # -- what came from a sister ----------------------------------------------------------------------------------------

    def find_of_sister(self, state: State, channel: Channel, frame: SisterFind) -> ServerStep:
        return self.flooded(state, channel, frame, lambda now: self.answer_find(now, channel, frame))

    def lookup_of_sister(self, state: State, channel: Channel, frame: SisterLookup) -> ServerStep:
        if network_of(frame.source) != network_of(frame.target) or frame.source == frame.target:  # AMB-53
            return self.sister_error(state, channel, "FROG-36-01", ids_of_flood(frame), (Code.BAD_REQUEST,))
        return self.flooded(state, channel, frame, lambda now: self.answer_lookup(now, channel, frame))

    def flooded(self, state: State, channel: Channel, frame: Request, act: Callable[[State], ServerStep]) -> ServerStep:
        """Within its rate (FROG-34-11), and not seen before (FROG-34-06 to FROG-34-08); our own came round a loop."""
        meter, allowed = state.meter.spend(state.sister(channel), "floods", state.now)
        state = replace(state, meter=meter)
        if not allowed or over(self.config.bounds.pending, len(state.overlay.floods)):
            return self.sister_error(state, channel, "FROG-34-11", ids_of_flood(frame), OVERLOAD)
        if self.conflicts(state, frame):
            return self.sister_error(state, channel, "FROG-34-08", ids_of_flood(frame), (Code.BAD_STATE,))
        if self.remembered(state, frame) or frame.server_id == self.config.server_id:
            return Step(state)  # FROG-34-07, FROG-35-02, FROG-36-02
        return act(state)

    def remembered(self, state: State, frame: Request) -> Flood | None:
        """The flood of which this is a copy: known for its time, and of a route for the route's (FROG-34-14)."""
        _, flood = state.overlay.flood(key_of(frame))
        if flood and (state.now < flood.forget_at or self.is_routed(state, frame)):
            return flood
        return None

    def conflicts(self, state: State, frame: Request) -> bool:
        """The same name for something else; a route that no flood made is something else too (AMB-51)."""
        known = self.remembered(state, frame)
        if known is None:
            return self.is_routed(state, frame)
        return known.fields != Flood(frame, None, 0, 0).fields

    def is_routed(self, state: State, frame: Request) -> bool:
        route = state.routes.get(frame.route_id) if isinstance(frame, SisterLookup) else None
        return route is not None and self.lives(state, route)

    def lives(self, state: State, route: Route) -> bool:
        return not route.ended and state.now < route.used_at + self.config.timers.route_s

    def answer_find(self, state: State, channel: Channel, frame: SisterFind) -> ServerStep:
        """From the local table, of the asker's network, also when there is nobody (FROG-35-03 to FROG-35-06, AMB-23)."""
        here = self.candidates(state, frame.peer_key)
        keys = some_of(here, min(frame.limit, MOST_LISTED), least=min(1, len(here)))
        answer = SisterPeers(frame.fcid, frame.server_id, keys)
        owed = Expectation("FROG-35-03", answer, channel, lane=lane_of(frame))
        step = self.passed_on(self.noted(state, channel, frame, self.config.timers.find_s), channel, frame)
        return replace(step, owes=(owed, *step.owes))

    def answer_lookup(self, state: State, channel: Channel, frame: SisterLookup) -> ServerStep:
        """The target is here, and a route to it; or whoever else may know is asked (FROG-36-04, FROG-36-05)."""
        target = state.peers.get(frame.target)
        state = self.noted(state, channel, frame, self.config.timers.lookup_s, answered=target is not None)
        if target is None:
            return self.passed_on(state, channel, frame)
        if over(self.config.bounds.routes, len(state.routes)):
            return self.sister_error(state, channel, "FROG-40-04", ids_of_flood(frame), OVERLOAD[::-1])
        state = self.routed_afar(state, frame, Adjacent(state.sister(channel)), target)
        answer = SisterFound(frame.route_id, frame.target)
        return Step(state, (Expectation("FROG-36-04", answer, channel, lane=lane_of(frame)),))

    def noted(self, state: State, channel: Channel, frame: Request, wait_s: float, answered: bool = False) -> State:
        side, until = Adjacent(state.sister(channel)), state.now + wait_s
        flood = Flood(frame, side, until, until + wait_s, answered=answered)
        return replace(state, overlay=state.overlay.kept(key_of(frame), flood))

    def routed_afar(self, state: State, lookup: SisterLookup, side_a: Side, side_b: Side) -> State:
        route = Route(lookup.source, lookup.target, side_a, side_b, state.now, state.now)
        return replace(state, routes=state.routes.add(lookup.route_id, route))

    # -- passing it on --------------------------------------------------------------------------------------------------

    def passed_on(self, state: State, channel: Channel, frame: Request) -> ServerStep:
        """One hop less, to other sisters than who sent it (FROG-34-03 to FROG-34-05)."""
        if frame.ttl == 0:
            return Step(state)
        others = set(state.overlay.live) - {state.sister(channel)}
        return Step(state, self.copies(state, replace(frame, ttl=frame.ttl - 1), others, str(key_of(frame))))

    def copies(self, state: State, frame: Request, others: Collection[str], salt: str) -> tuple[Expectation, ...]:
        """To as many as the fanout allows, drawn anew for each request (FROG-34-09, FROG-34-10); a judge lets any be drawn."""
        lookup = isinstance(frame, SisterLookup)
        most = self.config.mesh.lookup_fanout if lookup else self.config.mesh.find_fanout
        chosen, level = drawn_by(salt, others, most), Level.SHOULD
        if self.config.remembers and len(chosen) < len(others):
            chosen, level = sorted(others), Level.MAY
        clause = "FROG-36-05" if lookup else "FROG-35-08"
        live, lane = state.overlay.live, lane_of(frame)
        return tuple(Expectation(clause, frame, live[sister], level, lane) for sister in chosen)

    def copied(self, state: State, expectation: Expectation, frame: Request) -> State:
        """A copy is out: from its receiver an answer counts (FROG-35-09, FROG-36-07)."""
        key, template, overlay = key_of(frame), expectation.template, state.overlay
        name = template.route_id if isinstance(template, SisterLookup) else template.fcid
        ticket, _ = (name.shared, None) if isinstance(name, Hole) else overlay.flood(key)
        flood = overlay.floods.get(ticket)
        if flood is None or expectation.channel not in state.connections:
            return state
        if flood.cid:
            overlay = replace(overlay, names=overlay.names.set(key, ticket))
            flood = replace(flood, request=frame)
        flood = replace(flood, asked=flood.asked | {state.sister(expectation.channel)})
        return replace(state, overlay=overlay.kept(ticket, flood))

    # -- what begins here -----------------------------------------------------------------------------------------------

    def find_afar(self, state: State, channel: Channel, frame: Find) -> ServerStep:
        """The client's own limit, its key, and who we are (FROG-35-15)."""
        ticket = channel, frame.cid, state.overlay.begun
        own, asker = self.config.server_id, state.connections[channel].peer_key
        fcid = an_fcid(lambda id: (own, id) in state.overlay.names, ticket)
        request = SisterFind(fcid, own, asker, frame.limit, self.config.mesh.find_ttl)
        return self.begun(state, channel, ticket, request, frame.cid, self.config.timers.find_s)

    def look_afar(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        """The route id is reserved before anybody hears it, and is the same for all (FROG-24-03, FROG-24-04)."""
        ticket = channel, frame.cid, state.overlay.begun
        route = an_id("a fresh route id", Taken((state.routes, state.overlay.names, state.overlay.floods)), ticket)
        own, source = self.config.server_id, state.connections[channel].peer_key
        request = SisterLookup(route, own, source, frame.peer_key, self.config.mesh.lookup_ttl)
        return self.begun(state, channel, ticket, request, frame.cid, self.config.timers.lookup_s)

    def begun(
        self, state: State, channel: Channel, ticket: Ticket, request: Request, cid: str, wait_s: float
    ) -> ServerStep:
        if over(self.config.bounds.pending, len(state.overlay.floods)):
            return self.error(state, channel, "FROG-40-04", cid, OVERLOAD[::-1])
        until = state.now + wait_s
        nameless = replace(request, route_id="") if isinstance(request, SisterLookup) else replace(request, fcid="")
        flood = Flood(nameless, channel, until, until + wait_s, cid)
        state = replace(state, overlay=state.overlay.begin(ticket, flood))
        salt = f"{state.now!r} {cid} {request.server_id} {state.overlay.begun}"
        return Step(state, self.copies(state, request, set(state.overlay.live), salt))

    # -- answers --------------------------------------------------------------------------------------------------------

    def found_by_sister(self, state: State, channel: Channel, frame: SisterFound) -> ServerStep:
        """The first valid one wins; all others are ignored (FROG-36-07 to FROG-36-09, AMB-32)."""
        ticket, flood = state.overlay.flood(frame.route_id)
        sender = state.sister(channel)
        if flood is None or not flood.open(state.now) or sender not in flood.asked:
            return self.uncounted(state, channel, "FROG-36-07", frame.route_id, tuple(Code))
        lookup = flood.request
        if not isinstance(lookup, SisterLookup) or lookup.target != frame.peer_key or not self.awaits(state, flood):
            return self.uncounted(state, channel, "FROG-36-07", frame.route_id, tuple(Code))
        state = replace(state, overlay=state.overlay.ended(ticket))
        state = self.routed_afar(state, lookup, flood.side, Adjacent(sender))
        if flood.cid:
            found = Found(flood.cid, frame.peer_key, frame.route_id)
            return self.reply(state, flood.side, "FROG-36-08", found)
        return self.toward(state, flood.side, "FROG-36-08", frame, lane_of(lookup))

    def peers_of_sister(self, state: State, channel: Channel, frame: SisterPeers) -> ServerStep:
        """Valid answers go to where the question came from (FROG-35-09, FROG-35-10); the same one twice by two ways of
        one sister is one (FROG-31-02), and by one way it may be."""
        ticket, flood = state.overlay.flood((frame.server_id, frame.fcid))
        sender = state.sister(channel)
        if flood is None or not self.counts(state, flood, sender, frame):
            return self.uncounted(state, channel, "FROG-35-09", frame.fcid, (Code.BAD_REQUEST, Code.BAD_STATE))
        before = flood.heard.get((sender, frame.peer_keys))
        if before not in (None, channel):
            return Step(state)
        heard = flood.heard.set((sender, frame.peer_keys), channel)
        flood = replace(flood, heard=heard, peers=flood.peers.union(frame.peer_keys) if flood.cid else flood.peers)
        state = replace(state, overlay=state.overlay.kept(ticket, flood))
        if not flood.cid:
            step = self.toward(state, flood.side, "FROG-35-10", frame, lane_of(flood.request))
            level = Level.MUST if before is None else Level.MAY
            return replace(step, owes=tuple(replace(debt, level=level) for debt in step.owes))
        return self.enough(state, ticket, flood)

    def uncounted(self, state: State, channel: Channel, clause: str, id: str, codes: tuple[Code, ...]) -> ServerStep:
        """An answer that does not count is ignored; who sent it may be told (AMB-31, AMB-32)."""
        told = SisterErr(one_of(id, DASH), one_of(*codes))
        return Step(state, (Expectation(clause, told, channel, Level.MAY, lane=f"id {id}"),))

    def counts(self, state: State, flood: Flood, sender: str, frame: SisterPeers) -> bool:
        find = flood.request
        if not isinstance(find, SisterFind) or sender not in flood.asked or not flood.open(state.now):
            return False
        mates = all(network_of(key) == network_of(find.peer_key) for key in frame.peer_keys)
        return mates and len(frame.peer_keys) <= find.limit and self.awaits(state, flood)

    def awaits(self, state: State, flood: Flood) -> bool:
        """Is who asked still there, as who it was (FROG-35-16, FROG-36-12)?"""
        if isinstance(flood.side, Adjacent):
            return True
        asker = flood.request.source if isinstance(flood.request, SisterLookup) else flood.request.peer_key
        return state.peers.get(asker) == flood.side

    def toward(self, state: State, side: Side, clause: str, frame: SisterFound | SisterPeers, lane: str) -> ServerStep:
        """On to the next server, by the connection that is used now; without one it is lost."""
        line = state.overlay.live.get(side.server_id) if isinstance(side, Adjacent) else None
        return Step(state, () if line is None else (Expectation(clause, frame, line, lane=lane),))

    # -- the client's answer --------------------------------------------------------------------------------------------

    def enough(self, state: State, ticket: Ticket, flood: Flood) -> ServerStep:
        """As many as were asked for: no need to wait for the others (FROG-35-12)."""
        assert isinstance(flood.request, SisterFind), "only a find gathers"
        known = self.candidates(state, flood.request.peer_key) | flood.peers
        if len(known - {flood.request.peer_key}) < flood.request.limit:
            return Step(state)
        return self.gathered(state, ticket, flood)

    def gathered(self, state: State, ticket: Ticket, flood: Flood) -> ServerStep:
        """Exactly one PEERS, each key once, without the asker's (FROG-35-11, AMB-57)."""
        find = flood.request
        assert isinstance(find, SisterFind), "only a find gathers"
        here = self.candidates(state, find.peer_key)
        known = (here | flood.peers) - {find.peer_key}
        some = some_of(known, min(find.limit, MOST_LISTED), least=min(1, len(here)))
        state = replace(state, overlay=state.overlay.ended(ticket))
        return self.reply(state, flood.side, "FROG-35-11", Peers(flood.cid, some))

    def answers_due(self, state: State) -> ServerStep:
        """The time of a find or a lookup that began here is over (FROG-24-07, FROG-35-12)."""
        owes: tuple[Expectation, ...] = ()
        for ticket in [ticket for ticket, at in state.overlay.due.items() if at <= state.now]:
            flood = state.overlay.floods[ticket]
            if not self.awaits(state, flood) or state.phase(flood.side) is not Phase.REGISTERED:
                state = replace(state, overlay=state.overlay.ended(ticket))
            elif isinstance(flood.request, SisterFind):
                step = self.gathered(state, ticket, flood)
                state, owes = step.state, owes + step.owes
            else:
                state = replace(state, overlay=state.overlay.ended(ticket))
                late = Err(flood.cid, Code.LOOKUP_TIMEOUT)
                owes += (Expectation("FROG-24-07", late, flood.side, lane=f"cid {flood.cid}"),)
        return Step(state, owes)

    def forgetting(self, state: State) -> State:
        """Floods that nobody needs to know any more (FROG-39-07); after a long sleep an old one may still be unanswered."""
        overlay = state.overlay
        old = (
            ticket
            for ticket, flood in overlay.floods.items()
            if state.now >= flood.forget_at and ticket not in overlay.due and not self.is_routed(state, flood.request)
        )
        return replace(state, overlay=overlay.without(old))

    def candidates(self, state: State, asker: str) -> set[str]:
        """Who is registered here in that network, but for who asks."""
        return set(state.networks.get(network_of(asker), ())) - {asker}


@dataclass(frozen=True, slots=True)
class Taken:
    """Names that any of these knows."""

    tables: tuple[Container[Any], ...]

    def __contains__(self, name: object) -> bool:
        return any(name in table for table in self.tables)


def lane_of(frame: Request) -> str:
    return f"id {frame.route_id if isinstance(frame, SisterLookup) else frame.fcid}"


def ids_of_flood(frame: Request) -> tuple[str, ...]:
    return (frame.route_id if isinstance(frame, SisterLookup) else frame.fcid,)


def drawn_by(salt: str, candidates: Collection[str], most: int) -> list[str]:
    """A subset that is another one for each request: the machine draws no random numbers, but requests have random names."""
    if len(candidates) <= most:
        return sorted(candidates)
    return sorted(candidates, key=lambda id: hashlib.sha256(f"{salt} {id}".encode()).digest())[:most]
