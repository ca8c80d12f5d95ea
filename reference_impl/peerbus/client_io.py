"""The client on a real socket: dials, waits between failures, and hands messages to its host."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import itertools
import random
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from reference_impl.core import Player
from reference_impl.io.carrier import Carrier, NoConnection
from reference_impl.io.conversation import Conversation
from reference_impl.io.websocket import Message, Settings, dial
from reference_impl.peerbus.client import ClientMachine, Phase
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import MAX_MESSAGE, Binary, Close, Envelope, Frame, Garbage, Opened
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
    Stop,
    Surfaced,
)


class NotConnected(RuntimeError):
    """There is no registered connection to send on."""


class TooLong(ValueError):
    """The message would not fit into what a broker reads (PB-1-15)."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Wait before the n-th redial: none at first, then doubling up to a bound, plus up to half as jitter."""

    first_s: float = 0.1
    most_s: float = 5.0

    def delay(self, attempt: int, jitter: float) -> float:
        if attempt == 0:
            return 0.0
        return min(self.most_s, self.first_s * 2.0 ** min(attempt - 1, 30)) * (1 + jitter / 2)


class Client:
    """One peer. `on_message` gets each message once; call `consume` with its id when it is really done with."""

    settings = Settings(max_size=MAX_MESSAGE)  # PB-1-14
    max_body = MAX_MESSAGE - 4096  # bytes of one body that are sent (PB-1-15); the rest is room for the other fields

    def __init__(
        self,
        url: str,
        machine: ClientMachine,
        *,
        on_message: Callable[[Surfaced], None],
        on_status: Callable[[bool], None] = lambda connected: None,
        codec: Codec | None = None,
        backoff: Backoff | None = None,
    ) -> None:
        self.url, self.codec = url, codec or machine.codec
        self.player = Player(machine, entropy=secrets.token_bytes)
        self._on_message, self._on_status, self._backoff = on_message, on_status, backoff or Backoff()
        self._numbers = itertools.count(1)
        self._line: Conversation[Message, Message] | None = None
        self._attempt = 0
        self._asked: deque[asyncio.Future[tuple[str, ...]]] = deque()
        self._task: asyncio.Task[None] | None = None

    # -- for the host ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        self.turn(HOST, Start())
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        says_goodbye = self.player.state.phase in (Phase.REGISTERING, Phase.ONLINE)
        self.turn(HOST, Stop())
        if self._task and says_goodbye:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._task), 1)
        await self.kill()

    async def kill(self) -> None:
        self.cut()
        if self._task:
            await asyncio.gather(self._task, return_exceptions=True)

    def cut(self) -> None:
        """End without a word, as a power cut would."""
        if self._line:
            self._line.cut()
        if self._task:
            self._task.cancel()

    @property
    def connected(self) -> bool:
        return self.player.state.phase is Phase.ONLINE

    def send(self, to: str, body: bytes) -> str:
        """Send to one peer, or to `*`; returns the message's id."""
        if len(body) > self.max_body:
            raise TooLong(f"a body of {len(body)} bytes is over the budget of {self.max_body}: send less")
        ts = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        [answer] = self.turn(HOST, SendRequest(to, body, ts))
        if not isinstance(answer, Envelope):
            raise NotConnected(f"not registered at {self.url}: try again once it is connected")
        return answer.id

    async def peers(self) -> tuple[str, ...]:
        answer: asyncio.Future[tuple[str, ...]] = asyncio.get_running_loop().create_future()
        self._asked.append(answer)
        self.turn(HOST, PeersRequest())
        return await answer

    def consume(self, message_id: str) -> None:
        self.turn(HOST, Consumed(message_id))

    # -- the machine's turns --------------------------------------------------------------------------------------

    def turn(self, channel: object, event: object) -> list[object]:
        """One input; performs what the machine owes and returns the frames."""
        frames = [frame for _, frame in self.player.receive(channel, event).frames]
        for frame in frames:
            self._perform(frame)
        return frames

    def _perform(self, frame: object) -> None:
        match frame:
            case Surfaced():
                self._on_message(frame)
            case Status(connected):
                self._on_status(connected)
            case PeersListed(names):
                self._answer(lambda question: question.set_result(names))
            case Refused("peers"):
                lost = NotConnected(f"no connection to {self.url}: ask again once it is connected")
                self._answer(lambda question: question.set_exception(lost))
            case Refused():
                pass  # what `send` raises
            case Dial(attempt):
                self._attempt = attempt
            case _:
                self.put(frame)  # type: ignore[arg-type]  # whatever else is owed goes on the wire

    def _answer(self, say: Callable[[asyncio.Future[tuple[str, ...]]], None]) -> None:
        """The oldest question; whoever asked may have gone away."""
        if not (question := self._asked.popleft()).done():
            say(question)

    # -- the network ----------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while self.player.state.phase is not Phase.STOPPED:
            await asyncio.sleep(self.pause())
            try:
                carrier = await self.dial()
            except NoConnection:
                self.turn(NETWORK, Close(1006))
            else:
                await self._converse(carrier)

    def pause(self) -> float:
        return self._backoff.delay(self._attempt, random.random())

    async def dial(self) -> Carrier[Message, Message]:
        return await dial(self.url, self.settings)

    async def _converse(self, carrier: Carrier[Message, Message]) -> None:
        channel = next(self._numbers)
        self._line = Conversation(
            carrier,
            heard=lambda message: self.turn(channel, self.read(message)),
            ended=lambda end: self.turn(channel, Close(end.code)),
        )
        try:
            self.turn(channel, Opened())
            await self._line.run()
        finally:
            carrier.cut()  # where this was cancelled it is still open

    def read(self, message: Message) -> Frame | Garbage | Binary:
        return self.codec.decode(message.encode()) if isinstance(message, str) else Binary(message)

    def put(self, frame: Frame | Close) -> None:
        assert self._line, "a machine that has no connection owes nothing on it"
        if isinstance(frame, Close):
            self._line.hang_up(frame.code)
        else:
            self._line.say(self.write(frame))

    def write(self, frame: Frame) -> Message:
        return self.codec.encode(frame).decode()
