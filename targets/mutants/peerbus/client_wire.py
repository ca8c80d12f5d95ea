"""Clients that get the transport or a frame's shape wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from websockets.frames import Opcode

from reference_impl.core import Channel, Expectation
from reference_impl.io.websocket import Settings, WebSocket, dial
from reference_impl.peerbus.client import ClientMachine, ClientStep, State
from reference_impl.peerbus.client_io import Client
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import MAX_MESSAGE, Ack, Binary, Frame, Garbage, Peers
from targets.mutants.peerbus.shelf import shelf

# -- the transport -----------------------------------------------------------------------------------------------------


@shelf.breaks("PB-1-01", role="client")
class DialsAPath(Client):
    """Dials /bus below the URL it was given."""

    def __init__(self, url: str, *args: Any, **parts: Any) -> None:
        super().__init__(f"{url}/bus", *args, **parts)


@shelf.breaks("PB-1-01", role="client")
class NeverSpeaksTls(Client):
    """Takes wss for ws."""

    def __init__(self, url: str, *args: Any, **parts: Any) -> None:
        super().__init__(url.replace("wss:", "ws:"), *args, **parts)


@shelf.breaks("PB-1-02", role="client")
class WritesBinary(Client):
    """Sends its frames as binary messages."""

    def write(self, frame: Frame) -> str | bytes:
        return self.codec.encode(frame)


@shelf.breaks("PB-1-03", role="client")
class SaysItTwice(Codec):
    """Puts an ack's object into its frame twice."""

    def encode(self, frame: Frame) -> bytes:
        text = super().encode(frame)
        return text + text if isinstance(frame, Ack) else text


@shelf.breaks("PB-1-04", role="client")
class EndsWithALineFeed(Codec):
    """Ends each WebSocket message with a line feed."""

    def encode(self, frame: Frame) -> bytes:
        return super().encode(frame) + b"\n"


@shelf.breaks("PB-1-11", role="client")
class ReadsBinary(Client):
    """Reads a binary message like a text message."""

    def read(self, message: str | bytes) -> Frame | Garbage | Binary:
        return self.codec.decode(message if isinstance(message, bytes) else message.encode())


@shelf.breaks("PB-1-11", role="client")
class HangsUpOnBinary(ClientMachine):
    """Hangs up when a binary message comes."""

    def receive(self, state: State, channel: Channel, event: object) -> ClientStep:
        if isinstance(event, Binary) and channel == state.connection:
            return self.give_up(state, channel, event)
        return super().receive(state, channel, event)


@shelf.breaks("PB-1-12", role="client")
class HangsUpWhenPinged(Client):
    """Drops the connection when it is pinged."""

    async def dial(self) -> WebSocket:
        carrier = await dial(self.url, self.settings)
        read = carrier._connection.process_event

        def process(event: Any) -> None:
            if getattr(event, "opcode", None) is Opcode.PING:
                carrier.cut()
            read(event)

        carrier._connection.process_event = process  # type: ignore[method-assign]  # the only place where a ping is seen
        return carrier


@shelf.breaks("PB-1-14", role="client")
class ReadsLess(Client):
    """Reads no message longer than 64 KiB."""

    settings = Settings(max_size=65_536)


@shelf.breaks("PB-1-14", role="client")
class ReadsEverything(Client):
    """Reads messages of any length."""

    settings = Settings(max_size=None)


@shelf.breaks("PB-1-15", role="client")
class SendsAnyBody(Client):
    """Sends bodies that no broker reads."""

    max_body = 1 << 30


@shelf.breaks("PB-1-15", role="client")
class CountsTheBodyOnly(Client):
    """Holds its bodies, and not the frames around them, against the limit."""

    max_body = MAX_MESSAGE


# -- control frames ----------------------------------------------------------------------------------------------------


@shelf.breaks("PB-0-02", "PB-6-02", role="client")
class AcksAsV2(ClientMachine):
    """Says v2 in its acks."""

    def acking(self, key: str, *args: Any, **parts: Any) -> tuple[Expectation, Expectation]:
        ack, again = super().acking(key, *args, **parts)
        return replace(ack, template=Ack(key, "v2")), again


@shelf.breaks("PB-2-02", "PB-6-02", role="client")
class AcksWithoutVersion(Codec):
    """Leaves the version out of its acks."""

    def encode(self, frame: Frame) -> bytes:
        text = super().encode(frame)
        return text.replace(b'"protocol_version":"v1",', b"") if isinstance(frame, Ack) else text


@shelf.breaks("PB-2-03", "PB-2-01", role="client")
class AsksWithAnotherType(Codec):
    """Asks for peers with a frame of type `list`."""

    def encode(self, frame: Frame) -> bytes:
        text = super().encode(frame)
        return text.replace(b'"type":"peers"', b'"type":"list"') if isinstance(frame, Peers) else text


@shelf.breaks("PB-2-01", role="client")
class NumbersItsTypes(Codec):
    """Writes the type of an ack as a number."""

    def encode(self, frame: Frame) -> bytes:
        text = super().encode(frame)
        return text.replace(b'"type":"ack"', b'"type":2') if isinstance(frame, Ack) else text
