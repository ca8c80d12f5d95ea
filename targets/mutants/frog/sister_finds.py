"""Servers that answer @FIND with the wrong peers, or take the wrong @PEERS for an answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.frog.choosing import some_of
from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import (
    Hangup,
    SisterFind,
    SisterPeers,
)
from reference_impl.frog.grammar import Form
from reference_impl.frog.identifiers import network_of
from reference_impl.frog.presence import State
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.sisters import Flood
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed, without

# -- its own answer ------------------------------------------------------------------------------------------------------


class Answering(ServerMachine):
    """Answers @FIND with other peers."""

    def answer_find(self, state: State, channel: Channel, frame: SisterFind) -> ServerStep:
        keys = self.keys(state, frame)
        return changed(super().answer_find(state, channel, frame), SisterPeers, lambda it: replace(it, peer_keys=keys))

    def keys(self, state: State, frame: SisterFind) -> Any:
        return some_of(set(self.known(state, frame)), min(7, frame.limit))

    def known(self, state: State, frame: SisterFind) -> Iterable[str]:
        return self.candidates(state, frame.peer_key)


@in_server("FROG-35-04")
class PeersOfEveryNetwork(Answering):
    """Answers @FIND with peers of any network."""

    def known(self, state: State, frame: SisterFind) -> Iterable[str]:
        return [key for key in state.peers if key != frame.peer_key]


@in_server("FROG-35-04")
class PeersOfANetworkThatBeginsAlike(Answering):
    """Answers @FIND with peers of networks whose names begin as the asker's."""

    def known(self, state: State, frame: SisterFind) -> Iterable[str]:
        return [key for key in state.peers if key != frame.peer_key and key.startswith(network_of(frame.peer_key))]


@in_server("FROG-35-05")
class AnswersWithTheAsker(Answering):
    """Tells the asker of itself where it is registered here too."""

    def known(self, state: State, frame: SisterFind) -> Iterable[str]:
        return state.networks.get(network_of(frame.peer_key), ())


@in_server("FROG-35-06")
class AnswersWithSeven(Answering):
    """Answers @FIND with up to seven peers, whatever the limit."""

    def keys(self, state: State, frame: SisterFind) -> Any:
        return some_of(set(self.known(state, frame)), 7)


@in_server("FROG-35-07")
class AlwaysTheSamePeers(Answering):
    """Answers @FIND with the first peers in the order of their keys."""

    def keys(self, state: State, frame: SisterFind) -> Any:
        return tuple(sorted(self.known(state, frame))[: frame.limit])


@in_server("FROG-35-07")
class AnswersWithTheGone(ServerMachine):
    """Answers @FIND with peers that are gone."""

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        step = super().hung_up(state, channel, event)
        return replace(step, state=replace(step.state, networks=state.networks))


@in_server("FROG-35-03")
class AnswersInItsOwnName(ServerMachine):
    """Puts its own id in place of the origin's into @PEERS."""

    def answer_find(self, state: State, channel: Channel, frame: SisterFind) -> ServerStep:
        step, own = super().answer_find(state, channel, frame), self.config.server_id
        return changed(step, SisterPeers, lambda it: replace(it, server_id=own))


@in_server("FROG-35-08")
class EnoughIsNotPassedOn(ServerMachine):
    """Does not pass an @FIND on that it can answer in full."""

    def passed_on(self, state: State, channel: Channel, frame: Any) -> ServerStep:
        if isinstance(frame, SisterFind) and len(self.candidates(state, frame.peer_key)) >= frame.limit:
            return Step(state)
        return super().passed_on(state, channel, frame)


@in_server("FROG-35-01")
class ClampsFinds(Codec):
    """Takes an @FIND with any limit for the nearest one that is legal."""

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Any:
        if form.frame is SisterFind and len(texts) == 5 and texts[3].isdigit():
            texts = [*texts[:3], str(min(7, max(1, int(texts[3])))), texts[4]]
        return super().fill(form, texts, payload)


# -- the answers of others -----------------------------------------------------------------------------------------------


class Lenient(ServerMachine):
    """Takes @PEERS that do not count."""

    def counts(self, state: State, flood: Flood, sender: str, frame: SisterPeers) -> bool:
        return super().counts(state, flood, sender, frame) or self.also(state, flood, sender, frame)

    def also(self, state: State, flood: Flood, sender: str, frame: SisterPeers) -> bool:
        find = flood.request
        if not isinstance(find, SisterFind) or not flood.open(state.now) or not self.awaits(state, flood):
            return False
        return self.takes(flood, find, sender, frame)

    def takes(self, flood: Flood, find: SisterFind, sender: str, frame: SisterPeers) -> bool:
        raise TypeError(f"{type(self).__name__} does not say what it takes")


