"""The canonical form and its HMAC (section 4)."""

from __future__ import annotations

import binascii
import enum
import hashlib
import hmac
import json
import re

from reference_impl.peerbus import jsontext
from reference_impl.peerbus.frames import Envelope

MIN_SECRET = 32  # bytes; a shorter secret verifies nothing, and no client starts with one (PB-4-20)


class Profile(enum.StrEnum):
    """Which authority decides where the document and the original code differ (PB-0-01)."""

    CODE = "code"
    DOCUMENT = "document"


# The five characters that the code profile escapes wherever they stand raw, lower-case.
HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
ESCAPED = {raw.encode(): escaped.encode() for raw, escaped in HTML.items()}
RAW = re.compile(b"|".join(ESCAPED))
AS_IT_IS = json.JSONEncoder(ensure_ascii=False)


def canonical_string(value: str, profile: Profile) -> bytes:
    """A header string as JSON text (PB-4-27)."""
    text = AS_IT_IS.encode(value)
    return _escape_html(text.encode()) if profile is Profile.CODE else text.encode()


def canonical_body(body: bytes, profile: Profile) -> bytes:
    """The body as it is signed (PB-4-06..10, PB-4-12): compact in the code profile, spliced in as it is in the other."""
    if not body:
        return b"null"
    return _escape_html(jsontext.compact(body)) if profile is Profile.CODE else body


def _escape_html(text: bytes) -> bytes:
    return RAW.sub(lambda found: ESCAPED[found[0]], text)


class Signing:
    """The signature rules as one object, so that a target with other rules can be built from it."""

    def __init__(self, profile: Profile = Profile.CODE) -> None:
        self.profile = profile

    def string(self, value: str) -> bytes:
        return canonical_string(value, self.profile)

    def body(self, body: bytes) -> bytes:
        return canonical_body(body, self.profile)

    def fields(self, envelope: Envelope) -> list[tuple[str, bytes]]:
        """The eight signed members in their fixed order (PB-4-02, PB-4-03, PB-4-05)."""
        return [
            ("protocol_version", self.string(envelope.protocol_version)),
            ("id", self.string(envelope.id)),
            ("from", self.string(envelope.sender)),
            ("to", self.string(envelope.to)),
            ("ts", self.string(envelope.ts)),
            ("source", self.string(envelope.source)),
            ("kind", self.string(envelope.kind)),
            ("body", self.body(envelope.body)),
        ]

    def canonical(self, envelope: Envelope) -> bytes:
        """The signed bytes (PB-4-01, PB-4-04)."""
        return b"{" + b",".join(b'"%s":%s' % (key.encode(), text) for key, text in self.fields(envelope)) + b"}"

    def mac(self, envelope: Envelope, secret: bytes) -> bytes:
        return hmac.digest(secret, self.canonical(envelope), hashlib.sha256)  # PB-4-13

    def sign(self, envelope: Envelope, secret: bytes) -> str:
        """Lower-case hex (PB-4-14)."""
        return self.mac(envelope, secret).hex()

    def verify(self, envelope: Envelope, secret: bytes) -> bool:
        """False for a mismatch, a short or missing MAC or secret, and a MAC that is no hex (PB-4-17..21)."""
        if len(secret) < MIN_SECRET:
            return False
        try:
            claimed = binascii.unhexlify(envelope.hmac)
        except (binascii.Error, ValueError):
            return False
        return hmac.compare_digest(claimed, self.mac(envelope, secret))  # PB-4-16
