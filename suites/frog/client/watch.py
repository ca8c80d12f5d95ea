"""A client beside its oracle: what it says to servers and to its host is judged by the machine alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.judging.trial import Trial
from harness.judging.watch import Watch
from harness.touring.tour import likeliest
from harness.touring.world import Say, Stimulus
from reference_impl.core import Channel
from reference_impl.frog.client import ClientMachine, Config, Phase
from reference_impl.frog.frames import Code, Err, Hangup, Heard, Opened, SignalFrom, Text
from reference_impl.frog.host import (
    HOST,
    NETWORK,
    AskPeers,
    AskRoute,
    AskServers,
    Depart,
    Dial,
    GotPeers,
    GotRoute,
    GotServers,
    Parted,
    Refused,
    Reported,
    SendSignal,
    Signalled,
    Start,
    Status,
)
from reference_impl.frog.joining import State
from reference_impl.frog.known import Backoff
from reference_impl.io.carrier import LOST
from suites.common import shim
from suites.common.guide import Guiding
from suites.common.host import Event
from suites.frog.client.under_test import ClientLine, ClientUnderTest
from suites.frog.client.world import ClientWorld
from suites.frog.codec.under_test import CODES
from suites.frog.line import codec

FOR_EVER = 1e9
OLD_S = 3.0
QUICKLY_MS = 2
Asking = AskPeers | AskRoute | AskServers | SendSignal | Depart


def operation(wish: Asking) -> tuple[str, dict[str, Any]]:
    """A wish in the words of the shim."""
    match wish:
        case AskPeers(_, limit):
            return "find", {"limit": limit}
        case AskRoute(_, peer_key):
            return "lookup", {"peer_key": peer_key}
        case AskServers(_, limit):
            return "getservers", {"limit": limit}
        case SendSignal(_, route, kind, payload):
            return "signal", {"route_id": route, "kind": kind, "payload": payload.hex()}
        case Depart():
            return "leave", {}


@dataclass(frozen=True, slots=True)
class Anytime(Backoff):
    """How long a client waits is its own affair; `backoff_ms` bounds it to fifty times that, and half as jitter."""

    def wait(self, attempt: int, jitter: float) -> float:
        return 0.0

    def latest(self, attempt: int) -> float:
        return QUICKLY_MS / 1000 * 50 * 1.5


class ClientWatch(Watch[State]):
    """The client of one machine run: its connection, what it asked there, and the oracle."""

    def __init__(self, trial: Trial, client: ClientUnderTest, uris: tuple[str, ...]) -> None:
        config = Config(uris, client.peer.network, client.peer.seed, backoff=Anytime(), patience_s=FOR_EVER)
        super().__init__(trial, ClientMachine(config))
        self.client, self.uris = client, uris
        self.line: ClientLine | None = None
        self.registered = False
        self._asking: set[asyncio.Task[None]] = set()
        self._over: set[Channel] = set()  # lines that have ended, and whose last words may still be unread
        client.arrivals.hand_over(self.arrived)
        client.told.hand_over(self.was_told)

    async def start(self) -> None:
        self.told(HOST, self.now(Start()))
        await self.client.start(*self.uris, backoff_ms=QUICKLY_MS)
        await self.settle()

    def now(self, what: Any) -> Heard:
        return Heard(what, self.clock.now())

    # -- what the client says -------------------------------------------------------------------------------------

    def arrived(self, line: ClientLine | Exception) -> None:
        assert isinstance(line, ClientLine), "a stage hands out lines"
        self.heard(line, Opened())
        self.follow(line.label, line.inbox)

    def was_told(self, told: Event | Exception) -> None:
        match told:
            case "status", {"registered": bool(registered), **rest}:
                self.heard(HOST, Status(registered, str(rest.get("uri", "")) if registered else ""))
            case "signal", data:
                route, key, kind = (str(data.get(name)) for name in ("route_id", "peer_key", "kind"))
                self.heard(HOST, Signalled(route, key, kind, shim.member(data, "payload", shim.raw, "signal")))
            case "error", data:
                self.heard(HOST, Reported(str(data.get("id")), str(data.get("code"))))
            case Exception():
                self.heard(HOST, told)

    def _judge(self, channel: Channel, frame: Any) -> None:
        """Rules are chosen by what was judged so far, never by what happens to have arrived."""
        match frame:
            case Opened():  # what was owed to the network, and the next thing that the client reads
                assert isinstance(channel, ClientLine), "see `arrived`"
                super()._judge(NETWORK, Dial(channel.stage.uri))
                self.told(channel.label, self.now(frame))
                self.line = channel
                self._forget_what_is_over()
                return
            case Hangup():
                self._over.add(channel)
                if self.line and self.line.label == channel:
                    self.line, self.registered = None, False
            case Status(registered):
                self.registered = registered
        super()._judge(channel, frame)

    def _forget_what_is_over(self) -> None:
        """It has dialled again: of the lines before that have ended nothing is of any consequence."""
        for line in self._over:
            self.oracle.forget(line)
        self._over.clear()

    # -- what it is told ------------------------------------------------------------------------------------------

    async def say(self, wire: bytes | str) -> None:
        assert self.line, "a rule speaks on a connection"
        what = Text() if isinstance(wire, str) else codec.heard_by_client(wire)
        self.told(self.line.label, self.now(what))
        await (self.line.text(wire) if isinstance(wire, str) else self.line.raw(wire))
        await self.settle()

    async def hang_up(self, politely: bool) -> None:
        line, self.line, self.registered = self.line, None, False
        assert line, "a rule hangs up a connection"
        self._over.add(line.label)
        self.told(line.label, self.now(Hangup()))
        await line.part(politely)
        await self.settle()

    # -- what its host wants --------------------------------------------------------------------------------------

    async def wish(self, wish: Asking) -> None:
        """What comes of it is judged like all else that the client says."""
        self.told(HOST, self.now(wish))
        task = asyncio.create_task(self._answered(wish))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)
        await self.settle()

    async def _answered(self, wish: Asking) -> None:
        op, args = operation(wish)
        answer = await self.client.asking(op, **args)
        match wish, answer:
            case Depart(), _:
                self.heard(HOST, Parted())
            case _, str(words):
                first = words.split(" ")[0]
                self.heard(HOST, Refused(wish.ticket, first if first in CODES else words))
            case AskPeers(), {"peer_keys": list(keys)}:
                self.heard(HOST, GotPeers(wish.ticket, tuple(map(str, keys))))
            case AskRoute(), {"route_id": str(route)}:
                self.heard(HOST, GotRoute(wish.ticket, route))
            case AskServers(), {"uris": list(uris)}:
                self.heard(HOST, GotServers(wish.ticket, tuple(map(str, uris))))

    async def end(self) -> None:
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)


class ClientGuide(Guiding[State], ClientWatch):
    """Leads the client through a walk. What must show something is waited for; behind what need not, a signal passes."""

    def __init__(self, trial: Trial, client: ClientUnderTest, start: ClientWorld) -> None:
        super().__init__(trial, client, start.uris[:2])
        self._sentinel = codec.encode(SignalFrom(start.sentinel, start.mate(0), "ICE", b"sentinel"))
        self._silent = False  # the last letter need not have shown anything
        self._closed: set[str] = set()  # lines that we have closed

    def heard(self, channel: Channel, frame: Any) -> None:
        if isinstance(frame, Opened):
            assert isinstance(channel, ClientLine), "see `arrived`"
            channel.lists = False  # whatever it asks for itself is part of the walk
        if not (isinstance(frame, Hangup) and channel in self._closed):
            super().heard(channel, frame)

    def _as_walked(self, channel: Channel, frame: Any) -> tuple[Channel, Any]:
        return (NETWORK, Dial(channel.stage.uri)) if isinstance(channel, ClientLine) else (channel, frame)

    async def perform(self, stimulus: Stimulus) -> None:
        assert isinstance(stimulus, Say), "a client that is killed is a new one"
        event, self._silent = stimulus.event, False
        match event:
            case Start():
                await self.start()
            case AskPeers() | AskRoute() | AskServers() | SendSignal() | Depart():
                await self.wish(event)
            case _ if self.line is None or self.line.label != stimulus.channel:
                return  # it has hung up meanwhile
            case Hangup(code):
                await self.hang_up(politely=code != LOST)
            case bytes() | str():
                self._silent = isinstance(event, bytes)
                await self.say(event)
            case frame:
                self._silent = True
                await self.say(codec.encode(frame))

    async def hang_up(self, politely: bool) -> None:
        """After a close all that the client said before it is heard."""
        line = self.line
        if not politely or line is None:
            return await super().hang_up(politely)
        self.line, self.registered = None, False
        self._closed.add(line.label)
        self._over.add(line.label)
        self.told(line.label, self.now(Hangup()))
        await line.close()
        await line.over()
        await self.settle()

    async def fence(self) -> Sequence[tuple[Channel, Any]]:
        await self.settle()
        if self._silent and self.line and likeliest(self.oracle).state.phase is Phase.REGISTERED:
            await self.say(self._sentinel)
        await self._answer_what_is_old()
        return self._taken()

    async def _answer_what_is_old(self) -> None:
        """Neither a client nor its host waits for ever, and a conversation may be slow: what was asked long ago has failed."""
        asked, now = likeliest(self.oracle).state.outstanding, self.clock.now()
        for cid in sorted(cid for cid, one in asked.items() if not one.own and now - (one.until - FOR_EVER) > OLD_S):
            if self.line:
                await self.say(codec.encode(Err(cid, Code.INTERNAL)))
