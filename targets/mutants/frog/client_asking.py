"""Clients that ask what they may not, or match answers wrongly."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from reference_impl.core import Channel
from reference_impl.frog.client import ClientMachine
from reference_impl.frog.client_io import Client
from reference_impl.frog.frames import Err, Find, Found, Frame, GetServers, Peers
from reference_impl.frog.host import AskPeers, AskRoute, Request, SendSignal
from reference_impl.frog.identifiers import network_of
from reference_impl.frog.joining import ClientStep, State
from reference_impl.io.websocket import Message
from targets.mutants.frog.shelf import in_client


@in_client("FROG-7.9-02")
class AsksWithADash(Client):
    """Has the dash for the CID of what it asks for itself."""

    def write(self, frame: Frame) -> Message:
        if isinstance(frame, GetServers):
            return f"GETSERVERS - {frame.limit}\n".encode()
        return super().write(frame)


@in_client("FROG-7.9-03", "FROG-20-05")
class OneCidForAll(Client):
    """Has one CID for every request."""

    def entropy(self, size: int) -> bytes:
        return bytes(size) if size == 10 else super().entropy(size)


@in_client("FROG-7.9-03", "FROG-20-05")
class TwoCidsInTurn(Client):
    """Has two CIDs, and takes them in turn."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._turn = itertools.cycle((b"\0", b"\1"))

    def entropy(self, size: int) -> bytes:
        return next(self._turn) * size if size == 10 else super().entropy(size)


@in_client("FROG-20-05", "FROG-7.9-03")
class CidsCountFromTheAnswered(Client):
    """Counts the requests that are out, so that an answer makes a CID come again that is in use."""

    def entropy(self, size: int) -> bytes:
        if size != 10:
            return super().entropy(size)
        return len(self.player.state.outstanding).to_bytes(size, "big")


class Mismatching(ClientMachine):
    """Takes an answer for another request than the one whose CID it has."""

    def cid(self, state: State, cid: str, kind: type) -> str:
        return cid

    def found(self, state: State, channel: Channel, frame: Found) -> ClientStep:
        return super().found(state, channel, replace(frame, cid=self.cid(state, frame.cid, AskRoute)))

    def found_some(self, state: State, channel: Channel, frame: Peers) -> ClientStep:
        return super().found_some(state, channel, replace(frame, cid=self.cid(state, frame.cid, AskPeers)))


@in_client("FROG-20-04")
class AnswersComeInOrder(Mismatching):
    """Takes an answer for the oldest request of its kind."""

    def cid(self, state: State, cid: str, kind: type) -> str:
        waiting = [
            (asked.request.ticket, c) for c, asked in state.outstanding.items() if isinstance(asked.request, kind)
        ]
        return min(waiting)[1] if waiting and cid in state.outstanding else cid

    def lies(self, state: State, frame: Peers | Found) -> bool:
        return False


@in_client("FROG-20-04")
class AnyCidWillDo(Mismatching):
    """Takes an answer with an unknown CID where only one request of its kind is out."""

    def cid(self, state: State, cid: str, kind: type) -> str:
        waiting = [c for c, asked in state.outstanding.items() if isinstance(asked.request, kind) and not asked.own]
        return waiting[0] if cid not in state.outstanding and len(waiting) == 1 else cid


@in_client("FROG-20-04")
class CidsByTheirBeginning(Mismatching):
    """Compares the first characters of a CID, as many as the answer's has."""

    def cid(self, state: State, cid: str, kind: type) -> str:
        return next((known for known in state.outstanding if known.startswith(cid) or cid.startswith(known)), cid)


@in_client("FROG-20-04")
class ErrorsFailTheOldest(ClientMachine):
    """Takes an error for the answer to its oldest request."""

    def failed(self, state: State, channel: Channel, frame: Err) -> ClientStep:
        waiting = [(asked.request.ticket, cid) for cid, asked in state.outstanding.items() if not asked.own]
        known = frame.id in state.outstanding and waiting
        return super().failed(state, channel, replace(frame, id=min(waiting)[1]) if known else frame)


@in_client("FROG-20-04")
class OneErrorFailsAll(ClientMachine):
    """Gives all its requests up when one of them fails."""

    def failed(self, state: State, channel: Channel, frame: Err) -> ClientStep:
        step = super().failed(state, channel, frame)
        if frame.id not in state.outstanding:
            return step
        others = [asked for asked in step.state.outstanding.values() if not asked.own]
        refusals = tuple(self.refusing(asked.request.ticket, frame.code, "") for asked in others)
        return replace(
            step,
            state=replace(step.state, outstanding=type(state.outstanding)()),
            owes=(*step.owes, *refusals),
        )


@in_client("FROG-22-11")
class SignalsAnywhere(ClientMachine):
    """Signals along any route that its host names."""

    def send(self, state: State, channel: Channel, request: SendSignal) -> ClientStep:
        known = replace(state, routes=state.routes.set(request.route_id, ""))
        return replace(super().send(known, channel, request), state=state)


@in_client("FROG-22-11", "FROG-43-03")
class RemembersRoutes(ClientMachine):
    """Goes on using the routes of an earlier connection."""

    def dropped(self, state: State, channel: Channel, what: object) -> ClientStep:
        step = super().dropped(state, channel, what)
        return replace(step, state=replace(step.state, routes=state.routes))


@in_client("FROG-22-11", "FROG-20-04")
class BelievesEveryFound(ClientMachine):
    """Keeps the route of a FOUND that names another peer than it asked for."""

    def lies(self, state: State, frame: Peers | Found) -> bool:
        return isinstance(frame, Peers) and super().lies(state, frame)


@in_client("FROG-23-04", "FROG-23-03")
class LooksForItself(ClientMachine):
    """Looks up its own key where its host wants that."""

    def legal(self, request: Request) -> bool:
        own = isinstance(request, AskRoute) and request.peer_key == self.peer_key
        return own or super().legal(request)


@in_client("FROG-23-04", "FROG-23-02")
class LooksForItselfElsewhere(ClientMachine):
    """Looks up keys of other networks."""

    def legal(self, request: Request) -> bool:
        if not isinstance(request, AskRoute) or network_of(request.peer_key) == self.config.network:
            return super().legal(request)
        return super().legal(replace(request, peer_key=f"{self.config.network}:{request.peer_key.partition(':')[2]}"))


@in_client("FROG-5-23", "FROG-22-01", "FROG-21-02")
class AsksForEight(Client):
    """Asks for eight peers where its host wants that many."""

    async def find(self, limit: int) -> tuple[str, ...]:
        self._eight = limit == 8
        return await super().find(min(limit, 7))

    def write(self, frame: Frame) -> Message:
        wire = super().write(frame)
        eight = isinstance(frame, Find) and getattr(self, "_eight", False) and isinstance(wire, bytes)
        return wire[:-2] + b"8\n" if eight and isinstance(wire, bytes) else wire
