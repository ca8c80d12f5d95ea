"""Servers that count connections, peers, requests or time wrongly where they have bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from immutables import Map

from reference_impl.core import Channel
from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import MAX_PAYLOAD, Code, Err, Hangup, Join, Lookup, Malformed, Opened
from reference_impl.frog.grammar import Form
from reference_impl.frog.identifiers import DASH
from reference_impl.frog.presence import Connection, Phase, State
from reference_impl.frog.server import ServerMachine, ServerStep
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed

EVERYBODY: Any = "everybody"


@in_server("FROG-40-01")
class OneRateForAll(ServerMachine):
    """Shares the rates of requests between all connections."""

    def metered(
        self, state: State, channel: Channel, what: str, id: str, act: Callable[[State], ServerStep]
    ) -> ServerStep:
        meter, allowed = state.meter.spend(EVERYBODY, what, state.now)
        if not allowed:
            return self.error(state, channel, "FROG-40-04", id, (Code.RATE_LIMITED,))
        return act(replace(state, meter=meter))


@in_server("FROG-40-01")
class OneRateForEveryRequest(ServerMachine):
    """Counts every request of a connection against the rate of each."""

    def metered(
        self, state: State, channel: Channel, what: str, id: str, act: Callable[[State], ServerStep]
    ) -> ServerStep:
        meter, allowed = state.meter.spend(channel, what, state.now)
        for other in ("getservers", "finds", "lookups", "signals"):
            meter = meter if other == what else meter.spend(channel, other, state.now)[0]
        if not allowed:
            return self.error(state, channel, "FROG-40-04", id, (Code.RATE_LIMITED,))
        return act(replace(state, meter=meter))


@in_server("FROG-40-01")
class TheMinuteNeverEnds(ServerMachine):
    """Never gives back what was spent of a rate."""

    def metered(
        self, state: State, channel: Channel, what: str, id: str, act: Callable[[State], ServerStep]
    ) -> ServerStep:
        meter, allowed = state.meter.spend(channel, what, math.inf)
        if not allowed:
            return self.error(state, channel, "FROG-40-04", id, (Code.RATE_LIMITED,))
        return act(replace(state, meter=meter))


@in_server("FROG-40-01")
class RatesStartAnewWithEachError(ServerMachine):
    """Forgets what a connection has spent once it was told."""

    def metered(
        self, state: State, channel: Channel, what: str, id: str, act: Callable[[State], ServerStep]
    ) -> ServerStep:
        step = super().metered(state, channel, what, id, act)
        refused = any(debt.clause == "FROG-40-04" for debt in step.owes)
        spent = step.state.meter.spent
        if refused and (channel, what) in spent:
            return replace(step, state=replace(step.state, meter=replace(step.state.meter, spent=Map())))
        return step


@in_server("FROG-40-01", "FROG-38-06")
class TooManyIsABadRequest(ServerMachine):
    """Says BAD_REQUEST to whoever asks too often."""

    def metered(
        self, state: State, channel: Channel, what: str, id: str, act: Callable[[State], ServerStep]
    ) -> ServerStep:
        step = super().metered(state, channel, what, id, act)
        refused = any(debt.clause == "FROG-40-04" for debt in step.owes)
        return changed(step, Err, lambda err: replace(err, code=Code.BAD_REQUEST)) if refused else step


@in_server("FROG-40-02", "FROG-39-03")
class PeersAreNeverGivenBack(ServerMachine):
    """Counts every peer that ever registered against the bound of peers."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._ever = 0

    def registered(self, state: State, channel: Channel) -> ServerStep:
        self._ever += 1
        return super().registered(state, channel)

    def is_full(self, state: State, peer_key: str) -> bool:
        bound = self.config.bounds.peers
        return (bool(bound) and self._ever >= bound) or super().is_full(state, peer_key)


