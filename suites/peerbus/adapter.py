"""A client under test between two parts that the harness plays: the broker it dials and the host behind it.

What the shim of a client offers: `start` with `url`, `name`, `token`, `secret` and, if it has the capability of that name,
`cache_size` and `backoff_ms`; the operations `send(to, body)`, `broadcast(body)`, `peers()` and `consume(id)`; the events
`message {id, from, to, source, kind, body}` and `status {connected}`. A body is JSON text. A client that hands its host one
message at a time, and reads on only once that is consumed, declares the capability `serial`.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from harness.errors import TargetError
from harness.targets import Instance, Session
from harness.trial import Broken, Trial
from reference_impl.peerbus.frames import Ack, Close, Deliver, Envelope, Frame, Peers, Register
from reference_impl.peerbus.host import Surfaced
from suites.peerbus.bus import SECRET, message, unique
from suites.peerbus.line import Heard, Line
from suites.peerbus.lint import need

ROLE = "peerbus/client"
BACKOFF_MS = 10
SLOWEST_REDIAL_S = 7.5
"""A client whose backoff cannot be set may wait 5 s and half of that as jitter before it redials."""

T = TypeVar("T")


def forged(envelope: Envelope) -> Envelope:
    """The same message with a MAC that is not its own."""
    return replace(envelope, hmac="00" * 32)


def spellings(secret: bytes) -> list[bytes]:
    """The secret as it is, in hex and in base64: none of them may ever be sent."""
    encoded = [base64.b64encode(secret), base64.urlsafe_b64encode(secret)]
    return [secret, secret.hex().encode(), secret.hex().upper().encode(), *(text.rstrip(b"=") for text in encoded)]


class Link(Line):
    """One connection of the client under test, from the broker's end."""

    other = "client"

    def __init__(self, broker: FakeBroker, websocket: ServerConnection, label: str) -> None:
        super().__init__(broker.trial, websocket, label)
        self.acked = broker.acked
        self.register: Register | None = None
        self.raw_register = b""
        self.asked = 0  # peers requests that the host wants and that have not come yet
        self._secret = spellings(broker.secret)

    def lint(self, message: str | bytes, raw: bytes) -> None:
        self.raw_register = self.raw_register or raw  # the first frame, whatever it is
        need(not any(text in raw for text in self._secret), "PB-2.1-04", "the secret never on the wire", raw)
        super().lint(message, raw)

    async def heard(self, frame: Heard) -> None:
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


class FakeBroker:
    """Listens, and hands out each connection as it comes."""

    def __init__(self, trial: Trial, secret: bytes) -> None:
        self.trial, self.secret = trial, secret
        self.acked: set[str] = set()
        self.links: list[Link] = []
        self.arrivals: asyncio.Queue[Link] = asyncio.Queue()
        self.on_link: Callable[[Link], None] = self.arrivals.put_nowait
        self.turn_away = 0  # upgrades to refuse before the next is accepted
        self._server: Server | None = None

    async def start(self) -> str:
        self._server = await serve(
            self._connected,
            "127.0.0.1",
            0,
            process_request=self._upgrade,
            compression=None,
            ping_interval=None,
            max_size=None,
            close_timeout=0.5,
        )
        port = next(iter(self._server.sockets)).getsockname()[1]
        return f"ws://127.0.0.1:{port}"

    async def _upgrade(self, websocket: ServerConnection, _: Request) -> Response | None:
        if not self.turn_away:
            return None
        self.turn_away -= 1
        self.trial.said("broker", "client", "note", "upgrade refused: 503")
        return websocket.respond(503, "not yet")

    async def _connected(self, websocket: ServerConnection) -> None:
        link = Link(self, websocket, f"link{len(self.links) + 1}")
        self.links.append(link)
        self.trial.said("client", link.label, "note", "connected")
        self.on_link(link)
        await link.read()

    async def stop(self) -> None:
        if self._server:
            self._server.close()
            await self._server.wait_closed()


