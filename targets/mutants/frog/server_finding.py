"""Servers that answer GETSERVERS or FIND wrongly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Expectation, Step
from reference_impl.frog.frames import MOST_LISTED, Code, Find, Frame, GetServers, Peers, Try
from reference_impl.frog.identifiers import DASH, network_of
from reference_impl.frog.presence import State
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.server_io import Server
from reference_impl.io.websocket import Message
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed


@in_server("FROG-13.1-04", "FROG-20-01")
class TryWithoutACid(ServerMachine):
    """Answers GETSERVERS as if nobody had asked."""

    def tried(self, state: State, channel: Channel, frame: GetServers) -> ServerStep:
        return changed(super().tried(state, channel, frame), Try, lambda found: replace(found, cid=DASH))


@in_server("FROG-21-07", "FROG-21-06")
class NamesItself(ServerMachine):
    """Lists itself in TRY."""

    def trying(self, state: State, cid: str, most: int) -> Try:
        return Try(cid, (self.config.uri,))


@in_server("FROG-21-06", "FROG-30-04")
class NamesADefaultServer(ServerMachine):
    """Lists a server that it was built with and never verified."""

    def trying(self, state: State, cid: str, most: int) -> Try:
        return Try(cid, ("wss://rv.example.net/",))


@in_server("FROG-30-04", "FROG-21-06")
class NamesWhoeverSaidHello(ServerMachine):
    """Lists the URI of any sister that said @HELLO."""

    def sister_hello(self, state: State, channel: Channel, frame: Any) -> ServerStep:
        step = super().sister_hello(state, channel, frame)
        return replace(step, state=replace(step.state, verified=state.verified.set(frame.server_id, frame.uri)))


@in_server("FROG-30-04", "FROG-21-08")
class NamesADefaultServerUnasked(ServerMachine):
    """Says TRY with a server that it never verified right behind HELLO."""

    def hello(self, state: State, channel: Channel, frame: Any) -> ServerStep:
        step = super().hello(state, channel, frame)
        return replace(step, owes=(*step.owes, Expectation("", Try(DASH, ("wss://rv.example.net/",)), channel)))


@in_server("FROG-3.3-01", "FROG-22-03")
class FindsEverywhere(ServerMachine):
    """Finds peers of every network."""

    def candidates(self, state: State, asker: str) -> set[str]:
        return set(state.peers) - {asker}


@in_server("FROG-22-03", "FROG-3.3-01")
class FillsUpFromElsewhere(ServerMachine):
    """Finds peers of other networks where its own has none."""

    def candidates(self, state: State, asker: str) -> set[str]:
        return super().candidates(state, asker) or set(state.peers) - {asker}


@in_server("FROG-3.3-01", "FROG-22-03")
class NetworksByTheirBeginning(ServerMachine):
    """Finds peers of a network whose name begins like its own."""

    def candidates(self, state: State, asker: str) -> set[str]:
        return {key for key in state.peers if key.startswith(network_of(asker)) and key != asker}


@in_server("FROG-22-04")
class FindsItself(ServerMachine):
    """Finds the peer that asks, too."""

    def candidates(self, state: State, asker: str) -> set[str]:
        return super().candidates(state, asker) | {asker}


@in_server("FROG-22-04", "FROG-22-10")
class FindsItselfWhenAlone(ServerMachine):
    """Finds the peer that asks where there is no other."""

    def candidates(self, state: State, asker: str) -> set[str]:
        return super().candidates(state, asker) or {asker}


@in_server("FROG-22-05", "FROG-13.1-07", "FROG-22-02")
class TellsTheWholeTable(Server):
    """Lists every peer of the network, whatever the limit."""

    def write(self, frame: Frame) -> Message:
        if not isinstance(frame, Peers) or not frame.peer_keys:
            return super().write(frame)
        keys = sorted(self.player.state.networks[network_of(frame.peer_keys[0])])
        return f"PEERS {frame.cid} {len(keys)} {' '.join(keys)}\n".encode()


@in_server("FROG-22-06")
class LimitsAreAdvice(ServerMachine):
    """Lists up to seven peers, whatever the limit."""

    def found_some(self, state: State, channel: Channel, frame: Find) -> ServerStep:
        return super().found_some(state, channel, replace(frame, limit=MOST_LISTED))


@in_server("FROG-22-06")
class OneMoreThanAsked(ServerMachine):
    """Lists one peer more than was asked for, up to seven."""

    def found_some(self, state: State, channel: Channel, frame: Find) -> ServerStep:
        return super().found_some(state, channel, replace(frame, limit=min(MOST_LISTED, frame.limit + 1)))


@in_server("FROG-22-06")
class ListsOnePeerTwice(ServerMachine):
    """Draws with repetition."""

    def found_some(self, state: State, channel: Channel, frame: Find) -> ServerStep:
        others = sorted(self.candidates(state, state.connections[channel].peer_key))
        if len(others) < 2 or frame.limit < 2:
            return super().found_some(state, channel, frame)
        return self.reply(state, channel, "", Peers(frame.cid, (others[0],) * 2))


@in_server("FROG-22-12")
class OverlooksOnePeer(ServerMachine):
    """Lists one peer fewer than there are."""

    def candidates(self, state: State, asker: str) -> set[str]:
        return set(sorted(super().candidates(state, asker))[1:])


@in_server("FROG-22-10", "FROG-38-06")
class NobodyIsAnError(ServerMachine):
    """Says PEER_NOT_FOUND where FIND finds nobody."""

    def found_some(self, state: State, channel: Channel, frame: Find) -> ServerStep:
        if self.candidates(state, state.connections[channel].peer_key):
            return super().found_some(state, channel, frame)
        return self.error(state, channel, "", frame.cid, (Code.PEER_NOT_FOUND,))


@in_server("FROG-22-10")
class NobodyIsNoAnswer(ServerMachine):
    """Does not answer where FIND finds nobody."""

    def found_some(self, state: State, channel: Channel, frame: Find) -> ServerStep:
        anybody = self.candidates(state, state.connections[channel].peer_key)
        return super().found_some(state, channel, frame) if anybody else Step(state)


@in_server("FROG-13.1-06", "FROG-21-05", "FROG-21-06")
class NamesEightServers(Server):
    """Lists more servers than a TRY may have."""

    def write(self, frame: Frame) -> Message:
        if not isinstance(frame, Try):
            return super().write(frame)
        uris = [f"wss://rv{n}.example.net/" for n in range(8)]
        return f"TRY {frame.cid} {len(uris)} {' '.join(uris)}\n".encode()


@in_server("FROG-22-06")
class TheLargestLimitStays(ServerMachine):
    """Goes on with the largest limit that a connection has asked for."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._limit: dict[Channel, int] = {}

    def found_some(self, state: State, channel: Channel, frame: Find) -> ServerStep:
        limit = self._limit[channel] = max(frame.limit, self._limit.get(channel, 0))
        return super().found_some(state, channel, replace(frame, limit=limit))


@in_server("FROG-19-01", "FROG-18-02", "FROG-22-08")
class FindsFromACache(ServerMachine):
    """Reads the peers of a network anew only every second."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._cache: dict[str, tuple[float, set[str]]] = {}

    def candidates(self, state: State, asker: str) -> set[str]:
        at, keys = self._cache.get(network_of(asker), (-1.0, set()))
        if state.now - at > 1.0:
            keys = set(state.networks[network_of(asker)])
            self._cache[network_of(asker)] = state.now, keys
        return keys - {asker}
