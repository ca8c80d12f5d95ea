"""A session beside its oracle: what the peer says on the wire and to its host is judged by the machine alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.errors import TargetError
from harness.trial import Trial
from harness.watch import Watch
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
    Send,
    SendClose,
    SendPing,
    Text,
)
from reference_impl.sbp.peer import HOST, WIRE, Config, PeerMachine, PeerStep, State
from suites.sbp import wire
from suites.sbp.peer.line import Heard, Line, codec
from suites.sbp.peer.meeting import PEER_ID, Meeting
from suites.sbp.peer.told import Told


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

    def __init__(self, trial: Trial, line: Line, config: Config) -> None:
        super().__init__(trial, PeerMachine(config) if line.hosted else HostUnseen(config, chatter=True))
        self.line = line
        self.over = False  # one side has ended it
        self.told(WIRE, Opened())
        waiting = [line.inbox.get_nowait() for _ in range(line.inbox.qsize())]
        line.on_frame, line.on_told = self.arrived, self.host_was_told
        for frame in waiting:
            self.arrived(frame)

    @classmethod
    async def begin(cls, trial: Trial, meeting: Meeting, side: str, **config: Any) -> PeerWatch:
        line = await meeting.line(side, **config)
        return cls(trial, line, Config(PEER_ID, **config))

    def arrived(self, frame: Heard) -> None:
        self.over = self.over or isinstance(frame, Hangup)
        self.heard(WIRE, frame)

    def host_was_told(self, event: Told | TargetError) -> None:
        if isinstance(event, TargetError):
            self.heard(HOST, event)
        elif (told := as_event(*event)) is not None:
            self.heard(HOST, told)

    def _judge(self, channel: Channel, frame: Any) -> None:
        if isinstance(frame, TargetError):  # the target is gone, or its shim is at fault: nothing to judge
            raise frame
        super()._judge(channel, frame)

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
        match request:
            case Send():
                await self.line.do("send", subject=request.subject, data=request.data.hex())
            case SendPing():
                await self.line.do("ping")
            case SendClose():
                await self.line.do("close", **({} if request.reason is None else {"reason": request.reason}))

    async def end(self) -> None:
        """Prove that nothing else was said: a Ping and a frame that must end the session, and all before it judged."""
        if not self.over:
            await self.say(wire.ping())
            await self.say(wire.bad_flags())
        await self.settle()


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