class Adapter:
    """The client of one case, its broker and its host."""

    def __init__(self, trial: Trial, session: Session, capabilities: Iterable[str], secret: bytes = SECRET) -> None:
        self.trial, self.session, self.capabilities, self.secret = trial, session, set(capabilities), secret
        self.name, self.token = unique("peer"), unique("token")
        self.broker = FakeBroker(trial, secret)
        self.messages: asyncio.Queue[Surfaced | TargetError] = asyncio.Queue()
        self.on_message: Callable[[Any], None] = self.messages.put_nowait
        self.on_status: Callable[[bool], None] = lambda connected: None
        self.statuses: list[bool] = []
        self._changed = asyncio.Event()
        self._instance: Instance | None = None
        self._listener: asyncio.Task[None] | None = None

    @property
    def redial_s(self) -> float:
        return self.trial.patience_s + (0 if "backoff_ms" in self.capabilities else SLOWEST_REDIAL_S)

    @property
    def serial(self) -> bool:
        """Does it read on only once its host has consumed the last message?"""
        return "serial" in self.capabilities

    async def start(self, **config: Any) -> Adapter:
        url = await self.broker.start()
        told = {"url": url, "name": self.name, "token": self.token, "secret": self.secret.decode()}
        backoff = {"backoff_ms": BACKOFF_MS} if "backoff_ms" in self.capabilities else {}
        await self.restart(self.session, **{**told, **backoff, **config})
        return self

    async def restart(self, session: Session, **config: Any) -> None:
        """A client process of this configuration; the first one of the case, or the next."""
        self.session, self.config = session, config
        self.trial.said("host", "client", "request", f"start {config}")
        self._instance = await session.start(ROLE, config)
        self._listener = asyncio.create_task(self._listen(self._instance))

    async def kill(self) -> None:
        """SIGKILL: the host hears nothing more of this life."""
        self.trial.said("harness", "client", "note", "SIGKILL")
        if self._listener:
            self._listener.cancel()
        await self.session.kill()

    async def _listen(self, instance: Instance) -> None:
        while not isinstance(item := await instance.events.get(), TargetError):
            event, data = item
            self.trial.said("client", "host", "event", f"{event} {data}")
            if event == "message":
                texts = [str(data.get(key, "")) for key in ("id", "from", "to", "source", "kind")]
                self.on_message(Surfaced(*texts, body=str(data.get("body", "null")).encode()))
            if event == "status":
                self.statuses.append(bool(data.get("connected")))
                self.on_status(self.statuses[-1])
                self._changed.set()
        self.on_message(item)

    async def close(self) -> None:
        """End it all; a fault that no case has looked at is reported here."""
        if self._listener:
            self._listener.cancel()
        if self._instance and self.session.alive:
            await self._instance.stop()
        self._instance = None
        await self.broker.stop()
        for link in self.broker.links:
            while not link.inbox.empty():
                if isinstance(left := link.inbox.get_nowait(), Broken):
                    raise left

    # -- the broker's part ----------------------------------------------------------------------------------------

    async def accept(self, clause: str = "PB-5-21") -> Link:
        """The next connection; nothing is said on it yet."""
        try:
            return await asyncio.wait_for(self.broker.arrivals.get(), self.redial_s)
        except TimeoutError:
            raise Broken(clause, "the client to dial", f"no connection within {self.redial_s:g} s") from None

    async def registering(self, clause: str = "PB-2.1-01") -> Link:
        """The next connection, whose first frame was a register."""
        link = await self.accept()
        await link.expect(Register, clause)
        return link

    async def online(self) -> Link:
        """The next connection, registered: the host was told that it is up."""
        link = await self.registering()
        await self.answer(link)
        return link

    async def registering_consumed(self, id: str) -> Link:
        """The next connection, not answered yet, and the host has consumed a message of the last one."""
        if self.serial:  # it does not notice that its connection is gone before it may read on
            await self.consume(id)
            return await self.registering()
        link = await self.registering()
        await self.consume(id)
        return link

    async def answer(self, link: Link) -> None:
        """Accept the register, and wait until the host knows."""
        ups = self.statuses.count(True)
        await link.send(Peers((self.name,)))
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

    async def do(self, op: str, **args: Any) -> dict[str, Any]:
        assert self._instance, "started before use"
        self.trial.said("host", "client", "request", f"{op} {args}")
        try:
            answer = await self._instance.do(op, **args)
        except TargetError as error:
            self.trial.said("client", "host", "answer", f"{op}: {type(error).__name__} {error}")
            raise
        self.trial.said("client", "host", "answer", f"{op}: {answer}")
        return answer

    async def send(self, to: str, body: str = '{"n":1}') -> str:
        return str((await self.do("send", to=to, body=body)).get("id", ""))

    async def broadcast(self, body: str = '{"n":1}') -> str:
        return str((await self.do("broadcast", body=body)).get("id", ""))

    async def peers(self, link: Link) -> list[str]:
        link.asked += 1
        return list((await self.do("peers")).get("names", []))

    async def consume(self, id: str) -> None:
        await self.do("consume", id=id)

    async def message(self, clause: str = "") -> Surfaced:
        """The next message that the host gets."""
        got: Surfaced = await self.trial.next_of(self.messages, "a message for the host", clause)
        return got

    # -- both -----------------------------------------------------------------------------------------------------

    def mail(self, body: bytes = b'{"n":1}', **fields: str) -> Envelope:
        """A good message for this client."""
        return message("alice", self.name, body, **fields)

    async def expect_surfaced(self, envelope: Envelope, clause: str = "") -> Surfaced:
        """The next message that the host gets is this one."""
        got = await self.message(clause)
        wanted = (envelope.id, envelope.sender)
        self.trial.expect((got.id, got.sender) == wanted, f"{wanted} surfaced next", got, clause)
        same = json.loads(got.body) == json.loads(envelope.body)
        self.trial.expect(same, f"the body {envelope.body!r}", got.body, clause)
        return got

    async def expect_handled(self, link: Link, envelope: Envelope, key: str = "", clause: str = "") -> Surfaced:
        """What was delivered is surfaced, and acked when the host has consumed it."""
        got = await self.expect_surfaced(envelope, clause)
        await self.consume(envelope.id)
        await link.expect_ack(key or envelope.id, clause)
        return got

    async def handles(self, link: Link, envelope: Envelope, key: str = "", clause: str = "") -> Surfaced:
        await link.deliver(envelope, key or envelope.id)
        return await self.expect_handled(link, envelope, key, clause)

    async def suppresses(self, link: Link, envelope: Envelope, key: str = "", clause: str = "PB-5-09") -> None:
        """Delivered again, it is acked at once and not surfaced."""
        await link.deliver(envelope, key or envelope.id)
        try:
            await link.expect_ack(key or envelope.id, clause)
        finally:
            seen = [] if self.messages.empty() else [self.messages.get_nowait()]
            self.trial.expect(not seen, f"{envelope.id} not surfaced again", seen, "PB-5-07")

    async def expect_ignored(self, link: Link, clause: str = "") -> None:
        """Nothing comes of what was said last: a good message's event and ack are the next, on the same connection."""
        await self.handles(link, self.mail(), clause=clause)

    async def expect_unacked(self, link: Link, clause: str = "") -> None:
        """No ack came so far: the next frame is an envelope that the host sends now."""
        await self.send("bob")
        frame = await link.next("the message that the host sends", clause)
        self.trial.expect(not isinstance(frame, Ack), "no ack before the host consumed it", frame, clause)
        self.trial.expect(isinstance(frame, Envelope), "the message that the host sends", frame, clause)
