"""Codecs with one fault each."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from typing import Any

from reference_impl.sbp.codec import Codec, Rejected
from reference_impl.sbp.frames import (
    Ack,
    BadHandshake,
    Close,
    Error,
    Frame,
    Handshake,
    Kind,
    Malformed,
    Message,
    NoFrame,
    Ping,
    Pong,
)
from targets.mutants.sbp.shelf import shelf

# -- byte order, header, id --------------------------------------------------------------------------------------------


@shelf.breaks("SBP-INT-01", "SBP-MSG-06", role="codec")
class ReadsLengthsBigEndian(Codec):
    """Reads lengths in network byte order."""

    def length(self, body: bytes) -> int:
        return int.from_bytes(body[:4], "big")


@shelf.breaks("SBP-INT-01", "SBP-MSG-01", role="codec")
class WritesLengthsBigEndian(Codec):
    """Writes lengths in network byte order."""

    def sized(self, text: str) -> bytes:
        return struct.pack(">I", len(text.encode())) + text.encode()


@shelf.breaks("SBP-VER-01", "SBP-HDR-01", role="codec")
class WritesVersionByte(Codec):
    """Puts a version in front of each frame."""

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        return b"\x01" + super().framed(kind, frame, body)


@shelf.breaks("SBP-HDR-01", "SBP-FID-06", "SBP-FID-01", "SBP-REQ-01", role="codec")
class PadsShortFrames(Codec):
    """Reads missing header and id bytes as zero, and what is left of a Control frame as a Ping."""

    def decode(self, wire: bytes) -> Frame | NoFrame:
        return super().decode(wire if len(wire) >= 18 else wire.ljust(18, b"\x00") + b"\x01")


@shelf.breaks("SBP-HDR-02", "SBP-FID-04", role="codec")
class IdStartsAtTheFlags(Codec):
    """Takes the flags for the first byte of the id."""

    def frame_id(self, wire: bytes) -> bytes:
        return wire[1:17]


@shelf.breaks("SBP-FID-01", "SBP-FLAGS-02", role="codec")
class LeavesThePingIdOut(Codec):
    """Writes a Ping without its id."""

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        raw = super().framed(kind, frame, body)
        return raw[:2] + raw[18:] if isinstance(frame, Ping) else raw


@shelf.breaks("SBP-FID-03", role="codec")
class TrimsIds(Codec):
    """Takes trailing spaces of an id for padding and writes zeros instead."""

    def sixteen(self, id: bytes) -> bytes:
        return super().sixteen(id).rstrip(b" ").ljust(16, b"\x00")


@shelf.breaks("SBP-FID-04", role="codec")
class ReadsIdsAsText(Codec):
    """Decodes an id as UTF-8, so that what is none is replaced."""

    def frame_id(self, wire: bytes) -> bytes:
        return wire[2:18].decode("utf-8", "replace").encode()[:16]


@shelf.breaks("SBP-FID-05", role="codec")
class RefusesTheZeroId(Codec):
    """Takes the all-zero id for a missing one."""

    def header(self, wire: bytes) -> tuple[int, int, bytes]:
        kind, flags, id = super().header(wire)
        if not any(id):
            raise Rejected(Malformed("no id", id))
        return kind, flags, id


@shelf.breaks("SBP-FID-05", role="codec")
class RefusesIdsThatAreNoUuid(Codec):
    """Wants an id to be a UUID of a known version."""

    def header(self, wire: bytes) -> tuple[int, int, bytes]:
        kind, flags, id = super().header(wire)
        if id[6] >> 4 > 8:
            raise Rejected(Malformed("no UUID", id))
        return kind, flags, id


@shelf.breaks("SBP-FID-06", role="codec")
class PadsIds(Codec):
    """Fits an id of any length into sixteen bytes."""

    def sixteen(self, id: bytes) -> bytes:
        return id[:16].ljust(16, b"\x00")


@shelf.breaks("SBP-FID-06", role="codec")
class AcksOfAnyLength(Codec):
    """Looks at the length of an Ack's own id only."""

    def encode(self, frame: Frame) -> bytes:
        if isinstance(frame, Ack):
            return self.framed(Kind.ACK, frame, frame.of)
        return super().encode(frame)


# -- flags and timestamp -----------------------------------------------------------------------------------------------


