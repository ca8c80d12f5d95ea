"""A server among sisters beside its oracle: what it says to clients and sisters is judged by the machine alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.errors import TargetUnsupported
from harness.judging.clock import Clock
from harness.judging.trial import Trial
from harness.touring.tour import likeliest
from harness.touring.world import Say, Stimulus
from reference_impl.core import Channel, Level
from reference_impl.frog.frames import (
    Chal,
    Err,
    Frame,
    GetServers,
    Hangup,
    Heard,
    Opened,
    SisterChal,
    SisterErr,
    SisterHello,
    SisterList,
)
from reference_impl.frog.presence import Phase, State
from reference_impl.frog.server import Config, ServerMachine
from suites.common.guide import Guiding
from suites.frog.line import codec
from suites.frog.server.sister_world import BOB, MESH, SISTERS, TIMERS, Comes, ProveSister, uri_of, vouched
from suites.frog.server.sisters import Federation, Sibling, SisterLine
from suites.frog.server.under_test import PeerLine
from suites.frog.server.watch import OPEN, SLACK_S
from suites.frog.server.world import Passing, Prove, signed
from suites.frog.wire import an_id, cid

ANSWERED = (*OPEN, Phase.SISTER)
"""Where a question is answered, or refused, and its answer shows that all before it was read."""


class SisterGuide(Guiding[State]):
    """Leads the server through a walk. Behind each letter whoever spoke asks something, and then whoever should have heard of it
    and has not: what the server says to them it has said before it answers that."""

    def __init__(self, trial: Trial, server: Federation, clock: Clock) -> None:
        config = Config(server.id, server.uri, TIMERS, mesh=MESH, slack_s=SLACK_S, remembers=True)
        super().__init__(trial, ServerMachine(config), clock)
        self.server = server
        self.lines: dict[int, PeerLine | SisterLine] = {}  # those that are open
        self._nonces: dict[int, str] = {}
        self._opened = 0
        self._spoke: int | None = None
        self._moment = clock.now()  # of all that a letter says: readings that differ in microseconds are one

    def heard(self, channel: Channel, frame: Any) -> None:
        assert isinstance(channel, int), "connections have numbers"
        match frame:
            case Hangup():
                self.lines.pop(channel, None)
            case Chal(nonce) | SisterChal(nonce):
                self._nonces[channel] = nonce
            case SisterHello() if isinstance(line := self.lines.get(channel), SisterLine):
                line.greeted_us = True
            case Err(_, "RATE_LIMITED") | SisterErr(_, "RATE_LIMITED"):
                frame = TargetUnsupported(f"the server limits us: {frame}")
        super().heard(channel, frame)

    def _judge(self, channel: Channel, frame: Any) -> None:
        super()._judge(channel, frame)
        if isinstance(frame, Hangup):
            self.oracle.forget(channel)

    # -- saying ---------------------------------------------------------------------------------------------------

    async def perform(self, stimulus: Stimulus) -> None:
        assert isinstance(stimulus, Say), "a server that is started again is another one"
        await self.settle()  # what was said before has been answered
        match stimulus.channel, stimulus.event:
            case _, Passing(seconds):
                await self.clock.advance(seconds)
                await self._rest()
            case int(line), Comes(name):
                await self._connect(line, name)
            case int(line), Hangup():
                await self._hang_up(line)
            case int(line), event:
                self._spoke = line
                await self._say(line, event)

    async def _connect(self, channel: int, name: str) -> None:
        self._opened += 1
        assert channel == self._opened, "letters number connections in their order"
        self.told(channel, Heard(Opened(), self._moment))
        if name == BOB:
            self.lines[channel] = await self.server.connect(label=name)
        else:
            self.lines[channel] = await self.server.line(Sibling(SISTERS[name], uri_of(name)))
        self.follow(channel, self.lines[channel].inbox)

    async def _hang_up(self, channel: int) -> None:
        """Of a connection that had no role: nothing shows whether the server has noticed, and it does the same either way."""
        if line := self.lines.pop(channel, None):
            self.told(channel, Heard(Hangup(), self._moment))
            await line.part()
            await self.settle()
            self.oracle.quiesce()

    async def _say(self, channel: int, event: Any) -> None:
        nonce, uri, id = self._nonces.get(channel, an_id()), self.server.uri, self.server.id
        match event:
            case Prove():
                await self._frame(channel, signed(event, nonce, uri, id))
            case ProveSister():
                await self._frame(channel, vouched(event, nonce, uri, id))
            case bytes():
                await self._wire(channel, event)
            case frame:
                await self._frame(channel, frame)

    async def _frame(self, channel: int, frame: Frame) -> None:
        await self._wire(channel, codec.encode(frame))

    async def _wire(self, channel: int, wire: bytes) -> None:
        if line := self.lines.get(channel):
            self.told(channel, Heard(codec.heard_by_server(wire), self._moment))
            await line.raw(wire)

    # -- asking ---------------------------------------------------------------------------------------------------

    async def fence(self) -> Sequence[tuple[Channel, Any]]:
        await self.settle()
        spoke, self._spoke = self._spoke, None
        await self._ask([spoke] if spoke is not None else [])
        owed = {debt.channel for p in self.oracle.frontier for debt in p.owed if debt.level is not Level.MAY}
        await self._ask([channel for channel in self.lines if channel in owed])
        await self._rest()
        return self._taken()

    async def _rest(self) -> None:
        """All is read, and what fell due is paid."""
        await self.settle()
        self.oracle.quiesce(self.trial.patience_s)
        self._moment = self.clock.now()

    async def _ask(self, channels: Sequence[int]) -> None:
        state = likeliest(self.oracle).state
        for channel in channels:
            if state.phase(channel) in ANSWERED and channel in self.lines:
                sister = isinstance(self.lines[channel], SisterLine)
                await self._frame(channel, SisterList(cid("G"), 1) if sister else GetServers(cid("G"), 1))
        await self.settle()
