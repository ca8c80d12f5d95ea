"""Servers that lose their way where two connections lead to one sister, or where one has closed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from reference_impl.core import Channel, Expectation, Step
from reference_impl.frog.frames import Hangup, SisterFound, SisterHello, SisterPeers
from reference_impl.frog.presence import State
from reference_impl.frog.routes import Ending
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.sisters import Adjacent, Link, Request
from targets.mutants.frog.shelf import in_server


class KeepsBoth(ServerMachine):
    """Has two connections with a sister for as long as she likes, and uses the older."""

    def one_of_two(self, state: State, channel: Channel, link: Link) -> ServerStep:
        known = link.server_id in state.overlay.live
        return Step(state) if known else super().one_of_two(state, channel, link)


@in_server("FROG-31-03", "FROG-31-04")
class ClosesNeither(KeepsBoth):
    """Closes none of two connections with a sister."""


@in_server("FROG-31-01")
class TwoIsNone(ServerMachine):
    """Closes both of two connections with a sister."""

    def one_of_two(self, state: State, channel: Channel, link: Link) -> ServerStep:
        before, step = state.overlay.live.get(link.server_id), super().one_of_two(state, channel, link)
        kept = step.state.overlay.live[link.server_id]
        if before is None:
            return step
        both = self.retired(step.state, kept, "")
        return replace(both, owes=step.owes + both.owes, lapses=step.lapses | both.lapses)


@in_server("FROG-31-01")
class TwoIsNobody(ServerMachine):
    """Closes one of two connections with a sister, and then takes her for gone."""

    def one_of_two(self, state: State, channel: Channel, link: Link) -> ServerStep:
        step = super().one_of_two(state, channel, link)
        if link.server_id not in state.overlay.live:
            return step
        overlay = step.state.overlay
        return replace(
            step, state=replace(step.state, overlay=replace(overlay, live=overlay.live.delete(link.server_id)))
        )


class Prefers(ServerMachine):
    """Has another opinion on which of two connections stays."""

    def one_of_two(self, state: State, channel: Channel, link: Link) -> ServerStep:
        before = state.overlay.live.get(link.server_id)
        if before is None:
            return super().one_of_two(state, channel, link)
        if not self.newer(link):
            return self.retired(state, channel, "")
        live = state.overlay.live.set(link.server_id, channel)
        return self.retired(replace(state, overlay=replace(state.overlay, live=live)), before, "")

    def newer(self, link: Link) -> bool:
        raise TypeError(f"{type(self).__name__} does not say which it prefers")


@in_server("FROG-31-04")
class TheLargerPrevails(Prefers):
    """Keeps the connection that the larger id began."""

    def newer(self, link: Link) -> bool:
        return bool(link.dialled) == (self.config.server_id > link.server_id)


@in_server("FROG-31-04")
class TheNewerPrevails(Prefers):
    """Keeps the newer of two connections, whoever began it."""

    def newer(self, link: Link) -> bool:
        return True


@in_server("FROG-31-04")
class TheOlderPrevails(Prefers):
    """Keeps the older of two connections, whoever began it."""

    def newer(self, link: Link) -> bool:
        return False


@in_server("FROG-40-02")
class SistersWithoutBound(ServerMachine):
    """Takes any number of sisters, whatever its bound."""

    def sisters(self, state: State) -> int:
        return 0


@in_server("FROG-40-02")
class SistersAreNeverGivenBack(ServerMachine):
    """Counts every sister that ever greeted against its bound."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._ever = 0

    def sisters(self, state: State) -> int:
        return self._ever

    def sister_hello(self, state: State, channel: Channel, frame: SisterHello) -> ServerStep:
        step = super().sister_hello(state, channel, frame)
        self._ever += 1
        return step


@in_server("FROG-31-07")
class FloodsEveryLink(KeepsBoth):
    """Sends a flood by each connection that it has with a sister."""

    def copies(self, state: State, frame: Request, others: Collection[str], salt: str) -> tuple[Expectation, ...]:
        owes = super().copies(state, frame, others, salt)
        ways = [(debt, line) for debt in owes for line in state.links(state.sister(debt.channel))]
        return tuple(replace(debt, channel=line) for debt, line in ways)


