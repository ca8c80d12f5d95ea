"""Broker and relay as a process of their own, and the two ends of the traffic with each, for `harness.bench.kills`."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reference_impl.io import tcp, websocket
from reference_impl.peerbus import frames as pb
from reference_impl.peerbus.broker import BrokerMachine
from reference_impl.peerbus.broker_io import Broker
from reference_impl.peerbus.codec import Codec as PeerbusCodec
from reference_impl.trueseal import frames as ts
from reference_impl.trueseal.codec import Codec as TrueSealCodec
from reference_impl.trueseal.codec import Reader
from reference_impl.trueseal.noise import Noise, Pattern, Secured, public_key
from reference_impl.trueseal.noise_io import Sealed
from reference_impl.trueseal.relay import RelayMachine
from reference_impl.trueseal.relay_io import Relay

HOST, TOKEN = "127.0.0.1", "token"
DIAL_S = 60.0  # a busy machine is no lost message
KEY, DEVICE = b"\x17" * 32, b"\x2a" * 32


def serve_broker(folder: Path, tell: Callable[[Any], None]) -> None:
    async def run() -> None:
        tell(await Broker(BrokerMachine(frozenset([TOKEN])), folder).start())
        await asyncio.Event().wait()

    asyncio.run(run())


def serve_relay(folder: Path, tell: Callable[[Any], None]) -> None:
    async def run() -> None:
        relay = Relay(RelayMachine(), folder, KEY)
        await relay.start()
        tell(relay.ports)
        await asyncio.Event().wait()

    asyncio.run(run())


class PeerbusEnds:
    """A fence is a `peers` that is answered: what was said before it has been read, and made durable with it at the latest."""

    def __init__(self, padding: bytes = b"") -> None:
        self._codec, self._padding = PeerbusCodec(), padding
        self._carriers: list[websocket.WebSocket] = []
        self._waiting: list[str] = []

    async def connect(self, port: int) -> None:
        for name in ("receiver", "sender"):
            carrier = await websocket.dial(f"ws://{HOST}:{port}", websocket.Settings(open_s=DIAL_S))
            self._carriers.append(carrier)
            await self._say(carrier, pb.Register(TOKEN, name))
            await self._fence(carrier)

    async def _say(self, carrier: websocket.WebSocket, frame: pb.Frame) -> None:
        await carrier.send(self._codec.encode(frame).decode())

    async def _hear(self, carrier: websocket.WebSocket) -> Any:
        message = await carrier.receive()
        return self._codec.decode(message.encode() if isinstance(message, str) else message)

    async def _fence(self, carrier: websocket.WebSocket) -> None:
        while not isinstance(frame := await self._hear(carrier), pb.Peers):
            self._waiting.append(frame.delivery_key)

    async def send(self, names: list[str]) -> None:
        _, sender = self._carriers
        for name in names:
            body = b'"%s%s"' % (name.encode(), self._padding)
            await self._say(sender, pb.Envelope(name, "sender", "receiver", kind="msg", body=body))
        await self._say(sender, pb.Peers())
        await self._fence(sender)

    async def receive(self) -> str:
        if self._waiting:
            return self._waiting.pop(0)
        frame = await self._hear(self._carriers[0])
        return str(frame.delivery_key)

    async def ack(self, names: list[str]) -> None:
        receiver, _ = self._carriers
        for name in names:
            await self._say(receiver, pb.Ack(name))
        await self._say(receiver, pb.Peers())
        await self._fence(receiver)

    def cut(self) -> None:
        for carrier in self._carriers:
            carrier.cut()


class TrueSealEnds:
    """A Push is promised by its Ack, a DeliverAck by the answer to a Heartbeat behind it."""

    def __init__(self, padding: bytes = b"") -> None:
        self._codec, self._padding = TrueSealCodec(), padding
        self._waiting: list[ts.Deliver] = []
        self._ids: dict[str, int] = {}
        self._streams: list[tcp.Stream] = []

    async def connect(self, ports: tuple[int, int]) -> None:
        self._push = await self._session(Pattern.NK, ports[0], remote_static=public_key(KEY))
        self._device = await self._session(Pattern.XX, ports[1], static=DEVICE)

    async def _session(self, pattern: Pattern, port: int, **keys: bytes) -> tuple[Sealed, Reader]:
        self._streams.append(stream := await tcp.dial(HOST, port, DIAL_S))
        noise = Noise(pattern, initiator=True, entropy=secrets.token_bytes, **keys)
        sealed = Sealed(stream, Secured(noise))
        await sealed.shake_hands(initiator=True)
        return sealed, Reader(self._codec)

    async def _say(self, end: tuple[Sealed, Reader], frame: ts.Frame) -> None:
        for message in self._codec.encode(frame):
            await end[0].send(message)

    async def _hear(self, end: tuple[Sealed, Reader]) -> Any:
        while (frame := end[1].read(await end[0].receive())) is None:
            pass
        return frame

    async def send(self, names: list[str]) -> None:
        for name in names:
            await self._say(self._push, ts.Push(public_key(DEVICE), name.encode() + self._padding))
        for _ in names:
            if not isinstance(answer := await self._hear(self._push), ts.Ack):
                raise SystemExit(f"a Push was answered with {answer}")

    async def receive(self) -> str:
        frame = self._waiting.pop(0) if self._waiting else await self._hear(self._device)
        name = str(frame.envelope.decode())
        self._ids[name] = frame.blob_id
        return name

    async def ack(self, names: list[str]) -> None:
        for name in names:
            await self._say(self._device, ts.DeliverAck(self._ids[name]))
        await self._say(self._device, ts.Heartbeat())
        while not isinstance(frame := await self._hear(self._device), ts.Heartbeat):
            self._waiting.append(frame)

    def cut(self) -> None:
        for stream in self._streams:
            stream.cut()
