"""What client and server do alike on a connection: a message is a command, and what is owed there is said."""

from __future__ import annotations

from abc import ABC, abstractmethod

from reference_impl.core import Channel
from reference_impl.frog.codec import Codec
from reference_impl.frog.frames import MAX_PAYLOAD, SUBPROTOCOL, Frame, Hangup, NoFrame, Text
from reference_impl.io.carrier import NoConnection
from reference_impl.io.conversation import Conversation
from reference_impl.io.websocket import Message, Settings, WebSocket, dial

MAX_MESSAGE = 2 * MAX_PAYLOAD
"""Bytes that are still read: enough to say what is wrong with a message that is too long; beyond, the library closes (1009)."""


class Wire(ABC):
    """The half of a shell that faces its connections."""

    settings = Settings(max_size=MAX_MESSAGE, subprotocols=(SUBPROTOCOL,))  # FROG-4-01, FROG-4-02, FROG-4-03
    codec: Codec

    @abstractmethod
    def turn(self, channel: Channel, what: Frame | NoFrame | Text) -> object:
        """The machine hears it, and what comes of that is done."""

    @abstractmethod
    def frame_of(self, message: bytes) -> Frame | NoFrame:
        """What a message means to this role."""

    async def dial(self, uri: str) -> WebSocket:
        """With the subprotocol selected, or not at all (FROG-4-04)."""
        carrier = await dial(uri, self.settings)
        if carrier.subprotocol != SUBPROTOCOL:
            await carrier.close()
            raise NoConnection(f"{uri} did not select {SUBPROTOCOL}")
        return carrier

    def hear(self, channel: Channel, message: Message) -> None:
        """One message is one command (FROG-4-07)."""
        self.turn(channel, self.read(message))

    def read(self, message: Message) -> Frame | NoFrame | Text:
        return Text() if isinstance(message, str) else self.frame_of(message)

    def put(self, line: Conversation[Message, Message], frame: Frame | Hangup) -> None:
        if isinstance(frame, Hangup):
            line.hang_up(frame.code)
        else:
            line.say(self.write(frame))

    def write(self, frame: Frame) -> Message:
        return self.codec.encode(frame)  # bytes: a binary message (FROG-4-05)
