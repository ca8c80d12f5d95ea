"""Leads a peer through a walk: two sessions beside one oracle, and a fence behind every letter."""

from __future__ import annotations

import asyncio
import functools
import itertools
from collections import Counter
from dataclasses import replace
from typing import Any

from harness.errors import TargetUnsupported
from harness.judging.trial import Trial
from harness.touring.world import Crash, Say, Stimulus
from reference_impl.core import Channel
from reference_impl.sbp.frames import Hangup, Pong, Send, SendClose, SendPing
from reference_impl.sbp.peer import HOST, WIRE, PeerMachine, Phase
from suites.common.guide import Guiding
from suites.common.names import unique
from suites.sbp import wire
from suites.sbp.line import SOON_S, PeerLine
from suites.sbp.peer.sessions import Meeting, Sessions, SessionsMachine, named
from suites.sbp.peer.under_test import PeerUnderTest, shows_host
from suites.sbp.peer.watch import HostUnseen, as_event, ask
from suites.sbp.peer.world import BYSTANDER, FENCE, TOURED, TOURS, PeerWorld


class PeerGuide(Guiding[Sessions]):
    """The sessions of one walk. A session that begins under a name takes the place of the one before."""

    def __init__(self, trial: Trial, peer: PeerUnderTest, side: str, hosted: bool) -> None:
        super().__init__(trial, SessionsMachine(PeerMachine if hosted else functools.partial(HostUnseen, chatter=True)))
        self.peer, self.side, self.hosted = peer, side, hosted
        self._lines: dict[str, PeerLine] = {}
        self._pongs: Counter[PeerLine] = Counter()
        self._fences = itertools.count(1)

    @classmethod
    async def begin(cls, trial: Trial, peer: PeerUnderTest, side: str) -> tuple[PeerGuide, PeerWorld]:
        """With the bystander's session open, in the world as far as this target goes."""
        await trial.need(side)
        offered = await trial.capabilities()
        guide = cls(trial, peer, side, await shows_host(trial, side))
        world = replace(
            TOURS.start,
            machine=guide.oracle.machine,
            hosted=guide.hosted,
            receipts="receipt" in offered,
            limit=TOURS.start.limit if "limit" in offered else wire.LIMIT,
            ours=unique("tour"),
        )
        for stimulus in world.beginning():
            await guide.perform(stimulus)
        await guide.settle()
        return guide, world.begun()

    async def perform(self, stimulus: Stimulus) -> None:
        assert not isinstance(stimulus, Crash), "a session has no durable half"
        name, _ = named(stimulus.channel)
        if isinstance(stimulus.event, Meeting):
            self.told(stimulus.channel, await self._meet(name, stimulus.event))
            return
        self.told(stimulus.channel, stimulus.event)
        await self._say(self._lines[name], stimulus)

    async def _meet(self, name: str, meeting: Meeting) -> Meeting:
        """Under the name that the target has in truth."""
        if name in self._lines:
            await self.peer.leave(self._lines.pop(name))
        config = meeting.config
        line = await self.peer.line(self.side, receipt=config.receipt, limit=config.limit)
        line.peer_id = meeting.ours
        self._lines[name] = line
        self.follow((name, WIRE), line.inbox)
        self.follow((name, HOST), line.events)
        return replace(meeting, config=replace(config, peer_id=line.known_as))

    async def _say(self, line: PeerLine, said: Say) -> None:
        match said.event:
            case bytes(raw):
                await line.send(raw)
            case str(text):
                await line.text(text)
            case Hangup(code):
                line.inbox.shut()  # what it says now it may have said before it knew
                await line.close() if code == 1000 else line.cut()
            case Send() | SendPing() | SendClose() as request:
                await ask(line, request)

    def heard(self, channel: Channel, frame: Any) -> None:
        said = as_event(*frame) if isinstance(frame, tuple) else frame
        if said is not None:
            super().heard(channel, said)

    def _judge(self, channel: Channel, frame: Any) -> None:
        super()._judge(channel, frame)
        self._pongs[self._lines[named(channel)[0]]] += isinstance(frame, Pong)

    # -- fences ---------------------------------------------------------------------------------------------------

    async def fence(self) -> list[tuple[Channel, Any]]:
        """Until the target has shown that it read everything; where that leaves a choice, until it has shown which it took.

        Before it was greeted it may be silent: it need not greet first.
        """
        if self._phases() == {Phase.GREETING}:
            self.judge_waiting()
            return self._taken()
        await self.settle()
        if not self._is_open():
            await self._read_by(BYSTANDER)
        elif not self.oracle.certain or len(self.oracle.frontier) > 1:
            await self._read_by(TOURED)
        if len(self.oracle.frontier) > 1:
            await self._spoken_by(TOURED if self._is_open() else BYSTANDER)
            self.oracle.quiesce()
        return self._taken()

    async def end(self) -> None:
        """Nothing else is said: what the host sends last comes behind everything."""
        if Phase.GREETING in self._phases():
            await self.perform(Say((TOURED, WIRE), Hangup(1000)))
        await self.settle()
        for name in (TOURED, BYSTANDER) if self._is_open() else (BYSTANDER,):
            await self._read_by(name)
            await self._spoken_by(name)
        self.oracle.quiesce()

    def _is_open(self) -> bool:
        return Phase.OPEN in self._phases()

    def _phases(self) -> set[Phase]:
        """In which the toured session may be, if everything was read."""
        read = [p.state for p in self.oracle.frontier if not p.unread]
        return {state[TOURED].state.phase for state in read if TOURED in state}

    async def _read_by(self, name: str) -> None:
        """A Message reaches the host of that session, or a Ping gets its Pong: whatever was said before it was read."""
        if not self.hosted:
            await self._ponged(name)
            return
        await self.perform(Say((name, WIRE), wire.message(f"{FENCE}{next(self._fences)}")))
        await self.settle()

    async def _spoken_by(self, name: str) -> None:
        """The host sends a Message: whatever the peer said before it was heard."""
        if self.hosted and (name == BYSTANDER or self._is_open()):
            await self.perform(Say((name, HOST), Send(f"{FENCE}{next(self._fences)}")))
            await self.settle()

    def _ended(self, name: str) -> bool:
        return any(channel == (name, WIRE) and isinstance(frame, Hangup) for channel, frame in self._kept)

    async def _ponged(self, name: str) -> None:
        """A Pong is only advised, and a peer may leave it out."""
        await self.perform(Say((name, WIRE), wire.ping()))
        line = self._lines[name]
        try:
            async with asyncio.timeout(min(SOON_S, self.trial.patience_s)):
                while self._pongs[line] < line.pings and not self._ended(name):
                    self._judge(*await self._heard.get())
        except TimeoutError:
            raise TargetUnsupported(
                "without a host and without Pongs nothing tells when it has read something"
            ) from None
