"""Clients that keep from their host, or from the other peer, what they should tell."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Channel, Expectation, Step
from reference_impl.frog.client import ClientMachine
from reference_impl.frog.client_io import Client
from reference_impl.frog.frames import Code, Err, Kind, Peers, SignalFrom, Try
from reference_impl.frog.host import AskServers, Refused, Reported, Signalled
from reference_impl.frog.joining import ClientStep, State
from targets.mutants.frog.shelf import in_client
from targets.mutants.frog.steps import changed, without


@in_client("FROG-44-01")
class HangsAtTheEnd(ClientMachine):
    """Does not tell its host that a connection is gone with its requests."""

    def going_down(self, state: State) -> tuple[Expectation, ...]:
        return tuple(debt for debt in super().going_down(state) if not isinstance(debt.template, Refused))


@in_client("FROG-44-01")
class WaitsBeyondTheTimeout(ClientMachine):
    """Goes on waiting when a lookup has timed out."""

    def failed(self, state: State, channel: Channel, frame: Err) -> ClientStep:
        return Step(state) if frame.code == Code.LOOKUP_TIMEOUT else super().failed(state, channel, frame)


@in_client("FROG-44-01", "FROG-20-04")
class NotFoundIsAnEmptyRoute(ClientMachine):
    """Does not tell its host that a peer was not found."""

    def failed(self, state: State, channel: Channel, frame: Err) -> ClientStep:
        step = super().failed(state, channel, frame)
        return without(step, Refused) if frame.code == Code.PEER_NOT_FOUND else step


@in_client("FROG-46-01")
class DeafToSignals(ClientMachine):
    """Does not tell its host of signals that answer none of its own."""

    def signalled(self, state: State, channel: Channel, frame: SignalFrom) -> ClientStep:
        return super().signalled(state, channel, frame) if frame.route_id in state.routes else Step(state)


@in_client("FROG-46-01")
class DeafToCandidates(ClientMachine):
    """Does not tell its host of signals of the kind ICE."""

    def signalled(self, state: State, channel: Channel, frame: SignalFrom) -> ClientStep:
        return Step(state) if frame.kind == Kind.ICE else super().signalled(state, channel, frame)


@in_client("FROG-46-01", "FROG-5-21")
class DeafToEmptySignals(ClientMachine):
    """Does not tell its host of signals without payload."""

    def signalled(self, state: State, channel: Channel, frame: SignalFrom) -> ClientStep:
        return super().signalled(state, channel, frame) if frame.payload else Step(state)


@in_client("FROG-46-01", "FROG-26-01")
class HearsText(ClientMachine):
    """Tells its host of a payload as UTF-8."""

    def signalled(self, state: State, channel: Channel, frame: SignalFrom) -> ClientStep:
        step = super().signalled(state, channel, frame)
        return changed(step, Signalled, lambda s: replace(s, payload=s.payload.decode("utf-8", "replace").encode()))


@in_client("FROG-46-01", "FROG-26-01")
class SendsText(Client):
    """Signals a payload as UTF-8."""

    def signal(self, route_id: str, kind: str, payload: bytes) -> None:
        super().signal(route_id, kind, payload.decode("utf-8", "replace").encode()[:65_536])


@in_client("FROG-46-01", "FROG-26-03")
class SendsOffersOnly(Client):
    """Signals whatever it sends as an offer."""

    def signal(self, route_id: str, kind: str, payload: bytes) -> None:
        super().signal(route_id, Kind.OFFER if kind in list(Kind) else kind, payload)


@in_client("FROG-46-01")
class SilentAboutErrors(ClientMachine):
    """Does not tell its host of errors about a route."""

    def failed(self, state: State, channel: Channel, frame: Err) -> ClientStep:
        return without(super().failed(state, channel, frame), Reported)


@in_client("FROG-46-01")
class CannotAnswer(ClientMachine):
    """Does not signal along a route that another peer made."""

    def signalled(self, state: State, channel: Channel, frame: SignalFrom) -> ClientStep:
        return replace(super().signalled(state, channel, frame), state=state)


@in_client("FROG-46-01", "FROG-13.1-05")
class ForgetsTheSeventhPeer(ClientMachine):
    """Tells its host of six peers where seven came."""

    def found_some(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        return super().found_some(state, channel, replace(frame, peer_keys=frame.peer_keys[:6]))


@in_client("FROG-46-01", "FROG-20-04")
class ForgetsServersThatItKnows(ClientMachine):
    """Tells its host only of servers that it did not know."""

    def tried(self, state: State, channel: Channel, frame: Try) -> ClientStep:
        asked = state.outstanding.get(frame.cid)
        known = state.known.every() if asked and isinstance(asked.request, AskServers) and not asked.own else ()
        return super().tried(state, channel, replace(frame, uris=tuple(uri for uri in frame.uris if uri not in known)))
