"""Servers that are wrong about a route where two routes, two signals or two moments of it meet."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from reference_impl.core import Channel, Step
from reference_impl.frog.frames import Code, Found, Join, Kind, Lookup, Signal, SignalFrom
from reference_impl.frog.identity import Identities
from reference_impl.frog.presence import State
from reference_impl.frog.routes import Ending, Route
from reference_impl.frog.server import Config, ServerMachine, ServerStep
from targets.mutants.frog.server_payloads import Meddling
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed


@in_server("FROG-25-02")
class SixtyFourRoutes(ServerMachine):
    """Forgets the oldest of more than 64 routes."""

    def relay(self, state: State, channel: Channel, frame: Signal) -> ServerStep:
        by_age = sorted(state.routes.by_id, key=lambda id: state.routes.by_id[id].created_at)
        if frame.route_id in by_age[:-64]:
            return self.signal_error(state, channel, frame, "FROG-26-07", (Code.ROUTE_NOT_FOUND,))
        return super().relay(state, channel, frame)


@in_server("FROG-25-03")
class OnlyTheAskerRefreshes(ServerMachine):
    """Moves the end of a route by signals of the peer that looked up, and not by those of the other."""

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        step = super().carried(state, channel, frame, route)
        if channel == route.side_a:
            return step
        return replace(step, state=replace(step.state, routes=step.state.routes.used(frame.route_id, route.used_at)))


@in_server("FROG-25-03")
class RefreshesOnce(ServerMachine):
    """Moves the end of a route once, by its first signal."""

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        step = super().carried(state, channel, frame, route)
        if route.used_at == route.created_at:
            return step
        return replace(step, state=replace(step.state, routes=step.state.routes.used(frame.route_id, route.used_at)))


@in_server("FROG-25-03", "FROG-39-07")
class TheSweepCountsFromTheBeginning(ServerMachine):
    """Forgets a route by its age when it looks for expired ones, however lately it was used."""

    def sweep(self, state: State) -> ServerStep:
        long = state.now - self.config.timers.route_s
        old = [id for id, route in state.routes.by_id.items() if route.created_at < long]
        return super().sweep(replace(state, routes=state.routes.without(iter(old))))


@in_server("FROG-24-10", "FROG-25-02")
class TwinsEndTogether(ServerMachine):
    """Ends all routes of a pair when one of them is over."""

    def route_over(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        step = super().route_over(state, channel, frame, route)
        by_id = step.state.routes.by_id
        for id, other in by_id.items():
            if {other.peer_a, other.peer_b} == {route.peer_a, route.peer_b}:
                by_id = by_id.set(id, replace(other, ended=Ending.CLOSED))
        return replace(step, state=replace(step.state, routes=replace(step.state.routes, by_id=by_id)))


def known_by(route_id: str, found: Found) -> Found:
    return replace(found, route_id=route_id)


@in_server("FROG-24-10")
class APairHasARoute(ServerMachine):
    """Answers a second lookup of a pair with the route that it has."""

    def looked_up(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        step, own = super().looked_up(state, channel, frame), state.connections[channel].peer_key
        for id, route in state.routes.by_id.items():
            if route.ended is None and {route.peer_a, route.peer_b} == {own, frame.peer_key}:
                return changed(step, Found, partial(known_by, id))
        return step


@in_server("FROG-24-10", "FROG-26-11")
class ALookupBackTurnsTheRoute(ServerMachine):
    """Ends the route of a pair when the looked-up peer looks up the other one."""

    def looked_up(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        own, by_id = state.connections[channel].peer_key, state.routes.by_id
        for id, route in by_id.items():
            if (route.peer_a, route.peer_b) == (frame.peer_key, own):
                by_id = by_id.set(id, replace(route, ended=Ending.REPLACED))
        turned = replace(state, routes=replace(state.routes, by_id=by_id))
        return super().looked_up(turned, channel, frame)


# -- what a server takes to be the order of a negotiation, which is none of its business ---------------------


class Negotiating(ServerMachine):
    """Knows which kinds have passed along a route."""

    def __init__(self, config: Config, identities: Identities | None = None) -> None:
        super().__init__(config, identities)
        self.passed: dict[str, list[str]] = {}

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        before = self.passed.setdefault(frame.route_id, [])
        if not self.fits(frame.kind, before):
            return Step(state)
        before.append(frame.kind)
        return super().carried(state, channel, frame, route)

    def fits(self, kind: str, before: list[str]) -> bool:
        raise TypeError(type(self))


@in_server("FROG-26-03", "FROG-13.1-03")
class NoCandidateBeforeTheAnswer(Negotiating):
    """Drops candidates of a route along which no answer has passed."""

    def fits(self, kind: str, before: list[str]) -> bool:
        return kind != Kind.ICE or Kind.ANSWER in before


@in_server("FROG-26-03", "FROG-13.1-03")
class OneOfferPerRoute(Negotiating):
    """Drops the second offer of a route."""

    def fits(self, kind: str, before: list[str]) -> bool:
        return kind != Kind.OFFER or Kind.OFFER not in before


@in_server("FROG-26-03", "FROG-13.1-03")
class NoAnswerWithoutAnOffer(Negotiating):
    """Drops an answer along a route by which no offer has come."""

    def fits(self, kind: str, before: list[str]) -> bool:
        return kind != Kind.ANSWER or Kind.OFFER in before


@in_server("FROG-26-16", "FROG-26-03")
class AHundredSignalsPerRoute(Negotiating):
    """Drops what comes along a route behind a hundred signals."""

    def fits(self, kind: str, before: list[str]) -> bool:
        return len(before) < 100


# -- what is carried ---------------------------------------------------------------------------------------------------


@in_server("FROG-26-03", "FROG-39-02")
class DropsOver16384(ServerMachine):
    """Drops a signal of more than 16,384 bytes."""

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        large = len(frame.payload) > 16_384
        return Step(state) if large else super().carried(state, channel, frame, route)


@in_server("FROG-26-03", "FROG-39-02")
class DropsWhatFillsIt(ServerMachine):
    """Drops a signal of exactly 1,500 bytes, which fills its buffer."""

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        full = len(frame.payload) == 1500
        return Step(state) if full else super().carried(state, channel, frame, route)


@in_server("FROG-26-01")
class EmptyIsTheLast(Meddling):
    """Delivers the payload before once more where a signal has none."""

    last = b""

    def bytes(self, payload: bytes) -> bytes:
        self.last = payload or self.last
        return self.last


@in_server("FROG-26-01")
class EndsAtTheSecondLineFeed(Meddling):
    """Delivers a payload as far as an empty line."""

    def bytes(self, payload: bytes) -> bytes:
        return payload.split(b"\n\n")[0]


@in_server("FROG-26-04")
class NamesTheFirstClaim(ServerMachine):
    """Names the key that a connection has claimed first as the source of its signals."""

    def __init__(self, config: Config, identities: Identities | None = None) -> None:
        super().__init__(config, identities)
        self.first: dict[Channel, str] = {}

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        self.first.setdefault(channel, frame.peer_key)
        return super().join(state, channel, frame)

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        step = super().carried(state, channel, frame, route)
        return changed(step, SignalFrom, lambda d: replace(d, peer_key=self.first.get(channel, d.peer_key)))


@in_server("FROG-26-11", "FROG-26-15")
class TheNewestRouteOfThePair(ServerMachine):
    """Delivers a signal under the id of the newest route of its pair."""

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        pair = {route.peer_a, route.peer_b}
        living = [(r.created_at, id) for id, r in state.routes.by_id.items() if {r.peer_a, r.peer_b} == pair]
        newest = max(living, default=(0.0, frame.route_id))[1]
        step = super().carried(state, channel, frame, route)
        return changed(step, SignalFrom, lambda d: replace(d, route_id=newest))
