"""Servers that get the end of a registration wrong: replaced, closed, left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.frog.frames import Code, Hangup, Join, Joined, Leave, Left
from reference_impl.frog.identifiers import DASH, network_of
from reference_impl.frog.presence import Connection, Phase, State
from reference_impl.frog.routes import Ending
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.io.carrier import LOST
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import without

LINGERS_S = 5.0


@in_server("FROG-17.1-01")
class TakenIsTaken(ServerMachine):
    """Refuses to challenge for a key that is registered."""

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        if frame.peer_key in state.peers:
            return self.error(state, channel, "FROG-17.1-01", DASH, (Code.BAD_STATE,))
        return super().join(state, channel, frame)


@in_server("FROG-17.1-01", "FROG-17.1-07")
class OneNetworkPerFingerprint(ServerMachine):
    """Refuses to challenge for a fingerprint that is registered in another network."""

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        fingerprint = frame.peer_key.partition(":")[2]
        if any(key.endswith(fingerprint) and key != frame.peer_key for key in state.peers):
            return self.error(state, channel, "FROG-17.1-07", DASH, (Code.BAD_STATE,))
        return super().join(state, channel, frame)


class TwoOfAKey(ServerMachine):
    """Has two connections that both think they are registered; cleans up after the one that is."""

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        held = state.connections[channel]
        if held.phase is Phase.REGISTERED and state.peers.get(held.peer_key) != channel:
            state = state.moved(channel, Connection(Phase.OVER))
        return super().hung_up(state, channel, event)


@in_server("FROG-17.1-02")
class TheFirstStays(TwoOfAKey):
    """Says OK JOIN to a second connection, and goes on with the first."""

    def registered(self, state: State, channel: Channel) -> ServerStep:
        step, key = super().registered(state, channel), state.connections[channel].peer_key
        before = state.peers.get(key)
        if before is None:
            return step
        both = replace(state.registered(channel, key), peers=state.peers)
        return replace(without(step, Hangup), state=both, lapses=frozenset())


@in_server("FROG-17.1-04", "FROG-17.1-02")
class TheReplacedGoesOn(TwoOfAKey):
    """Leaves a replaced connection open and as good as registered."""

    def registered(self, state: State, channel: Channel) -> ServerStep:
        step, key = super().registered(state, channel), state.connections[channel].peer_key
        before = state.peers.get(key)
        if before is None:
            return step
        still = step.state.moved(before, Connection(Phase.REGISTERED, key))
        return replace(without(step, Hangup), state=still, lapses=frozenset())


@in_server("FROG-17.1-05")
class JoinEvicts(ServerMachine):
    """Ends a registration as soon as its key is claimed."""

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        before = state.peers.get(frame.peer_key)
        if before is not None:
            state = state.unregistered(before, Ending.REPLACED).moved(before, Connection(Phase.HELLO_OK))
        return super().join(state, channel, frame)


@in_server("FROG-17.1-05")
class FailureEvicts(ServerMachine):
    """Ends a registration when somebody else fails to prove its key."""

    def auth_failed(self, state: State, channel: Channel, *given: Any) -> ServerStep:
        before = state.peers.get(state.connections[channel].peer_key)
        if before is not None:
            state = state.unregistered(before, Ending.CLOSED).moved(before, Connection(Phase.HELLO_OK))
        return super().auth_failed(state, channel, *given)


@in_server("FROG-17.1-05")
class GivingUpEvicts(ServerMachine):
    """Cleans up by key when a connection ends that only claimed it."""

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        held = state.connections[channel]
        before = state.peers.get(held.peer_key)
        if held.phase is Phase.AUTH_PENDING and before is not None:
            state = state.unregistered(before, Ending.CLOSED).moved(before, Connection(Phase.HELLO_OK))
        return super().hung_up(state, channel, event)


@in_server("FROG-17.1-05", "FROG-19-01")
class LeavingEvicts(ServerMachine):
    """Cleans up by key when a connection leaves that only claimed it."""

    def leave(self, state: State, channel: Channel, frame: Leave) -> ServerStep:
        held = state.connections[channel]
        before = state.peers.get(held.peer_key)
        if held.phase is Phase.AUTH_PENDING and before is not None:
            state = state.unregistered(before, Ending.CLOSED).moved(before, Connection(Phase.HELLO_OK))
        return super().leave(state, channel, frame)


@in_server("FROG-17.1-08", "FROG-17.1-02")
class TheEndOfTheReplacedHitsTheNew(ServerMachine):
    """Cleans up by key when a replaced connection ends, and hits the new one."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._keys: dict[Channel, str] = {}

    def registered(self, state: State, channel: Channel) -> ServerStep:
        self._keys[channel] = state.connections[channel].peer_key
        return super().registered(state, channel)

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        now = state.peers.get(self._keys.pop(channel, ""))
        if now is not None and now != channel:
            state = state.unregistered(now, Ending.CLOSED).moved(now, Connection(Phase.HELLO_OK))
        return super().hung_up(state, channel, event)