@shelf.breaks("SBP-TS-01", "SBP-FLAGS-07", role="codec")
class NoTimestampOnControl(Codec):
    """Knows timestamps on Messages only."""

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        if ts is not None:
            raise Rejected(Malformed("a timestamp on a Control frame", id))
        return super().control(id, ts, body)


@shelf.breaks("SBP-FLAGS-07", "SBP-TS-01", role="codec")
class NoTimestampOnAcks(Codec):
    """Refuses an Ack with a timestamp."""

    def ack(self, id: bytes, ts: int | None, body: bytes) -> Ack:
        if ts is not None:
            raise Rejected(Malformed("a timestamp on an Ack", id))
        return super().ack(id, ts, body)


@shelf.breaks("SBP-TS-02", "SBP-PAY-01", role="codec")
class TimestampBehindTheBody(Codec):
    """Looks for the timestamp at the end of the frame."""

    def timestamp(self, flags: int, id: bytes, rest: bytes) -> tuple[int | None, bytes]:
        return super().timestamp(flags, id, rest[-8:] + rest[:-8] if len(rest) >= 8 else rest)


@shelf.breaks("SBP-TS-02", "SBP-FLAGS-01", role="codec")
class WritesTheTimestampBeforeTheId(Codec):
    """Puts the timestamp right behind the header."""

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        raw = super().framed(kind, frame, body)
        return raw[:2] + raw[18:26] + raw[2:18] + raw[26:] if raw[1] else raw


@shelf.breaks("SBP-TS-03", role="codec")
class UnsignedTimestamps(Codec):
    """Reads a timestamp as unsigned."""

    def timestamp(self, flags: int, id: bytes, rest: bytes) -> tuple[int | None, bytes]:
        ts, body = super().timestamp(flags, id, rest)
        return ts if ts is None else ts % 2**64, body


@shelf.breaks("SBP-TS-03", role="codec")
class TimestampsAsDoubles(Codec):
    """Keeps 53 bits of a timestamp."""

    def timestamp(self, flags: int, id: bytes, rest: bytes) -> tuple[int | None, bytes]:
        ts, body = super().timestamp(flags, id, rest)
        return ts if ts is None else int(float(ts)), body


@shelf.breaks("SBP-TS-03", "SBP-INT-01", role="codec")
class TimestampsBigEndian(Codec):
    """Reads a timestamp in network byte order."""

    def timestamp(self, flags: int, id: bytes, rest: bytes) -> tuple[int | None, bytes]:
        return super().timestamp(flags, id, rest[:8][::-1] + rest[8:] if flags & 1 else rest)


@shelf.breaks("SBP-TS-03", role="codec")
class WrapsTimestamps(Codec):
    """Writes what is left of a timestamp that does not fit."""

    def encode_timestamp(self, ts: int | None) -> bytes:
        return super().encode_timestamp(None if ts is None else (ts + 2**63) % 2**64 - 2**63)


@shelf.breaks("SBP-TS-04", role="codec")
class PadsTimestamps(Codec):
    """Reads missing bytes of a timestamp as zero."""

    def timestamp(self, flags: int, id: bytes, rest: bytes) -> tuple[int | None, bytes]:
        if flags & 1 and len(rest) < 8:
            return super().timestamp(flags, id, rest.ljust(8, b"\x00") + b"\x01")
        return super().timestamp(flags, id, rest)


@shelf.breaks("SBP-TS-05", role="codec")
class ZeroIsNoTimestamp(Codec):
    """Leaves a timestamp of zero out."""

    def encode_timestamp(self, ts: int | None) -> bytes:
        return super().encode_timestamp(ts or None)


@shelf.breaks("SBP-FLAGS-01", "SBP-TS-05", role="codec")
class ForgetsTheTimestampBit(Codec):
    """Writes a timestamp without saying so."""

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        raw = super().framed(kind, frame, body)
        return raw[:1] + b"\x00" + raw[2:]


@shelf.breaks("SBP-FLAGS-02", role="codec")
class AlwaysStamps(Codec):
    """Writes a timestamp of zero where none was given."""

    def encode_timestamp(self, ts: int | None) -> bytes:
        return super().encode_timestamp(ts or 0)


@shelf.breaks("SBP-FLAGS-03", role="codec")
class WritesReservedFlag(Codec):
    """Marks stamped frames with a bit of its own."""

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        raw = super().framed(kind, frame, body)
        return raw[:1] + bytes([raw[1] and 0x81]) + raw[2:]


