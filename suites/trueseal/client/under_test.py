"""A client under test between two parts that the harness plays: the relay it dials and the host behind it.

What the shim of a client offers is in the README: the operations `push`, `received` and `heartbeat`, the events `received`,
`pushed` and `rejected`.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable
from typing import Any, Self, TypeVar

from harness.errors import TargetRefused
from harness.judging.inbox import Inbox
from harness.judging.trial import Broken, Trial
from harness.targets import Session
from reference_impl.io import tcp
from reference_impl.io.tcp import Stream
from reference_impl.trueseal.frames import Ack, Deliver, DeliverAck, Error, Frame, Hangup, Push, Received
from reference_impl.trueseal.noise import Noise, Pattern, Secured, public_key
from reference_impl.trueseal.noise_io import Sealed
from suites.common import shim
from suites.common.connect import Port
from suites.common.host import Event, Host
from suites.common.names import unique
from suites.trueseal import wire
from suites.trueseal.line import TruesealLine, shaken

ROLE = "trueseal/client"
L = TypeVar("L", "PushLine", "ReceiveLine")
RETRY_MS = 10
SLOWEST_REDIAL_S = 7.5
"""A client whose waits cannot be set may take that long before it dials again."""


class PushLine(TruesealLine):
    """A Push Session of the client under test, from the relay's end."""

    other = "client"

    async def expect_push(self, clause: str = "TS-PUSH-01") -> Push:
        return await self.expect(Push, clause)

    async def answer(self, *frames: Ack | Error) -> None:
        await self.send(*frames)


class ReceiveLine(TruesealLine):
    """A Receive Session of the client under test, from the relay's end."""

    other = "client"

    def __init__(self, trial: Trial, carrier: Sealed, label: str) -> None:
        super().__init__(trial, carrier, label)
        self.acked: set[int] = set()

    def unasked(self, frame: Frame | Hangup) -> bool:
        """One more ack of what was acked before does no harm."""
        return super().unasked(frame) or (isinstance(frame, DeliverAck) and frame.blob_id in self.acked)

    async def next(self, what: str = "a frame", clause: str = "", beats: bool = False) -> Frame | Hangup:
        if isinstance(frame := await super().next(what, clause, beats), DeliverAck):
            self.acked.add(frame.blob_id)
        return frame

    async def deliver(self, blob_id: int, envelope: bytes) -> None:
        self.acked.discard(blob_id)
        await self.send(Deliver(blob_id, envelope))

    async def expect_ack(self, blob_id: int, clause: str = "TS-DLV-03") -> None:
        got = await self.expect(DeliverAck, clause)
        self.trial.expect(got.blob_id == blob_id, f"DeliverAck of {blob_id:#x}", got, clause)


class FakeRelay:
    """The relay that the client dials: connections wait at its two ports until a case accepts them."""

    def __init__(self, trial: Trial) -> None:
        self.trial, self.private = trial, secrets.token_bytes(32)
        self.public = public_key(self.private)
        self.ports: dict[str, Port[Stream]] = {}
        self.numbers: dict[str, int] = {}
        self._opened: list[Port[Stream]] = []
        self.lines: list[TruesealLine] = []

    async def open(self) -> None:
        """Two ports; for a client's next life two others, since connections of the last one may still come."""
        for name in ("push", "receive"):
            port = self.ports[name] = Port[Stream](tcp.Listener)
            self._opened.append(port)
            self.numbers[name] = await port.open()

    def responder(self, pattern: Pattern, key: bytes = b"") -> Secured:
        static = key or self.private
        return Secured(Noise(pattern, initiator=False, entropy=secrets.token_bytes, static=static))

    async def shaken(self, stream: Stream, pattern: Pattern, clause: str, responder: Secured | None = None) -> Sealed:
        """The handshake, which a conforming client completes."""
        return await shaken(self.trial, Sealed(stream, responder or self.responder(pattern)), False, clause)

    def line(self, kind: type[L], sealed: Sealed) -> L:
        """The relay's end of a session, which ends with the case."""
        line = kind(self.trial, sealed, unique("push" if kind is PushLine else "receive"))
        self.lines.append(line)
        return line

    async def close(self) -> None:
        for line in self.lines:
            await line.leave()
        for port in self._opened:
            await port.close()


