"""A client under test between two parts that the harness plays: the servers that it dials and the host behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harness.errors import TargetRefused
from harness.judging.inbox import Inbox
from harness.judging.trial import Broken, Trial
from harness.targets import Session
from reference_impl.frog.codec import Direction
from reference_impl.frog.frames import Auth, Chal, Frame, GetServers, Hangup, Hello, Join, Joined, Try, Welcome
from reference_impl.io.websocket import Listener, Settings, WebSocket
from suites.common.connect import CLOSE_S, WebSocketPort
from suites.common.host import Event, Host
from suites.common.played import Played
from suites.frog.line import FrogLine
from suites.frog.wire import SUBPROTOCOL, Peer, an_id, network, proof

ROLE = "frog/client"
BACKOFF_MS = 20
SLOWEST_REDIAL_S = 10.0
"""What a client may wait before it dials again where its backoff cannot be set."""

PUSH_S = 5.0
"""How far its clock is pushed at a time while we wait for a dial."""

PUSHES = 10
"""How often at most within the patience: before the first, a client whose clock runs by itself has dialled."""

HANGING_S = 10.0
"""What a client may take, over the patience, to give a request up that nobody can answer any more."""


class ClientLine(FrogLine):
    """One connection of the client under test, from the server's end."""

    other = "client"
    direction = Direction.TO_SERVER

    def __init__(self, stage: Stage, carrier: WebSocket, label: str) -> None:
        super().__init__(stage.trial, carrier, label)
        self.stage, self.peer = stage, stage.peer
        self.server_id = an_id()
        self.lists = True  # a GETSERVERS of the client's own is answered, and is no case's business
        self.named: tuple[str, ...] = ()  # the servers in that answer

    async def heard(self, frame: Frame | Hangup | Broken) -> None:
        if isinstance(frame, GetServers | Broken):
            self.stage.asked.put(frame)
        if isinstance(frame, GetServers) and self.lists:
            await self.send(Try(frame.cid, self.named))
            return
        await super().heard(frame)

    async def greeted(self) -> None:
        """HELLO, as the first message."""
        await self.expect(Hello, "FROG-16-01")

    async def joins(self) -> None:
        """HELLO both ways, then JOIN of its own key; a client may say both at once (AMB-66)."""
        await self.greeted()
        await self.send(Welcome(self.server_id))
        join = await self.expect(Join, "FROG-46-01")
        self.trial.expect(join == Join(self.peer.key), self.peer.key, join.peer_key, "FROG-10-01")

    async def proves(self, nonce: str = "") -> None:
        """The challenge is answered with a proof over exactly what this server is."""
        nonce = nonce or an_id()
        await self.send(Chal(nonce))
        auth = await self.expect(Auth, "FROG-12.1-01")
        signed = proof(nonce, self.stage.uri, self.peer.key, self.server_id)
        wanted = Auth(self.peer.public_key, self.peer.sign(signed))
        self.trial.expect(auth == wanted, f"the proof over {signed!r}", auth, "FROG-12.1-01")

    async def registers(self) -> ClientLine:
        await self.joins()
        await self.proves()
        await self.send(Joined())
        return self


@dataclass(frozen=True, slots=True)
class Selecting(Settings):
    """Selects that subprotocol, whatever is offered."""

    selected: str | None = None

    def arguments(self) -> dict[str, Any]:
        return Settings.arguments(self) | {"select_subprotocol": lambda _, offered: self.selected}


class SelectingPort(WebSocketPort):
    """A port of a server that selects what it likes; of the right one only what is offered."""

    def __init__(self, trial: Trial, selected: str | None) -> None:
        super().__init__(trial, (SUBPROTOCOL,))
        if selected != SUBPROTOCOL:
            settings = Selecting(close_s=CLOSE_S, selected=selected)
            self._listener = Listener(self._arrived, settings, self._admit)


class Stage(Played[ClientLine]):
    """A server that the client dials."""

    def __init__(self, trial: Trial, peer: Peer, arrivals: Inbox[ClientLine], selected: str | None) -> None:
        super().__init__(trial, SelectingPort(trial, selected), arrivals)
        self.peer, self.uri = peer, ""
        self.asked: Inbox[GetServers] = Inbox()  # by a client on its own, or as its host wanted

    async def open(self) -> Stage:
        self.uri = f"{await self.port.url()}/"
        return self

    def line(self, carrier: WebSocket, number: int) -> ClientLine:
        return ClientLine(self, carrier, f"{self.uri}#{number}")