@shelf.breaks("SBP-FLAGS-04", role="codec")
class IgnoresReservedFlags(Codec):
    """Does not look at the reserved bits."""

    def reserved(self, flags: int) -> int:
        return 0


@shelf.breaks("SBP-FLAGS-04", role="codec")
class OverlooksTheHighestFlag(Codec):
    """Checks bits 1 to 6."""

    def reserved(self, flags: int) -> int:
        return flags & 0x7E


@shelf.breaks("SBP-FLAGS-04", role="codec")
class FlagsAreFineWithTimestamp(Codec):
    """Checks the reserved bits only if bit 0 is clear."""

    def reserved(self, flags: int) -> int:
        return 0 if flags & 1 else flags


# -- kinds and control frames ------------------------------------------------------------------------------------------


@shelf.breaks("SBP-KIND-01", "SBP-ACK-01", role="codec")
class SwapsAckAndError(Codec):
    """Writes kind 3 for an Ack."""

    def framed(self, kind: int, frame: Frame, body: bytes) -> bytes:
        return super().framed({2: 3, 3: 2}.get(kind, kind), frame, body)


@shelf.breaks("SBP-KIND-02", "SBP-CMP-01", role="codec")
class UnknownKindsAreErrors(Codec):
    """Reads any kind above 3 as an Error or what else fits."""

    def knows_kind(self, kind: int) -> bool:
        return True

    def body(self, kind: int, id: bytes, ts: int | None, body: bytes) -> Frame:
        return super().body(kind, id, ts, body) if kind <= 3 else Message(id, "unknown", body, ts)


@shelf.breaks("SBP-KIND-02", role="codec")
class LooksAtTwoBitsOfTheKind(Codec):
    """Reads kind 4 as 0, and so on."""

    def header(self, wire: bytes) -> tuple[int, int, bytes]:
        return super().header(bytes([wire[0] & 3]) + wire[1:] if wire else wire)


@shelf.breaks("SBP-CTRL-01", "SBP-REQ-01", role="codec")
class NoOpIsPing(Codec):
    """Takes a Control frame without an op for a Ping."""

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        return super().control(id, ts, body or b"\x01")


@shelf.breaks("SBP-CTRL-02", role="codec")
class SwapsPingAndPong(Codec):
    """Reads op 1 as Pong and op 2 as Ping."""

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        return super().control(id, ts, {b"\x01": b"\x02", b"\x02": b"\x01"}.get(body, body))


@shelf.breaks("SBP-CMP-01", "SBP-CTRL-04", role="codec")
class ReadsOpsModuloFour(Codec):
    """Reads op 5 as a Ping, and so on."""

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        return super().control(id, ts, bytes([body[0] & 3]) + body[1:] if body else body)


@shelf.breaks("SBP-PING-01", role="codec")
class WritesPingsWithData(Codec):
    """Adds a byte to each Ping."""

    def encode(self, frame: Frame) -> bytes:
        return super().encode(frame) + (b"\x00" if isinstance(frame, Ping | Pong) else b"")


@shelf.breaks("SBP-PING-02", role="codec")
class IgnoresPingData(Codec):
    """Takes a Ping with data."""

    def no_data(self, id: bytes, data: bytes) -> None:
        pass


@shelf.breaks("SBP-PING-03", "SBP-FLAGS-07", role="codec")
class PongsHaveNoTime(Codec):
    """Drops the timestamp of a Pong."""

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        return super().control(id, None if body == b"\x02" else ts, body)


@shelf.breaks("SBP-CLOSE-01", "SBP-REQ-02", role="codec")
class WantsReason(Codec):
    """Refuses a Close without a reason."""

    def control(self, id: bytes, ts: int | None, body: bytes) -> Frame:
        if body == b"\x03":
            raise Rejected(Malformed("no reason", id))
        return super().control(id, ts, body)


@shelf.breaks("SBP-CLOSE-02", role="codec")
class ReasonsInLatin1(Codec):
    """Writes a reason in Latin-1."""

    def encode(self, frame: Frame) -> bytes:
        raw = super().encode(frame)
        return (
            raw.decode("latin-1").replace("\u00c3\u00a9", "\u00e9").encode("latin-1")
            if isinstance(frame, Close)
            else raw
        )


# -- Message, Ack, Error -----------------------------------------------------------------------------------------------


