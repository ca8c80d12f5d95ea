"""Bytes to messages and back: the envelope layer, which knows no version, and the BCCN1 body layer.

    datagram = magic "[" len [ ":" algo "=" sum ] "]" body        envelope, stable across versions
    body     = src ":" seq ":" chan "|" payload                   BCCN1

Errata of the text: nine of its twelve examples state a len that is not the body's; ASCII (L294, L323) and "all bytes"
(L479) contradict each other for src and chan, this codec takes ASCII.
"""

from __future__ import annotations

import hmac
import re
import zlib

from reference_impl.bccn.frames import MAGIC, MAX_CHAN, MAX_SEQ, MAX_SRC, Envelope, Garbage, Message, Reason

DECIMAL = re.compile(r"0|[1-9][0-9]*")  # one spelling per number: no sign, blank, leading zero (BCCN-ENV-07, -SEQ-01)
ALGO = re.compile(r"[a-z0-9_-]+")  # BCCN-ENV-14
HEX = re.compile(r"(?:[0-9A-Fa-f]{2})+")  # BCCN-ENV-15
RESERVED = re.compile(r"[ \t\n\r\v\f:|]")  # BCCN-SRC-03, -04, BCCN-CHN-03, -04
MOST_DIGITS = 20  # of 2^64 - 1; a longer run of digits is never worth converting

TAG_BYTES = 8  # BCCN-INT-06


class Malformed(ValueError):
    """These bytes are no message, or this message has no bytes."""

    def __init__(self, reason: Reason, why: str) -> None:
        super().__init__(why)
        self.reason = reason


