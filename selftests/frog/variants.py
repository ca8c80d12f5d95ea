"""Servers and clients that conform and yet take every freedom: the suites must not fail them, nor warn.

`./touchstone check frog/server --target python:selftests.frog.variants:Closing`
"""

from __future__ import annotations

import asyncio
import itertools
import random
from dataclasses import replace
from typing import Any

from immutables import Map

from harness.shim.roles import RoleShim
from reference_impl.core import Channel, Expectation, Player, Step
from reference_impl.frog.client import ClientMachine
from reference_impl.frog.client import Phase as ClientPhase
from reference_impl.frog.client import State as ClientState
from reference_impl.frog.client_io import Client
from reference_impl.frog.frames import (
    Auth,
    Code,
    Err,
    Find,
    Frame,
    GetServers,
    Hangup,
    Heard,
    Join,
    Leave,
    Lookup,
    Malformed,
    Opened,
    Peers,
    Signal,
    SisterErr,
    Stray,
    Try,
    Welcome,
)
from reference_impl.frog.host import Request
from reference_impl.frog.identifiers import DASH, is_id
from reference_impl.frog.joining import ClientStep
from reference_impl.frog.presence import Connection, Phase, State
from reference_impl.frog.routes import Ending, Route
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.server_io import Line, Server
from reference_impl.io.timer import Timer
from targets.reference.frog import ClientRole, ServerRole


class ClosingMachine(ServerMachine):
    """Ends the connection after broken framing, without a word, and after a failed AUTH."""

    def malformed(self, state: State, channel: Channel, event: Malformed) -> ServerStep:
        step = super().malformed(state, channel, event)
        if not event.severe:
            return step
        closing = self.and_close(step, channel, silent=True)
        return replace(closing, owes=closing.owes[-1:])

    def stray(self, state: State, channel: Channel, event: Stray) -> ServerStep:
        return self.and_close(super().stray(state, channel, event), channel, silent=False)

    def auth(self, state: State, channel: Channel, frame: Auth) -> ServerStep:
        step = super().auth(state, channel, frame)
        return self.and_close(step, channel, silent=False) if isinstance(step.owes[0].template, Err) else step