@shelf.breaks("SBP-MSG-01", role="codec")
class DataBeforeTheSubject(Codec):
    """Writes the data first."""

    def encode(self, frame: Frame) -> bytes:
        if isinstance(frame, Message):
            return self.framed(Kind.MESSAGE, frame, frame.data + self.sized(frame.subject))
        return super().encode(frame)


@shelf.breaks("SBP-MSG-02", role="codec")
class CountsLetters(Codec):
    """Writes a subject's length in characters."""

    def encode_subject(self, subject: str) -> bytes:
        return struct.pack("<I", len(subject)) + subject.encode()


@shelf.breaks("SBP-MSG-03", "SBP-ERR-04", "SBP-SES-13", role="codec")
class ReplacesBadText(Codec):
    """Puts a replacement character where text is no UTF-8."""

    def text(self, id: bytes, raw: bytes, what: str) -> str:
        return raw.decode("utf-8", "replace")


@shelf.breaks("SBP-MSG-03", "SBP-SES-13", role="codec")
class TakesSurrogates(Codec):
    """Takes CESU-8 for UTF-8."""

    def text(self, id: bytes, raw: bytes, what: str) -> str:
        try:
            return raw.decode("utf-8", "surrogatepass").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        except UnicodeDecodeError:
            return super().text(id, raw, what)


@shelf.breaks("SBP-SES-13", "SBP-MSG-03", role="codec")
class StripsTheByteOrderMark(Codec):
    """Drops a leading BOM."""

    def text(self, id: bytes, raw: bytes, what: str) -> str:
        return super().text(id, raw, what).removeprefix("\ufeff")


@shelf.breaks("SBP-MSG-04", role="codec")
class DropsTrailingZeros(Codec):
    """Takes zeros at the end of data for padding."""

    def message(self, id: bytes, ts: int | None, body: bytes) -> Message:
        got = super().message(id, ts, body)
        return replace(got, data=got.data.rstrip(b"\x00"))


@shelf.breaks("SBP-MSG-05", role="codec")
class TakesAnEmptySubject(Codec):
    """Does not miss a subject."""

    def message(self, id: bytes, ts: int | None, body: bytes) -> Message:
        subject, data = self.counted(id, body, "subject")
        return Message(id, subject, data, ts)


@shelf.breaks("SBP-MSG-05", role="codec")
class WritesAnEmptySubject(Codec):
    """Writes a Message without a subject."""

    def encode_subject(self, subject: str) -> bytes:
        return self.sized(subject)


@shelf.breaks("SBP-MSG-05", "SBP-REQ-01", role="codec")
class TakesCutSubjectLength(Codec):
    """Reads missing bytes of a length as zero, and a missing subject as a default."""

    def message(self, id: bytes, ts: int | None, body: bytes) -> Message:
        return Message(id, "default", b"", ts) if len(body) < 4 else super().message(id, ts, body)


@shelf.breaks("SBP-MSG-06", role="codec")
class CutsSubjectToWhatIsThere(Codec):
    """Believes a length as far as the bytes go."""

    def message(self, id: bytes, ts: int | None, body: bytes) -> Message:
        if len(body) > 4 and self.length(body) > len(body) - 4:
            body = struct.pack("<I", len(body) - 4) + body[4:]
        return super().message(id, ts, body)


@shelf.breaks("SBP-MSG-07", "SBP-FLAGS-07", role="codec")
class ForgetsMessageTimestamp(Codec):
    """Drops the timestamp of a Message."""

    def message(self, id: bytes, ts: int | None, body: bytes) -> Message:
        return super().message(id, None, body)


@shelf.breaks("SBP-LIM-06", "SBP-CMP-01", role="codec")
class CutsLongSubjects(Codec):
    """Cuts a subject to 256 letters."""

    def message(self, id: bytes, ts: int | None, body: bytes) -> Message:
        got = super().message(id, ts, body)
        return replace(got, subject=got.subject[:256])


@shelf.breaks("SBP-CMP-01", "SBP-LIM-05", role="codec")
class RefusesSubjectsOf256(Codec):
    """Has a limit of 255 bytes."""

    def message(self, id: bytes, ts: int | None, body: bytes) -> Message:
        got = super().message(id, ts, body)
        if len(got.subject.encode()) == 256:
            raise Rejected(Malformed("too long", id))
        return got


