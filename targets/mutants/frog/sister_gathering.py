"""Servers that begin a federated FIND or LOOKUP and give their client the wrong end of it."""

from __future__ import annotations

from dataclasses import replace

from reference_impl.core import Channel, Expectation, Level, Step
from reference_impl.frog.choosing import some_of
from reference_impl.frog.frames import Code, Err, Find, Found, Peers, SisterFind, SisterFound, SisterLookup, SisterPeers
from reference_impl.frog.presence import State
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.sisters import Adjacent, Flood, Ticket
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed, without


@in_server("FROG-35-11")
class CountsKeysTwice(ServerMachine):
    """Lists a key in PEERS as often as it heard of it."""

    def gathered(self, state: State, ticket: Ticket, flood: Flood) -> ServerStep:
        step = super().gathered(state, ticket, flood)
        heard = tuple(key for _, keys in flood.heard for key in keys)
        twice = tuple(key for key in sorted(set(heard)) if heard.count(key) > 1)
        if not twice:
            return step
        return changed(step, Peers, lambda it: Peers(it.cid, (twice[0], twice[0])))


@in_server("FROG-35-11")
class EachAnswerIsOne(ServerMachine):
    """Sends its client a PEERS for each @PEERS."""

    def peers_of_sister(self, state: State, channel: Channel, frame: SisterPeers) -> ServerStep:
        _, flood = state.overlay.flood((frame.server_id, frame.fcid))
        step = super().peers_of_sister(state, channel, frame)
        if flood is None or not flood.cid or step.owes or not self.counts(state, flood, state.sister(channel), frame):
            return step
        some = Expectation("", Peers(flood.cid, frame.peer_keys), flood.side)
        return replace(step, owes=(some,))


@in_server("FROG-35-11")
class MoreThanTheClientAsked(ServerMachine):
    """Sends its client all that was found, whatever its limit."""

    def gathered(self, state: State, ticket: Ticket, flood: Flood) -> ServerStep:
        step = super().gathered(state, ticket, flood)
        assert isinstance(flood.request, SisterFind), "only a find gathers"
        known = (self.candidates(state, flood.request.peer_key) | flood.peers) - {flood.request.peer_key}
        return changed(step, Peers, lambda it: Peers(it.cid, some_of(known, 7)))


@in_server("FROG-35-12")
class NeverEnough(ServerMachine):
    """Waits for the end of a find's time though it has as many as were asked for."""

    def enough(self, state: State, ticket: Ticket, flood: Flood) -> ServerStep:
        return Step(state)


@in_server("FROG-35-12")
class FindsAsLongAsItLooksUp(ServerMachine):
    """Gives a find the time of a lookup."""

    def find_afar(self, state: State, channel: Channel, frame: Find) -> ServerStep:
        step = super().find_afar(state, channel, frame)
        late, overlay = state.now + self.config.timers.lookup_s, step.state.overlay
        for ticket, flood in overlay.floods.items():
            if isinstance(flood.request, SisterFind) and flood.cid == frame.cid and flood.side == channel:
                overlay = overlay.begin(ticket, replace(flood, expires_at=late))
        return replace(step, state=replace(step.state, overlay=replace(overlay, begun=step.state.overlay.begun)))


@in_server("FROG-35-13")
class NobodyIsATimeout(ServerMachine):
    """Says LOOKUP_TIMEOUT to a client whose federated find found nobody."""

    def gathered(self, state: State, ticket: Ticket, flood: Flood) -> ServerStep:
        step = super().gathered(state, ticket, flood)
        assert isinstance(flood.request, SisterFind), "only a find gathers"
        if self.candidates(state, flood.request.peer_key) or flood.peers:
            return step
        return changed(step, Peers, lambda it: Err(it.cid, Code.LOOKUP_TIMEOUT))


@in_server("FROG-35-13", "FROG-35-12")
class NobodyAfarIsNoAnswer(ServerMachine):
    """Says nothing to a client whose federated find found nobody."""

    def gathered(self, state: State, ticket: Ticket, flood: Flood) -> ServerStep:
        step = super().gathered(state, ticket, flood)
        assert isinstance(flood.request, SisterFind), "only a find gathers"
        return step if self.candidates(state, flood.request.peer_key) or flood.peers else without(step, Peers)


@in_server("FROG-35-15")
class AsksForSeven(ServerMachine):
    """Asks its sisters for seven peers, whatever its client's limit."""

    def find_afar(self, state: State, channel: Channel, frame: Find) -> ServerStep:
        return changed(super().find_afar(state, channel, frame), SisterFind, lambda it: replace(it, limit=7))


