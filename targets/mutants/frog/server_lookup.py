"""Servers that look a peer up wrongly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Expectation, Step
from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import Code, Err, Found, Frame, Lookup
from reference_impl.frog.grammar import Form
from reference_impl.frog.identifiers import DASH, fingerprint_of, network_of
from reference_impl.frog.presence import State
from reference_impl.frog.server import ServerMachine, ServerStep
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed


@in_server("FROG-23-01", "FROG-38-06")
class LooksUpAnything(Codec):
    """Reads any text behind the network as the key of a LOOKUP, which is then not found."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        whole = form.frame is Lookup and len(texts) == 2 and self.legal(form.fields[0], texts[0])
        return Lookup(*texts) if whole and ":" in texts[1] and not payload else super().fill(form, texts, payload)


@in_server("FROG-3.3-02", "FROG-23-02", "FROG-3.12-01")
class LooksUpElsewhere(ServerMachine):
    """Looks up peers of other networks."""

    def lookup(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        elsewhere = network_of(frame.peer_key) != network_of(state.connections[channel].peer_key)
        return self.looked_up(state, channel, frame) if elsewhere else super().lookup(state, channel, frame)


@in_server("FROG-23-02", "FROG-3.3-02", "FROG-38-06")
class ElsewhereIsNotFound(ServerMachine):
    """Says PEER_NOT_FOUND of a key of another network."""

    def lookup(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        elsewhere = network_of(frame.peer_key) != network_of(state.connections[channel].peer_key)
        return self.missed(state, channel, frame) if elsewhere else super().lookup(state, channel, frame)


@in_server("FROG-3.3-02", "FROG-23-02")
class LooksUpNetworksByTheirBeginning(ServerMachine):
    """Looks up peers of a network whose name begins like its own."""

    def lookup(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        own, asked = network_of(state.connections[channel].peer_key), network_of(frame.peer_key)
        alike = asked != own and (asked.startswith(own) or own.startswith(asked))
        return self.looked_up(state, channel, frame) if alike else super().lookup(state, channel, frame)


@in_server("FROG-3.12-01", "FROG-24-01", "FROG-3.3-02")
class LooksUpFingerprints(ServerMachine):
    """Looks a fingerprint up in every network where its own does not have it."""

    def looked_up(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        alike = [state.peers[key] for key in state.peers if fingerprint_of(key) == fingerprint_of(frame.peer_key)]
        if frame.peer_key in state.peers or not alike:
            return super().looked_up(state, channel, frame)
        known = replace(state, peers=state.peers.set(frame.peer_key, alike[0]))
        step = super().looked_up(known, channel, frame)
        return replace(step, state=replace(step.state, peers=state.peers))


@in_server("FROG-24-01", "FROG-23-06")
class LooksUpBeginnings(ServerMachine):
    """Looks up a key by its first 25 characters of fingerprint."""

    def looked_up(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        alike = next((key for key in state.peers if key[:-1] == frame.peer_key[:-1]), frame.peer_key)
        return super().looked_up(state, channel, replace(frame, peer_key=alike))


@in_server("FROG-23-03")
class LooksItselfUp(ServerMachine):
    """Makes a route from a peer to itself."""

    def lookup(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        own = frame.peer_key == state.connections[channel].peer_key
        return self.looked_up(state, channel, frame) if own else super().lookup(state, channel, frame)


@in_server("FROG-23-03", "FROG-38-06")
class ItselfIsNotFound(ServerMachine):
    """Says PEER_NOT_FOUND of the asker's own key."""

    def lookup(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        own = frame.peer_key == state.connections[channel].peer_key
        return self.missed(state, channel, frame) if own else super().lookup(state, channel, frame)


@in_server("FROG-23-05")
class FindsTheAsker(ServerMachine):
    """Names the peer that asks in FOUND."""

    def spoke(self, state: State, expectation: Expectation, frame: object) -> State:
        if isinstance(frame, Found):
            target = state.lookups.get((expectation.channel, frame.cid))
            key = next((key for key, channel in state.peers.items() if channel == target), frame.peer_key)
            return state.routed(expectation.channel, replace(frame, peer_key=key))
        return super().spoke(state, expectation, frame)

    def looked_up(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        own = state.connections[channel].peer_key
        return changed(super().looked_up(state, channel, frame), Found, lambda found: replace(found, peer_key=own))


@in_server("FROG-23-06", "FROG-38-06")
class MissingIsABadRequest(ServerMachine):
    """Says BAD_REQUEST of a peer that is not there."""

    def missed(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        return self.error(state, channel, "", frame.cid, (Code.BAD_REQUEST,))


@in_server("FROG-23-06", "FROG-39-06")
class MissingIsNoAnswer(ServerMachine):
    """Does not answer a LOOKUP of a peer that is not there."""

    def missed(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        return Step(state)


@in_server("FROG-39-06", "FROG-23-06")
class LookupsTakeTwiceTheirTime(ServerMachine):
    """Says LOOKUP_TIMEOUT after twice the time of a lookup."""

    def missed(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        late = state.now + 2 * self.config.timers.lookup_s
        return Step(state, (Expectation("", Err(frame.cid, Code.LOOKUP_TIMEOUT), channel, not_before=late),))


@in_server("FROG-23-06", "FROG-20-01", "FROG-38-02")
class MissingHasNoCid(ServerMachine):
    """Does not echo the CID of a lookup that came to nothing."""

    def missed(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        return changed(super().missed(state, channel, frame), Err, lambda err: replace(err, id=DASH))


@in_server("FROG-24-01", "FROG-17.1-02", "FROG-25-06")
class RemembersWhereAPeerWas(ServerMachine):
    """Makes a route to the connection on which a peer was looked up first."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._where: dict[str, Channel] = {}

    def looked_up(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        now = state.peers.get(frame.peer_key)
        if now is None:
            return super().looked_up(state, channel, frame)
        first = self._where.setdefault(frame.peer_key, now)
        step = super().looked_up(state, channel, frame)
        lookups = step.state.lookups.set((channel, frame.cid), first)
        return replace(step, state=replace(step.state, lookups=lookups))