@in_server("FROG-31-02")
class PeersByEachLink(KeepsBoth):
    """Takes the same @PEERS again by another connection of the same sister."""

    def peers_of_sister(self, state: State, channel: Channel, frame: SisterPeers) -> ServerStep:
        ticket, flood = state.overlay.flood((frame.server_id, frame.fcid))
        if flood is None:
            return Step(state)
        forgot = state.overlay.kept(ticket, replace(flood, heard=type(flood.heard)()))
        return super().peers_of_sister(replace(state, overlay=forgot), channel, frame)


@in_server("FROG-31-02", "FROG-36-09")
class FoundByEachLink(KeepsBoth):
    """Takes @FOUND again where it comes by the other connection of the same sister."""

    def found_by_sister(self, state: State, channel: Channel, frame: SisterFound) -> ServerStep:
        ticket, flood = state.overlay.flood(frame.route_id)
        if flood and channel != state.overlay.live.get(state.sister(channel)):
            state = replace(state, overlay=state.overlay.kept(ticket, replace(flood, answered=False)))
        return super().found_by_sister(state, channel, frame)


@in_server("FROG-31-06")
class RoutesDieWithALink(ServerMachine):
    """Ends every route through a sister when her connection closes."""

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        link, step = state.connections[channel].link, super().hung_up(state, channel, event)
        if link is None:
            return step
        ended = step.state.routes.end(Adjacent(link.server_id), Ending.CLOSED)
        return replace(step, state=replace(step.state, routes=ended))


@in_server("FROG-31-06", "FROG-31-01")
class RoutesDieWithADuplicate(ServerMachine):
    """Ends every route through a sister when it closes one of two connections with her."""

    def one_of_two(self, state: State, channel: Channel, link: Link) -> ServerStep:
        step = super().one_of_two(state, channel, link)
        if link.server_id not in state.overlay.live:
            return step
        ended = step.state.routes.end(Adjacent(link.server_id), Ending.CLOSED)
        return replace(step, state=replace(step.state, routes=ended))


@in_server("FROG-31-01")
class AnswersDieWithADuplicate(ServerMachine):
    """Forgets what it asked a sister when it closes one of two connections with her."""

    def one_of_two(self, state: State, channel: Channel, link: Link) -> ServerStep:
        step = super().one_of_two(state, channel, link)
        overlay = step.state.overlay
        if link.server_id not in state.overlay.live:
            return step
        for ticket, flood in overlay.floods.items():
            overlay = overlay.kept(ticket, replace(flood, asked=flood.asked - {link.server_id}))
        return replace(step, state=replace(step.state, overlay=overlay))


@in_server("FROG-32-03", "FROG-37-10")
class TheClosedStayLive(ServerMachine):
    """Goes on sending to a sister whose connection has closed."""

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        link, step = state.connections[channel].link, super().hung_up(state, channel, event)
        if link is None or state.overlay.live.get(link.server_id) != channel:
            return step
        live = step.state.overlay.live.set(link.server_id, channel)
        return replace(step, state=replace(step.state, overlay=replace(step.state.overlay, live=live)))

    def preferred(self, state: State, channel: Channel, ours: bool) -> bool:
        return channel in state.connections and super().preferred(state, channel, ours)

    def retired(self, state: State, channel: Channel, clause: str) -> ServerStep:
        return super().retired(state, channel, clause) if channel in state.connections else Step(state)


@in_server("FROG-34-05", "FROG-36-06")
class EchoesByTheOtherLink(KeepsBoth):
    """Passes a request back to its sender where it came by the connection that is not in use."""

    def copies(self, state: State, frame: Request, others: Collection[str], salt: str) -> tuple[Expectation, ...]:
        _, flood = state.overlay.flood(frame.route_id if hasattr(frame, "route_id") else (frame.server_id, frame.fcid))
        side = flood.side if flood else None
        back = {side.server_id} if isinstance(side, Adjacent) and len(state.links(side.server_id)) > 1 else set()
        return super().copies(state, frame, {*others, *back}, salt)
