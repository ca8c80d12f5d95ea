"""Who is there: a server's connections, which of them are registered under which key, and what hangs on that."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace

from immutables import Map

from reference_impl.core import Channel
from reference_impl.frog.frames import Found
from reference_impl.frog.identifiers import network_of
from reference_impl.frog.limits import Meter
from reference_impl.frog.routes import Ending, Route, Routes
from reference_impl.frog.sisters import Link, Overlay


class Phase(enum.Enum):
    """Where one connection stands (section 15)."""

    GONE = "gone"
    NEW = "new"
    HELLO_OK = "client hello ok"
    AUTH_PENDING = "client auth pending"
    REGISTERED = "registered"
    OVER = "left or replaced, and perhaps still open"  # AMB-16, AMB-17
    TO_PROVE = "a sister dialled, her @AUTH is awaited"  # SA1 of the sheet's matrix
    TO_CHALLENGE = "a sister dialled, her @CHAL is awaited"  # SA2
    TO_ACKNOWLEDGE = "a sister dialled, her @OK AUTH is awaited"  # SA3
    GREETING = "dialled, @HELLO is awaited"  # D0
    GREETED = "dialled, @CHAL is awaited"  # D1
    PROVING = "dialled, @OK AUTH is awaited"  # D2
    CHALLENGING = "dialled, @AUTH is awaited"  # D3
    UNAUTHORISED = "a sister that proved who she is, and may not federate"  # SA4
    SISTER = "a sister's"


@dataclass(frozen=True, slots=True)
class Connection:
    phase: Phase = Phase.NEW
    peer_key: str = ""
    nonce: str = ""  # of the challenge that is pending
    expires_at: float = 0.0
    address: str = ""
    link: Link | None = None  # of a sister's


@dataclass(frozen=True, slots=True)
class State:
    """A whole server; `now` is the moment of the last input."""

    now: float = 0.0
    connections: Map[Channel, Connection] = Map()
    peers: Map[str, Channel] = Map()  # one registration per peer key (FROG-17.1-04)
    networks: Map[str, Map[str, None]] = Map()
    challenges: Map[Channel, None] = Map()  # whose challenge is pending
    routes: Routes = field(default_factory=Routes)
    lookups: Map[tuple[Channel, str], Channel] = Map()  # FOUND is owed: who asked, and where the target was
    verified: Map[str, str] = Map()  # server id -> URI; federation fills it (FROG-30-01)
    nonces: Map[str, None] = Map()  # of every challenge, where somebody judges
    meter: Meter = field(default_factory=Meter)
    sweep_at: float | None = None
    overlay: Overlay = field(default_factory=Overlay)

    def phase(self, channel: Channel) -> Phase:
        held = self.connections.get(channel)
        return held.phase if held else Phase.GONE

    def moved(self, channel: Channel, held: Connection) -> State:
        """The connection in another phase."""
        held = replace(held, address=self.connections[channel].address)
        pending = held.phase is Phase.AUTH_PENDING
        challenges = self.challenges.set(channel, None) if pending else without(self.challenges, channel)
        return replace(self, connections=self.connections.set(channel, held), challenges=challenges)

    def registered(self, channel: Channel, key: str) -> State:
        """From this very moment found under its key."""
        network = network_of(key)
        mates = self.networks.get(network, Map()).set(key, None)
        state = self.moved(channel, Connection(Phase.REGISTERED, key))
        return replace(state, peers=self.peers.set(key, channel), networks=self.networks.set(network, mates))

    def unregistered(self, channel: Channel, why: Ending) -> State:
        """Presence ends, and every route with it (FROG-17.1-06, FROG-18-02, FROG-25-05)."""
        held = self.connections[channel]
        if held.phase is not Phase.REGISTERED:
            return self
        network = network_of(held.peer_key)
        mates = self.networks[network].delete(held.peer_key)
        networks = self.networks.set(network, mates) if mates else self.networks.delete(network)
        routes = self.routes.end(channel, why)
        return replace(self, peers=self.peers.delete(held.peer_key), networks=networks, routes=routes)

    def dropped(self, channel: Channel) -> State:
        """The connection is gone, and at once whoever was registered on it (FROG-18-02)."""
        if channel not in self.connections:
            return self
        state = self.unregistered(channel, Ending.CLOSED).parted(channel)
        challenges = without(self.challenges, channel)
        return replace(state, connections=state.connections.delete(channel), challenges=challenges)

    def parted(self, channel: Channel) -> State:
        """No sister is at its other end any more."""
        link = self.connections[channel].link
        if link is None:
            return self
        others = (c for c in self.links(link.server_id) if c != channel)
        return replace(self, overlay=self.overlay.parted(channel, link, next(others, None), self.now))

    def links(self, server_id: str) -> list[Channel]:
        """The live connections with that sister; steadily there is one."""
        sisters = (pair for pair in self.connections.items() if pair[1].phase is Phase.SISTER)
        return [channel for channel, held in sisters if held.link and held.link.server_id == server_id]

    def sister(self, channel: Channel) -> str:
        """Whose connection it is."""
        link = self.connections[channel].link
        assert link, "a sister's connection"
        return link.server_id

    def routed(self, channel: Channel, frame: Found) -> State:
        """FOUND was said: from now on its route exists (FROG-39-03), unless a side is gone since the table was read."""
        target = self.lookups.get((channel, frame.cid))
        if target is None or channel not in self.connections:
            return self
        source = self.connections[channel].peer_key
        route = Route(source, frame.peer_key, channel, target, self.now, self.now)
        if self.peers.get(frame.peer_key) != target:
            route = replace(route, ended=Ending.REPLACED if frame.peer_key in self.peers else Ending.CLOSED)
        lookups = self.lookups.delete((channel, frame.cid))
        return replace(self, routes=self.routes.add(frame.route_id, route), lookups=lookups)


def without(channels: Map[Channel, None], channel: Channel) -> Map[Channel, None]:
    return channels.delete(channel) if channel in channels else channels
