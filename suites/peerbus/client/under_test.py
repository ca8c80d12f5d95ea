"""A client under test between two parts that the harness plays: the broker it dials and the host behind it.

What the shim of a client offers is in the README: the operations `send`, `broadcast`, `peers` and `consume`, the events
`message` and `status`. A client that hands its host one message at a time, and reads on only once that is consumed, declares
the capability `serial`.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from harness.judging.inbox import Inbox
from harness.judging.trial import Broken, Trial, need
from harness.targets import Session
from reference_impl.io.websocket import WebSocket
from reference_impl.peerbus.client import same_json
from reference_impl.peerbus.frames import Ack, Close, Deliver, Envelope, Frame, Peers, Register
from reference_impl.peerbus.host import UNTOLD, Surfaced
from suites.common.connect import WebSocketPort
from suites.common.host import Event, Host
from suites.common.names import unique
from suites.common.played import Played
from suites.peerbus.envelopes import SECRET, message
from suites.peerbus.line import PeerbusLine

BACKOFF_MS = 10
SLOWEST_REDIAL_S = 7.5
"""A client whose backoff cannot be set may wait 5 s and half of that as jitter before it redials."""


def spellings(secret: bytes) -> list[bytes]:
    """The secret as it is, in hex and in base64: none of them may ever be sent."""
    encoded = [base64.b64encode(secret), base64.urlsafe_b64encode(secret)]
    return [secret, secret.hex().encode(), secret.hex().upper().encode(), *(text.rstrip(b"=") for text in encoded)]


class ClientLine(PeerbusLine):
    """One connection of the client under test, from the broker's end."""

    other = "client"

    def __init__(self, broker: FakeBroker, carrier: WebSocket, label: str) -> None:
        super().__init__(broker.trial, carrier, label)
        self.acked = broker.acked
        self.register: Register | None = None
        self.raw_register = b""
        self.asked = 0  # peers requests that the host wants and that have not come yet
        self._secret = spellings(broker.secret)

    def lint(self, message: str | bytes) -> None:
        raw = message.encode() if isinstance(message, str) else message
        self.raw_register = self.raw_register or raw  # the first frame, whatever it is
        need(not any(text in raw for text in self._secret), "PB-2.1-04", "the secret never on the wire", raw)
        super().lint(message)

    async def heard(self, frame: Frame | Close | Broken) -> None:
        """A client may ask for peers on its own account: it is answered, and no case's business."""
        match frame:
            case Register() if self.register:
                frame = Broken("PB-2.1-33", "one register per connection", str(frame))
            case Register():
                self.register = frame
            case Peers() if self.register and not self.asked:
                return await self.send(Peers((self.register.name,)))
            case Peers():
                self.asked -= 1
        await super().heard(frame)

    async def deliver(self, envelope: Envelope, key: str | None = None) -> None:
        await self.send(Deliver(envelope.id if key is None else key, envelope))

    async def next(self, what: str = "a frame", clause: str = "", key: str = "") -> Frame | Close:
        """The next frame, or the close. One more ack of what was acked before does no harm (2.2), except of `key`."""
        while isinstance(frame := await super().next(what, clause), Ack) and frame.id != key and frame.id in self.acked:
            pass
        return frame

    async def expect_acks(self, *keys: str, clause: str = "") -> None:
        """An ack of each of them, in any order."""
        missing = set(keys)
        while missing:
            frame = await self.next(f"acks of {sorted(missing)}", clause)
            mine = isinstance(frame, Ack) and frame.id in keys
            self.trial.expect(mine, f"acks of {sorted(missing)}", frame, clause)
            missing -= {frame.id} if isinstance(frame, Ack) else set()
        self.acked.update(keys)

    async def expect_ack(self, key: str, clause: str = "") -> None:
        frame = await self.next(f"an ack of {key}", clause, key)
        if isinstance(frame, Ack) and key.startswith(f"{frame.id}|"):
            clause = "PB-4-25"  # the id of a broadcast, not its copy's key
        self.trial.expect(frame == Ack(key), f"an ack of {key}", frame, clause)
        self.acked.add(key)


