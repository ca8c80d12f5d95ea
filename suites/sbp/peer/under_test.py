"""The peer under test: sessions with it on its own port, or on ours."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

from harness.errors import ShimBroken
from harness.judging.trial import Trial
from harness.targets import Instance
from reference_impl.io.websocket import WebSocket
from suites.common.connect import WebSocketPort, dial_websocket
from suites.common.host import Event, Host
from suites.common.names import unique
from suites.sbp import wire
from suites.sbp.line import PEER_ID, PeerLine
from suites.sbp.peer.events import MEMBERS, read_event
from suites.sbp.wire import LIMIT

SIDES = ["accept", "connect"]
"""Which side the target is."""


async def shows_host(trial: Trial, side: str) -> bool:
    """Is its host seen? A target may show it on both sides, or on one."""
    return bool({"host", f"host-{side}"} & set(await trial.capabilities()))


class PeerUnderTest:
    """The sessions of one case; ends them, and the peers it started, when the case ends."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.lines: list[PeerLine] = []
        self._hosts: dict[str, Host] = {}  # by the name of the instance
        self._started: list[Host] = []
        self._ports: list[WebSocketPort] = []

    async def line(self, side: str, **config: Any) -> PeerLine:
        """A transport on which nothing was said yet."""
        hosted = await shows_host(self.trial, side)
        await self.trial.need(side)
        told = {"side": side, "peer_id": PEER_ID, "receipt": False, "limit": LIMIT} | config
        host, carrier = await (self._dialled(told) if side == "accept" else self._called(told))
        line = PeerLine(self.trial, carrier, host, hosted)
        self.lines.append(line)
        if hosted:
            host.listen(functools.partial(self._told, host))
        return line

    async def session(self, side: str, **config: Any) -> PeerLine:
        """An established session."""
        line = await self.line(side, **config)
        await line.greet()
        if line.hosted:
            await line.established()
        return line

    async def namesakes(self, side: str) -> tuple[PeerLine, PeerLine]:
        """Two sessions under one peerId. That both stand is our reading alone: no other clause is named for it."""
        first, second = await self.session(side), await self.line(side)
        second.peer_id = first.peer_id
        await second.send(wire.handshake(second.peer_id))
        await second.expect_handshake("SBP-SES-12")
        if second.hosted:
            await second.established("SBP-SES-12")
        for line in (first, second):
            await line.stays_open("SBP-SES-12")
        return first, second

    async def events_meanwhile(self, line: PeerLine, side: str) -> list[Event]:
        """What the host was told of a line that has ended: once another session serves it, nothing more is on its way."""
        await (await self.session(side)).host_fence()
        return [await line.next_event() for _ in range(len(line.events))]

    async def leave(self, line: PeerLine) -> None:
        """Done with it: nothing more of it is heard, and a peer that was started for it is stopped."""
        self.lines.remove(line)
        line.events.shut()
        await line.leave()
        if line.host in self._started:
            self._started.remove(line.host)
            del self._hosts[line.host.instance.id]
            await line.host.stop()

    async def _dialled(self, told: dict[str, Any]) -> tuple[Host, WebSocket]:
        instance = await self.trial.target.instance(self.trial.role, told)
        return self._host_of(instance), await dial_websocket(self.trial, instance.address)

    async def _called(self, told: dict[str, Any]) -> tuple[Host, WebSocket]:
        """The target connects to a port of ours; only its first connection counts."""
        port = WebSocketPort(self.trial)
        self._ports.append(port)
        url = f"{await port.url()}/{unique('case')}"
        host = self._host_of(await (await self.trial.target.session()).start(self.trial.role, told | {"url": url}))
        self._started.append(host)
        return host, await self._arrived(port, url)

    async def _arrived(self, port: WebSocketPort, url: str) -> WebSocket:
        """Who asks for something else is not the target: on a busy machine a port is soon another's."""
        while True:
            carrier = await self.trial.next_of(port.arrivals, f"a WebSocket connection to {url}", "SBP-SES-01")
            request = carrier.connection.request
            if request is None or url.endswith(request.path):
                return carrier
            await carrier.close()

    # -- what the target tells its host ---------------------------------------------------------------------------

    def _host_of(self, instance: Instance) -> Host:
        if instance.id not in self._hosts:
            self._hosts[instance.id] = Host(self.trial, instance)
        return self._hosts[instance.id]

    def _told(self, host: Host, told: Event | Exception) -> None:
        """Events of one instance go to the lines they are about, its end to all of its lines."""
        mine = [line for line in self.lines if line.host is host]
        if isinstance(told, Exception):
            for line in mine:
                line.events.put(told)
        elif of := self._line_of(mine, *told):
            of.events.put(read_event(*told))
        else:  # of an earlier case's, or of nobody's
            self.trial.said("harness", "host", "note", "that event is of an unknown session")

    def _line_of(self, mine: list[PeerLine], event: str, data: dict[str, Any]) -> PeerLine | None:
        """Whose event this is. A session's name may be any JSON value but null; the first `established` tells it."""
        name = data.get("session")
        if name is None and event in MEMBERS:
            raise ShimBroken(f"`{event}` does not say its session")
        for line in mine:
            if event == "established" and line.session is None and data.get("peer_id") == line.peer_id:
                line.session = name
            if line.session is not None and line.session == name:
                return line
        return None

    async def close(self) -> None:
        for host in self._hosts.values():
            await host.deaf()
        await asyncio.gather(*(line.leave() for line in self.lines))
        for host in self._started:
            await host.stop()
        for port in self._ports:
            await port.close()