@shelf.breaks("SBP-ACK-01", role="codec")
class AcksWithLength(Codec):
    """Writes the length of the acknowledged id before it."""

    def encode(self, frame: Frame) -> bytes:
        raw = super().encode(frame)
        return raw[:-16] + b"\x10" + raw[-16:] if isinstance(frame, Ack) else raw


@shelf.breaks("SBP-ACK-02", role="codec")
class AcksMayGoOn(Codec):
    """Ignores what follows the acknowledged id."""

    def ack(self, id: bytes, ts: int | None, body: bytes) -> Ack:
        return super().ack(id, ts, body[:16])


@shelf.breaks("SBP-ACK-02", "SBP-REQ-01", role="codec")
class ShortAcksArePadded(Codec):
    """Reads missing bytes of the acknowledged id as zero."""

    def ack(self, id: bytes, ts: int | None, body: bytes) -> Ack:
        return super().ack(id, ts, body.ljust(16, b"\x00"))


@shelf.breaks("SBP-ERR-01", "SBP-INT-01", role="codec")
class ErrorCodesBigEndian(Codec):
    """Reads a code in network byte order."""

    def error(self, id: bytes, ts: int | None, body: bytes) -> Error:
        got = super().error(id, ts, body)
        return replace(got, code=int.from_bytes(body[:2], "big"))


@shelf.breaks("SBP-ERR-02", role="codec")
class RefusesUnknownCodes(Codec):
    """Knows the codes from 1000 on."""

    def error(self, id: bytes, ts: int | None, body: bytes) -> Error:
        got = super().error(id, ts, body)
        if not 1000 <= got.code < 10_000:
            raise Rejected(Malformed("what code is this?", id))
        return got


@shelf.breaks("SBP-ERR-02", role="codec")
class SignedCodes(Codec):
    """Reads a code as signed."""

    def error(self, id: bytes, ts: int | None, body: bytes) -> Error:
        got = super().error(id, ts, body)
        return replace(got, code=got.code - 65536 if got.code > 32767 else got.code)


@shelf.breaks("SBP-ERR-02", role="codec")
class WrapsCodes(Codec):
    """Writes the lower half of a code that does not fit."""

    def fit(self, form: struct.Struct, value: int) -> bytes:
        return super().fit(form, value % 2**16 if form.size == 2 else value)


@shelf.breaks("SBP-ERR-03", role="codec")
class CutsAnErrorToWhatIsThere(Codec):
    """Believes the length of an Error's message as far as the bytes go."""

    def error(self, id: bytes, ts: int | None, body: bytes) -> Error:
        if len(body) >= 6 and int.from_bytes(body[2:6], "little") > len(body) - 6:
            body = body[:2] + struct.pack("<I", len(body) - 6) + body[6:]
        return super().error(id, ts, body)


@shelf.breaks("SBP-ERR-03", "SBP-REQ-01", role="codec")
class ErrorsMayEndAfterTheCode(Codec):
    """Takes an Error without a message."""

    def error(self, id: bytes, ts: int | None, body: bytes) -> Error:
        return super().error(id, ts, body.ljust(6, b"\x00") if len(body) >= 2 else body)


@shelf.breaks("SBP-ERR-04", role="codec")
class WantsAnErrorMessage(Codec):
    """Refuses an Error whose message is empty."""

    def error(self, id: bytes, ts: int | None, body: bytes) -> Error:
        got = super().error(id, ts, body)
        if not got.message:
            raise Rejected(Malformed("no message", id))
        return got


@shelf.breaks("SBP-ERR-05", role="codec")
class RefusesDetails(Codec):
    """Takes details for trailing bytes."""

    def error(self, id: bytes, ts: int | None, body: bytes) -> Error:
        got = super().error(id, ts, body)
        if got.details:
            raise Rejected(Malformed("trailing bytes", id))
        return got


@shelf.breaks("SBP-ERR-05", role="codec")
class DetailsAreText(Codec):
    """Wants details in UTF-8."""

    def error(self, id: bytes, ts: int | None, body: bytes) -> Error:
        got = super().error(id, ts, body)
        self.text(id, got.details, "details")
        return got


# -- the Handshake -----------------------------------------------------------------------------------------------------


class Payload(Codec):
    """Base of those that change the payload they write."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload

    def encode_handshake(self, frame: Handshake) -> bytes:
        return json.dumps(self.changed(json.loads(super().encode_handshake(frame)))).encode()


@shelf.breaks("SBP-HSP-01", role="codec")
class AnotherProtocolName(Payload):
    """Calls the protocol by its tag."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"protocol": "sideband/1"}


