"""A server beside its oracle: what it says on any connection is judged by the machine alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.errors import TargetUnsupported
from harness.judging.clock import Clock
from harness.judging.trial import Trial
from harness.judging.watch import Watch
from harness.touring.tour import likeliest
from harness.touring.world import Say, Stimulus
from reference_impl.core import Channel, Overdue
from reference_impl.frog.frames import (
    Chal,
    Err,
    Found,
    Frame,
    GetServers,
    Hangup,
    Heard,
    Join,
    Joined,
    Left,
    Lookup,
    Opened,
    Text,
)
from reference_impl.frog.presence import Phase, State
from reference_impl.frog.server import Config, ServerMachine
from reference_impl.io.carrier import LOST
from suites.common.guide import Guiding
from suites.frog.line import OVERLOAD, codec
from suites.frog.server.under_test import PeerLine, ServerUnderTest
from suites.frog.server.world import Passing, Prove, ServerWorld, signed
from suites.frog.wire import Peer, an_id, cid

OPEN = (Phase.NEW, Phase.HELLO_OK, Phase.AUTH_PENDING, Phase.REGISTERED)
SLACK_S = 5.0  # between the target's clock and ours


class ServerWatch(Watch[State]):
    """The server of one machine run, its connections by number, and the oracle. Nobody else is in our networks."""

    def __init__(self, trial: Trial, server: ServerUnderTest, server_id: str, clock: Clock | None = None) -> None:
        config = Config(server_id, server.uri, slack_s=SLACK_S, remembers=True)
        super().__init__(trial, ServerMachine(config), clock)
        self.server, self.server_id = server, server_id
        self.lines: dict[int, PeerLine] = {}  # those that are open
        self.registered: dict[int, Peer] = {}
        self.nonces: dict[int, str] = {}
        self.routes: list[str] = []
        self.missed: set[str] = set()  # CIDs of lookups that found nobody
        self._next = 0

    @property
    def opened(self) -> int:
        """How many connections there were."""
        return self._next

    async def connect(self, peer: Peer | None = None) -> int:
        self._next += 1
        channel = self._next
        self.told(channel, Heard(Opened(), self.clock.now()))
        line = self.lines[channel] = await self.server.connect(peer, f"c{channel}")
        line.server_id = self.server_id
        self.follow(channel, line.inbox)
        return channel

    def heard(self, channel: Channel, frame: Any) -> None:
        assert isinstance(channel, int), "connections have numbers"
        match frame:
            case Hangup():
                self.lines.pop(channel, None)
                self.registered.pop(channel, None)
            case Joined() if line := self.lines.get(channel):
                older = [c for c, peer in self.registered.items() if peer == line.peer]
                self.registered = {c: p for c, p in self.registered.items() if c not in older} | {channel: line.peer}
            case Left():
                self.registered.pop(channel, None)
            case Chal(nonce):
                self.nonces[channel] = nonce
            case Found():
                self.routes.append(frame.route_id)
            case Err(id, "PEER_NOT_FOUND" | "LOOKUP_TIMEOUT"):
                self.missed.add(id)
            case Err(_, code) if code in OVERLOAD:
                frame = TargetUnsupported(f"the server limits us: {frame}")
        super().heard(channel, frame)

    def _judge(self, channel: Channel, frame: Any) -> None:
        super()._judge(channel, frame)
        if isinstance(frame, Hangup):
            self.oracle.forget(
                channel
            )  # it reads and says nothing there any more, and each word would double the frontier

    # -- saying ---------------------------------------------------------------------------------------------------

    async def say(self, channel: int, frame: Frame) -> None:
        await self.raw(channel, codec.encode(frame))

    async def raw(self, channel: int, wire: bytes) -> None:
        if line := self.lines.get(channel):
            self.told(channel, Heard(codec.heard_by_server(wire), self.clock.now()))
            await line.raw(wire)

    async def text(self, channel: int, text: str) -> None:
        if line := self.lines.get(channel):
            self.told(channel, Heard(Text(), self.clock.now()))
            await line.text(text)

    async def ask(self, channel: int) -> None:
        """Prove that the server has read what was said on this connection."""
        await self.say(channel, GetServers(cid("G"), 1))
        await self.settle()

    async def hang_up(self, channel: int, politely: bool) -> None:
        line, was_there = self.lines.pop(channel), self.registered.pop(channel, None)
        self.told(channel, Heard(Hangup(), self.clock.now()))
        await line.part(politely)
        await self.settle()
        if was_there:
            await self.until_noticed(was_there)
        else:
            self.oracle.quiesce()  # nothing shows it: whether the server has read it or not, it does the same

    async def until_noticed(self, peer: Peer) -> None:
        """Ask until the server has shown that it knows who is gone (FROG-18-02)."""
        mates = (c for c, other in self.registered.items() if other.network == peer.network and other != peer)
        witness, deadline = next(mates, None), self.clock.now() + self.trial.patience_s
        while witness in self.registered:
            await self.say(witness, Lookup(asked := cid("W"), peer.key))
            await self.settle()
            if asked in self.missed:
                self.oracle.quiesce()  # it has read the end, and all before it
                return
            if self.clock.now() > deadline:
                raise Overdue(self.oracle.overdue())


class ServerGuide(Guiding[State], ServerWatch):
    """Leads the server through a walk, with one fence behind each letter."""

    def __init__(self, trial: Trial, server: ServerUnderTest, server_id: str, clock: Clock, start: ServerWorld) -> None:
        super().__init__(trial, server, server_id, clock)
        self._people = {peer.key: peer for peer in start.people.values()}
        self._spoke: int | None = None  # the connection that the server has still to be asked on

    async def perform(self, stimulus: Stimulus) -> None:
        assert isinstance(stimulus, Say), "a server that is started again is another one"
        if isinstance(stimulus.event, Passing):
            await self._ask()
            return await self.clock.advance(stimulus.event.seconds)
        await self.settle()  # what was said before has been answered
        line = stimulus.channel
        assert isinstance(line, int), "connections have numbers"
        if isinstance(stimulus.event, Opened):
            assert await self.connect() == line, "letters number connections in their order"
        elif isinstance(stimulus.event, Hangup):
            if line in self.lines:
                await self.hang_up(line, politely=stimulus.event.code != LOST)
        else:
            self._spoke = line
            await self._say(line, stimulus.event)

    async def _say(self, line: int, event: Any) -> None:
        match event:
            case Prove():
                await self.settle()  # the challenge has come
                nonce = self.nonces.get(line, an_id())
                await self.say(line, signed(event, nonce, self.server.uri, self.server_id))
            case Join(key) if (peer := self._people.get(key)) and line in self.lines:
                self.lines[line].peer = peer
                await self.say(line, event)
            case bytes():
                await self.raw(line, event)
            case str():
                await self.text(line, event)
            case frame:
                await self.say(line, frame)

    async def fence(self) -> Sequence[tuple[Channel, Any]]:
        await self.settle()
        await self._ask()
        return self._taken()

    async def _ask(self) -> None:
        """Of a connection that left or was replaced nothing is asked."""
        line, self._spoke = self._spoke, None
        if line is not None and likeliest(self.oracle).state.phase(line) in OPEN:
            await self.ask(line)
