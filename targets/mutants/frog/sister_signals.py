"""Servers that carry signals and errors of a route between servers wrongly, or make a wrong route."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Expectation, Step
from reference_impl.frog.frames import (
    Code,
    SisterErr,
    SisterFound,
    SisterLookup,
    SisterSignal,
)
from reference_impl.frog.identifiers import network_of
from reference_impl.frog.presence import State
from reference_impl.frog.routes import Ending, Route, Side
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.sisters import Adjacent
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import also, changed, without

# -- routes --------------------------------------------------------------------------------------------------------------


@in_server("FROG-36-01")
class LooksUpAcrossNetworks(ServerMachine):
    """Answers an @LOOKUP whose two peers are of different networks."""

    def lookup_of_sister(self, state: State, channel: Channel, frame: SisterLookup) -> ServerStep:
        return self.flooded(state, channel, frame, lambda now: self.answer_lookup(now, channel, frame))


@in_server("FROG-36-01")
class LooksUpWhereNamesBeginAlike(ServerMachine):
    """Answers an @LOOKUP across networks where one name begins as the other."""

    def lookup_of_sister(self, state: State, channel: Channel, frame: SisterLookup) -> ServerStep:
        one, other = network_of(frame.source), network_of(frame.target)
        if one != other and (one.startswith(other) or other.startswith(one)):
            return self.flooded(state, channel, frame, lambda now: self.answer_lookup(now, channel, frame))
        return super().lookup_of_sister(state, channel, frame)


@in_server("FROG-36-04")
class FoundAndPassedOn(ServerMachine):
    """Passes an @LOOKUP on whose target is here."""

    def answer_lookup(self, state: State, channel: Channel, frame: SisterLookup) -> ServerStep:
        step = super().answer_lookup(state, channel, frame)
        if frame.target not in state.peers:
            return step
        return replace(step, owes=step.owes + self.passed_on(state, channel, frame).owes)


@in_server("FROG-36-04")
class FoundForAll(ServerMachine):
    """Tells all its sisters of an @LOOKUP's target that is here."""

    def answer_lookup(self, state: State, channel: Channel, frame: SisterLookup) -> ServerStep:
        step = super().answer_lookup(state, channel, frame)
        for line in state.overlay.live.values() if frame.target in state.peers else ():
            step = step if line == channel else also(step, line, SisterFound(frame.route_id, frame.target))
        return step


@in_server("FROG-36-04", "FROG-37-07")
class FoundAndNoRoute(ServerMachine):
    """Says @FOUND of a peer that is here, and makes no route."""

    def answer_lookup(self, state: State, channel: Channel, frame: SisterLookup) -> ServerStep:
        step = super().answer_lookup(state, channel, frame)
        return replace(step, state=replace(step.state, routes=state.routes))


@in_server("FROG-36-04", "FROG-37-04")
class RoutesLeadToTheOrigin(ServerMachine):
    """Takes the origin of an @LOOKUP for the next server that way, and not who sent it."""

    def routed_afar(self, state: State, lookup: SisterLookup, side_a: Side, side_b: Side) -> State:
        back = Adjacent(lookup.server_id) if isinstance(side_a, Adjacent) else side_a
        return super().routed_afar(state, lookup, back, side_b)


@in_server("FROG-36-08")
class FoundIsNotPassedOn(ServerMachine):
    """Keeps @FOUND to itself where a sister asked."""

    def found_by_sister(self, state: State, channel: Channel, frame: SisterFound) -> ServerStep:
        return without(super().found_by_sister(state, channel, frame), SisterFound)


@in_server("FROG-36-08", "FROG-25-01")
class FoundIsPassedOnWithoutARoute(ServerMachine):
    """Passes @FOUND on, and makes no route."""

    def found_by_sister(self, state: State, channel: Channel, frame: SisterFound) -> ServerStep:
        step = super().found_by_sister(state, channel, frame)
        return replace(step, state=replace(step.state, routes=state.routes))


