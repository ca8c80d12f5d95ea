"""Clients that get the WebSocket below wrong."""

from __future__ import annotations

from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.frog.client import ClientMachine
from reference_impl.frog.client_io import Client
from reference_impl.frog.frames import MAX_PAYLOAD, Frame, Hangup, NoFrame, Text
from reference_impl.frog.joining import ClientStep, Phase, State
from reference_impl.frog.wire_io import MAX_MESSAGE
from reference_impl.io.carrier import NoConnection
from reference_impl.io.websocket import Message, Settings, WebSocket, dial
from targets.mutants.frog.shelf import in_client
from targets.mutants.frog.steps import without

FROG = "frog.v1"


class Undemanding(Client):
    """Stays with whatever subprotocol was selected."""

    async def dial(self, uri: str) -> WebSocket:
        return await dial(uri, self.settings)


@in_client("FROG-4-01", "FROG-51-01")
class OffersNoSubprotocol(Undemanding):
    """Offers no subprotocol, and wants none."""

    settings = Settings(max_size=MAX_MESSAGE)


@in_client("FROG-4-01", "FROG-51-01")
class OffersAnotherName(Undemanding):
    """Offers the name of the protocol in place of its token."""

    settings = Settings(max_size=MAX_MESSAGE, subprotocols=("frog", "FROG.V1"))


@in_client("FROG-4-04")
class StaysWithoutSubprotocol(Undemanding):
    """Stays where no subprotocol was selected."""


class Every(list[str]):
    """Has every name in it, whatever it says when it is read."""

    def __contains__(self, name: object) -> bool:
        return True


class Easygoing(Settings):
    """Offers frog.v1, and takes any answer."""

    def arguments(self) -> dict[str, Any]:
        return super().arguments() | {"subprotocols": Every([FROG])}


@in_client("FROG-4-04")
class StaysWithAnotherSubprotocol(Client):
    """Stays where another subprotocol was selected."""

    settings = Easygoing(max_size=MAX_MESSAGE, subprotocols=(FROG,))

    async def dial(self, uri: str) -> WebSocket:
        carrier = await dial(uri, self.settings)
        if carrier.subprotocol is None:
            await carrier.close()
            raise NoConnection(f"{uri} did not select any subprotocol")
        return carrier


@in_client("FROG-4-05")
class TalksInText(Client):
    """Sends text messages."""

    def write(self, frame: Frame) -> Message:
        wire = self.codec.encode(frame)
        return wire.decode() if wire.isascii() else wire


@in_client("FROG-4-05")
class LeavesInText(Client):
    """Sends what has no payload and no field as a text message."""

    def write(self, frame: Frame) -> Message:
        wire = self.codec.encode(frame)
        return wire.decode() if wire == b"LEAVE\n" else wire


@in_client("FROG-4-06")
class ReadsTextToo(Client):
    """Reads a text message as if it were binary."""

    def read(self, message: Message) -> Frame | NoFrame | Text:
        return super().read(message.encode() if isinstance(message, str) else message)


@in_client("FROG-4-06")
class LivesWithText(ClientMachine):
    """Ignores a text message."""

    def text(self, state: State, channel: Channel, what: Text) -> ClientStep:
        return Step(state)


@in_client("FROG-4-06")
class LivesWithTextOnceRegistered(ClientMachine):
    """Ignores a text message once it is registered."""

    def text(self, state: State, channel: Channel, what: Text) -> ClientStep:
        return Step(state) if state.phase is Phase.REGISTERED else super().text(state, channel, what)


@in_client("FROG-4-06")
class TurnsAwayWithoutClosing(ClientMachine):
    """Dials another server when a text message comes, and leaves the connection open."""

    def text(self, state: State, channel: Channel, what: Text) -> ClientStep:
        return without(super().text(state, channel, what), Hangup)


@in_client("FROG-4-07")
class HearsLineByLine(Client):
    """Reads a message without payload as many commands, one per line."""

    def hear(self, channel: Channel, message: Message) -> None:
        if isinstance(message, str) or message.startswith(b"SIGNAL") or not message.endswith(b"\n"):
            return super().hear(channel, message)
        for line in message.splitlines(keepends=True) or [b""]:
            super().hear(channel, line)


@in_client("FROG-4-07")
class HearsAStream(Client):
    """Keeps what has no line feed until the rest of it comes."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._begun: dict[Channel, bytes] = {}

    def hear(self, channel: Channel, message: Message) -> None:
        if isinstance(message, str):
            return super().hear(channel, message)
        whole = self._begun.pop(channel, b"") + message
        if b"\n" in whole:
            return super().hear(channel, whole)
        self._begun[channel] = whole


@in_client("FROG-5-20")
class HearsAtMost65536Bytes(Client):
    """Lets its WebSocket library close where a message has more than 65536 bytes."""

    settings = Settings(max_size=MAX_PAYLOAD, subprotocols=(FROG,))