@in_server("FROG-36-12", "FROG-35-16")
class AnswersWhoeverCameBack(ServerMachine):
    """Answers the new connection of a peer that asked on its old one."""

    def awaits(self, state: State, flood: Flood) -> bool:
        return True

    def found_by_sister(self, state: State, channel: Channel, frame: SisterFound) -> ServerStep:
        _, flood = state.overlay.flood(frame.route_id)
        step = super().found_by_sister(state, channel, frame)
        lookup = flood.request if flood and flood.cid else None
        now = state.peers.get(lookup.source) if isinstance(lookup, SisterLookup) else None
        return step if now is None else replace(step, owes=tuple(replace(debt, channel=now) for debt in step.owes))


@in_server("FROG-36-08")
class AnswersTheFirstWhoAsked(ServerMachine):
    """Gives a route to whoever asked first for that target, whose lookup it was or not."""

    def found_by_sister(self, state: State, channel: Channel, frame: SisterFound) -> ServerStep:
        floods = [flood for flood in state.overlay.floods.values() if flood.cid and flood.open(state.now)]
        same = [it for it in floods if isinstance(it.request, SisterLookup) and it.request.target == frame.peer_key]
        step = super().found_by_sister(state, channel, frame)
        first = min(same, key=lambda it: it.expires_at, default=None)
        if first is None:
            return step
        owes = (
            replace(debt, channel=first.side, template=replace(debt.template, cid=first.cid))
            if isinstance(debt.template, Found)
            else debt
            for debt in step.owes
        )
        return replace(step, owes=tuple(owes))


# -- @FOUND --------------------------------------------------------------------------------------------------------------


class TakesFound(ServerMachine):
    """Takes @FOUND of lookups that it does not answer."""

    def found_by_sister(self, state: State, channel: Channel, frame: SisterFound) -> ServerStep:
        ticket, flood = state.overlay.flood(frame.route_id)
        if flood is None or not isinstance(flood.request, SisterLookup):
            return super().found_by_sister(state, channel, frame)
        state = replace(
            state, overlay=state.overlay.kept(ticket, self.eased(state, flood, state.sister(channel), frame))
        )
        return super().found_by_sister(state, channel, frame)

    def eased(self, state: State, flood: Flood, sender: str, frame: SisterFound) -> Flood:
        raise TypeError(f"{type(self).__name__} does not say what it takes")


@in_server("FROG-36-07")
class RelaysFoundOfAnybody(TakesFound):
    """Passes @FOUND on from a sister that it did not ask."""

    def eased(self, state: State, flood: Flood, sender: str, frame: SisterFound) -> Flood:
        other = not flood.cid and isinstance(flood.side, Adjacent) and sender != flood.side.server_id
        return replace(flood, asked=flood.asked | {sender}) if other else flood


@in_server("FROG-36-07")
class FoundByWhoAsked(TakesFound):
    """Takes @FOUND from the very sister that asked."""

    def eased(self, state: State, flood: Flood, sender: str, frame: SisterFound) -> Flood:
        return replace(flood, asked=flood.asked | {sender}) if flood.side == Adjacent(sender) else flood


@in_server("FROG-36-07")
class ClientsFoundOfAnybody(TakesFound):
    """Tells its client FOUND by the word of a sister that it did not ask."""

    def eased(self, state: State, flood: Flood, sender: str, frame: SisterFound) -> Flood:
        return replace(flood, asked=flood.asked | {sender}) if flood.cid else flood


@in_server("FROG-36-07")
class FoundSomebodyElse(TakesFound):
    """Takes @FOUND of another peer than was looked up."""

    def eased(self, state: State, flood: Flood, sender: str, frame: SisterFound) -> Flood:
        assert isinstance(flood.request, SisterLookup), "only a lookup is found"
        return replace(flood, request=replace(flood.request, target=frame.peer_key))


@in_server("FROG-36-11")
class RelaysLateFound(TakesFound):
    """Passes @FOUND on when the time of its @LOOKUP is over."""

    def eased(self, state: State, flood: Flood, sender: str, frame: SisterFound) -> Flood:
        return flood if flood.cid else replace(flood, expires_at=state.now + 1)


@in_server("FROG-36-09")
class PassesEveryFoundOn(TakesFound):
    """Passes each @FOUND of an @LOOKUP on, and leads its route to the last."""

    def eased(self, state: State, flood: Flood, sender: str, frame: SisterFound) -> Flood:
        return flood if flood.cid else replace(flood, answered=False)


@in_server("FROG-36-09", "FROG-24-05", "FROG-24-06")
class TheLastFoundWins(ServerMachine):
    """Leads a route to the last sister that found its target, without a word of it."""

    def found_by_sister(self, state: State, channel: Channel, frame: SisterFound) -> ServerStep:
        step, sender = super().found_by_sister(state, channel, frame), state.sister(channel)
        _, flood = state.overlay.flood(frame.route_id)
        route = state.routes.get(frame.route_id)
        counted = any(debt.level is Level.MUST for debt in step.owes)
        if counted or flood is None or route is None or sender not in flood.asked or route.peer_b != frame.peer_key:
            return step
        moved = step.state.routes.add(frame.route_id, replace(route, side_b=Adjacent(sender)))
        return replace(step, state=replace(step.state, routes=moved))