@in_server("FROG-40-02")
class OnePeerTooMany(ServerMachine):
    """Lets one peer more register than its bound."""

    def is_full(self, state: State, peer_key: str) -> bool:
        bound = self.config.bounds.peers
        return super().is_full(state, peer_key) and not (bound and len(state.peers) + len(state.challenges) == bound)


@in_server("FROG-40-02")
class NoBoundForConnections(ServerMachine):
    """Does not count connections."""

    def opened(self, state: State, channel: Channel, event: Opened) -> ServerStep:
        unbounded = replace(self.config.bounds, connections=0, connections_per_ip=0)
        bounded, self.config = self.config, replace(self.config, bounds=unbounded)
        step = super().opened(state, channel, event)
        self.config = bounded
        return step


@in_server("FROG-40-02")
class ChallengesAreNeverGivenBack(ServerMachine):
    """Counts challenges of closed connections against the bound of challenges."""

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        step = super().hung_up(state, channel, event)
        return replace(step, state=replace(step.state, challenges=state.challenges))

    def sweep(self, state: State) -> ServerStep:
        alive = {channel: None for channel in state.challenges if channel in state.connections}
        return super().sweep(replace(state, challenges=Map(alive)))


@in_server("FROG-39-03", "FROG-40-02")
class FullIsSaidTooLate(ServerMachine):
    """Says OK JOIN where the server is full, and does not list the peer."""

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        bounded, self.config = self.config, replace(self.config, bounds=replace(self.config.bounds, peers=0))
        step = super().join(state, channel, frame)
        self.config = bounded
        return step

    def registered(self, state: State, channel: Channel) -> ServerStep:
        bound, step = self.config.bounds.peers, super().registered(state, channel)
        if not bound or len(state.peers) < bound or state.connections[channel].peer_key in state.peers:
            return step
        unlisted = state.moved(channel, Connection(Phase.OVER, state.connections[channel].peer_key))
        return replace(step, state=unlisted)


@in_server("FROG-39-03", "FROG-40-02")
class RoutesMakeRoom(ServerMachine):
    """Ends the oldest route where there is no room for another, and tells nobody."""

    def looked_up(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        bound, routes = self.config.bounds.routes, state.routes
        if bound and len(routes) >= bound:
            oldest = min(routes.by_id, key=lambda id: routes.by_id[id].created_at)
            state = replace(state, routes=routes.without(iter([oldest])))
        return super().looked_up(state, channel, frame)


@in_server("FROG-38-02", "FROG-40-01")
class RateErrorsHaveNoId(ServerMachine):
    """Does not echo the CID of a request that comes too often."""

    def metered(
        self, state: State, channel: Channel, what: str, id: str, act: Callable[[State], ServerStep]
    ) -> ServerStep:
        step = super().metered(state, channel, what, id, act)
        refused = any(debt.clause == "FROG-40-04" for debt in step.owes)
        return changed(step, Err, lambda err: replace(err, id=DASH)) if refused else step


@in_server("FROG-40-02")
class PendingPeersDoNotCount(ServerMachine):
    """Asks at JOIN whether there is room, and lets several take the last place."""

    def is_full(self, state: State, peer_key: str) -> bool:
        return super().is_full(replace(state, challenges=Map()), peer_key)


@in_server("FROG-26-10", "FROG-38-06")
class TooLongIsInternal(ServerMachine):
    """Says INTERNAL of a payload that is too long."""

    def malformed(self, state: State, channel: Channel, event: Malformed) -> ServerStep:
        long = Code.PAYLOAD_TOO_LARGE in event.codes
        return super().malformed(state, channel, replace(event, codes=(Code.INTERNAL,)) if long else event)


@in_server("FROG-26-10", "FROG-5-17")
class CutsLongPayloads(Codec):
    """Relays the first 65536 bytes of a payload that is longer."""

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        long = rest == [str(len(payload))] and len(payload) > MAX_PAYLOAD
        return payload[:MAX_PAYLOAD] if long else super().payload(form, texts, rest, payload)
