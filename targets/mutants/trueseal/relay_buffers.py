"""Relays with buffers of the sizes that people choose, and numbers of the widths that they choose."""

from __future__ import annotations

from typing import Any

from reference_impl.core import Channel, Step
from reference_impl.trueseal.codec import Codec, Reader
from reference_impl.trueseal.frames import KEY_SIZE, MAX_ENVELOPE, Oversize, Push, ShortPush
from reference_impl.trueseal.noise import Secured
from reference_impl.trueseal.relay import RelayMachine, RelayStep, State
from reference_impl.trueseal.relay_io import Relay
from targets.mutants.trueseal import noises, wire
from targets.mutants.trueseal.relay_noise import OtherNoise
from targets.mutants.trueseal.shelf import broken_relay as broken


@broken("TS-PUSH-04", "TS-DLV-05")
class ABufferOf1024(Codec):
    """Has room for 1,024 bytes of a Push, and drops the rest."""

    def push(self, body: bytes) -> Push | ShortPush:
        return super().push(body[:1_024])


@broken("TS-FRM-01", "TS-DLV-01")
class MessagesOf1500(wire.CutsAt):
    """Cuts what it sends at 1,500 bytes, though a larger frame fits into one Noise message."""

    at = 1_500


@broken("TS-ACK-01", "TS-ACK-06")
class DropsOver1536(RelayMachine):
    """Drops an envelope over 1,536 bytes without an answer."""

    def push(self, state: State, channel: Channel, frame: Push) -> RelayStep:
        return Step(state) if len(frame.envelope) > 1_536 else super().push(state, channel, frame)


@broken("TS-ACK-01", "TS-FRM-01")
class WaitsFor4096(Relay):
    """Takes a message that fills a buffer of 4,096 bytes for the first part of a longer one."""

    def __init__(self, *given: Any, **told: Any) -> None:
        super().__init__(*given, **told)
        self.parts: dict[Channel, bytes] = {}

    def heard(self, channel: Channel, reader: Reader, message: bytes) -> None:
        message = self.parts.pop(channel, b"") + message
        if message and len(message) % 4_096 == 0:
            self.parts[channel] = message
            return
        super().heard(channel, reader, message)


@broken("TS-ERR-06", "TS-SIZE-01")
class RejectsOver65507(RelayMachine):
    """Rejects what does not fit into a datagram."""

    def weighed(self, event: Any) -> Any:
        large = isinstance(event, Push) and KEY_SIZE + len(event.envelope) > 65_507
        return Oversize(len(event.envelope)) if large else super().weighed(event)


@broken("TS-FRM-01", "TS-DLV-01")
class MessagesOf65518(wire.CutsAt):
    """Sends a frame of exactly 65,519 bytes in two Noise messages."""

    at = 65_518


@broken("TS-FRM-01", "TS-DLV-01", "TS-SIZE-01")
class MessagesOf65535(wire.CutsAt):
    """Forgets the tag when it cuts a large delivery, and breaks down over it."""

    at = 65_535


@broken("TS-FRM-01", "TS-DLV-01")
class AnEmptyMessageBehind(wire.EndsWithAnEmptyMessage):
    """Sends an empty message behind a delivery that fills its last one."""


@broken("TS-SIZE-01", "TS-DLV-01")
class AHeaderOnEachPiece(wire.RepeatsTheHeader):
    """Sends the header again with each message of a large delivery."""


@broken("TS-SIZE-01", "TS-FRM-06")
class PushesOf16Bits(wire.LengthsOf16Bits):
    """Reads the lower half of a length only, so that large pushes end in the middle."""


@broken("TS-SIZE-01", "TS-SIZE-08")
class ALimitOf16Bits(RelayMachine):
    """Keeps its limit in 16 bits, at most."""

    def __init__(self, limit: int = MAX_ENVELOPE) -> None:
        super().__init__(min(limit, 0xFFFF))


@broken("TS-ACK-01", "TS-SES-01")
class SignedNoiseLengths(OtherNoise):
    """Reads the length of a Noise message as signed, and ends the session for one of 32,768 bytes."""

    stream = noises.SignedLengths


@broken("TS-SES-01", "TS-SES-06")
class OneReadIsOneMessage(OtherNoise):
    """Takes each read of the stream for whole messages, and loses what comes in pieces."""

    stream = noises.OneReadIsOneMessage


@broken("TS-ACK-06", "TS-SES-04")
class ReadsOneOfASegment(OtherNoise):
    """Handles the first message of each read, and drops what came with it."""

    class stream(Secured):
        def _next(self) -> bytes | None:
            message = super()._next()
            if message is not None and self.noise.finished:
                self._buffer.clear()
            return message