class Codec:
    """The wire format as one object, so that a target with other rules can be built from it."""

    # -- both layers ----------------------------------------------------------------------------------------------

    def decode(self, data: bytes, key: bytes = b"") -> Message | Garbage:
        """One datagram's message. Authentication comes before anything of the body is looked at (BCCN-INT-12)."""
        try:
            envelope = self.envelope(data)
            if not self.is_ours(envelope.magic):
                raise Malformed(Reason.ENVELOPE, f"magic {envelope.magic[:20]!r}")
            if not self.passes(envelope, key):
                raise Malformed(Reason.AUTH, f"check {envelope.algo or 'missing'} does not hold")
            src, seq, chan, payload = self.body(envelope.body)
            return Message(src, seq, chan, payload, self.is_authenticated(envelope, key))
        except Malformed as error:
            return Garbage(error.reason, str(error))

    def encode(self, message: Message, key: bytes = b"", algo: str = "") -> bytes:
        """One datagram; raises Malformed for what no datagram can say. `algo` is crc32 or nothing."""
        body = self.encode_body(message)
        algo = "hmac" if key else algo
        check = f":{algo}={self.check(algo, body, key)}" if algo else ""  # BCCN-ENV-17
        return f"{MAGIC}[{self.length_of(body)}{check}]".encode("latin-1") + body

    # -- the envelope layer ---------------------------------------------------------------------------------------

    def envelope(self, data: bytes) -> Envelope:
        """Two delimiters, three substrings; the body is whatever follows (BCCN-ENV-04, -08, -19)."""
        opening = data.find(b"[")
        closing = data.find(b"]", opening + 1)
        if opening < 1 or closing < 0:
            raise Malformed(Reason.ENVELOPE, "no magic and bracket")
        magic, body = data[:opening].decode("latin-1"), data[closing + 1 :]
        length, algo, sum = self.bracket(data[opening + 1 : closing].decode("latin-1"))
        if not self.length_is_true(length, body):
            raise Malformed(Reason.ENVELOPE, f"len {length[:20]} for {len(body)} bytes")
        return Envelope(magic, body, algo, sum)

    def is_ours(self, magic: str) -> bool:
        return magic == MAGIC  # BCCN-ENV-01, -02

    def bracket(self, inside: str) -> tuple[str, str, str]:
        """(len, algo, sum) of what stands between the brackets, and nothing else (BCCN-ENV-05, -06, -11..13, -21)."""
        length, colon, check = inside.partition(":")
        if not DECIMAL.fullmatch(length):
            raise Malformed(Reason.ENVELOPE, f"len {length[:20]!r}")
        if not colon:
            return length, "", ""  # BCCN-ENV-16
        algo, _, sum = check.partition("=")
        if not ALGO.fullmatch(algo) or not HEX.fullmatch(sum):
            raise Malformed(Reason.ENVELOPE, f"check {check[:40]!r}")
        return length, algo, sum

    def length_is_true(self, length: str, body: bytes) -> bool:
        return len(length) <= MOST_DIGITS and int(length) == len(body)

    def length_of(self, body: bytes) -> int:
        return len(body)  # bytes, not characters (BCCN-ENV-10)

    # -- integrity ------------------------------------------------------------------------------------------------

    def passes(self, envelope: Envelope, key: bytes) -> bool:
        """A key accepts its own check only, no other and none (BCCN-INT-09..11); an unknown check never holds."""
        if key:
            return envelope.algo == "hmac" and self.same(envelope.sum, self.check("hmac", envelope.body, key))
        if not envelope.algo:
            return True
        return envelope.algo == "crc32" and self.same(envelope.sum, self.check("crc32", envelope.body, b""))

    def is_authenticated(self, envelope: Envelope, key: bytes) -> bool:
        return bool(key) and envelope.algo == "hmac"

    def same(self, given: str, wanted: str) -> bool:
        return hmac.compare_digest(given, wanted)  # in constant time (BCCN-INT-15)

    def check(self, algo: str, body: bytes, key: bytes) -> str:
        """The sum over exactly the body's bytes (BCCN-INT-01..03)."""
        if algo == "hmac":
            return hmac.digest(key, body, "sha256")[:TAG_BYTES].hex()  # BCCN-INT-05..07
        if algo == "crc32":
            return f"{zlib.crc32(body):08x}"
        raise Malformed(Reason.AUTH, f"no such check: {algo!r}")

    # -- the body layer -------------------------------------------------------------------------------------------

    def body(self, body: bytes) -> tuple[str, int, str, bytes]:
        """(src, seq, chan, payload); the payload is never scanned (BCCN-BODY-02, -03, -08)."""
        header, bar, payload = body.partition(b"|")
        if not bar:
            raise Malformed(Reason.BODY, "no |")
        fields = header.decode("latin-1").split(":")
        if len(fields) != 3:
            raise Malformed(Reason.BODY, f"{len(fields)} header fields")
        src, seq, chan = fields
        return self.src(src), self.seq(seq), self.chan(chan), payload

    def encode_body(self, message: Message) -> bytes:
        if not 0 <= message.seq <= MAX_SEQ:
            raise Malformed(Reason.BODY, f"seq {message.seq}")
        header = f"{self.src(message.src)}:{message.seq}:{self.chan(message.chan)}|"
        return header.encode("latin-1") + message.payload

    def src(self, text: str) -> str:
        return self.name(text, MAX_SRC, "src")

    def chan(self, text: str) -> str:
        return self.name(text, MAX_CHAN, "chan")

    def name(self, text: str, most: int, what: str) -> str:
        """Opaque but for its length, whitespace and the two separators (BCCN-SRC-05, BCCN-CHN-05)."""
        if not 1 <= len(text) <= most:
            raise Malformed(Reason.BODY, f"{what} of {len(text)} characters")
        if not text.isascii() or RESERVED.search(text):
            raise Malformed(Reason.BODY, f"{what} {text[:40]!r}")
        return text

    def seq(self, text: str) -> int:
        if not DECIMAL.fullmatch(text) or len(text) > MOST_DIGITS or int(text) > MAX_SEQ:  # BCCN-SEQ-01..03
            raise Malformed(Reason.BODY, f"seq {text[:30]!r}")
        return int(text)
