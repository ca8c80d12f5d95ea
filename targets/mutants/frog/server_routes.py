"""Servers whose routes live too long, too short, or lead elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from immutables import Map

from reference_impl.core import Channel, Expectation, Step
from reference_impl.frog.frames import Code, Find, Found, Hangup, Leave, Lookup, Signal
from reference_impl.frog.presence import Phase, State
from reference_impl.frog.routes import Ending, Route, Routes, Side
from reference_impl.frog.server import ServerMachine, ServerStep
from targets.mutants.frog.shelf import in_server


class Lasting(ServerMachine):
    """Lets routes live `factor` times their time."""

    factor = 1.0

    def relay(self, state: State, channel: Channel, frame: Signal) -> ServerStep:
        route = state.routes.get(frame.route_id)
        if route is None or route.ended:
            return super().relay(state, channel, frame)
        more = (self.factor - 1) * self.config.timers.route_s
        moved = state.routes.used(frame.route_id, route.used_at + more)
        step = super().relay(replace(state, routes=moved), channel, frame)
        carried = step.state.routes.by_id[frame.route_id].used_at == state.now
        return step if carried else replace(step, state=replace(step.state, routes=state.routes))


@in_server("FROG-39-07", "FROG-25-02", "FROG-26-08")
class RoutesForEver(Lasting):
    """Lets no route expire."""

    factor = 1_000_000.0


@in_server("FROG-25-02", "FROG-39-01")
class RoutesForAThirdMore(Lasting):
    """Lets a route live four minutes in place of three."""

    factor = 4 / 3


@in_server("FROG-25-02", "FROG-39-01")
class RoutesForAThird(Lasting):
    """Lets a route live a minute in place of three."""

    factor = 1 / 3


@in_server("FROG-25-02", "FROG-25-03")
class RoutesAgeTogether(ServerMachine):
    """Counts the time of a route from the first route of the peer that asked."""

    def spoke(self, state: State, expectation: Expectation, frame: object) -> State:
        after = super().spoke(state, expectation, frame)
        if not isinstance(frame, Found) or frame.route_id not in after.routes:
            return after
        route = after.routes.by_id[frame.route_id]
        first = min((r.created_at for r in after.routes.by_id.values() if r.peer_a == route.peer_a), default=0.0)
        by_id = after.routes.by_id.set(frame.route_id, replace(route, created_at=first, used_at=first))
        return replace(after, routes=replace(after.routes, by_id=by_id))


@in_server("FROG-25-02", "FROG-26-05")
class StrangersKeepARouteAlive(ServerMachine):
    """Moves the end of a route by signals that it refuses."""

    def signal_error(self, state: State, channel: Channel, frame: Signal, *given: Any) -> ServerStep:
        route = state.routes.get(frame.route_id)
        alive = route and not route.ended and state.now < route.used_at + self.config.timers.route_s
        refreshed = replace(state, routes=state.routes.used(frame.route_id, state.now)) if alive else state
        return super().signal_error(refreshed, channel, frame, *given)


@in_server("FROG-25-02", "FROG-4-11")
class TalkKeepsRoutesAlive(ServerMachine):
    """Moves the end of all routes of a peer whenever it says anything."""

    def find(self, state: State, channel: Channel, frame: Find) -> ServerStep:
        routes = state.routes
        for route_id in routes.by_side.get(channel, Map()):
            if routes.by_id[route_id].used_at + self.config.timers.route_s > state.now:
                routes = routes.used(route_id, state.now)
        return super().find(replace(state, routes=routes), channel, frame)


@in_server("FROG-26-08", "FROG-25-07", "FROG-38-06")
class ExpiredIsTimedOut(ServerMachine):
    """Says LOOKUP_TIMEOUT of a route that has expired."""

    def route_over(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        return self.signal_error(state, channel, frame, "", (Code.LOOKUP_TIMEOUT,))


@in_server("FROG-25-07", "FROG-26-08")
class ExpiredIsNoAnswer(ServerMachine):
    """Drops signals along a route that is over without a word."""

    def route_over(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        return Step(state)


@in_server("FROG-25-07", "FROG-38-06")
class ExpiredIsABadRequest(ServerMachine):
    """Says BAD_REQUEST of a route that is over."""

    def route_over(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        return self.signal_error(state, channel, frame, "", (Code.BAD_REQUEST,))


class Surviving(State):
    """Keeps routes beyond some ends."""

    survives: Ending

    def unregistered(self, channel: Channel, why: Ending) -> State:
        after = super().unregistered(channel, why)
        return replace(after, routes=self.routes) if why is self.survives else after


class SurvivesClosing(Surviving):
    survives = Ending.CLOSED


class SurvivesReplacement(Surviving):
    survives = Ending.REPLACED


@in_server("FROG-25-05", "FROG-39-07")
class RoutesSurviveTheEnd(ServerMachine):
    """Keeps the routes of a connection that was closed, and sends into the void."""

    def initial(self) -> State:
        return SurvivesClosing(meter=super().initial().meter)


@in_server("FROG-25-06", "FROG-17.1-06")
class RoutesSurviveReplacement(ServerMachine):
    """Keeps the routes of a connection that was replaced, and sends to it."""

    def initial(self) -> State:
        return SurvivesReplacement(meter=super().initial().meter)


@in_server("FROG-25-05", "FROG-19-01")
class RoutesSurviveLeaving(ServerMachine):
    """Keeps the routes of a peer that left by LEAVE."""

    def leave(self, state: State, channel: Channel, frame: Leave) -> ServerStep:
        step = super().leave(state, channel, frame)
        return replace(step, state=replace(step.state, routes=state.routes))


@in_server("FROG-25-05")
class OnlyTheAskedEndRoutes(ServerMachine):
    """Ends a route with the peer that was looked up, and not with the one that looked."""

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        step, by_id = super().hung_up(state, channel, event), state.routes.by_id
        for route_id, route in step.state.routes.by_id.items():
            by_id = by_id if route.side_a == channel else by_id.set(route_id, route)
        return replace(step, state=replace(step.state, routes=replace(step.state.routes, by_id=by_id)))


@in_server("FROG-17.1-06", "FROG-25-04", "FROG-25-05")
class RoutesFollowThePeer(ServerMachine):
    """Moves the routes of a replaced connection to the new one."""

    def registered(self, state: State, channel: Channel) -> ServerStep:
        before = state.peers.get(state.connections[channel].peer_key)
        step = super().registered(state, channel)
        return step if before is None else replace(step, state=self.moved(state, step.state, before, channel))

    def moved(self, was: State, now: State, before: Side, after: Side) -> State:
        fresh = Routes()
        for route_id, route in was.routes.by_id.items():
            side_a, side_b = (after if side == before else side for side in (route.side_a, route.side_b))
            fresh = fresh.add(route_id, replace(route, side_a=side_a, side_b=side_b))
        return replace(now, routes=fresh)


@in_server("FROG-25-04", "FROG-25-05")
class RoutesComeBackWithThePeer(ServerMachine):
    """Delivers by key: a route of a closed connection leads to the next one of that peer."""

    def relay(self, state: State, channel: Channel, frame: Signal) -> ServerStep:
        route, source = state.routes.get(frame.route_id), state.connections[channel].peer_key
        if route is None or not route.ended or source not in (route.peer_a, route.peer_b):
            return super().relay(state, channel, frame)
        other = state.peers.get(route.peer_b if source == route.peer_a else route.peer_a)
        if other is None or other in (route.side_a, route.side_b):
            return super().relay(state, channel, frame)
        return self.carried(state, channel, frame, replace(route, side_a=other, side_b=other))


@in_server("FROG-26-06", "FROG-17.1-06")
class TheNewMayUseOldRoutes(ServerMachine):
    """Lets a new connection of a peer signal along the routes of its old one."""

    def relay(self, state: State, channel: Channel, frame: Signal) -> ServerStep:
        route, source = state.routes.get(frame.route_id), state.connections[channel].peer_key
        if route is None or not route.ended or route.endpoint(source) in (None, channel):
            return super().relay(state, channel, frame)
        if state.phase(route.opposite(source)) is not Phase.REGISTERED:
            return super().relay(state, channel, frame)
        return self.carried(state, channel, frame, route)


@in_server("FROG-39-03", "FROG-24-10")
class OneRoutePerPair(ServerMachine):
    """Forgets the route of a pair when it is looked up again."""

    def looked_up(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        own = state.connections[channel].peer_key
        pair = (own, frame.peer_key)
        old = [id for id, route in state.routes.by_id.items() if (route.peer_a, route.peer_b) == pair]
        return super().looked_up(replace(state, routes=state.routes.without(iter(old))), channel, frame)


@in_server("FROG-39-03", "FROG-23-05")
class FoundWithoutARoute(ServerMachine):
    """Says FOUND, and makes no route for the ninth and later of a connection."""

    def spoke(self, state: State, expectation: Expectation, frame: object) -> State:
        many = len(state.routes.by_side.get(expectation.channel, Map())) >= 8
        return state if isinstance(frame, Found) and many else super().spoke(state, expectation, frame)