def alike(find: SisterFind, frame: SisterPeers) -> bool:
    return all(network_of(key) == network_of(find.peer_key) for key in frame.peer_keys)


@in_server("FROG-35-09")
class RelaysPeersOfAnybody(Lenient):
    """Passes @PEERS on from sisters that it did not ask."""

    def takes(self, flood: Flood, find: SisterFind, sender: str, frame: SisterPeers) -> bool:
        return not flood.cid and alike(find, frame) and len(frame.peer_keys) <= find.limit


@in_server("FROG-35-09")
class CountsPeersOfAnybody(Lenient):
    """Counts @PEERS for its client from sisters that it did not ask."""

    def takes(self, flood: Flood, find: SisterFind, sender: str, frame: SisterPeers) -> bool:
        return bool(flood.cid) and alike(find, frame) and len(frame.peer_keys) <= find.limit


@in_server("FROG-35-09")
class RelaysOtherNetworks(Lenient):
    """Passes @PEERS with keys of other networks on."""

    def takes(self, flood: Flood, find: SisterFind, sender: str, frame: SisterPeers) -> bool:
        return not flood.cid and sender in flood.asked and len(frame.peer_keys) <= find.limit


@in_server("FROG-35-09")
class CountsOtherNetworks(Lenient):
    """Tells its client of peers of other networks."""

    def takes(self, flood: Flood, find: SisterFind, sender: str, frame: SisterPeers) -> bool:
        return bool(flood.cid) and sender in flood.asked and len(frame.peer_keys) <= find.limit


@in_server("FROG-35-09")
class LooksAtTheFirstPeer(Lenient):
    """Compares the network of the first key of @PEERS alone."""

    def takes(self, flood: Flood, find: SisterFind, sender: str, frame: SisterPeers) -> bool:
        first = replace(frame, peer_keys=frame.peer_keys[:1])
        return sender in flood.asked and len(frame.peer_keys) <= find.limit and alike(find, first)


@in_server("FROG-35-09")
class RelaysMoreThanAsked(Lenient):
    """Passes @PEERS with more keys than were asked for on."""

    def takes(self, flood: Flood, find: SisterFind, sender: str, frame: SisterPeers) -> bool:
        return not flood.cid and sender in flood.asked and alike(find, frame)


@in_server("FROG-35-09")
class TakesPeersOfAnyOrigin(ServerMachine):
    """Knows the @FIND that @PEERS answer by its FCID alone."""

    def peers_of_sister(self, state: State, channel: Channel, frame: SisterPeers) -> ServerStep:
        for flood in state.overlay.floods.values():
            if isinstance(flood.request, SisterFind) and flood.request.fcid == frame.fcid:
                frame = replace(frame, server_id=flood.request.server_id)
        return super().peers_of_sister(state, channel, frame)


@in_server("FROG-35-14")
class RelaysLatePeers(ServerMachine):
    """Passes @PEERS on when the time of their @FIND is over."""

    def peers_of_sister(self, state: State, channel: Channel, frame: SisterPeers) -> ServerStep:
        ticket, flood = state.overlay.flood((frame.server_id, frame.fcid))
        if flood and not flood.cid:
            late = state.overlay.kept(ticket, replace(flood, expires_at=state.now + 1))
            state = replace(state, overlay=late)
        return super().peers_of_sister(state, channel, frame)


@in_server("FROG-35-10")
class NobodyIsNotPassedOn(ServerMachine):
    """Keeps @PEERS without a key to itself."""

    def peers_of_sister(self, state: State, channel: Channel, frame: SisterPeers) -> ServerStep:
        step = super().peers_of_sister(state, channel, frame)
        return step if frame.peer_keys else without(step, SisterPeers)


@in_server("FROG-35-10")
class OneAnswerIsPassedOn(ServerMachine):
    """Passes the first @PEERS of an @FIND on, and no others."""

    def peers_of_sister(self, state: State, channel: Channel, frame: SisterPeers) -> ServerStep:
        _, flood = state.overlay.flood((frame.server_id, frame.fcid))
        step = super().peers_of_sister(state, channel, frame)
        return without(step, SisterPeers) if flood and len(flood.heard) else step


@in_server("FROG-35-10")
class PassesNewPeersOn(ServerMachine):
    """Leaves keys out of the @PEERS that it passes on where they are registered here too."""

    def peers_of_sister(self, state: State, channel: Channel, frame: SisterPeers) -> ServerStep:
        step = super().peers_of_sister(state, channel, frame)
        new = tuple(key for key in frame.peer_keys if key not in state.peers)
        return changed(step, SisterPeers, lambda it: replace(it, peer_keys=new))