@in_server("FROG-36-10")
class SaysNotFound(ServerMachine):
    """Says PEER_NOT_FOUND of an @LOOKUP that goes no further."""

    def answer_lookup(self, state: State, channel: Channel, frame: SisterLookup) -> ServerStep:
        step = super().answer_lookup(state, channel, frame)
        return step if step.owes else also(step, channel, SisterErr(frame.route_id, Code.PEER_NOT_FOUND))


# -- signals -------------------------------------------------------------------------------------------------------------


class Relays(ServerMachine):
    """Sends another signal than it was given."""

    def onward(self, state: State, route: Route, frame: SisterSignal) -> Expectation | None:
        debt = super().onward(state, route, frame)
        return debt and replace(debt, template=self.other(route, debt.template))

    def other(self, route: Route, frame: Any) -> Any:
        return replace(frame, payload=self.bytes(frame.payload))

    def bytes(self, payload: bytes) -> bytes:
        return payload


@in_server("FROG-37-08", "FROG-37-01")
class RelaysText(Relays):
    """Reads a payload that crosses servers as UTF-8 and writes it again."""

    def bytes(self, payload: bytes) -> bytes:
        return payload.decode("utf-8", "replace").encode()[:65_536]


@in_server("FROG-37-08", "FROG-37-01")
class RelaysJson(Relays):
    """Writes a payload that crosses servers again where it is JSON."""

    def bytes(self, payload: bytes) -> bytes:
        try:
            return json.dumps(json.loads(payload)).encode()
        except (ValueError, RecursionError):
            return payload


@in_server("FROG-37-01", "FROG-37-07")
class EverySignalIsOfTheAsker(Relays):
    """Names the peer that looked up as the source of every signal."""

    def other(self, route: Route, frame: Any) -> Any:
        return replace(frame, peer_key=route.peer_a)


@in_server("FROG-37-01", "FROG-37-07", "FROG-26-13")
class AnswersAreOffers(Relays):
    """Makes every signal that crosses servers an OFFER."""

    def other(self, route: Route, frame: Any) -> Any:
        return replace(frame, kind="OFFER")


@in_server("FROG-37-06")
class SignalsGoTowardTheTarget(ServerMachine):
    """Sends signals of either peer toward the one that was looked up."""

    def onward(self, state: State, route: Route, frame: SisterSignal) -> Expectation | None:
        return super().onward(state, replace(route, side_a=route.side_b), frame)


@in_server("FROG-37-07", "FROG-25-06")
class DeliversToTheNewest(ServerMachine):
    """Delivers a sister's signal to whichever connection the peer has now."""

    def signal_of_sister(self, state: State, channel: Channel, frame: SisterSignal) -> ServerStep:
        route = state.routes.get(frame.route_id)
        now = state.peers.get(route.peer_b) if route and route.ended is Ending.REPLACED else None
        if route is None or now is None:
            return super().signal_of_sister(state, channel, frame)
        moved = replace(route, side_b=now, ended=None)
        return super().signal_of_sister(replace(state, routes=state.routes.add(frame.route_id, moved)), channel, frame)


class SisterlySignals(ServerMachine):
    """Carries a sister's signals along routes that do not allow it."""

    def signal_of_sister(self, state: State, channel: Channel, frame: SisterSignal) -> ServerStep:
        route = state.routes.get(frame.route_id)
        onward = route and self.allows(state, route, channel, frame) and self.onward(state, route, frame)
        return Step(state, (onward,)) if onward else super().signal_of_sister(state, channel, frame)

    def allows(self, state: State, route: Route, channel: Channel, frame: SisterSignal) -> bool:
        raise TypeError(f"{type(self).__name__} does not say what it allows")


@in_server("FROG-37-02")
class ExpiredForClientsAlone(SisterlySignals):
    """Carries a sister's signals along a route that has expired."""

    def allows(self, state: State, route: Route, channel: Channel, frame: SisterSignal) -> bool:
        return not route.ended and route.endpoint(frame.peer_key) == Adjacent(state.sister(channel))