class ForgetfulMachine(ServerMachine):
    """Forgets a route at once when it is over, looks at the state before it parses, and keeps a challenge that failed.

    Whoever has no role yet gets errors of the family that is not his.
    """

    def receive(self, state: State, channel: Channel, event: Any) -> ServerStep:
        step = super().receive(state, channel, event)
        refused = len(step.owes) == 1 and isinstance(step.owes[0].template, Err | SisterErr)
        return self.other_family(step) if refused and state.phase(channel) is Phase.NEW else step

    def route_over(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        return self.signal_error(state, channel, frame, "FROG-26-08", (Code.ROUTE_NOT_FOUND,))

    def malformed(self, state: State, channel: Channel, event: Malformed) -> ServerStep:
        step = super().malformed(state, channel, event)
        id = event.other_ids[0] if event.severe and event.other_ids else event.id
        wanted = (Code.BAD_STATE, *event.codes)
        codes = [code for debt in step.owes for code in wanted if allows(debt.template, code)]
        return self.error(state, channel, "FROG-15-05", id, tuple(codes[:1]))

    def auth(self, state: State, channel: Channel, frame: Auth) -> ServerStep:
        step, held = super().auth(state, channel, frame), state.connections[channel]
        failed = isinstance(step.owes[0].template, Err)
        return replace(step, state=step.state.moved(channel, held)) if failed else step

    def misread(self, state: State, channel: Channel, event: Malformed) -> ServerStep:
        step = super().misread(state, channel, event)
        [debt] = step.owes
        said = debt.template
        if event.severe and event.other_ids:
            said = replace(said, id=event.other_ids[0])
        if state.phase(channel) is Phase.SISTER and allows(said, Code.BAD_STATE):
            said = replace(said, code=Code.BAD_STATE)
        return replace(step, owes=(replace(debt, template=said),))

    def why_over(self, route: Route) -> tuple[Code, ...]:
        return super().why_over(route)[1:]

    def stray(self, state: State, channel: Channel, event: Stray) -> ServerStep:
        return Step(state) if event.word == "ERR" else self.error(state, channel, "FROG-5-13", DASH, (Code.BAD_STATE,))


def allows(template: Err | SisterErr, code: Code) -> bool:
    hole: Any = template.code
    return bool(hole.admits(code, template))


class StayingMachine(ServerMachine):
    """A peer that is gone leaves routes that say so; a replaced connection falls back to where it may JOIN."""

    def route_over(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        code = Code.PEER_NOT_FOUND if route.ended is Ending.CLOSED else Code.ROUTE_NOT_FOUND
        if route.endpoint(state.connections[channel].peer_key) != channel:
            code = Code.TARGET_MISMATCH
        return self.signal_error(state, channel, frame, "FROG-26-08", (code,))

    def leave(self, state: State, channel: Channel, frame: Leave) -> ServerStep:
        step = super().leave(state, channel, frame)
        return replace(step, state=step.state.moved(channel, Connection(Phase.HELLO_OK)))


class LingeringMachine(ServerMachine):
    """Leaves a replaced connection open: it falls back to where it may JOIN, and is answered as any other there."""

    def registered(self, state: State, channel: Channel) -> ServerStep:
        before = state.peers.get(state.connections[channel].peer_key)
        step = super().registered(state, channel)
        if before is None:
            return step
        back = step.state.moved(before, Connection(Phase.HELLO_OK))
        return replace(step, state=back, owes=tuple(d for d in step.owes if not isinstance(d.template, Hangup)))


class TiringMachine(ServerMachine):
    """Lets a route die when its time is up, however it is used: that FROG-25-03 says SHOULD is for `timers` to say."""

    def carried(self, state: State, channel: Channel, frame: Signal, route: Route) -> ServerStep:
        step = super().carried(state, channel, frame, route)
        return replace(step, state=replace(step.state, routes=state.routes))

    def used(self, state: State, route_id: str) -> State:
        return state


class TalkativeServer(Server):
    """Says TRY when nobody asked, and answers requests when it has time: in another order, lookups that miss very late."""

    def put(self, line: Line, frame: Frame | Hangup) -> None:
        loop = asyncio.get_running_loop()
        if isinstance(frame, Welcome):
            super().put(line, frame)
            super().put(line, Try(DASH))
        elif isinstance(frame, Err) and frame.code == Code.PEER_NOT_FOUND and not is_id(frame.id):
            loop.call_later(0.2, super().put, line, Err(frame.id, Code.LOOKUP_TIMEOUT))
        elif isinstance(frame, Err) and frame.id != DASH and not is_id(frame.id):
            loop.call_later(random.random() / 100, super().put, line, frame)
        elif isinstance(frame, Try | Peers):
            loop.call_later(random.random() / 100, super().put, line, frame)
            super().put(line, Try(DASH))
        else:
            super().put(line, frame)


class ClosingServer(ServerRole):
    machine = ClosingMachine


class ForgetfulServer(ServerRole):
    machine = ForgetfulMachine


class LingeringServer(ServerRole):
    machine = LingeringMachine


class TiringServer(ServerRole):
    machine = TiringMachine


class TalkingServer(ServerRole):
    machine, server = StayingMachine, TalkativeServer


ODD_CIDS = ("--{}", "-{}", "_{}", "0" * 23 + "{:03}", "Z" * 29 + "{:03}")


class HastyMachine(ClientMachine):
    """Says JOIN right behind HELLO, spells CIDs as oddly as it may, and hangs up where something is wrong.

    How long it waits for an answer is its own affair: when one request has taken too long, it gives up all.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._cids = (form.format(n) for n, form in enumerate(itertools.cycle(ODD_CIDS)))

    def opened(self, state: ClientState, channel: Channel, event: Opened) -> ClientStep:
        step = super().opened(state, channel, event)
        joining = Expectation("FROG-46-01", Join(self.peer_key), channel)
        return replace(step, state=replace(step.state, phase=ClientPhase.JOINING), owes=(*step.owes, joining))

    def ask(self, state: ClientState, channel: Channel, request: Request) -> ClientStep:
        step = super().ask(state, channel, request)
        [debt] = step.owes
        if isinstance(debt.template, Find | Lookup | GetServers):
            debt = replace(debt, template=replace(debt.template, cid=next(self._cids)))
        return replace(step, owes=(debt,))

    def time_is_up(self, state: ClientState) -> ClientStep:
        if state.until is None and any(asked.until <= state.now for asked in state.outstanding.values()):
            late = {cid: replace(asked, until=state.now) for cid, asked in state.outstanding.items()}
            state = replace(state, outstanding=Map(late))
        return super().time_is_up(state)

    def receive(self, state: ClientState, channel: Channel, event: Any) -> ClientStep:
        broken = isinstance(event, Heard) and isinstance(event.what, Malformed | Stray)
        if broken and channel == state.connection and state.phase is ClientPhase.REGISTERED:
            return self.given_up(replace(state, now=max(state.now, event.at)), channel, event.what)
        return super().receive(state, channel, event)


class EagerClient(Client):
    """Says whatever it may: it asks for servers before it is registered."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.player = Player(self.machine, entropy=self.entropy, volunteers=lambda debt: True, now=self._clock())
        self.timer = Timer(self.player, self.perform, self._clock)


class HastyClient(ClientRole):
    machine, client = HastyMachine, EagerClient


class Closing(RoleShim):
    def __init__(self) -> None:
        super().__init__("closing", "0", {"frog/server": ClosingServer})


class Forgetful(RoleShim):
    def __init__(self) -> None:
        super().__init__("forgetful", "0", {"frog/server": ForgetfulServer})


class Lingering(RoleShim):
    def __init__(self) -> None:
        super().__init__("lingering", "0", {"frog/server": LingeringServer})


class Talking(RoleShim):
    def __init__(self) -> None:
        super().__init__("talking", "0", {"frog/server": TalkingServer})


class Tiring(RoleShim):
    def __init__(self) -> None:
        super().__init__("tiring", "0", {"frog/server": TiringServer})


class Hasty(RoleShim):
    def __init__(self) -> None:
        super().__init__("hasty", "0", {"frog/client": HastyClient})
