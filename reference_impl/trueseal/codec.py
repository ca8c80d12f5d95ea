"""Frames to the plaintexts of Noise messages, and back.

    frame = type u8, len u32, body of len bytes

    Push       = recipient 32 bytes, envelope          Ack, Error, Heartbeat = nothing
    Deliver    = blob_id u64, envelope                 DeliverAck            = blob_id u64

All integers are big-endian (TS-FRM-02). A frame that fits is the plaintext of one Noise message; a longer one goes on in
the next ones, which hold nothing else (sheet, section 2.2).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from reference_impl.trueseal.frames import (
    ID_SIZE,
    KEY_SIZE,
    MAX_ENVELOPE,
    Ack,
    BadAnswer,
    BadDeliverAck,
    BadHeartbeat,
    Deliver,
    DeliverAck,
    Error,
    Frame,
    Heartbeat,
    Malformed,
    NoFrame,
    Oversize,
    Push,
    ShortPush,
    Tag,
    Trailing,
    UnknownType,
)

HEADER, U64 = struct.Struct(">BI"), struct.Struct(">Q")
MAX_PLAINTEXT = 65_519  # of a Noise message of 65,535 bytes, 16 are its tag
KEPT = KEY_SIZE + MAX_ENVELOPE
"""Bytes of a body that are ever held: no frame of the protocol has more."""
EXTREME = 0x7FFF_FFFF
"""Nobody pushes so much by mistake: malformed, not merely over the limit (TS-FRM-07)."""


class Unencodable(ValueError):
    """This frame has no bytes: a field does not fit."""


class Codec:
    """The wire format as one object, so that a target with other rules can be built from it."""

    def __init__(self, large_frames: bool = True) -> None:
        self.large_frames = large_frames

    # -- decoding -------------------------------------------------------------------------------------------------

    def reader(self) -> Reader:
        """For the messages of one direction of one session."""
        return Reader(self)

    def decode(self, messages: Iterable[bytes]) -> list[Frame | NoFrame]:
        """What these plaintexts of one direction hold. An end in the middle of a frame is malformed too."""
        reader = self.reader()
        events = [event for message in messages if (event := reader.read(message)) is not None]
        return [*events, Malformed("the last frame is not complete")] if reader.inside else events

    def header(self, message: bytes) -> tuple[int, int]:
        """Type and length. The length is compared, never used to allocate (TS-FRM-07)."""
        tag, size = HEADER.unpack_from(message)
        return tag, size

    def knows(self, tag: int) -> bool:
        return Tag.PUSH <= tag <= Tag.DELIVER_ACK  # TS-TYP-02

    def body(self, tag: int, body: bytes) -> Frame | NoFrame:
        match tag:
            case Tag.PUSH:
                return self.push(body)
            case Tag.DELIVER:
                return self.deliver(body)
            case Tag.DELIVER_ACK:
                return self.deliver_ack(body)
            case Tag.HEARTBEAT:
                return BadHeartbeat(body) if body else Heartbeat()  # TS-HB-03
            case _:
                answer = Ack() if tag == Tag.ACK else Error()
                return BadAnswer(answer, body) if body else answer  # TS-ACK-02, TS-ERR-02

    def push(self, body: bytes) -> Push | ShortPush:
        if len(body) < KEY_SIZE:
            return ShortPush(len(body))  # TS-PUSH-06; exactly 32 bytes are a key and an empty envelope (TS-PUSH-05)
        return Push(body[:KEY_SIZE], body[KEY_SIZE:])  # TS-PUSH-01

    def deliver(self, body: bytes) -> Deliver | Malformed:
        if len(body) < ID_SIZE:
            return Malformed(f"a Deliver of {len(body)} bytes, shorter than an id", Tag.DELIVER)
        return Deliver(U64.unpack_from(body)[0], body[ID_SIZE:])  # TS-DLV-01, TS-DLV-04

    def deliver_ack(self, body: bytes) -> DeliverAck | BadDeliverAck:
        return DeliverAck(U64.unpack(body)[0]) if len(body) == ID_SIZE else BadDeliverAck(body)  # TS-DACK-01

    # -- encoding -------------------------------------------------------------------------------------------------

    def encode(self, frame: Frame) -> list[bytes]:
        """The plaintexts of its Noise messages."""
        tag, body = self.parts(frame)
        if len(body) > KEPT:
            raise Unencodable(f"a body of {len(body)} bytes: the protocol has none over {KEPT}")
        wire = HEADER.pack(tag, len(body)) + body  # TS-FRM-01, -03
        if len(wire) > MAX_PLAINTEXT and not self.large_frames:
            raise Unencodable(f"a frame of {len(wire)} bytes does not fit into one Noise message")
        return [wire[at : at + MAX_PLAINTEXT] for at in range(0, len(wire), MAX_PLAINTEXT)]

    def parts(self, frame: Frame) -> tuple[Tag, bytes]:
        match frame:
            case Push(recipient, envelope):
                if len(recipient) != KEY_SIZE:
                    raise Unencodable(f"a recipient's key of {len(recipient)} bytes instead of {KEY_SIZE}")
                return Tag.PUSH, recipient + envelope
            case Deliver(blob_id, envelope):
                return Tag.DELIVER, self.id(blob_id) + envelope
            case DeliverAck(blob_id):
                return Tag.DELIVER_ACK, self.id(blob_id)
            case Heartbeat():
                return Tag.HEARTBEAT, b""
            case Ack():
                return Tag.ACK, b""
            case Error():
                return Tag.ERROR, b""

    def id(self, blob_id: int) -> bytes:
        try:
            return U64.pack(blob_id)
        except struct.error:
            raise Unencodable(f"{blob_id} is no unsigned number of 64 bits") from None


class Reader:
    """The frames of one direction. A message either begins a frame or goes on with one."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._tag = self._size = self._got = 0
        self._pieces: list[bytes] = []
        self.inside = False  # a frame has begun and is not complete

    def read(self, message: bytes) -> Frame | NoFrame | None:
        """What is complete with this message, if anything is. What is malformed is dropped as a whole."""
        if not self.inside:
            if fault := self._begin(message):
                return fault
            message = message[HEADER.size :]
        piece, extra = message[: self._size - self._got], message[self._size - self._got :]
        self._got += len(piece)
        if self._size <= KEPT:  # what is over is counted only
            self._pieces.append(piece)
        self.inside = self._got < self._size and self._codec.large_frames
        if self.inside:
            return None
        return Trailing(self._complete(), extra) if extra else self._complete()  # TS-FRM-08

    def _begin(self, message: bytes) -> NoFrame | None:
        if len(message) < HEADER.size:
            return Malformed(f"{len(message)} bytes: shorter than a header")  # TS-FRM-05
        self._tag, self._size = self._codec.header(message)
        self._got, self._pieces = 0, []
        if not self._codec.knows(self._tag):
            return UnknownType(self._tag)
        if self._size > KEPT and (self._tag != Tag.PUSH or self._size >= EXTREME):
            return Malformed(f"a body of {self._size} bytes", self._tag)  # TS-FRM-07
        return None

    def _complete(self) -> Frame | NoFrame:
        if self._got < self._size:
            return Malformed(f"{self._got} bytes of {self._size}", self._tag)  # TS-FRM-06
        if self._size > KEPT:
            return Oversize(self._size - KEY_SIZE)
        return self._codec.body(self._tag, b"".join(self._pieces))
