"""Codecs that get the order of the body's fields or the payload wrong."""

from __future__ import annotations

import re

from reference_impl.bccn.codec import Codec, Malformed
from reference_impl.bccn.frames import Message, Reason
from targets.mutants.bccn.shelf import shelf


@shelf.breaks("BCCN-BODY-01", role="codec")
class FieldsInAnotherOrder(Codec):
    """Puts the channel first."""

    def encode_body(self, message: Message) -> bytes:
        return super().encode_body(Message(message.chan, message.seq, message.src, message.payload))

    def body(self, body: bytes) -> tuple[str, int, str, bytes]:
        chan, seq, src, payload = super().body(body)
        return src, seq, chan, payload


@shelf.breaks("BCCN-BODY-02", role="codec")
class LastBarEndsTheHeader(Codec):
    """Looks for the bar from the end."""

    def body(self, body: bytes) -> tuple[str, int, str, bytes]:
        header, bar, payload = body.rpartition(b"|")
        return (*super().body(header.partition(b"|")[0] + bar)[:3], payload)


@shelf.breaks("BCCN-BODY-03", "BCCN-CHN-04", role="codec")
class MoreFieldsAreIgnored(Codec):
    """Ignores a fourth field."""

    def body(self, body: bytes) -> tuple[str, int, str, bytes]:
        header, bar, payload = body.partition(b"|")
        return super().body(b":".join(header.split(b":")[:3]) + bar + payload)


@shelf.breaks("BCCN-BODY-03", role="codec")
class MissingFieldsAreGuessed(Codec):
    """Fills in what a short header lacks."""

    def body(self, body: bytes) -> tuple[str, int, str, bytes]:
        header, bar, payload = body.partition(b"|")
        fields = header.split(b":")
        return super().body(b":".join([*fields, b"0", b"c"][: max(3, len(fields))]) + bar + payload)


@shelf.breaks("BCCN-BODY-04", role="codec")
class BarIsOptional(Codec):
    """Takes a body without a bar for one without a payload."""

    def body(self, body: bytes) -> tuple[str, int, str, bytes]:
        return super().body(body if b"|" in body else body + b"|")


class OtherPayload(Codec):
    """Reads another payload than there is."""

    def payload(self, payload: bytes) -> bytes:
        return payload

    def body(self, body: bytes) -> tuple[str, int, str, bytes]:
        src, seq, chan, payload = super().body(body)
        return src, seq, chan, self.payload(payload)


@shelf.breaks("BCCN-BODY-05", role="codec")
class PayloadEndsAtNul(OtherPayload):
    """Takes the payload for a C string."""

    def payload(self, payload: bytes) -> bytes:
        return payload.partition(b"\0")[0]


@shelf.breaks("BCCN-BODY-05", role="node")
class PayloadIsSevenBits(OtherPayload):
    """Clears the high bit of every byte."""

    def payload(self, payload: bytes) -> bytes:
        return bytes(byte & 0x7F for byte in payload)


@shelf.breaks("BCCN-BODY-06", role="codec")
class PayloadIsMandatory(Codec):
    """Refuses an empty payload."""

    def body(self, body: bytes) -> tuple[str, int, str, bytes]:
        if body.endswith(b"|") and body.count(b"|") == 1:
            raise Malformed(Reason.BODY, "no payload")
        return super().body(body)


@shelf.breaks("BCCN-BODY-07", role="codec")
class PayloadIsTrimmed(OtherPayload):
    """Strips whitespace off the payload."""

    def payload(self, payload: bytes) -> bytes:
        return payload.strip()


@shelf.breaks("BCCN-BODY-07", "BCCN-BODY-05", role="node")
class PayloadIsText(OtherPayload):
    """Decodes the payload as UTF-8 and writes it again."""

    def payload(self, payload: bytes) -> bytes:
        return payload.decode(errors="replace").encode()


@shelf.breaks("BCCN-BODY-08", role="codec")
class HeaderInThePayloadCounts(Codec):
    """Takes a header within the payload for the message's."""

    def body(self, body: bytes) -> tuple[str, int, str, bytes]:
        nested = re.search(rb"\|([^|:\s]+:[0-9]+:[^|:\s]+\|.*)", body, re.DOTALL)
        return super().body(nested[1] if nested else body)


@shelf.breaks("BCCN-BODY-09", role="codec")
class WritesAFourthField(Codec):
    """Writes a version field into the header."""

    def encode_body(self, message: Message) -> bytes:
        return super().encode_body(message).replace(b"|", b":1|", 1)