@in_server("FROG-37-03")
class AnySourceWillDo(SisterlySignals):
    """Carries signals of a third peer from a sister that is a side of the route."""

    def allows(self, state: State, route: Route, channel: Channel, frame: SisterSignal) -> bool:
        side = Adjacent(state.sister(channel)) in (route.side_a, route.side_b)
        return self.lives(state, route) and side and route.endpoint(frame.peer_key) is None


@in_server("FROG-37-04")
class AnySisterMaySignal(SisterlySignals):
    """Carries signals along a route from a sister that is no side of it."""

    def allows(self, state: State, route: Route, channel: Channel, frame: SisterSignal) -> bool:
        side = Adjacent(state.sister(channel)) in (route.side_a, route.side_b)
        return self.lives(state, route) and not side and route.endpoint(frame.peer_key) is not None


@in_server("FROG-37-04")
class EitherSideMaySpeakForBoth(SisterlySignals):
    """Carries signals of either peer from either side of a route between sisters."""

    def allows(self, state: State, route: Route, channel: Channel, frame: SisterSignal) -> bool:
        sides = (route.side_a, route.side_b)
        both = all(isinstance(side, Adjacent) for side in sides) and Adjacent(state.sister(channel)) in sides
        return self.lives(state, route) and both and route.endpoint(frame.peer_key) is not None


@in_server("FROG-37-04")
class SistersSpeakForOurPeers(SisterlySignals):
    """Carries signals of a peer that is registered here from the sister at the other side of its route."""

    def allows(self, state: State, route: Route, channel: Channel, frame: SisterSignal) -> bool:
        ours = state.peers.get(frame.peer_key) == route.endpoint(frame.peer_key)
        return self.lives(state, route) and ours and route.opposite(frame.peer_key) == Adjacent(state.sister(channel))


class Signalless(ServerMachine):
    """Is silent, or says something else, where a sister's signal goes nowhere."""

    codes: tuple[Code, ...] = ()
    instead: Code | None = None

    def unsent(self, state: State, channel: Channel, frame: SisterSignal, clause: str, codes: Any) -> ServerStep:
        step = super().unsent(state, channel, frame, clause, codes)
        if codes[0] not in self.codes:
            return step
        other = self.instead
        return changed(step, SisterErr, lambda err: SisterErr(frame.route_id, other)) if other else Step(step.state)


@in_server("FROG-37-02")
class UnknownRoutesAreSilence(Signalless):
    """Says nothing to a sister's signal along no route."""

    codes = (Code.ROUTE_NOT_FOUND,)


@in_server("FROG-37-02")
class OverIsABadRequest(Signalless):
    """Says BAD_REQUEST of a sister's signal along a route that has expired."""

    codes, instead = (Code.ROUTE_EXPIRED,), Code.BAD_REQUEST


@in_server("FROG-37-09")
class GoneIsSilence(Signalless):
    """Says nothing to a sister's signal for a peer that is gone."""

    codes = (Code.PEER_NOT_FOUND,)


@in_server("FROG-37-10")
class DownIsSilence(Signalless):
    """Says nothing to a sister's signal whose next server is gone."""

    codes = (Code.SERVER_UNAVAILABLE,)


@in_server("FROG-37-10")
class DownIsNotFound(Signalless):
    """Says ROUTE_NOT_FOUND of a sister's signal whose next server is gone."""

    codes, instead = (Code.SERVER_UNAVAILABLE,), Code.ROUTE_NOT_FOUND


@in_server("FROG-37-03", "FROG-37-04")
class MismatchIsABadRequest(Signalless):
    """Says BAD_REQUEST of a sister's signal from the wrong side."""

    codes, instead = (Code.TARGET_MISMATCH,), Code.BAD_REQUEST
