"""A session beside its oracle: what the peer says on the wire and to its host is judged by the machine alone."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import Any

from harness.judging.trial import Trial
from harness.judging.watch import Watch
from harness.touring.tour import likeliest
from reference_impl.core import Channel
from reference_impl.sbp.frames import (
    Acked,
    Answered,
    Delivered,
    Ended,
    Established,
    Failed,
    Hangup,
    Opened,
    Oversize,
    Pong,
    Send,
    SendClose,
    SendPing,
    Text,
)
from reference_impl.sbp.peer import HOST, WIRE, Config, PeerMachine, PeerStep, Phase, State
from suites.common.names import unique
from suites.sbp import wire
from suites.sbp.line import SOON_S, PeerLine, codec
from suites.sbp.peer.under_test import PeerUnderTest


class HostUnseen(PeerMachine):
    """For a target whose host we do not see: nothing is owed to it, and it may send what it likes."""

    def receive(self, state: State, channel: Channel, event: object) -> PeerStep:
        return unseen(super().receive(state, channel, event))

    def alternatives(self, state: State, channel: Channel, event: object) -> tuple[PeerStep, ...]:
        return tuple(map(unseen, super().alternatives(state, channel, event)))


def unseen(step: PeerStep) -> PeerStep:
    return replace(step, owes=tuple(debt for debt in step.owes if debt.channel != HOST))


class PeerWatch(Watch[State]):
    """One session of the peer under test."""

    def __init__(self, trial: Trial, line: PeerLine, config: Config) -> None:
        super().__init__(trial, PeerMachine(config) if line.hosted else HostUnseen(config, chatter=True))
        self.line = line
        self.over = False  # one side has ended it
        self.pongs = 0
        self.told(WIRE, Opened())
        self.follow(WIRE, line.inbox)
        self.follow(HOST, line.events)

    @classmethod
    async def begin(cls, trial: Trial, peer: PeerUnderTest, side: str, **config: Any) -> PeerWatch:
        line = await peer.line(side, **config)
        return cls(trial, line, Config(line.known_as, **config))

    def heard(self, channel: Channel, frame: Any) -> None:
        self.over = self.over or isinstance(frame, Hangup)
        self.pongs += isinstance(frame, Pong)
        said = as_event(*frame) if isinstance(frame, tuple) else frame
        if said is not None:
            super().heard(channel, said)

    @property
    def phase(self) -> str:
        """Of the session, if everything was read."""
        return likeliest(self.oracle).state.phase.value

    @property
    def torn(self) -> bool:
        """Has the peer a choice, and has not shown which it takes?"""
        return not self.over and len(self.oracle.frontier) > 1

    # -- saying ---------------------------------------------------------------------------------------------------

    async def say(self, raw: bytes) -> None:
        limit = self.line_limit
        self.told(WIRE, Oversize(len(raw), raw[2:18]) if len(raw) > limit else codec.decode(raw))
        await self.line.send(raw)

    @property
    def line_limit(self) -> int:
        machine = self.oracle.machine
        assert isinstance(machine, PeerMachine)
        return machine.config.limit

    async def say_text(self, text: str) -> None:
        self.told(WIRE, Text(text))
        await self.line.text(text)

    async def greet(self) -> None:
        await self.say(wire.handshake(self.line.peer_id))
        await self.settle()

    async def ask(self, request: Send | SendPing | SendClose) -> None:
        """Something that the host wants."""
        self.told(HOST, request)
        await ask(self.line, request)

    async def end(self) -> None:
        """Prove that nothing else was said: a Message reaches the host, and one of the host's us; or a Ping gets its Pong."""
        if self.phase == Phase.GREETING.value:  # a peer need not greet first
            self.judge_waiting()
            return
        await self.settle()
        if self.over:
            return
        if not self.line.hosted:
            await self._ponged()
            return
        await self.say(wire.message(unique("app/fence")))
        await self.settle()
        if not self.over:
            await self.ask(Send(unique("app/fence")))
            await self.settle()
        self.oracle.quiesce()

    async def _ponged(self) -> None:
        """A Pong is only advised: where none comes soon, what was heard is all."""
        await self.say(wire.ping())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(SOON_S, self.trial.patience_s)):
                while not self.over and self.pongs < self.line.pings:
                    self._judge(*await self._heard.get())
        await self.settle()


async def ask(line: PeerLine, request: Send | SendPing | SendClose) -> None:
    """A request of the host, through its shim."""
    match request:
        case Send():
            await line.do("send", subject=request.subject, data=request.data.hex())
        case SendPing():
            await line.do("ping")
        case SendClose():
            await line.do("close", **({} if request.reason is None else {"reason": request.reason}))


def as_event(event: str, data: dict[str, Any]) -> object:
    """An event of the shim's contract as the machine knows it; None for one that it does not know."""
    match event:
        case "established":
            return Established(data["peer_id"], None, None)
        case "message":
            return Delivered(data["subject"], data["data"], data["ts"])
        case "pong":
            return Answered(None)
        case "acked":
            return Acked(data["id"])
        case "error":
            return Failed(data["code"], data["message"], data["details"])
        case "closed":
            return Ended(data["reason"])
    return None
