"""Frames to bytes and back: one transport message is one frame, so the last field takes whatever is left.

    frame   = kind u8, flags u8, id 16 bytes, [ts i64 if flags bit 0], body
    control = op u8, data                       message = subjectLen u32, subject, data
    ack     = ackFrameId 16 bytes               error   = code u16, msgLen u32, message, details

All integers are little-endian (SBP-INT-01).
"""

from __future__ import annotations

import json
import struct
from typing import Any, NoReturn

from reference_impl.sbp.frames import (
    ID_SIZE,
    Ack,
    BadFlags,
    BadHandshake,
    Close,
    Code,
    Error,
    Frame,
    Handshake,
    Kind,
    Malformed,
    Message,
    NoFrame,
    Op,
    Ping,
    Pong,
    UnknownOp,
)

U16, U32, I64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<q")
TIMESTAMP = 0x01  # the one flag of v1 (SBP-FLAGS-01)
HEADER_SIZE = 2 + ID_SIZE


class Rejected(ValueError):
    """These bytes are no frame; carries the input that they are instead."""

    def __init__(self, instead: NoFrame) -> None:
        super().__init__(instead.why)
        self.instead = instead


class Unencodable(ValueError):
    """This frame has no bytes: a field does not fit."""


class Codec:
    """The wire format as one object, so that a target with other rules can be built from it."""

    # -- decoding -------------------------------------------------------------------------------------------------

    def decode(self, wire: bytes) -> Frame | NoFrame:
        """One message's frame. Everything that is none is a NoFrame, never an exception."""
        try:
            kind, flags, id = self.header(wire)
            ts, body = self.timestamp(flags, id, wire[HEADER_SIZE:])
            return self.body(kind, id, ts, body)
        except Rejected as error:
            return error.instead

    def header(self, wire: bytes) -> tuple[int, int, bytes]:
        if len(wire) < HEADER_SIZE:  # SBP-HDR-01, SBP-FID-06
            raise Rejected(Malformed(f"{len(wire)} bytes: shorter than header and id"))
        kind, flags, id = wire[0], wire[1], self.frame_id(wire)
        if not self.knows_kind(kind):
            codes = (Code.INVALID_FRAME, Code.PROTOCOL_VIOLATION, Code.UNSUPPORTED_FEATURE)
            raise Rejected(Malformed(f"kind {kind} is reserved", id, codes=codes))
        if self.reserved(flags):
            raise Rejected(BadFlags(f"flags {flags:#04x}: a reserved bit is set", id))
        return kind, flags, id

    def frame_id(self, wire: bytes) -> bytes:
        """Raw: never looked into (SBP-FID-04, -05)."""
        return wire[2:HEADER_SIZE]

    def knows_kind(self, kind: int) -> bool:
        return kind <= Kind.ERROR  # SBP-KIND-02

    def reserved(self, flags: int) -> int:
        return flags & ~TIMESTAMP  # SBP-FLAGS-04

    def timestamp(self, flags: int, id: bytes, rest: bytes) -> tuple[int | None, bytes]:
        """Present if and only if its bit is set; on any kind (SBP-TS-01, SBP-FLAGS-07)."""
        if not flags & TIMESTAMP:
            return None, rest
        if len(rest) < I64.size:
            raise Rejected(Malformed(f"{len(rest)} bytes where a timestamp has 8", id))  # SBP-TS-04
        return I64.unpack_from(rest)[0], rest[I64.size :]

    def body(self, kind: int, id: bytes, ts: int | None, body: bytes) -> Frame:
        match kind:
            case Kind.CONTROL:
                return self.control(id, ts, body)
            case Kind.MESSAGE:
                return self.message(id, ts, body)
            case Kind.ACK:
                return self.ack(id, ts, body)
            case _:
                return self.error(id, ts, body)

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        if not body:
            raise Rejected(Malformed("a Control frame without an op", id))  # SBP-CTRL-01
        op, data = body[0], body[1:]
        match op:
            case Op.HANDSHAKE:
                return self.handshake(id, ts, data)
            case Op.PING:
                self.no_data(id, data)
                return Ping(id, ts)
            case Op.PONG:
                self.no_data(id, data)
                return Pong(id, ts)
            case Op.CLOSE:
                return Close(id, self.text(id, data, "reason") if data else None, ts)
            case _:
                return UnknownOp(id, op, data, ts)  # SBP-CTRL-04

    def no_data(self, id: bytes, data: bytes) -> None:
        if data:
            raise Rejected(Malformed(f"{len(data)} bytes behind a Ping or Pong", id, fatal=False))  # SBP-PING-02

    def message(self, id: bytes, ts: int | None, body: bytes) -> Message:
        subject, data = self.counted(id, body, "subject")
        if not subject:
            raise Rejected(Malformed("an empty subject", id, fatal=False))  # SBP-MSG-05
        return Message(id, subject, data, ts)

    def ack(self, id: bytes, ts: int | None, body: bytes) -> Ack:
        if len(body) != ID_SIZE:
            raise Rejected(Malformed(f"an Ack of {len(body)} bytes instead of {ID_SIZE}", id))  # SBP-ACK-02
        return Ack(id, body, ts)

    def error(self, id: bytes, ts: int | None, body: bytes) -> Error:
        if len(body) < U16.size:
            raise Rejected(Malformed("an Error without its code", id))  # SBP-ERR-03
        message, details = self.counted(id, body[U16.size :], "message")
        return Error(id, U16.unpack_from(body)[0], message, details, ts)  # any code: SBP-ERR-02

    def counted(self, id: bytes, body: bytes, what: str) -> tuple[str, bytes]:
        """A text behind its length, and the rest. The length is compared before it is used (SBP-MSG-06, SBP-ERR-03)."""
        if len(body) < U32.size:
            raise Rejected(Malformed(f"no room for the length of the {what}", id))
        size, rest = self.length(body), body[U32.size :]
        if size > len(rest):
            raise Rejected(Malformed(f"a {what} of {size} bytes with {len(rest)} left", id))
        return self.text(id, rest[:size], what), rest[size:]

    def length(self, body: bytes) -> int:
        size: int = U32.unpack_from(body)[0]
        return size

    def text(self, id: bytes, raw: bytes, what: str) -> str:
        """Strict UTF-8; a byte order mark is a character like any other (SBP-MSG-03, SBP-ERR-04)."""
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Rejected(Malformed(f"the {what} is not UTF-8: {error.reason}", id, fatal=False)) from None

    # -- the Handshake's JSON -------------------------------------------------------------------------------------

    def handshake(self, id: bytes, ts: int | None, data: bytes) -> Handshake:
        payload = self.payload(id, data)
        for name in ("protocol", "version", "peerId"):  # SBP-HSP-03, -08
            if not isinstance(payload.get(name), str):
                raise Rejected(BadHandshake(f"{name} is missing or no string", id))
        return Handshake(
            id,
            payload["peerId"],
            self.caps(id, payload.get("caps")),
            self.metadata(id, payload.get("metadata")),
            payload["protocol"],
            payload["version"],
            ts,
            len(data),
        )

    def payload(self, id: bytes, data: bytes) -> dict[str, Any]:
        """One JSON object in UTF-8; members we do not know are left alone (SBP-HS-01, SBP-EXT-01)."""
        try:
            payload = json.loads(data.decode("utf-8"), parse_constant=no_constant)
            json.dumps(payload, ensure_ascii=False).encode()  # an escape can spell what UTF-8 cannot: half a character
        except (ValueError, RecursionError) as error:
            raise Rejected(BadHandshake(f"not JSON in UTF-8: {type(error).__name__}", id)) from None
        if not isinstance(payload, dict):
            raise Rejected(BadHandshake(f"a {type(payload).__name__} is no JSON object", id))
        return payload

    def caps(self, id: bytes, caps: Any) -> tuple[str, ...] | None:
        """SBP-HSP-05."""
        if caps is None:
            return None
        if not isinstance(caps, list) or not all(isinstance(cap, str) for cap in caps):
            raise Rejected(BadHandshake("caps is not an array of strings", id))
        return tuple(caps)

    def metadata(self, id: bytes, metadata: Any) -> str | None:
        """SBP-HSP-06; what the keys are called is the sender's duty (SBP-HSP-07)."""
        if metadata is None:
            return None
        if not isinstance(metadata, dict):
            raise Rejected(BadHandshake("metadata is not an object", id))
        return to_json(metadata)

    # -- encoding -------------------------------------------------------------------------------------------------

    def encode(self, frame: Frame) -> bytes:
        match frame:
            case Handshake():
                return self.framed(Kind.CONTROL, frame, bytes([Op.HANDSHAKE]) + self.encode_handshake(frame))
            case Ping():
                return self.framed(Kind.CONTROL, frame, bytes([Op.PING]))  # SBP-PING-01
            case Pong():
                return self.framed(Kind.CONTROL, frame, bytes([Op.PONG]))
            case Close():
                return self.framed(Kind.CONTROL, frame, bytes([Op.CLOSE]) + self.utf8(frame.reason or ""))
            case UnknownOp():
                raise Unencodable(f"op {frame.op} is reserved")  # SBP-CTRL-03
            case Message():
                return self.framed(Kind.MESSAGE, frame, self.encode_subject(frame.subject) + frame.data)
            case Ack():
                return self.framed(Kind.ACK, frame, self.sixteen(frame.of))
            case Error():
                body = self.fit(U16, frame.code) + self.sized(frame.message) + frame.details
                return self.framed(Kind.ERROR, frame, body)

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        ts = self.encode_timestamp(frame.ts)
        return bytes([kind, TIMESTAMP if ts else 0]) + self.sixteen(frame.id) + ts + body  # SBP-FLAGS-03

    def encode_timestamp(self, ts: int | None) -> bytes:
        return b"" if ts is None else self.fit(I64, ts)  # 0 is a time (SBP-TS-05)

    def encode_subject(self, subject: str) -> bytes:
        if not subject:
            raise Unencodable("an empty subject")
        return self.sized(subject)

    def sized(self, text: str) -> bytes:
        """Bytes are counted, not characters (SBP-MSG-02, SBP-ERR-04)."""
        raw = self.utf8(text)
        return U32.pack(len(raw)) + raw

    def utf8(self, text: str) -> bytes:
        try:
            return text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise Unencodable(f"no UTF-8 for it: {error.reason}") from None

    def sixteen(self, id: bytes) -> bytes:
        if len(id) != ID_SIZE:
            raise Unencodable(f"an id of {len(id)} bytes instead of {ID_SIZE}")  # SBP-FID-06
        return id

    def fit(self, form: struct.Struct, value: int) -> bytes:
        try:
            return form.pack(value)
        except struct.error as error:
            raise Unencodable(f"{value} does not fit: {error}") from None

    def encode_handshake(self, frame: Handshake) -> bytes:
        payload: dict[str, Any] = {"protocol": frame.protocol, "version": frame.version, "peerId": frame.peer_id}
        if frame.caps is not None:
            payload["caps"] = list(frame.caps)
        if frame.metadata is not None:
            payload["metadata"] = self.encode_metadata(frame.metadata)
        return self.utf8(to_json(payload))

    def encode_metadata(self, metadata: str) -> Any:
        if not namespaced(metadata):
            raise Unencodable("a metadata key has no namespace: write it as `namespace:name`")  # SBP-HSP-07
        return json.loads(metadata)


def namespaced(metadata: str | None) -> bool:
    """Has each key of this JSON object a colon behind something (SBP-HSP-07)?"""
    return all(":" in key and not key.startswith(":") for key in json.loads(metadata or "{}"))


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