@shelf.breaks("SBP-HSP-02", role="codec")
class NumericVersion(Payload):
    """Writes version 1 without quotes."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"version": 1}


@shelf.breaks("SBP-HSP-05", role="codec")
class ForgetsCaps(Payload):
    """Does not write caps."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in payload.items() if k != "caps"}


@shelf.breaks("SBP-HSP-06", role="codec")
class ForgetsMetadata(Payload):
    """Does not write metadata."""

    def changed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in payload.items() if k != "metadata"}


@shelf.breaks("SBP-HSP-07", role="codec")
class WritesBareKeys(Codec):
    """Writes metadata under any key."""

    def encode_metadata(self, metadata: str) -> Any:
        return json.loads(metadata)


@shelf.breaks("SBP-HSP-07", role="codec")
class NamespacesMayBeEmpty(Codec):
    """Takes any colon in a key for the end of a namespace."""

    def encode_metadata(self, metadata: str) -> Any:
        keys: dict[str, Any] = json.loads(metadata)
        return keys if all(":" in key for key in keys) else super().encode_metadata(metadata)


@shelf.breaks("SBP-HS-01", role="codec")
class HandshakesInUtf16(Codec):
    """Writes the payload in UTF-16."""

    def encode_handshake(self, frame: Handshake) -> bytes:
        return super().encode_handshake(frame).decode().encode("utf-16")


@shelf.breaks("SBP-HS-01", role="codec")
class ReadsTheFirstJsonValue(Codec):
    """Ignores what follows the object."""

    def payload(self, id: bytes, data: bytes) -> dict[str, Any]:
        try:
            payload, _ = json.JSONDecoder().raw_decode(data.decode("utf-8"))
        except (ValueError, RecursionError):
            return super().payload(id, data)
        return payload if isinstance(payload, dict) else super().payload(id, data)


@shelf.breaks("SBP-HS-01", role="codec")
class ReadsLatin1Handshakes(Codec):
    """Reads a payload that is no UTF-8 as Latin-1."""

    def payload(self, id: bytes, data: bytes) -> dict[str, Any]:
        return super().payload(id, data.decode("utf-8", "replace").encode())


class Lenient(Codec):
    """Base of those that fill in or convert required members."""

    def fixed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload

    def payload(self, id: bytes, data: bytes) -> dict[str, Any]:
        return self.fixed(super().payload(id, data))


@shelf.breaks("SBP-HSP-03", role="codec")
class PeerIdIsOptional(Lenient):
    """Calls a peer without an id anonymous."""

    def fixed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {"peerId": "anonymous"} | payload


@shelf.breaks("SBP-HSP-08", role="codec")
class ConvertsToStrings(Lenient):
    """Takes numbers for their text."""

    def fixed(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {k: str(v) if isinstance(v, int) else v for k, v in payload.items()}


class Refuses(Codec):
    """Base of those that refuse what should be ignored."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return False

    def payload(self, id: bytes, data: bytes) -> dict[str, Any]:
        payload = super().payload(id, data)
        if self.dislikes(payload):
            raise Rejected(BadHandshake("disliked", id))
        return payload


@shelf.breaks("SBP-HSP-11", role="codec")
class RefusesUnknownCaps(Refuses):
    """Knows rpc, and no other capability."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return bool(set(payload.get("caps") or []) - {"rpc"})


@shelf.breaks("SBP-HSP-12", role="codec")
class RefusesUnknownMetadata(Refuses):
    """Knows no metadata."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return bool(payload.get("metadata"))


@shelf.breaks("SBP-EXT-01", role="codec")
class RefusesUnknownMembers(Refuses):
    """Knows five members, and no other."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return bool(set(payload) - {"protocol", "version", "peerId", "caps", "metadata"})


@shelf.breaks("SBP-REQ-02", "SBP-HSP-01", role="codec")
class WantsCaps(Refuses):
    """Takes caps for required."""

    def dislikes(self, payload: dict[str, Any]) -> bool:
        return "caps" not in payload


@shelf.breaks("SBP-INT-02", "SBP-CMP-01", role="codec")
class WantsOuterLength(Codec):
    """Expects the length of a frame before it, as on a byte stream."""

    def decode(self, wire: bytes) -> Frame | NoFrame:
        return super().decode(wire[4:])