class ClientUnderTest:
    """The client of one case, its servers and its host."""

    host: Host

    def __init__(self, trial: Trial, session: Session, capabilities: Iterable[str]) -> None:
        self.trial, self.session, self.capabilities = trial, session, set(capabilities)
        self.peer = Peer(network())
        self.arrivals: Inbox[ClientLine] = Inbox()  # of all its servers, in the order in which they came
        self.told: Inbox[Event] = Inbox()
        self.stages: list[Stage] = []
        self._started = False

    async def stage(self, selected: str | None = SUBPROTOCOL) -> Stage:
        """One more server, that selects this; nobody knows of it yet."""
        made = await Stage(self.trial, self.peer, self.arrivals, selected).open()
        self.stages.append(made)
        return made

    async def start(self, *bootstrap: str, **config: Any) -> ClientUnderTest:
        """With these servers, or with one of ours."""
        bootstrap = bootstrap or ((await self.stage()).uri,)
        told = {
            "bootstrap": list(bootstrap),
            "network": self.peer.network,
            "seed": self.peer.seed.hex(),
            "cache": [],
            "backoff_ms": BACKOFF_MS,
        }
        self.trial.said("host", "client", "request", f"start {told | config}")
        self.host = Host(self.trial, await self.session.start(ROLE, told | config))
        self.host.listen(lambda told: self.told.put(told))
        self._started = True
        return self

    async def online(self, *bootstrap: str) -> ClientLine:
        """Started and registered; its host has heard of it."""
        await self.start(*bootstrap)
        line = await (await self.accept()).registers()
        await self.expect_status(True, "FROG-17-11")
        return line

    # -- the servers' part ----------------------------------------------------------------------------------------

    async def accept(self, clause: str = "FROG-41-02") -> ClientLine:
        """The next connection, to whichever server; nothing is said on it yet. A clock that may stand still is pushed."""
        patience_s = self.trial.patience_s + self.redial_s
        pushing = asyncio.create_task(self._push()) if "clock" in self.capabilities else None
        try:
            return await self.trial.next_of(self.arrivals, "the client to dial", clause, patience_s)
        finally:
            if pushing:
                pushing.cancel()

    @property
    def redial_s(self) -> float:
        return 0.0 if "backoff_ms" in self.capabilities else SLOWEST_REDIAL_S

    async def _push(self) -> None:
        while True:
            await asyncio.sleep(self.trial.patience_s / PUSHES)
            await self.host.do("advance_clock", seconds=PUSH_S)

    # -- the host's part ------------------------------------------------------------------------------------------

    def asking(self, op: str, **args: Any) -> asyncio.Task[dict[str, Any] | str]:
        """An operation that runs beside the case: its answer, or the words of a refusal."""
        return asyncio.create_task(self._asked(op, args))

    async def _asked(self, op: str, args: dict[str, Any]) -> dict[str, Any] | str:
        shown = {name: value if len(str(value)) < 200 else "…" for name, value in args.items()}
        try:
            return await self.host.do(op, b"", shown, **args)
        except TargetRefused as refused:
            return str(refused)

    async def answer(
        self, asked: asyncio.Task[dict[str, Any] | str], clause: str = "", more_s: float = 0.0
    ) -> dict[str, Any] | str:
        """What came of it; an operation that hangs has failed."""
        try:
            return await asyncio.wait_for(asked, self.trial.patience_s + self.redial_s + more_s)
        except TimeoutError:
            raise Broken(clause or self.trial.own_clause, "an answer", "none") from None

    async def expect_told(self, name: str, clause: str) -> dict[str, Any]:
        """The next event of that name; others are passed over."""
        while True:
            event, data = await self.trial.next_of(self.told, f"the event {name}", clause)
            if event == name:
                return data

    async def expect_status(self, registered: bool, clause: str) -> dict[str, Any]:
        while (data := await self.expect_told("status", clause)).get("registered") is not registered:
            pass
        return data

    async def refuses(self, op: str, clause: str, **args: Any) -> str:
        """An operation that a client may not carry out."""
        answer = await self.answer(self.asking(op, **args), clause)
        if not isinstance(answer, str):
            raise Broken(clause, f"a refusal of {op}", str(answer))
        return answer

    async def close(self) -> None:
        if self._started:
            self._started = False
            await self.host.stop()
        for stage in self.stages:
            await stage.close()
