"""Codecs that get the body of a Message, an Ack or an Error wrong."""

from __future__ import annotations

import struct
from dataclasses import replace

from reference_impl.sbp.codec import Codec, Rejected
from reference_impl.sbp.frames import Ack, Error, Frame, Kind, Malformed, Message
from targets.mutants.sbp.shelf import shelf


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
