"""Servers that get the WebSocket below wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from websockets.exceptions import NegotiationError

from reference_impl.core import Channel, Step
from reference_impl.frog.frames import MAX_PAYLOAD, Err, Frame, Hangup, NoFrame, Text
from reference_impl.frog.presence import Phase, State
from reference_impl.frog.server import ServerMachine, ServerStep
from reference_impl.frog.server_io import Server
from reference_impl.frog.wire_io import MAX_MESSAGE
from reference_impl.io.websocket import Message, Settings
from targets.mutants.frog.shelf import in_server
from targets.mutants.frog.steps import without

FROG = "frog.v1"
Choose = Callable[[Sequence[str]], str | None]


@dataclass(frozen=True)
class Choosy(Settings):
    """Chooses the subprotocol by a rule of its own; None goes on without one."""

    choose: Choose = lambda offered: None

    def arguments(self) -> dict[str, Any]:
        return super().arguments() | {"select_subprotocol": lambda _, offered: self.choose(offered)}


def choosing(choose: Choose) -> Settings:
    return Choosy(max_size=MAX_MESSAGE, subprotocols=(FROG,), choose=choose)


def refused(why: str) -> str:
    raise NegotiationError(why)


@in_server("FROG-4-02")
class SelectsWhatIsOfferedFirst(Server):
    """Selects the first subprotocol of a list that has frog.v1 in it."""

    settings = choosing(lambda offered: offered[0] if FROG in offered else refused("no frog.v1"))


@in_server("FROG-4-02")
class WantsNoOtherOffer(Server):
    """Refuses whoever offers another subprotocol besides."""

    settings = choosing(lambda offered: FROG if list(offered) == [FROG] else refused("frog.v1 and no other"))


@in_server("FROG-4-02", "FROG-51-01")
class SelectsNothing(Server):
    """Goes on without a subprotocol though frog.v1 was offered."""

    settings = choosing(lambda offered: None if FROG in offered else refused("no frog.v1"))


@in_server("FROG-4-03")
class NeedsNoSubprotocol(Server):
    """Lets in whoever offers no subprotocol."""

    settings = choosing(lambda offered: FROG if FROG in offered else refused("no frog.v1") if offered else None)


@in_server("FROG-4-03")
class TakesOtherVersions(Server):
    """Selects whatever subprotocol begins like its own."""

    settings = choosing(
        lambda offered: (
            FROG
            if FROG in offered
            else next((name for name in offered if name.startswith("frog")), None) or refused("no frog")
        )
    )


@in_server("FROG-4-03")
class GoesOnWithStrangers(Server):
    """Goes on without a subprotocol where it does not know any that was offered."""

    settings = choosing(lambda offered: FROG if FROG in offered else None if offered else refused("nothing offered"))


@in_server("FROG-4-05")
class AnswersInText(Server):
    """Sends text messages where nothing but text is in them."""

    def write(self, frame: Frame) -> Message:
        wire = self.codec.encode(frame)
        return wire.decode() if wire.isascii() else wire


@in_server("FROG-4-05")
class ErrorsInText(Server):
    """Sends errors as text messages."""

    def write(self, frame: Frame) -> Message:
        return self.codec.encode(frame).decode() if isinstance(frame, Err) else super().write(frame)


@in_server("FROG-4-06")
class ReadsText(Server):
    """Reads a text message as if it were binary."""

    def read(self, message: Message) -> Frame | NoFrame | Text:
        return super().read(message.encode() if isinstance(message, str) else message)


@in_server("FROG-4-06")
class IgnoresText(ServerMachine):
    """Ignores a text message."""

    def text(self, state: State, channel: Channel, event: Text) -> ServerStep:
        return Step(state)


@in_server("FROG-4-06")
class IgnoresTextOfTheRegistered(ServerMachine):
    """Closes only before registration when a text message comes."""

    def text(self, state: State, channel: Channel, event: Text) -> ServerStep:
        return Step(state) if state.phase(channel) is Phase.REGISTERED else super().text(state, channel, event)


@in_server("FROG-4-06", "FROG-18-05")
class TextEndsPresenceOnly(ServerMachine):
    """Forgets whoever sends a text message and leaves the connection open."""

    def text(self, state: State, channel: Channel, event: Text) -> ServerStep:
        return without(super().text(state, channel, event), Hangup)


@in_server("FROG-18-05")
class ForgetsWhomItClosed(ServerMachine):
    """Keeps the registration of a connection that it closed itself."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._closed: set[Channel] = set()

    def text(self, state: State, channel: Channel, event: Text) -> ServerStep:
        self._closed.add(channel)
        return replace(super().text(state, channel, event), state=state)

    def hung_up(self, state: State, channel: Channel, event: Hangup) -> ServerStep:
        return Step(state) if channel in self._closed else super().hung_up(state, channel, event)


@in_server("FROG-4-07")
class ReadsLineByLine(Server):
    """Reads a message without payload as many commands, one per line."""

    def hear(self, channel: Channel, message: Message) -> None:
        if isinstance(message, str) or message.startswith((b"SIGNAL", b"@SIGNAL")) or not message.endswith(b"\n"):
            return super().hear(channel, message)
        for line in message.splitlines(keepends=True) or [b""]:
            super().hear(channel, line)


@in_server("FROG-4-07")
class ReadsAStream(Server):
    """Keeps what has no line feed until the rest of it comes."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._begun: dict[Channel, bytes] = {}

    def hear(self, channel: Channel, message: Message) -> None:
        if isinstance(message, str):
            return super().hear(channel, message)
        whole = self._begun.pop(channel, b"") + message
        if b"\n" in whole:
            return super().hear(channel, whole)
        self._begun[channel] = whole


@in_server("FROG-4-07", "FROG-5-16")
class WaitsForTheRestOfAPayload(Server):
    """Keeps a signal whose payload is too short until the rest of it comes."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._begun: dict[Channel, bytes] = {}

    def hear(self, channel: Channel, message: Message) -> None:
        if isinstance(message, str):
            return super().hear(channel, message)
        whole = self._begun.pop(channel, b"") + message
        header, _, payload = whole.partition(b"\n")
        declared = header.rpartition(b" ")[2]
        if header.startswith(b"SIGNAL ") and declared.isdigit() and len(payload) < int(declared[:9]) <= MAX_PAYLOAD:
            self._begun[channel] = whole
        else:
            super().hear(channel, whole)


@in_server("FROG-5-10", "FROG-5-24")
class EmptyLinesKeepAlive(Server):
    """Takes an empty header for a sign of life."""

    def hear(self, channel: Channel, message: Message) -> None:
        if message != b"\n":
            super().hear(channel, message)


@in_server("FROG-5-20", "FROG-39-01")
class MessagesOf64Kibibytes(Server):
    """Lets its WebSocket library close where a message has more than 65536 bytes."""

    settings = Settings(max_size=MAX_PAYLOAD, subprotocols=(FROG,))


@in_server("FROG-5-20", "FROG-39-01")
class MessagesOf4096Bytes(Server):
    """Lets its WebSocket library close where a message has more than 4096 bytes."""

    settings = Settings(max_size=4096, subprotocols=(FROG,))
