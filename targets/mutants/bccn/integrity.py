"""Codecs whose integrity check has one fault each, asked by themselves; some also inside a node."""

from __future__ import annotations

import hashlib
import hmac
import re
import zlib

from reference_impl.bccn.codec import Codec
from reference_impl.bccn.frames import Envelope, Message
from targets.mutants.bccn.shelf import shelf


class OtherInput(Codec):
    """Computes the tag over something else than the body."""

    def input(self, body: bytes) -> bytes:
        return body

    def check(self, algo: str, body: bytes, key: bytes) -> str:
        return super().check(algo, self.input(body), key)


@shelf.breaks("BCCN-INT-01", role="codec")
class TagOfThePayload(OtherInput):
    """Computes the tag over the payload alone."""

    def input(self, body: bytes) -> bytes:
        return body.partition(b"|")[2]


@shelf.breaks("BCCN-INT-01", "BCCN-INT-05", role="node")
class TagOfThePayloadSent(TagOfThePayload):
    """Computes the tag over the payload alone."""


@shelf.breaks("BCCN-INT-02", "BCCN-INT-01", role="codec")
class TagOfTheWholeDatagram(OtherInput):
    """Computes the tag over magic and len too."""

    def input(self, body: bytes) -> bytes:
        return f"BCCN1[{len(body)}]".encode() + body


@shelf.breaks("BCCN-INT-03", role="codec")
class TagOfTheStrippedBody(OtherInput):
    """Strips whitespace off the body before it computes the tag."""

    def input(self, body: bytes) -> bytes:
        return body.rstrip()


@shelf.breaks("BCCN-INT-03", role="codec")
class TagOfUnixLines(OtherInput):
    """Makes CR LF a line feed before it computes the tag."""

    def input(self, body: bytes) -> bytes:
        return body.replace(b"\r\n", b"\n")


@shelf.breaks("BCCN-INT-04", "BCCN-INT-11", role="codec")
class AnyNameOfATag(Codec):
    """Takes the right tag under any name."""

    def passes(self, envelope: Envelope, key: bytes) -> bool:
        named = Envelope(envelope.magic, envelope.body, "hmac", envelope.sum) if key and envelope.algo else envelope
        return super().passes(named, key)


@shelf.breaks("BCCN-INT-04", role="node")
class TagIsNamedSig(Codec):
    """Writes the tag as sig."""

    def encode(self, message: Message, key: bytes = b"", algo: str = "") -> bytes:
        return super().encode(message, key, algo).replace(b":hmac=", b":sig=", 1)


class OtherTag(Codec):
    """Computes another tag."""

    def tag(self, body: bytes, key: bytes) -> str:
        return ""

    def check(self, algo: str, body: bytes, key: bytes) -> str:
        return self.tag(body, key) if algo == "hmac" else super().check(algo, body, key)


@shelf.breaks("BCCN-INT-05", role="codec")
class TagIsSha1(OtherTag):
    """Computes HMAC-SHA-1."""

    def tag(self, body: bytes, key: bytes) -> str:
        return hmac.digest(key, body, "sha1")[:8].hex()


@shelf.breaks("BCCN-INT-05", role="node")
class TagIsAPlainHash(OtherTag):
    """Hashes key and body without HMAC."""

    def tag(self, body: bytes, key: bytes) -> str:
        return hashlib.sha256(key + body).hexdigest()[:16]


@shelf.breaks("BCCN-INT-05", role="codec")
class LongKeysAreCut(OtherTag):
    """Cuts a key to one block instead of hashing it."""

    def tag(self, body: bytes, key: bytes) -> str:
        return hmac.digest(key[:64], body, "sha256")[:8].hex()


@shelf.breaks("BCCN-INT-06", role="codec")
class TagIsTheLastEightBytes(OtherTag):
    """Keeps the last 8 bytes."""

    def tag(self, body: bytes, key: bytes) -> str:
        return hmac.digest(key, body, "sha256")[-8:].hex()


@shelf.breaks("BCCN-INT-06", "BCCN-INT-07", role="codec")
class TagIsNotTruncated(OtherTag):
    """Keeps all 32 bytes."""

    def tag(self, body: bytes, key: bytes) -> str:
        return hmac.digest(key, body, "sha256").hex()


@shelf.breaks("BCCN-INT-07", role="codec")
class TagInCapitals(Codec):
    """Writes the tag with upper-case digits."""

    def check(self, algo: str, body: bytes, key: bytes) -> str:
        return super().check(algo, body, key).upper()

    def same(self, given: str, wanted: str) -> bool:
        return given.lower() == wanted.lower()


@shelf.breaks("BCCN-INT-07", role="node")
class TagSentInCapitals(TagInCapitals):
    """Writes the tag with upper-case digits."""


