"""Servers that echo another CID than the request's, or answer for another one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reference_impl.core import Channel
from reference_impl.frog.frames import Err, Found, Frame, Heard, Lookup, Peers, Signal, Try
from reference_impl.frog.identifiers import DASH, is_id
from reference_impl.frog.presence import State
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.server_io import Server
from reference_impl.io.websocket import Message
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import changed

REPLIES = (Try, Peers, Found)


@in_server("FROG-20-01")
class CidsOf26(Server):
    """Echoes 26 characters of a CID, as many as a route id has."""

    def write(self, frame: Frame) -> Message:
        return super().write(replace(frame, cid=frame.cid[:26]) if isinstance(frame, REPLIES) else frame)


@in_server("FROG-20-01")
class CidsWithoutHyphens(Server):
    """Echoes a CID without the hyphens at its beginning."""

    def write(self, frame: Frame) -> Message:
        if not isinstance(frame, REPLIES) or frame.cid == DASH:
            return super().write(frame)
        return super().write(replace(frame, cid=frame.cid.lstrip(DASH) or frame.cid))


class Remembering(ServerMachine):
    """Knows the CID of the request before, of each connection."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._last: dict[Channel, str] = {}

    def receive(self, state: State, channel: Channel, event: Any) -> ServerStep:
        step, last = super().receive(state, channel, event), self._last.get(channel)
        cid = getattr(event.what, "cid", None) if isinstance(event, Heard) else None
        self._last |= {channel: cid} if cid else {}
        return self.again(step, last, event) if last and isinstance(event, Heard) else step

    def again(self, step: ServerStep, last: str, event: Heard) -> ServerStep:
        return step


@in_server("FROG-20-01", "FROG-38-02")
class ErrorsOfTheRequestBefore(Remembering):
    """Echoes the CID of the request before in errors of a LOOKUP."""

    def again(self, step: ServerStep, last: str, event: Heard) -> ServerStep:
        return changed(step, Err, lambda err: replace(err, id=last)) if isinstance(event.what, Lookup) else step


@in_server("FROG-20-01")
class PeersOfTheRequestBefore(Remembering):
    """Answers every FIND but the first with the CID of the request before."""

    def again(self, step: ServerStep, last: str, event: Heard) -> ServerStep:
        return changed(step, Peers, lambda peers: replace(peers, cid=last))


@in_server("FROG-38-02", "FROG-20-06")
class RouteErrorsOfTheRequestBefore(Remembering):
    """Echoes the CID of the last request in errors of a SIGNAL."""

    def again(self, step: ServerStep, last: str, event: Heard) -> ServerStep:
        return changed(step, Err, lambda err: replace(err, id=last)) if isinstance(event.what, Signal) else step


@in_server("FROG-20-01", "FROG-7.9-01")
class CidsThatLookLikeRoutes(ServerMachine):
    """Takes a CID of 26 symbols for a route id, and does not echo it in errors."""

    def error(self, state: State, channel: Channel, clause: str, id: str, *given: Any, **more: Any) -> ServerStep:
        lookalike = is_id(id) and id not in state.routes and clause.startswith(("FROG-15", "FROG-23"))
        return super().error(state, channel, clause, DASH if lookalike else id, *given, **more)


@in_server("FROG-20-01", "FROG-20-02")
class OneAnswerPerCid(ServerMachine):
    """Answers a CID once in the life of a connection."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._used: set[tuple[Channel, str]] = set()

    def reply(self, state: State, channel: Channel, clause: str, frame: Try | Peers | Found) -> ServerStep:
        step, used = super().reply(state, channel, clause, frame), (channel, frame.cid)
        if used in self._used:
            return replace(step, owes=())
        self._used.add(used)
        return step


@in_server("FROG-20-01", "FROG-20-02")
class CidsOfEverybody(ServerMachine):
    """Does not answer a CID that is another connection's."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._owner: dict[str, Channel] = {}

    def reply(self, state: State, channel: Channel, clause: str, frame: Try | Peers | Found) -> ServerStep:
        step = super().reply(state, channel, clause, frame)
        return step if self._owner.setdefault(frame.cid, channel) == channel else replace(step, owes=())
