"""A client beside its oracle: what it says to broker and host is judged by the machine alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from harness.errors import TargetError, TargetFailed, TargetRefused
from harness.judging.trial import Trial
from harness.judging.watch import Watch
from harness.touring.tour import likeliest
from harness.touring.world import Say, Stimulus
from reference_impl.core import Channel
from reference_impl.io.carrier import LOST
from reference_impl.peerbus.client import ClientMachine, Config
from reference_impl.peerbus.frames import Close, Deliver, Opened, Peers
from reference_impl.peerbus.host import (
    HOST,
    NETWORK,
    Consumed,
    Dial,
    PeersListed,
    PeersRequest,
    Refused,
    SendRequest,
    Start,
    Status,
    Surfaced,
)
from suites.common.guide import Guiding
from suites.peerbus.client.under_test import ClientLine, ClientUnderTest
from suites.peerbus.said import Said, count, say, understood


class ClientWatch(Watch[Any]):
    """The client of one machine run: its lines by label, what its host holds, and the oracle."""

    def __init__(self, trial: Trial, client: ClientUnderTest) -> None:
        machine = ClientMachine(Config(client.name, client.token, client.secret))
        super().__init__(trial, machine)
        self.client = client
        self.line: ClientLine | None = None  # the client's connection, unless the harness has hung up
        self.answered: set[str] = set()
        self.held: list[str] = []  # ids that the host has not consumed
        self.question: asyncio.Task[None] | None = None
        self._last = ""  # the sentinel under way
        self._asking: set[asyncio.Task[None]] = set()  # also questions whose connection is gone
        client.broker.arrivals.hand_over(self.arrived)
        client.on_status = self.status
        self.follow(HOST, client.messages)

    def told(self, channel: Channel, event: Any) -> None:
        """Counted by where the client stands: a run that never gets beyond its beginning shows."""
        count(self.trial, likeliest(self.oracle).state.phase, event)
        super().told(channel, event)

    async def start(self) -> None:
        self.told(HOST, Start())
        await self.client.start()
        await self.settle()

    async def settle(self) -> None:
        await super().settle()
        if all(position.state.repeats_ids for position in self.oracle.frontier):
            self.trial.warn("PB-3-04", "two of its messages have one id")

    # -- what the client says -------------------------------------------------------------------------------------

    def arrived(self, line: ClientLine | Exception) -> None:
        assert isinstance(line, ClientLine), "a broker hands out lines"
        self.heard(line, Opened())
        self.follow(line.label, line.inbox)

    def status(self, connected: bool) -> None:
        if connected:  # to say twice that there is none does no harm
            self.heard(HOST, Status(True))

    def _judge(self, channel: Channel, frame: Any) -> None:
        """Rules are chosen by what was judged so far, never by what happens to have arrived."""
        match frame:
            case Opened():  # what was owed to the network, and the next thing that the client reads
                assert isinstance(channel, ClientLine), "see `arrived`"
                super()._judge(NETWORK, Dial(0))
                self.told(channel.label, frame)
                self.line = channel
                return
            case Surfaced(id=id) if self._last and self.client.serial and id != self._last:
                super()._judge(channel, frame)  # it was free to surface this or not; only now it reads on
                self._let_go(id)
                return
            case Surfaced(id=id):
                self.held.append(id)
            case PeersListed() | Refused("peers"):
                self.question = None
        super()._judge(channel, frame)

    def _let_go(self, id: str) -> None:
        self.told(HOST, Consumed(id))
        consuming = asyncio.create_task(self.client.consume(id))
        self._asking.add(consuming)
        consuming.add_done_callback(self._asking.discard)

    # -- what it is told ------------------------------------------------------------------------------------------

    @property
    def online(self) -> bool:
        return self.line is not None and self.line.label in self.answered

    @property
    def registering(self) -> bool:
        return self.line is not None and self.line.label not in self.answered

    @property
    def quiet(self) -> bool:
        """Does a client that is busy with one message still listen?"""
        return not self.held or not self.client.serial

    async def say(self, said: Said) -> None:
        assert self.line, "a rule speaks on a connection"
        self.told(self.line.label, understood(said))
        await say(self.line, said)
        await self.settle()

    async def say_and_fence(self, said: Said) -> None:
        """For what may change nothing: whatever does come of it has come when another message is through."""
        await self.say(said)
        if self.online and self.quiet:
            await self.sentinel()

    async def answer(self, names: tuple[str, ...]) -> None:
        assert self.line, "a rule answers a connection"
        self.answered.add(self.line.label)
        await self.say(Peers(names))

    async def hang_up(self, code: int) -> None:
        """Close, or drop the connection: code 0."""
        line, self.line = self.line, None
        assert line, "a rule hangs up a connection"
        self.question = None
        self.told(line.label, Close(code or LOST))
        await line.part(bool(code), code)
        await self.settle()

    async def consume(self, id: str) -> None:
        self.held.remove(id)
        self.told(HOST, Consumed(id))
        await self.client.consume(id)
        await self.settle()

    async def send(self, to: str, body: bytes) -> None:
        self.told(HOST, SendRequest(to, body))
        operation = self.client.broadcast(body.decode()) if to == "*" else self.client.send(to, body.decode())
        await self._asked(operation, lambda _: None, "send")
        await self.settle()

    async def ask_peers(self) -> None:
        assert self.line, "a rule asks on a connection"
        self.told(HOST, PeersRequest())
        asking = self._asked(self.client.peers(self.line), lambda names: PeersListed(tuple(names)), "peers")
        self.question = asyncio.create_task(asking)
        self._asking.add(self.question)
        self.question.add_done_callback(self._asking.discard)
        await self.settle()

    async def _asked(self, operation: Awaitable[Any], answer: Callable[[Any], object], what: str) -> None:
        """What comes of the host's request; of a question whose connection is gone nothing need come."""
        try:
            said = answer(await operation)
        except (TargetRefused, TargetFailed):
            said = Refused(what)
        except TargetError as gone:
            said = gone
        if said is not None and (what == "send" or asyncio.current_task() is self.question):
            self.heard(HOST, said)

    async def sentinel(self) -> None:
        """One more message passes through: what was said before it has been read."""
        last = self.client.mail()
        self._last = last.id
        await self.say(Deliver(last.id, last))
        self._last = ""
        await self.consume(last.id)
        self.judge_waiting()

    async def end(self) -> None:
        if self.registering:
            await self.answer(("last",))
        while self.held:
            await self.consume(self.held[0])
        await self.sentinel()

    async def close(self) -> None:
        await self.client.close()
        for task in self._asking:  # a client that has stopped need not answer
            task.cancel()


class ClientGuide(Guiding[Any], ClientWatch):
    """Leads the client through a walk. What must show something is waited for; behind what need not, a sentinel passes."""

    def __init__(self, trial: Trial, client: ClientUnderTest) -> None:
        super().__init__(trial, client)
        self._silent = False  # the last letter need not have shown anything

    def _as_walked(self, channel: Channel, frame: Any) -> tuple[Channel, Any]:
        return channel, Dial(0) if isinstance(frame, Opened) else frame

    async def perform(self, stimulus: Stimulus) -> None:
        assert isinstance(stimulus, Say), "a client that is killed is a new one"
        self._silent = False
        match stimulus.event:
            case Start():
                await self.start()
            case Consumed(id):
                await self.consume(id)
            case SendRequest(to, body):
                await self.send(to, body)
            case PeersRequest():
                await self.ask_peers()
            case Close(code):
                await self.hang_up(0 if code == 1006 else code)
            case Peers(names) if self.registering:
                await self.answer(names)
            case said:
                self._silent = self.online
                await self.say(said)

    async def fence(self) -> Sequence[tuple[Channel, Any]]:
        await self.settle()
        if self._silent and self.online and self.quiet:
            await self.sentinel()
        return self._taken()