@shelf.breaks("BCCN-INT-08", role="codec")
class TagBeforeLen(Codec):
    """Writes the check before the len."""

    def encode(self, message: Message, key: bytes = b"", algo: str = "") -> bytes:
        return re.sub(rb"\[([0-9]+):([^\]]+)\]", rb"[\2:\1]", super().encode(message, key, algo), count=1)


@shelf.breaks("BCCN-INT-08", role="node")
class TagBehindTheBody(Codec):
    """Writes the tag behind the body."""

    def encode(self, message: Message, key: bytes = b"", algo: str = "") -> bytes:
        data = super().encode(message, b"")
        return data + self.check("hmac", self.encode_body(message), key).encode() if key else data


@shelf.breaks("BCCN-INT-09", role="codec")
class TagIsNotCompared(Codec):
    """Is content with any tag."""

    def passes(self, envelope: Envelope, key: bytes) -> bool:
        return envelope.algo == "hmac" or super().passes(envelope, key)


@shelf.breaks("BCCN-INT-09", "BCCN-INT-12", role="node")
class TagIsNotComparedByANode(TagIsNotCompared):
    """Is content with any tag."""


@shelf.breaks("BCCN-INT-09", "BCCN-INT-14", role="codec")
class TagIsComparedInPart(Codec):
    """Compares the first 4 bytes of the tag."""

    def same(self, given: str, wanted: str) -> bool:
        return len(given) == len(wanted) and given[:8] == wanted[:8]


@shelf.breaks("BCCN-INT-10", role="codec")
class UnsignedPasses(Codec):
    """Takes an unsigned datagram although there is a key."""

    def passes(self, envelope: Envelope, key: bytes) -> bool:
        return not envelope.algo or super().passes(envelope, key)


@shelf.breaks("BCCN-INT-10", role="node")
class UnsignedIsDelivered(UnsignedPasses):
    """Takes an unsigned datagram although there is a key."""


@shelf.breaks("BCCN-INT-11", role="codec")
class Crc32StandsIn(Codec):
    """Takes a right crc32 although there is a key."""

    def passes(self, envelope: Envelope, key: bytes) -> bool:
        return envelope.sum == f"{zlib.crc32(envelope.body):08x}" or super().passes(envelope, key)


@shelf.breaks("BCCN-INT-11", role="node")
class UnknownChecksPass(Codec):
    """Takes a check that it does not know for a good one."""

    def passes(self, envelope: Envelope, key: bytes) -> bool:
        return envelope.algo not in ("", "hmac") or super().passes(envelope, key)


@shelf.breaks("BCCN-INT-14", role="codec")
class TagPrefixSuffices(Codec):
    """Compares only as many digits as there are."""

    def same(self, given: str, wanted: str) -> bool:
        return wanted.startswith(given)


@shelf.breaks("BCCN-INT-14", role="codec")
class DigitsBehindTheTagAreIgnored(Codec):
    """Compares the first 16 digits and ignores the rest."""

    def same(self, given: str, wanted: str) -> bool:
        return given.startswith(wanted)


@shelf.breaks("BCCN-INT-17", role="codec")
class Crc32IsNotCompared(Codec):
    """Is content with any crc32."""

    def passes(self, envelope: Envelope, key: bytes) -> bool:
        return (envelope.algo == "crc32" and not key) or super().passes(envelope, key)


@shelf.breaks("BCCN-INT-17", role="codec")
class Crc32BehindTheBody(Codec):
    """Writes a crc32 behind the body instead of into the bracket."""

    def encode(self, message: Message, key: bytes = b"", algo: str = "") -> bytes:
        return super().encode(message, key) + (
            self.check(algo, self.encode_body(message), b"").encode() if algo else b""
        )


@shelf.breaks("BCCN-INT-18", role="codec")
class EverythingIsAuthenticated(Codec):
    """Calls every message authenticated."""

    def is_authenticated(self, envelope: Envelope, key: bytes) -> bool:
        return True


@shelf.breaks("BCCN-INT-18", role="node")
class EveryDeliveryIsAuthenticated(EverythingIsAuthenticated):
    """Calls every message authenticated."""


@shelf.breaks("BCCN-INT-18", role="codec")
class ACheckIsItsOwnProof(Codec):
    """Without a key believes any check there is, and calls the message authenticated."""

    def passes(self, envelope: Envelope, key: bytes) -> bool:
        return not key or super().passes(envelope, key)

    def is_authenticated(self, envelope: Envelope, key: bytes) -> bool:
        return bool(envelope.algo)


@shelf.breaks("BCCN-INT-20", role="codec")
class PayloadIsHidden(Codec):
    """Obscures the payload where there is a key."""

    def encode(self, message: Message, key: bytes = b"", algo: str = "") -> bytes:
        hidden = bytes(b ^ 0x55 for b in message.payload) if key else message.payload
        return super().encode(Message(message.src, message.seq, message.chan, hidden), key, algo)