class FakeBroker(Played[ClientLine]):
    """The broker that the client dials."""

    def __init__(self, trial: Trial, secret: bytes) -> None:
        super().__init__(trial, WebSocketPort(trial), Inbox())
        self.secret = secret
        self.acked: set[str] = set()

    def line(self, carrier: WebSocket, number: int) -> ClientLine:
        return ClientLine(self, carrier, f"line{number}")


class ClientUnderTest:
    """The client of one case, its broker and its host."""

    host: Host

    def __init__(self, trial: Trial, session: Session, capabilities: Iterable[str]) -> None:
        self.trial, self.session, self.capabilities, self.secret = trial, session, set(capabilities), SECRET
        self.name, self.token = unique("peer"), unique("token")
        self.broker = FakeBroker(trial, SECRET)
        self.messages: Inbox[Surfaced] = Inbox()
        self.on_status: Callable[[bool], None] = lambda connected: None
        self.statuses: list[bool] = []
        self._changed = asyncio.Event()
        self._started = False

    @property
    def redial_s(self) -> float:
        return self.trial.patience_s + (0 if "backoff_ms" in self.capabilities else SLOWEST_REDIAL_S)

    @property
    def serial(self) -> bool:
        """Does it read on only once its host has consumed the last message?"""
        return "serial" in self.capabilities

    async def start(self, **config: Any) -> ClientUnderTest:
        url = await self.broker.port.url()
        told = {"url": url, "name": self.name, "token": self.token, "secret": self.secret.decode()}
        backoff = {"backoff_ms": BACKOFF_MS} if "backoff_ms" in self.capabilities else {}
        await self.restart(self.session, **{**told, **backoff, **config})
        return self

    async def restart(self, session: Session, **config: Any) -> None:
        """A client process of this configuration; the first one of the case, or the next."""
        self.session, self.config = session, config
        self.trial.said("host", "client", "request", f"start {config}")
        self.host = Host(self.trial, await session.start(self.trial.role, config))
        self.host.listen(self._told)
        self._started = True

    async def kill(self) -> None:
        """SIGKILL: the host hears nothing more of this life."""
        self.trial.said("harness", "client", "note", "SIGKILL")
        await self.host.deaf()
        await self.session.kill()

    def _told(self, told: Event | Exception) -> None:
        match told:
            case Exception():
                self.messages.put(told)
            case "message", data:
                id, sender, source = (str(data.get(key, "")) for key in ("id", "from", "source"))
                to, kind = (str(data.get(key, UNTOLD)) for key in ("to", "kind"))
                self.messages.put(Surfaced(id, sender, to, source, kind, str(data.get("body", "null")).encode()))
            case "status", data:
                self.statuses.append(bool(data.get("connected")))
                self.on_status(self.statuses[-1])
                self._changed.set()

    async def close(self) -> None:
        if self._started:
            self._started = False
            await self.host.stop()
        await self.broker.close()

    # -- the broker's part ----------------------------------------------------------------------------------------

    async def accept(self, clause: str = "PB-5-21") -> ClientLine:
        """The next connection; nothing is said on it yet."""
        return await self.trial.next_of(self.broker.arrivals, "the client to dial", clause, self.redial_s)

    @contextlib.asynccontextmanager
    async def dialling(self, lost: ClientLine | None = None) -> AsyncIterator[None]:
        """Inside, the client has no connection: this one is lost, it dials, and nobody opens."""
        port = self.broker.port
        port.door.clear()
        try:
            if lost:
                port.knocks.drain()
                lost.cut()
            else:
                await self.start()
            await self.trial.next_of(port.knocks, "the client to dial", "PB-5-21", self.redial_s)
            yield
        finally:
            port.door.set()

    async def registering(self, clause: str = "PB-2.1-01") -> ClientLine:
        """The next connection, whose first frame was a register."""
        line = await self.accept()
        await line.expect(Register, clause)
        return line

    async def online(self) -> ClientLine:
        """The next connection, registered: the host was told that it is up."""
        line = await self.registering()
        await self.answer(line)
        return line

    async def registering_consumed(self, id: str) -> ClientLine:
        """The next connection, not answered yet, and the host has consumed a message of the last one."""
        if self.serial:  # it does not notice that its connection is gone before it may read on
            await self.consume(id)
            return await self.registering()
        line = await self.registering()
        await self.consume(id)
        return line

    async def answer(self, line: ClientLine) -> None:
        """Accept the register, and wait until the host knows."""
        ups = self.statuses.count(True)
        await line.send(Peers((self.name,)))
        await self.until(lambda: self.statuses.count(True) > ups, "a connected client", "PB-2.1-29")

    async def until(self, condition: Callable[[], bool], what: str, clause: str = "") -> None:
        """Wait for a status that makes the condition true."""
        while not condition():
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), self.trial.patience_s)
            except TimeoutError:
                raise Broken(clause or self.trial.own_clause, what, f"statuses {self.statuses}") from None

    # -- the host's part ------------------------------------------------------------------------------------------

    async def send(self, to: str, body: str = '{"n":1}') -> str:
        return str((await self.host.do("send", to=to, body=body)).get("id", ""))

    async def broadcast(self, body: str = '{"n":1}') -> str:
        return str((await self.host.do("broadcast", body=body)).get("id", ""))

    async def peers(self, line: ClientLine) -> list[str]:
        line.asked += 1
        return list((await self.host.do("peers")).get("names", []))

    async def consume(self, id: str) -> None:
        await self.host.do("consume", id=id)

    async def message(self, clause: str = "") -> Surfaced:
        """The next message that the host gets."""
        return await self.trial.next_of(self.messages, "a message for the host", clause)

    # -- both -----------------------------------------------------------------------------------------------------

    def mail(self, body: bytes = b'{"n":1}', **fields: str) -> Envelope:
        """A good message for this client."""
        return message("alice", self.name, body, **fields)

    async def expect_surfaced(self, envelope: Envelope, clause: str = "") -> Surfaced:
        """The next message that the host gets is this one."""
        got = await self.message(clause)
        wanted = (envelope.id, envelope.sender)
        self.trial.expect((got.id, got.sender) == wanted, f"{wanted} surfaced next", got, clause)
        same = same_json(got.body, envelope.body)
        self.trial.expect(same, f"the body {envelope.body!r}", got.body, clause)
        return got

    async def surfaces(self, line: ClientLine, envelope: Envelope, clause: str = "") -> None:
        """Delivered, it is surfaced; the host has not consumed it yet."""
        await line.deliver(envelope)
        await self.expect_surfaced(envelope, clause)

    async def expect_handled(self, line: ClientLine, envelope: Envelope, key: str = "", clause: str = "") -> Surfaced:
        """What was delivered is surfaced, and acked when the host has consumed it."""
        got = await self.expect_surfaced(envelope, clause)
        await self.consume(envelope.id)
        await line.expect_ack(key or envelope.id, clause)
        return got

    async def handles(self, line: ClientLine, envelope: Envelope, key: str = "", clause: str = "") -> Surfaced:
        await line.deliver(envelope, key or envelope.id)
        return await self.expect_handled(line, envelope, key, clause)

    async def suppresses(self, line: ClientLine, envelope: Envelope, key: str = "", clause: str = "PB-5-09") -> None:
        """Delivered again, it is acked at once and not surfaced."""
        await line.deliver(envelope, key or envelope.id)
        try:
            await line.expect_ack(key or envelope.id, clause)
        finally:
            seen = self.messages.drain()
            self.trial.expect(not seen, f"{envelope.id} not surfaced again", seen, "PB-5-07")

    async def expect_ignored(self, line: ClientLine, clause: str = "") -> None:
        """Nothing comes of what was said last: a good message's event and ack are the next, on the same connection."""
        await self.handles(line, self.mail(), clause=clause)

    async def expect_unacked(self, line: ClientLine, clause: str = "") -> None:
        """No ack came so far: the next frame is an envelope that the host sends now."""
        await self.send("bob")
        frame = await line.next("the message that the host sends", clause)
        self.trial.expect(not isinstance(frame, Ack), "no ack before the host consumed it", frame, clause)
        self.trial.expect(isinstance(frame, Envelope), "the message that the host sends", frame, clause)
