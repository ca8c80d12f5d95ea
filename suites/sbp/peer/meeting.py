"""Where the harness and the peer under test meet: on the peer's port, or on ours."""

from __future__ import annotations

import asyncio
from typing import Any

from websockets.asyncio.client import connect
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import InvalidHandshake, InvalidMessage

from harness.errors import ShimBroken, TargetCrashed, TargetError
from harness.targets import Instance
from harness.trial import Broken, Trial
from suites.sbp.peer.line import Line
from suites.sbp.peer.told import MEMBERS, Told, as_told
from suites.sbp.wire import LIMIT, unique

ROLE = "sbp/peer"
PEER_ID = "peer-under-test"
SIDES = ["accept", "connect"]
"""Which side the target is."""
FOREVER_S = 3600.0
OPTIONS = {"max_size": None, "compression": None, "ping_interval": None, "close_timeout": 1}


class Meeting:
    """The sessions of one case; ends them, and the peers it started, when the case ends."""

    def __init__(self, trial: Trial) -> None:
        self.trial, self.target = trial, trial.target
        self.lines: list[Line] = []
        self._pumps: dict[str, asyncio.Task[None]] = {}
        self._started: list[Instance] = []
        self._servers: list[Server] = []
        self._over = False

    async def line(self, side: str, **config: Any) -> Line:
        """A transport on which nothing was said yet."""
        capabilities = await self.target.capabilities(ROLE)
        await self.target.need(ROLE, side)
        told = {"side": side, "peer_id": PEER_ID, "receipt": False, "limit": LIMIT} | config
        hosted = "host" in capabilities
        instance, websocket = await (self._dialled(told) if side == "accept" else self._called(told))
        line = Line(self.trial, websocket, instance, hosted)
        self.lines.append(line)
        if hosted and instance.id not in self._pumps:
            self._pumps[instance.id] = asyncio.create_task(self._pump(instance))
        return line

    async def session(self, side: str, **config: Any) -> Line:
        """An established session."""
        line = await self.line(side, **config)
        await line.greet()
        if line.hosted:
            await line.established()
        return line

    async def told_meanwhile(self, line: Line, side: str) -> list[Told]:
        """What the host was told of a line that has ended: once another session serves it, nothing more is on its way."""
        await (await self.session(side)).host_fence()
        return [await line.next_told() for _ in range(line.told.qsize())]

    async def _dialled(self, told: dict[str, Any]) -> tuple[Instance, Any]:
        instance = await self.target.instance(ROLE, told)
        try:
            return instance, await connect(instance.address, **OPTIONS)
        except (OSError, InvalidHandshake, InvalidMessage, TimeoutError) as error:
            raise TargetCrashed(f"no WebSocket connection to {instance.address}: {error}") from None

    async def _called(self, told: dict[str, Any]) -> tuple[Instance, Any]:
        """The target connects to a port of ours; only its first connection counts."""
        first: asyncio.Future[ServerConnection] = asyncio.get_running_loop().create_future()

        async def handle(websocket: ServerConnection) -> None:
            if not first.done():
                first.set_result(websocket)
                await websocket.wait_closed()

        server = await serve(handle, "127.0.0.1", 0, **OPTIONS)
        self._servers.append(server)
        url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/{unique('case')}"
        instance = await (await self.target.session()).start(ROLE, told | {"url": url})
        self._started.append(instance)
        try:
            return instance, await asyncio.wait_for(first, self.trial.patience_s)
        except TimeoutError:
            nothing = f"none within {self.trial.patience_s:g} s"
            raise Broken("SBP-SES-01", f"a WebSocket connection to {url}", nothing) from None

    # -- what the target tells its host ---------------------------------------------------------------------------

    async def _pump(self, instance: Instance) -> None:
        """Events of one instance to the lines they are about."""
        try:
            while not self._over:  # 3.11's wait_for loses a cancellation that meets a result
                event, data = await instance.event(FOREVER_S)
                line = self._line_of(instance, event, data)
                about = "" if line else "event for an unknown session: "  # of an earlier case's, or of nobody's
                self.trial.said("host", "harness", "event", f"{about}{event} {str(data)[:400]}")
                if line:
                    line.on_told(as_told(event, data))
        except TargetError as death:
            for line in self.lines:
                if line.instance is instance:
                    line.on_told(death)

    def _line_of(self, instance: Instance, event: str, data: dict[str, Any]) -> Line | None:
        """Whose event this is. A session's name may be any JSON value but null; the first `established` tells it."""
        name = data.get("session")
        if name is None and event in MEMBERS:
            raise ShimBroken(f"`{event}` does not say its session")
        for line in self.lines:
            if line.instance is not instance:
                continue
            if event == "established" and line.session is None and data.get("peer_id") == line.peer_id:
                line.session = name
            if line.session is not None and line.session == name:
                return line
        return None

    async def close(self) -> None:
        self._over = True
        for pump in self._pumps.values():
            pump.cancel()
        await asyncio.gather(*self._pumps.values(), return_exceptions=True)
        await asyncio.gather(*(line.close() for line in self.lines))
        for instance in self._started:
            if instance.session.alive:
                await instance.stop()
        for server in self._servers:
            server.close()