class ClientUnderTest:
    """The client of one case, its relay and its host."""

    host: Host
    retry_ms = RETRY_MS

    def __init__(self, trial: Trial, session: Session, capabilities: Iterable[str]) -> None:
        self.trial, self.session, self.capabilities = trial, session, set(capabilities)
        self.private, self.folder = secrets.token_bytes(32), str(trial.target.new_folder("client"))
        self.public = public_key(self.private)
        self.relay = FakeRelay(trial)
        self.messages: Inbox[Received] = Inbox()
        self.on_settled: Callable[[str, Any], None] = lambda event, blob: None  # what the host is told of its blobs
        self.pushed: Inbox[tuple[PushLine, Push]] = Inbox()
        self._accepting = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._started = False

    @property
    def redial_s(self) -> float:
        return self.trial.patience_s + (0 if "retry_ms" in self.capabilities else SLOWEST_REDIAL_S)

    @property
    def config(self) -> dict[str, Any]:
        ports = {f"{name}_port": number for name, number in self.relay.numbers.items()}
        keys = {"relay_key": self.relay.public.hex(), "private_key": self.private.hex()}
        retry = {"retry_ms": self.retry_ms} if "retry_ms" in self.capabilities else {}
        return {**ports, **keys, **retry, "state_dir": self.folder}

    async def start(self) -> Self:
        await self.relay.open()
        await self.restart(self.session)
        return self

    async def restart(self, session: Session) -> None:
        """A client process on this folder; the first one of the case, or the next."""
        self.session = session
        self.trial.said("host", "client", "request", f"start {self.config}")
        self.host = Host(self.trial, await session.start(ROLE, self.config))
        self.host.listen(self._told)
        self._started = True

    def _told(self, told: Event | Exception) -> None:
        match told:
            case Exception():
                self.messages.put(told)
            case "received", data:
                self.messages.put(Received(shim.member(data, "envelope", shim.raw, "received")))
            case ("pushed" | "rejected") as event, data:
                self.on_settled(event, data.get("id"))

    async def close(self) -> None:
        if self._started:
            self._started = False
            await self.host.stop()
        for task in self._tasks:
            task.cancel()
        await self.relay.close()

    # -- the relay's part -----------------------------------------------------------------------------------------

    async def arrival(self, port: str, clause: str) -> Stream:
        """The next connection to one of the ports; nothing is said on it yet."""
        arrivals = self.relay.ports[port].arrivals
        return await self.trial.next_of(arrivals, f"the client to dial the {port} port", clause, self.redial_s)

    async def pushing(self, clause: str = "TS-SES-01") -> PushLine:
        """Its next Push Session."""
        sealed = await self.relay.shaken(await self.arrival("push", clause), Pattern.NK, clause)
        return self.relay.line(PushLine, sealed)

    async def receiving(self, clause: str = "TS-SES-06") -> ReceiveLine:
        """Its next Receive Session, under its own key."""
        sealed = await self.relay.shaken(await self.arrival("receive", clause), Pattern.XX, clause)
        shown = sealed.remote_static or b""
        self.trial.expect(shown == self.public, f"the device's key {self.public.hex()}", shown.hex(), "TS-SES-06")
        return self.relay.line(ReceiveLine, sealed)

    async def next_push(self, clause: str = "TS-PUSH-01") -> tuple[PushLine, Push]:
        """The next Push, in whichever session: from now on every Push Session is accepted as it comes."""
        if not self._accepting:
            self._accepting = True
            self.relay.ports["push"].arrivals.hand_over(self._push_arrived)
        return await self.trial.next_of(self.pushed, "a Push", clause, self.redial_s)

    def _push_arrived(self, stream: Stream | Exception) -> None:
        assert isinstance(stream, Stream), "a port hands out connections"
        task = asyncio.create_task(self._accept(stream))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, stream: Stream) -> None:
        try:
            sealed = await self.relay.shaken(stream, Pattern.NK, "TS-SES-01")
        except Broken as broken:
            self.pushed.put(broken)
            return
        self.follow(self.relay.line(PushLine, sealed))

    def follow(self, line: PushLine) -> None:
        """What is pushed in this session is the next Push, too."""
        line.inbox.hand_over(lambda frame: self._heard(line, frame))

    def _heard(self, line: PushLine, frame: Frame | Hangup | Exception) -> None:
        match frame:
            case Push():
                self.pushed.put((line, frame))
            case Exception():
                self.pushed.put(frame)

    def dialled(self, port: str) -> int:
        """How many connections wait at a port."""
        return len(self.relay.ports[port].arrivals)

    # -- the host's part ------------------------------------------------------------------------------------------

    async def push(self, recipient: bytes, envelope: bytes) -> Any:
        """Its own name for the blob."""
        shown = f"{recipient.hex()} {len(envelope)} bytes"
        return (await self.host.do("push", envelope, shown, recipient=recipient.hex(), envelope=envelope.hex())).get(
            "id"
        )

    async def refuses(self, recipient: bytes, envelope: bytes) -> bool:
        try:
            await self.push(recipient, envelope)
        except TargetRefused:
            return True
        return False

    async def received(self) -> list[bytes]:
        """All that it holds durably."""
        said = await self.host.do("received")
        return shim.member(said, "envelopes", shim.several(shim.raw), "received")

    async def message(self, clause: str = "TS-DLV-04") -> bytes:
        """The next message that the application gets."""
        return (await self.trial.next_of(self.messages, "a message for the application", clause)).envelope

    # -- both -----------------------------------------------------------------------------------------------------

    async def expect_handled(self, line: ReceiveLine, blob_id: int, envelope: bytes, clause: str = "") -> None:
        """Delivered now, it is surfaced and acked."""
        await line.deliver(blob_id, envelope)
        got = await self.message(clause or "TS-DLV-04")
        self.trial.expect(got == envelope, f"{len(envelope)} bytes as delivered", got.hex(), clause or "TS-DLV-04")
        await line.expect_ack(blob_id, clause or "TS-DLV-03")

    async def expect_pushed(
        self, line: PushLine, recipient: bytes, envelope: bytes, clause: str = "TS-PUSH-01"
    ) -> None:
        """The next frame is exactly this Push."""
        self.same_push(await line.expect_push(clause), recipient, envelope)

    def same_push(self, got: Push, recipient: bytes, envelope: bytes) -> None:
        self.trial.expect(got.recipient == recipient, f"the recipient {recipient.hex()}", got, "TS-PUSH-09")
        self.trial.expect(got.envelope == envelope, f"the envelope of {len(envelope)} bytes", got, "TS-PUSH-10")

    async def pushes(self, recipient: bytes, envelope: bytes, answer: Ack | Error, clause: str = "TS-PUSH-01") -> None:
        """Submitted, it is the next thing pushed, and answered."""
        await self.push(recipient, envelope)
        line, got = await self.next_push(clause)
        self.trial.expect(
            got == Push(recipient, envelope), f"a Push of {len(envelope)} bytes, just submitted", got, clause
        )
        await line.answer(answer)

    async def expect_pushed_next(self, clause: str) -> None:
        """A sentinel, submitted now, is the next thing pushed: nothing older is in the outbox."""
        sentinel, recipient = wire.envelope(), secrets.token_bytes(32)
        await self.pushes(recipient, sentinel, Ack(), clause)


class PrivateClient(ClientUnderTest):
    """A client of the case's own, which it may kill and start again on the same folder."""

    def __init__(self, trial: Trial, capabilities: Iterable[str]) -> None:
        super().__init__(trial, trial.target.private(), capabilities)

    async def start(self) -> Self:
        await self.session.open()
        await super().start()
        return self

    async def kill(self) -> None:
        """SIGKILL: the host hears nothing more of this life."""
        self.trial.said("harness", "client", "note", "SIGKILL")
        await self.host.deaf()
        await self.session.kill()

    async def revive(self) -> None:
        """Killed, and started again."""
        await self.kill()
        await self.session.close()
        await self.relay.open()
        self.messages.drain()
        self._accepting = False
        session = self.trial.target.private()
        await session.open()
        await self.restart(session)

    async def close(self) -> None:
        await super().close()
        await self.session.close()