@in_server("FROG-18-02", "FROG-39-07")
class TheDeadStay(ServerMachine):
    """Keeps the registration of a connection that was closed."""

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        return Step(state, voids=frozenset([channel]))


@in_server("FROG-18-02")
class WaitsForAGoodbye(ServerMachine):
    """Keeps the registration of a connection that ended without a close frame."""

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        return Step(state) if event.code == LOST else super().hung_up(state, channel, event)


@in_server("FROG-18-02")
class PresenceLingers(ServerMachine):
    """Keeps a registration for five seconds after its connection, in case it comes back."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._gone: dict[Channel, float] = {}

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        if state.phase(channel) is not Phase.REGISTERED:
            return super().hung_up(state, channel, event)
        self._gone[channel] = state.now
        return Step(state)

    def receive(self, state: State, channel: Channel, event: Any) -> ServerStep:
        for gone in [gone for gone, at in self._gone.items() if event.at - at >= LINGERS_S]:
            del self._gone[gone]
            state = state.dropped(gone)
        return super().receive(state, channel, event)


@in_server("FROG-18-02", "FROG-22-08")
class FindRemembers(ServerMachine):
    """Forgets a closed peer for LOOKUP but not for FIND."""

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        step = super().hung_up(state, channel, event)
        return replace(step, state=replace(step.state, networks=state.networks))

    def candidates(self, state: State, asker: str) -> set[str]:
        return set(state.networks[network_of(asker)]) - {asker}


@in_server("FROG-18-07")
class TheClaimedAreFound(ServerMachine):
    """Lists a peer from JOIN on, before it has proved anything."""

    def candidates(self, state: State, asker: str) -> set[str]:
        claimed = {state.connections[channel].peer_key for channel in state.challenges}
        mates = {key for key in claimed if network_of(key) == network_of(asker)}
        return super().candidates(state, asker) | mates - {asker}


@in_server("FROG-19-01")
class LeavesWithoutAWord(ServerMachine):
    """Closes on LEAVE without saying OK LEAVE."""

    def leave(self, state: State, channel: Channel, frame: Leave) -> ServerStep:
        return without(super().leave(state, channel, frame), Left)


@in_server("FROG-19-01")
class LeavesInWordsOnly(ServerMachine):
    """Says OK LEAVE, and goes on as if nothing had been said."""

    def leave(self, state: State, channel: Channel, frame: Leave) -> ServerStep:
        step = super().leave(state, channel, frame)
        return replace(without(step, Hangup), state=state, lapses=frozenset())


@in_server("FROG-19-01")
class TheLeftAreFound(ServerMachine):
    """Closes the connection on LEAVE, and keeps the key in its table."""

    def leave(self, state: State, channel: Channel, frame: Leave) -> ServerStep:
        step = super().leave(state, channel, frame)
        return replace(step, state=replace(step.state, peers=state.peers, networks=state.networks))

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        left = state.phase(channel) is Phase.OVER and channel in state.peers.values()
        return Step(state) if left else super().hung_up(state, channel, event)


@in_server("FROG-19-01")
class WelcomesWhoLeaves(ServerMachine):
    """Says OK JOIN in answer to LEAVE."""

    def leave(self, state: State, channel: Channel, frame: Leave) -> ServerStep:
        step = super().leave(state, channel, frame)
        owes = (replace(d, template=Joined()) if isinstance(d.template, Left) else d for d in step.owes)
        return replace(step, owes=tuple(owes))


@in_server("FROG-17.1-02", "FROG-17.1-04")
class LooksAtTheTableTooEarly(TwoOfAKey):
    """Decides at JOIN whether a key is taken, and does not look again at AUTH."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._free: set[Channel] = set()

    def join(self, state: State, channel: Channel, frame: Join) -> ServerStep:
        (self._free.discard if frame.peer_key in state.peers else self._free.add)(channel)
        return super().join(state, channel, frame)

    def registered(self, state: State, channel: Channel) -> ServerStep:
        step = super().registered(state, channel)
        if channel not in self._free:
            return step
        both = state.registered(channel, state.connections[channel].peer_key)
        return replace(without(step, Hangup), state=both, lapses=frozenset())
