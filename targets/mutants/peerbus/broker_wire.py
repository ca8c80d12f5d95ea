"""Brokers that get the transport or a frame's shape wrong."""

from __future__ import annotations

from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.io.websocket import Settings, WebSocket
from reference_impl.peerbus.broker import BrokerMachine, BrokerStep, State
from reference_impl.peerbus.broker_io import Broker
from reference_impl.peerbus.codec import Codec
from reference_impl.peerbus.frames import Binary, Frame, Input, Oversize, Peers
from targets.mutants.peerbus.shelf import broken_broker as broken

# -- the transport -------------------------------------------------------------------------------------------------


@broken("PB-1-02")
class SpeaksBinary(Broker):
    """Sends its frames as binary messages."""

    def write(self, frame: Frame) -> Any:
        return self.codec.encode(frame)


@broken("PB-1-03")
class SpeaksInArrays(Broker):
    """Wraps every frame in a JSON array."""

    def write(self, frame: Frame) -> str:
        return f"[{self.codec.encode(frame).decode()}]"


@broken("PB-1-04")
class EndsFramesWithNewline(Broker):
    """Adds the byte-stream's line feed on WebSocket too."""

    def write(self, frame: Frame) -> str:
        return self.codec.encode(frame).decode() + "\n"


@broken("PB-1-10")
class ReadsBinaryAsText(Broker):
    """Takes a binary message for a frame, once registered."""

    def read(self, message: str | bytes) -> Any:
        return self.codec.decode(message if isinstance(message, bytes) else message.encode())


@broken("PB-1-10")
class ClosesOnBinary(BrokerMachine):
    """Closes a registered connection that sends a binary message."""

    def ignore(self, state: State, channel: Channel, event: Input) -> BrokerStep:
        return self.too_long(state, channel, Oversize(0)) if isinstance(event, Binary) else Step(state)


@broken("PB-1-12")
class DiesOnPing(Broker):
    """Ends a connection that was pinged."""

    async def handle(self, carrier: WebSocket) -> None:
        protocol = carrier._connection.protocol
        receive = protocol.recv_frame

        def recv_frame(frame: Any) -> None:
            if frame.opcode == 9:
                carrier.cut()
            else:
                receive(frame)

        protocol.recv_frame = recv_frame  # type: ignore[method-assign]  # the only place where a ping is seen
        await super().handle(carrier)


@broken("PB-1-13")
class ReadsLessThanAMebibyte(Broker):
    """Closes at a message of 1,048,576 bytes already."""

    def read(self, message: str | bytes) -> Any:
        return Oversize(len(message)) if len(message) >= 1_048_576 else super().read(message)


@broken("PB-1-13")
class ReadsMoreThanAMebibyte(Broker):
    """Has no read limit."""

    settings = Settings(max_size=None)


# -- control frames ------------------------------------------------------------------------------------------------


@broken("PB-0-02", "PB-2-02", "PB-6-02")
class SaysAnotherVersion(Codec):
    """Writes protocol_version "1" on control frames."""

    def _control(self, kind: str, version: str, **values: str) -> bytes:
        return super()._control(kind, "1", **values)


@broken("PB-2-02", "PB-6-02")
class LeavesVersionOut(Codec):
    """Writes control frames without protocol_version."""

    def _control(self, kind: str, version: str, **values: str) -> bytes:
        return super()._control(kind, version, **values).replace(b'"protocol_version":"v1",', b"", 1)


@broken("PB-2-01", "PB-2-03", "PB-2.3-03")
class HasATypeOfItsOwn(Codec):
    """Answers with type "peers-reply"."""

    def encode_peers(self, frame: Peers) -> bytes:
        return super().encode_peers(frame).replace(b'"peers"', b'"peers-reply"', 1)


@broken("PB-2.3-04")
class NamesMayBeNull(Codec):
    """Writes the list of names as an object."""

    def encode_peers(self, frame: Peers) -> bytes:
        return super().encode_peers(frame).replace(b'"names":[', b'"names":{"list":[', 1)[:-1] + b"}}"
