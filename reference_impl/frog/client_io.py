"""The client on real sockets: dials whom its machine names, and tells its host what comes. No rule is decided here."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import time
from collections.abc import Callable

from reference_impl.core import Channel, Player, Turn
from reference_impl.frog.client import ClientMachine, Phase
from reference_impl.frog.codec import Codec, Unencodable
from reference_impl.frog.frames import (
    Frame,
    Hangup,
    Heard,
    NoFrame,
    Opened,
    Signal,
    Text,
)
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
    Request,
    SendSignal,
    Signalled,
    Start,
    Status,
    Stop,
    Told,
    Wish,
)
from reference_impl.frog.wire_io import Wire
from reference_impl.io.carrier import LOST, NoConnection
from reference_impl.io.conversation import Conversation
from reference_impl.io.timer import Clock, Timer
from reference_impl.io.websocket import Message

News = Status | Signalled | Reported
Answer = GotPeers | GotRoute | GotServers
STOP_S = 1.0


class RequestRefused(RuntimeError):
    """A request came to nothing; says the code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Client(Wire):
    """One peer. `on_news` hears what nobody asked for."""

    def __init__(
        self,
        machine: ClientMachine,
        *,
        on_news: Callable[[News], None] = lambda news: None,
        codec: Codec | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.machine, self.codec, self._on_news, self._clock = machine, codec or Codec(), on_news, clock
        self.player = Player(machine, entropy=self.entropy, now=clock())
        self.timer = Timer(self.player, self.perform, clock)
        self._lines: dict[Channel, Conversation[Message, Message]] = {}
        self._numbers, self._tickets = itertools.count(1), itertools.count(1)
        self._asked: dict[int, asyncio.Future[Answer]] = {}
        self._parted = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def entropy(self, size: int) -> bytes:
        return secrets.token_bytes(size)

    # -- for the host ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        self.wish(Start())

    async def find(self, limit: int) -> tuple[str, ...]:
        answer = await self.ask(AskPeers(next(self._tickets), limit))
        assert isinstance(answer, GotPeers), "a request gets an answer of its kind"
        return answer.peer_keys

    async def lookup(self, peer_key: str) -> str:
        answer = await self.ask(AskRoute(next(self._tickets), peer_key))
        assert isinstance(answer, GotRoute), "a request gets an answer of its kind"
        return answer.route_id

    async def getservers(self, limit: int) -> tuple[str, ...]:
        answer = await self.ask(AskServers(next(self._tickets), limit))
        assert isinstance(answer, GotServers), "a request gets an answer of its kind"
        return answer.uris

    async def ask(self, request: Request) -> Answer:
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._asked[request.ticket] = answer
        try:
            self.wish(request)
            return await answer
        finally:
            del self._asked[request.ticket]

    def signal(self, route_id: str, kind: str, payload: bytes) -> None:
        try:
            self.codec.encode(Signal(route_id, kind, payload))
        except Unencodable as error:  # what cannot be encoded is the host's error
            raise RequestRefused(str(error)) from None
        for frame in self.wish(SendSignal(next(self._tickets), route_id, kind, payload)):
            if isinstance(frame, Refused):
                raise RequestRefused(frame.code)

    async def leave(self) -> None:
        self.wish(Depart())
        await self._parted.wait()

    async def stop(self) -> None:
        """Close, and wait a moment for the other side to do the same."""
        self.timer.stop()
        self.wish(Stop())
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=STOP_S)
        await self.kill()

    async def kill(self) -> None:
        """As a power cut would: nobody is told."""
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        self.timer.stop()
        for line in self._lines.values():
            line.cut()
        for task in self._tasks:
            task.cancel()

    @property
    def registered(self) -> bool:
        return self.player.state.phase is Phase.REGISTERED

    # -- the machine's turns --------------------------------------------------------------------------------------

    def wish(self, wish: Wish) -> list[object]:
        return self.turn(HOST, wish)

    def turn(self, channel: Channel, what: Frame | NoFrame | Text | Opened | Hangup | Wish) -> list[object]:
        return self.perform(self.player.receive(channel, Heard(what, self._clock())))

    def perform(self, turn: Turn) -> list[object]:
        for receiver, frame in turn.frames:
            if receiver == HOST:
                self.tell(frame)
            elif receiver == NETWORK:
                self.connect(frame)
            elif line := self._lines.get(receiver):
                self.put(line, frame)
        self.timer.set()
        return [frame for _, frame in turn.frames]

    def tell(self, told: Told) -> None:
        match told:
            case GotPeers() | GotRoute() | GotServers():
                if (answer := self._asked.get(told.ticket)) and not answer.done():
                    answer.set_result(told)
            case Refused(ticket, code):
                if (answer := self._asked.get(ticket)) and not answer.done():
                    answer.set_exception(RequestRefused(code))
            case Parted():
                self._parted.set()
            case _:
                self._on_news(told)

    # -- the network ----------------------------------------------------------------------------------------------

    def connect(self, wanted: Dial) -> None:
        task = asyncio.create_task(self._converse(wanted.uri))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _converse(self, uri: str) -> None:
        try:
            carrier = await self.dial(uri)
        except NoConnection:
            self.turn(NETWORK, Hangup(LOST))
            return
        channel = next(self._numbers)
        line = self._lines[channel] = Conversation(
            carrier,
            heard=lambda message: self.hear(channel, message),
            ended=lambda end: self.turn(channel, Hangup(end.code)),
        )
        try:
            self.turn(channel, Opened())
            await line.run()
        finally:
            del self._lines[channel]
            carrier.cut()  # where this was cancelled it is still open

    def frame_of(self, message: bytes) -> Frame | NoFrame:
        return self.codec.heard_by_client(message)
