"""Servers that are wrong where two connections, two keys or two moments of a registration meet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from reference_impl.core import Channel, Step
from reference_impl.frog.frames import MOST_LISTED, Auth, Code, Find, Hangup, Join, Leave, Lookup, Malformed
from reference_impl.frog.identifiers import DASH, fingerprint_of, network_of
from reference_impl.frog.identity import Identities
from reference_impl.frog.presence import Connection, Phase, State
from reference_impl.frog.routes import Ending
from reference_impl.frog.server import Config, ServerMachine, ServerStep
from targets.mutants.frog.shelf import in_server


class Replacing(ServerMachine):
    """Knows which keys were ever replaced."""

    def __init__(self, config: Config, identities: Identities | None = None) -> None:
        super().__init__(config, identities)
        self.replaced: set[str] = set()

    def registered(self, state: State, channel: Channel) -> ServerStep:
        key = state.connections[channel].peer_key
        if key in state.peers:
            self.replaced.add(key)
        return super().registered(state, channel)


@in_server("FROG-22-12", "FROG-17.1-02")
class FindForgetsTheReplaced(Replacing):
    """Looks a key up that was replaced, and does not find it."""

    def candidates(self, state: State, asker: str) -> set[str]:
        return super().candidates(state, asker) - self.replaced


@in_server("FROG-17.1-02", "FROG-24-01")
class LookupForgetsTheReplaced(Replacing):
    """Finds a key that was replaced, and cannot look it up."""

    def looked_up(self, state: State, channel: Channel, frame: Lookup) -> ServerStep:
        gone = frame.peer_key in self.replaced
        return self.missed(state, channel, frame) if gone else super().looked_up(state, channel, frame)


@in_server("FROG-17.1-02", "FROG-17.1-06")
class TheSecondReplacementKeepsRoutes(Replacing):
    """Ends the routes of a connection that was replaced, but for the second time."""

    def registered(self, state: State, channel: Channel) -> ServerStep:
        key = state.connections[channel].peer_key
        again = key in self.replaced and key in state.peers
        step = super().registered(state, channel)
        return replace(step, state=replace(step.state, routes=state.routes)) if again else step


def ended(state: State, sides: Iterable[Channel], why: Ending) -> State:
    routes = state.routes
    for side in sides:
        routes = routes.end(side, why)
    return replace(state, routes=routes)


@in_server("FROG-25-02", "FROG-26-03")
class AReplacementEndsEveryRoute(ServerMachine):
    """Ends the routes of everybody when a connection is replaced."""

    def registered(self, state: State, channel: Channel) -> ServerStep:
        step = super().registered(state, channel)
        if state.connections[channel].peer_key not in state.peers:
            return step
        return replace(step, state=ended(step.state, state.connections, Ending.REPLACED))


@in_server("FROG-25-02", "FROG-26-03")
class ACloseEndsTheNetworksRoutes(ServerMachine):
    """Ends the routes of a whole network when one of its peers is gone."""

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        held, step = state.connections[channel], super().hung_up(state, channel, event)
        if held.phase is not Phase.REGISTERED:
            return step
        mates = [c for key, c in state.peers.items() if network_of(key) == network_of(held.peer_key)]
        return replace(step, state=ended(step.state, mates, Ending.CLOSED))


@in_server("FROG-17.1-07", "FROG-18-01")
class GoneInEveryNetwork(ServerMachine):
    """Forgets a fingerprint in every network when it is gone in one."""

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        held, step = state.connections[channel], super().hung_up(state, channel, event)
        left = step.state
        for key, other in step.state.peers.items():
            if held.phase is Phase.REGISTERED and fingerprint_of(key) == fingerprint_of(held.peer_key):
                left = left.unregistered(other, Ending.CLOSED).moved(other, Connection(Phase.OVER))
        return replace(step, state=left)


@in_server("FROG-17-11", "FROG-17-01")
class ANewClaimEndsTheOldChallenge(ServerMachine):
    """Lets a challenge fail once another connection has claimed the same key."""

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        for other, held in state.connections.items():
            if other != channel and held.phase is Phase.AUTH_PENDING and held.peer_key == frame.peer_key:
                state = replace(state, connections=state.connections.set(other, replace(held, nonce="")))
        return super().join(state, channel, frame)


@in_server("FROG-17-11")
class LeavingEndsChallenges(ServerMachine):
    """Lets a challenge fail once the registered connection of its key has left."""

    def leave(self, state: State, channel: Channel, frame: Leave) -> ServerStep:
        key = state.connections[channel].peer_key if state.phase(channel) is Phase.REGISTERED else ""
        for other, held in state.connections.items():
            if key and held.phase is Phase.AUTH_PENDING and held.peer_key == key:
                state = replace(state, connections=state.connections.set(other, replace(held, nonce="")))
        return super().leave(state, channel, frame)


class Claiming(ServerMachine):
    """Knows of each claim where the key was registered at its time."""

    def __init__(self, config: Config, identities: Identities | None = None) -> None:
        super().__init__(config, identities)
        self.holders: dict[Channel, Channel] = {}

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        self.holders[channel] = state.peers.get(frame.peer_key)
        return super().join(state, channel, frame)


@in_server("FROG-17-11")
class TheHolderHasToBeThere(Claiming):
    """Fails a proof where the connection that it was to replace is gone meanwhile."""

    def registered(self, state: State, channel: Channel) -> ServerStep:
        holder = self.holders.get(channel)
        if holder is not None and state.peers.get(state.connections[channel].peer_key) != holder:
            return self.auth_failed(state, channel)
        return super().registered(state, channel)


@in_server("FROG-17.1-02", "FROG-17-11")
class TheFirstProofWins(Claiming):
    """Fails a proof where another connection has proved the key since it was claimed."""

    def registered(self, state: State, channel: Channel) -> ServerStep:
        now = state.peers.get(state.connections[channel].peer_key)
        if now is not None and now != self.holders.get(channel):
            return self.auth_failed(state, channel)
        return super().registered(state, channel)


@in_server("FROG-17-15", "FROG-39-04")
class TheSweepEndsChallenges(ServerMachine):
    """Lets every pending challenge fail when it looks for expired ones."""

    def sweep(self, state: State) -> ServerStep:
        for channel in state.challenges:
            held = replace(state.connections[channel], nonce="")
            state = replace(state, connections=state.connections.set(channel, held))
        return super().sweep(state)


@in_server("FROG-22-07")
class FindsTheFirstSeven(ServerMachine):
    """Draws from the seven peers of a network that come first."""

    def candidates(self, state: State, asker: str) -> set[str]:
        return set(sorted(super().candidates(state, asker))[:MOST_LISTED])


@in_server("FROG-22-12", "FROG-22-07")
class OverlooksTheNewest(ServerMachine):
    """Does not find the peer of a network that was registered last, unless it is the only one."""

    def candidates(self, state: State, asker: str) -> set[str]:
        others = super().candidates(state, asker)
        newest = max(others, key=lambda key: int(str(state.peers[key])), default="")
        return others - {newest} or others


@in_server("FROG-22-12")
class FindsWhoHasNotAsked(ServerMachine):
    """Does not find peers that have looked for somebody themselves."""

    def __init__(self, config: Config, identities: Identities | None = None) -> None:
        super().__init__(config, identities)
        self.asked: set[str] = set()

    def candidates(self, state: State, asker: str) -> set[str]:
        self.asked.add(asker)
        return super().candidates(state, asker) - self.asked


# -- a connection that was good, and is not ----------------------------------------------------------------------------


@in_server("FROG-15-14", "FROG-20-01")
class LosesTheNextAfterAnError(ServerMachine):
    """Loses the command that follows one that it could not read."""

    def __init__(self, config: Config, identities: Identities | None = None) -> None:
        super().__init__(config, identities)
        self.confused: set[Channel] = set()

    def malformed(self, state: State, channel: Channel, event: Malformed) -> ServerStep:
        self.confused.add(channel)
        return super().malformed(state, channel, event)

    def find(self, state: State, channel: Channel, frame: Find) -> ServerStep:
        if channel in self.confused:
            self.confused.discard(channel)
            return Step(state)
        return super().find(state, channel, frame)


@in_server("FROG-17-11")
class OneFailureIsForEver(ServerMachine):
    """Fails every proof of a connection that has failed once."""

    def __init__(self, config: Config, identities: Identities | None = None) -> None:
        super().__init__(config, identities)
        self.failed: set[Channel] = set()

    def auth(self, state: State, channel: Channel, frame: Auth) -> ServerStep:
        step = self.auth_failed(state, channel) if channel in self.failed else super().auth(state, channel, frame)
        if step.state.phase(channel) is not Phase.REGISTERED:
            self.failed.add(channel)
        return step


@in_server("FROG-17-13", "FROG-15-14")
class ARefusedJoinIsRemembered(ServerMachine):
    """Refuses a second JOIN, and looks the other key up from then on."""

    def joined_already(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        other = replace(state, peers=state.peers.set(frame.peer_key, state.peers.get(frame.peer_key, channel)))
        return self.error(other, channel, "FROG-17-13", DASH, (Code.BAD_STATE,))
