"""A client beside its oracle: what it says to relay and host is judged by the machine alone."""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import Any

from harness.errors import TargetRefused
from harness.judging.trial import Broken, Trial
from harness.judging.watch import Watch
from reference_impl.core import Channel
from reference_impl.io.tcp import Stream
from reference_impl.trueseal.client import HOST, NETWORK, PUSHES, ClientMachine
from reference_impl.trueseal.codec import Codec, Reader
from reference_impl.trueseal.frames import (
    Ack,
    Beat,
    Dial,
    Error,
    Hangup,
    Heartbeat,
    InSession,
    Push,
    Pushed,
    PushSession,
    Queued,
    ReceiveOpened,
    Refused,
    Rejected,
    Start,
    Submit,
)
from reference_impl.trueseal.noise import Pattern
from suites.trueseal import wire
from suites.trueseal.client.under_test import PrivateClient, PushLine, ReceiveLine
from suites.trueseal.line import meaning

TIRES_S = 2.0
"""A client may give a handshake up that nobody answers for so long, and dial again."""


class Arrived:
    """A connection to the receive port: what was owed to the network."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.at = stream, time.monotonic()


class ClientWatch(Watch[Any]):
    """The client of one machine run: its sessions, what it waits for, and the oracle."""

    telling = (InSession,)  # does a push wait until another one was answered?

    def __init__(self, trial: Trial, client: PrivateClient, large_frames: bool) -> None:
        super().__init__(trial, ClientMachine())
        self.client, self.codec = client, Codec(large_frames)
        self.dialled: Stream | None = None  # a connection to the receive port that nobody has answered
        self.line: ReceiveLine | None = None
        self._dialled_at = 0.0
        self.channel = 0
        self.flying: dict[PushSession, int] = {}  # how many pushes of each session wait for an answer
        self.asked: set[PushSession] = set()  # where a Heartbeat of ours waits for its answer
        self.names: list[Any] = []  # what the client calls each blob, in the order of their numbers
        self._lines: dict[PushSession, PushLine] = {}
        self._reader = Reader(self.codec)
        self._accepting: set[asyncio.Task[None]] = set()
        self._sessions = 0
        self._fences = itertools.count(2**40)  # ids that no rule uses
        client.on_settled = self._answered
        self.follow(HOST, client.messages)

    # -- lives ----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        self.told(HOST, Start())
        await self.client.start()
        self._listen()
        await self.rest()

    async def crash(self) -> None:
        for line in (*self._lines.values(), *([self.line] if self.line else [])):
            line.inbox.shut()
        self.dialled, self.line = None, None
        self._lines.clear()
        self.flying.clear()
        self.oracle.crash()
        self.told(HOST, Start())
        await self.client.revive()
        self._heard = asyncio.Queue()  # the last words of the life that is over
        self._listen()
        await self.rest()

    def _listen(self) -> None:
        ports, receive = self.client.relay.ports, self.client.relay.ports["receive"]
        ports["push"].arrivals.hand_over(lambda stream: self._push_arrived(stream, ports["push"] is self._port("push")))
        receive.arrivals.hand_over(lambda stream: self._receive_arrived(stream, receive is self._port("receive")))

    def _port(self, name: str) -> object:
        return self.client.relay.ports[name]

    # -- what the client says -------------------------------------------------------------------------------------

    def _receive_arrived(self, stream: Stream | Exception, now: bool) -> None:
        assert isinstance(stream, Stream), "a port hands out connections"
        if now:
            self.heard(NETWORK, Arrived(stream))

    def _push_arrived(self, stream: Stream | Exception, now: bool) -> None:
        assert isinstance(stream, Stream), "a port hands out connections"
        if now:
            task = asyncio.create_task(self._accept(stream))
            self._accepting.add(task)
            task.add_done_callback(self._accepting.discard)

    async def _accept(self, stream: Stream) -> None:
        """Push Sessions are accepted as they come: how many there are is the client's choice."""
        try:
            sealed = await self.client.relay.shaken(stream, Pattern.NK, "TS-SES-01")
        except Broken:  # a session that came to nothing: what it was to carry is still owed, and is waited for
            return
        self._sessions += 1
        session = PushSession(1000 + self._sessions)
        line = self._lines[session] = PushLine(self.trial, sealed, f"push{self._sessions}")
        self.client.relay.lines.append(line)
        line.inbox.hand_over(lambda frame: self._said(session, frame))

    def _said(self, session: PushSession, frame: Any) -> None:
        """When a client ends a Push Session, and how often it beats there unasked, is its own choice."""
        if isinstance(frame, Push):
            self.heard(PUSHES, InSession(session, frame))
        elif not isinstance(frame, Heartbeat) or session in self.asked:
            self.asked.discard(session)
            self.heard(session, frame)

    def _answered(self, event: str, name: Any) -> None:
        number = self.names.index(name) + 1 if name in self.names else 0
        self.heard(HOST, Pushed(number) if event == "pushed" else Rejected(number))

    def _judge(self, channel: Channel, frame: Any) -> None:
        """Rules are chosen by what was judged so far, never by what happens to have arrived."""
        match frame:
            case Arrived():
                if self.dialled and frame.at - self._dialled_at > TIRES_S:
                    self.told(NETWORK, Hangup())  # nobody has answered the last one
                super()._judge(NETWORK, Dial())
                self.dialled, self._dialled_at = frame.stream, frame.at
                return
            case Hangup() if isinstance(channel, PushSession):
                self._forget(channel)
                if any(isinstance(debt.template, Hangup) for debt in self.oracle.allowed(channel)):
                    super()._judge(channel, frame)
                self.told(channel, frame)
                return
            case Hangup() if channel == self.channel and self.line:
                self.line = None
        super()._judge(channel, frame)
        if isinstance(frame, InSession):
            self.flying[frame.session] = self.flying.get(frame.session, 0) + 1

    def _forget(self, session: PushSession) -> None:
        self._lines.pop(session, None)
        self.flying.pop(session, None)

    # -- what it is told ------------------------------------------------------------------------------------------

    async def accept(self) -> None:
        await self.take()
        await self.rest()

    async def take(self) -> None:
        """Answer the dial: a Receive Session."""
        stream, self.dialled = self.dialled, None
        assert stream, "a rule accepts a connection that is there"
        sealed = await self.client.relay.shaken(stream, Pattern.XX, "TS-SES-06")
        self.channel += 1
        self.told(self.channel, ReceiveOpened(sealed.remote_static or b""))
        self.line = ReceiveLine(self.trial, sealed, f"receive{self.channel}")
        self.client.relay.lines.append(self.line)
        self._reader = Reader(self.codec)
        self.follow(self.channel, self.line.inbox)

    async def turn_away(self) -> None:
        stream, self.dialled = self.dialled, None
        assert stream, "a rule turns a connection away that is there"
        self.told(NETWORK, Hangup())
        stream.cut()
        await self.rest()

    async def plain(self, message: bytes) -> None:
        await self._say(message)
        await self.rest()

    async def odd(self, message: bytes) -> None:
        """Passed over or the end of the session: a delivery behind it shows which."""
        await self._say(message)
        await self.sentinel()

    async def last(self, message: bytes) -> None:
        """Nothing can be said behind it."""
        await self._say(message)
        await self.rest()
        if self.line:
            await self.hang_up(politely=True)

    async def sentinel(self) -> None:
        """The client has read what was said in its Receive Session: another message is through."""
        await self.plain(wire.deliver(next(self._fences), wire.envelope()))

    async def _say(self, message: bytes) -> None:
        assert self.line, "a rule speaks in a session"
        if (event := meaning(self._reader, message)) is not None:
            self.told(self.channel, event)
        await self.line.plain(message)

    async def hang_up(self, politely: bool, *behind: bytes) -> None:
        """Behind these words, without a look at what they bring."""
        for message in behind:
            await self._say(message)
        await self.leave(politely)
        await self.rest()

    async def leave(self, politely: bool) -> None:
        line, self.line = self.line, None
        assert line, "a rule hangs up a session"
        self.told(self.channel, Hangup())
        await line.part(politely)

    async def submit(self, recipient: bytes, envelope: bytes) -> None:
        self.told(HOST, Submit(recipient, envelope))
        try:
            self.names.append(await self.client.push(recipient, envelope))
            self.heard(HOST, Queued(len(self.names)))
        except TargetRefused:
            self.heard(HOST, Refused("push"))
        await self.rest()

    async def answer(self, session: PushSession, frame: Ack | Error) -> None:
        """The Heartbeat behind it is answered, or the session is closed: in either case the answer was read."""
        self.flying[session] -= 1
        self.told(session, frame)
        await self._lines[session].send(frame)
        await self.say_in(session, wire.BEAT)
        await self.rest()

    async def beat_in(self, session: PushSession) -> None:
        await self.say_in(session, wire.BEAT)
        await self.rest()

    async def drop(self, session: PushSession, politely: bool, *behind: bytes) -> None:
        """Behind these words, without a look at what they bring."""
        for message in behind:
            await self.say_in(session, message)
        await self.cut_off(session, politely)
        await self.rest()

    async def drop_behind(self, session: PushSession, message: bytes, politely: bool) -> None:
        await self.say_in(session, message)
        await self.rest()
        if session in self._lines:
            await self.drop(session, politely)

    async def say_in(self, session: PushSession, message: bytes) -> None:
        if message == wire.BEAT:
            self.asked.add(session)
        if (meant := meaning(Reader(self.codec), message)) is not None:
            self.told(session, meant)
        await self._lines[session].plain(message)

    async def cut_off(self, session: PushSession, politely: bool) -> None:
        line = self._lines[session]
        self._forget(session)
        self.told(session, Hangup())
        await line.part(politely)

    async def beat(self) -> None:
        """The host wants a Heartbeat."""
        self.told(HOST, Beat())
        if await self.client.host.asked("heartbeat") is None:
            self.heard(HOST, Refused("heartbeat"))
        await self.rest()

    async def close(self) -> None:
        for task in self._accepting:
            task.cancel()
        await self.client.close()
