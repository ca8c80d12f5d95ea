"""Servers that let a signal pass that may not, refuse it wrongly, or send it the wrong way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Expectation, Step
from reference_impl.frog.frames import Code, Err, Signal, SignalFrom, ToServer
from reference_impl.frog.identifiers import DASH, fingerprint_of, network_of
from reference_impl.frog.presence import State
from reference_impl.frog.routes import Route
from reference_impl.frog.server import ServerMachine, ServerStep
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import also, changed


def delivered(machine: ServerMachine, state: State, channel: Channel, frame: Signal, side: Channel) -> ServerStep:
    """The signal to that side, whoever sent it."""
    source = state.connections[channel].peer_key
    delivery = SignalFrom(frame.route_id, source, frame.kind, frame.payload)
    return Step(state, (Expectation("", delivery, side),))


class Open(ServerMachine):
    """Lets some strangers use a living route: they reach the peer that was looked up."""

    def relay(self, state: State, channel: Channel, frame: Signal) -> ServerStep:
        route, source = state.routes.get(frame.route_id), state.connections[channel].peer_key
        alive = route and not route.ended and state.now < route.used_at + self.config.timers.route_s
        if route and alive and route.endpoint(source) is None and self.welcome(source, route):
            return delivered(self, state, channel, frame, route.side_b)
        return super().relay(state, channel, frame)

    def welcome(self, source: str, route: Route) -> bool:
        return True


@in_server("FROG-26-05")
class MatesMayUseARoute(Open):
    """Lets every peer of the network use a route whose id it knows."""

    def welcome(self, source: str, route: Route) -> bool:
        return network_of(source) == network_of(route.peer_a)


@in_server("FROG-26-09", "FROG-3.3-03")
class NetworksAreNotCompared(Open):
    """Compares the fingerprints of a route only, so that a peer's key of another network passes."""

    def welcome(self, source: str, route: Route) -> bool:
        return fingerprint_of(source) in (fingerprint_of(route.peer_a), fingerprint_of(route.peer_b))


@in_server("FROG-3.3-03", "FROG-26-09")
class OtherNetworksMayUseARoute(Open):
    """Lets peers of other networks use a route, and none of its own."""

    def welcome(self, source: str, route: Route) -> bool:
        return network_of(source) != network_of(route.peer_a)


@in_server("FROG-26-05", "FROG-38-06")
class StrangersAreNotAuthenticated(ServerMachine):
    """Says AUTH_REQUIRED to a peer that is no end of the route."""

    def relay(self, state: State, channel: Channel, frame: Signal) -> ServerStep:
        step = super().relay(state, channel, frame)
        stranger = bool(step.owes) and step.owes[0].clause == "FROG-26-05"
        return changed(step, Err, lambda err: replace(err, code=Code.AUTH_REQUIRED)) if stranger else step


@in_server("FROG-26-05")
class StrangersAreIgnored(ServerMachine):
    """Does not answer a peer that is no end of the route."""

    def relay(self, state: State, channel: Channel, frame: Signal) -> ServerStep:
        step = super().relay(state, channel, frame)
        return Step(state) if step.owes and step.owes[0].clause == "FROG-26-05" else step


@in_server("FROG-26-02", "FROG-15-02")
class SignalsInAnyState(ServerMachine):
    """Looks for the route before it asks whether anybody is registered."""

    def bad_state(self, state: State, channel: Channel, frame: ToServer) -> ServerStep:
        unknown = isinstance(frame, Signal) and frame.route_id not in state.routes
        if isinstance(frame, Signal) and unknown:
            return self.signal_error(state, channel, frame, "", (Code.ROUTE_NOT_FOUND,))
        return super().bad_state(state, channel, frame)


@in_server("FROG-26-02", "FROG-26-05")
class SignalsBeforeItProves(ServerMachine):
    """Relays for whoever claims a key of the route, before it is proved."""

    def bad_state(self, state: State, channel: Channel, frame: ToServer) -> ServerStep:
        route = state.routes.get(frame.route_id) if isinstance(frame, Signal) else None
        claimed = state.connections[channel].peer_key
        if isinstance(frame, Signal) and route and not route.ended and route.endpoint(claimed) is not None:
            return delivered(self, state, channel, frame, route.opposite(claimed))
        return super().bad_state(state, channel, frame)


@in_server("FROG-26-07")
class UnknownRoutesAreIgnored(ServerMachine):
    """Drops signals along a route that it does not know without a word."""

    def relay(self, state: State, channel: Channel, frame: Signal) -> ServerStep:
        return super().relay(state, channel, frame) if frame.route_id in state.routes else Step(state)


@in_server("FROG-26-07", "FROG-38-06")
class UnknownPeersOfUnknownRoutes(ServerMachine):
    """Says PEER_NOT_FOUND of a route that it does not know."""

    def relay(self, state: State, channel: Channel, frame: Signal) -> ServerStep:
        if frame.route_id in state.routes:
            return super().relay(state, channel, frame)
        return self.signal_error(state, channel, frame, "", (Code.PEER_NOT_FOUND,))


@in_server("FROG-26-07")
class RoutesByTheirBeginning(ServerMachine):
    """Finds a route by the first 25 characters of its id."""

    def relay(self, state: State, channel: Channel, frame: Signal) -> ServerStep:
        known = (id for id in state.routes.by_id if id[:25] == frame.route_id[:25])
        return super().relay(state, channel, replace(frame, route_id=next(known, frame.route_id)))


@in_server("FROG-26-11")
class AnswersGoTheSameWay(ServerMachine):
    """Sends what the looked-up peer says back to that peer."""

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        step = super().carried(state, channel, frame, route)
        return replace(step, owes=tuple(replace(debt, channel=route.side_b) for debt in step.owes))


@in_server("FROG-26-11", "FROG-26-15")
class SendersHearThemselves(ServerMachine):
    """Delivers a signal to both sides."""

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        step = super().carried(state, channel, frame, route)
        return also(step, channel, *(debt.template for debt in step.owes))


@in_server("FROG-26-16")
class LastSignalFirst(ServerMachine):
    """Delivers every third signal of a route behind the one that comes after it."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._count: dict[str, int] = {}
        self._kept: dict[str, tuple[Expectation, ...]] = {}

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        step, count = super().carried(state, channel, frame, route), self._count.get(frame.route_id, 0) + 1
        self._count[frame.route_id] = count
        if count % 3 == 0:
            self._kept[frame.route_id] = step.owes
            return replace(step, owes=())
        return replace(step, owes=(*step.owes, *self._kept.pop(frame.route_id, ())))


@in_server("FROG-20-06", "FROG-38-02")
class SignalErrorsHaveNoId(ServerMachine):
    """Does not echo the route of a signal that is refused."""

    def signal_error(self, state: State, channel: Channel, frame: Signal, *given: Any) -> ServerStep:
        step = super().signal_error(state, channel, frame, *given)
        return changed(step, Err, lambda err: replace(err, id=DASH))
