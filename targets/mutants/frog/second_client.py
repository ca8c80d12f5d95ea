"""Clients that are wrong where two routes, two requests or two servers meet, or tell their host what is not so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.core.expectation import Hole
from reference_impl.frog.client import ClientMachine, Config, State
from reference_impl.frog.frames import Err, Found, Joined, Kind, Peers, SignalFrom, Try
from reference_impl.frog.host import AskRoute, GotPeers, GotRoute, SendSignal, Signalled
from reference_impl.frog.identity import Identities
from reference_impl.frog.joining import ClientStep
from targets.mutants.frog.shelf import in_client
from targets.mutants.frog.steps import changed


class Routing(ClientMachine):
    """Knows the routes of each peer, oldest first."""

    def __init__(self, config: Config, identities: Identities | None = None) -> None:
        super().__init__(config, identities)
        self.by_peer: dict[str, list[str]] = {}

    def found(self, state: State, channel: Channel, frame: Found) -> ClientStep:
        step = super().found(state, channel, frame)
        if frame.route_id in step.state.routes:
            self.by_peer.setdefault(frame.peer_key, []).append(frame.route_id)
        return step


@in_client("FROG-46-01", "FROG-22-11")
class SignalsAlongTheNewest(Routing):
    """Signals along the newest route to a peer, whichever its host names."""

    def send(self, state: State, channel: Channel, request: SendSignal) -> ClientStep:
        routes = self.by_peer.get(state.routes.get(request.route_id, ""), [request.route_id])
        newest = next((id for id in reversed(routes) if id in state.routes), request.route_id)
        return super().send(state, channel, replace(request, route_id=newest))


@in_client("FROG-46-01")
class HearsAlongTheFirst(Routing):
    """Tells its host of a signal under the first route to its peer."""

    def signalled(self, state: State, channel: Channel, frame: SignalFrom) -> ClientStep:
        first = self.by_peer.get(frame.peer_key, [frame.route_id])[0]
        step = super().signalled(state, channel, frame)
        return changed(step, Signalled, lambda told: replace(told, route_id=first))


@in_client("FROG-46-01", "FROG-25-09")
class AnErrorEndsEveryRoute(ClientMachine):
    """Forgets all routes to a peer when one of them is over."""

    def failed(self, state: State, channel: Channel, frame: Err) -> ClientStep:
        step, peer = super().failed(state, channel, frame), state.routes.get(frame.id)
        routes = step.state.routes
        if peer is not None and frame.id not in routes:
            for id, other in routes.items():
                routes = routes.delete(id) if other == peer else routes
        return replace(step, state=replace(step.state, routes=routes))


@in_client("FROG-46-01")
class EveryErrorEndsARoute(ClientMachine):
    """Forgets a route for any error about it, also one that says to come later."""

    def failed(self, state: State, channel: Channel, frame: Err) -> ClientStep:
        step = super().failed(state, channel, frame)
        routes = step.state.routes
        return replace(
            step, state=replace(step.state, routes=routes.delete(frame.id) if frame.id in routes else routes)
        )


@in_client("FROG-46-01")
class AnEmptySignalIsTheLast(ClientMachine):
    """Tells its host of the payload before where a signal has none."""

    last = b""

    def signalled(self, state: State, channel: Channel, frame: SignalFrom) -> ClientStep:
        self.last = frame.payload or self.last
        return super().signalled(state, channel, replace(frame, payload=self.last))


@in_client("FROG-46-01")
class NoCandidateBeforeTheOffer(ClientMachine):
    """Does not tell its host of candidates along a route by which no offer or answer has come."""

    def __init__(self, config: Config, identities: Identities | None = None) -> None:
        super().__init__(config, identities)
        self.begun: set[str] = set()

    def signalled(self, state: State, channel: Channel, frame: SignalFrom) -> ClientStep:
        if frame.kind != Kind.ICE:
            self.begun.add(frame.route_id)
        return super().signalled(state, channel, frame) if frame.route_id in self.begun else Step(state)


@in_client("FROG-46-01")
class SameSignalsOnce(ClientMachine):
    """Does not tell its host of a signal that is the same as the one before."""

    last: SignalFrom | None = None

    def signalled(self, state: State, channel: Channel, frame: SignalFrom) -> ClientStep:
        same, self.last = frame == self.last, frame
        return Step(state) if same else super().signalled(state, channel, frame)


@in_client("FROG-20-04", "FROG-24-10")
class SameLookupsShareAnAnswer(ClientMachine):
    """Answers every lookup of a peer with the first route that was found."""

    def found(self, state: State, channel: Channel, frame: Found) -> ClientStep:
        step = super().found(state, channel, frame)
        known = next((id for id, peer in state.routes.items() if peer == frame.peer_key), frame.route_id)
        return changed(step, GotRoute, lambda told: replace(told, route_id=known))


@in_client("FROG-20-04")
class AnErrorFailsItsKind(ClientMachine):
    """Gives up all lookups when one of them fails."""

    def failed(self, state: State, channel: Channel, frame: Err) -> ClientStep:
        step, asked = super().failed(state, channel, frame), state.outstanding.get(frame.id)
        if asked is None or not isinstance(asked.request, AskRoute):
            return step
        for cid, other in step.state.outstanding.items():
            if isinstance(other.request, AskRoute):
                more = self.fail(step.state, cid, frame.code, "")
                step = replace(more, owes=(*step.owes, *more.owes))
        return step


@in_client("FROG-41-02", "FROG-21-10")
class FaithfulToTheLast(ClientMachine):
    """Dials the server where it was registered last, and no other any more."""

    def __init__(self, config: Config, identities: Identities | None = None) -> None:
        super().__init__(config, identities)
        self.last = ""

    def joined(self, state: State, channel: Channel, frame: Joined) -> ClientStep:
        self.last = state.uri
        return super().joined(state, channel, frame)

    def a_server(self, state: State) -> Any:
        return Hole("the last", lambda _, __: True, lambda _, __: self.last) if self.last else super().a_server(state)


@in_client("FROG-41-04", "FROG-21-09")
class LearnedReplaceBootstrap(ClientMachine):
    """Forgets the servers that it was shipped with once it has learned of others."""

    def tried(self, state: State, channel: Channel, frame: Try) -> ClientStep:
        step = super().tried(state, channel, frame)
        known = step.state.known
        if not known.learned:
            return step
        return replace(step, state=replace(step.state, known=replace(known, bootstrap=())))


@in_client("FROG-20-04", "FROG-46-01")
class TellsPeersOnce(ClientMachine):
    """Tells its host only of peers that it has not told of before."""

    def __init__(self, config: Config, identities: Identities | None = None) -> None:
        super().__init__(config, identities)
        self.told: set[str] = set()

    def found_some(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        def news(told: GotPeers) -> GotPeers:
            fresh = tuple(key for key in told.peer_keys if key not in self.told)
            self.told.update(told.peer_keys)
            return replace(told, peer_keys=fresh)

        return changed(super().found_some(state, channel, frame), GotPeers, news)
