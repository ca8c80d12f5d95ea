"""Crockford Base32 as FROG writes it, and the syntax of every identifier (section 7)."""

from __future__ import annotations

import re
from collections.abc import Callable

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # FROG-7.2-01: no I, L, O, U
KEY_SIZE, SIGNATURE_SIZE = 32, 64  # bytes (FROG-9.2-01, FROG-9.3-01)
ID_LENGTH = 26  # characters: 130 bits, none to spare, so each such text is canonical
DASH = "-"  # no id (FROG-7.9-02)

_VALUES = {symbol: value for value, symbol in enumerate(ALPHABET)}
_ID = re.compile(f"[{ALPHABET}]{{{ID_LENGTH}}}")
_NETWORK = re.compile(r"[A-Z0-9_]{1,16}")
_PEER_KEY = re.compile(rf"{_NETWORK.pattern}:{_ID.pattern}")
_REQUEST_ID = re.compile(r"[A-Z0-9_-]{1,32}")


class NotCanonical(ValueError):
    """This text is not the one encoding of any bytes."""


def encode(raw: bytes) -> str:
    """Big-endian bits in groups of five, zero bits at the end, no padding character (FROG-7.3-01, FROG-7.3-02)."""
    bits = len(raw) * 8
    length = -(-bits // 5)
    number = int.from_bytes(raw, "big") << (length * 5 - bits)
    return "".join(ALPHABET[number >> 5 * place & 31] for place in range(length - 1, -1, -1))


def decode(text: str, size: int) -> bytes:
    """The bytes of which this is the encoding; every other text is refused (FROG-7.3-03)."""
    if len(text) != -(-size * 8 // 5):
        raise NotCanonical(f"{len(text)} characters instead of {-(-size * 8 // 5)}")
    number = 0
    for symbol in text:
        value = _VALUES.get(symbol)
        if value is None:
            raise NotCanonical(f"{symbol!r} is not in the alphabet")
        number = number << 5 | value
    spare = len(text) * 5 - size * 8
    if number & (1 << spare) - 1:
        raise NotCanonical("the unused bits at the end are not zero")
    return (number >> spare).to_bytes(size, "big")


def is_id(text: str) -> bool:
    """A fingerprint, server id, route id or nonce: all have one syntax (FROG-7.4-01, -7.6-01, -7.7-01, -7.8-01)."""
    return _ID.fullmatch(text) is not None


def is_network(text: str) -> bool:
    return _NETWORK.fullmatch(text) is not None  # FROG-7.1-01


def is_peer_key(text: str) -> bool:
    return _PEER_KEY.fullmatch(text) is not None  # FROG-7.5-01


def is_request_id(text: str) -> bool:
    """A CID or FCID (FROG-7.9-01, FROG-7.10-01)."""
    return text != DASH and _REQUEST_ID.fullmatch(text) is not None


def is_error_id(text: str) -> bool:
    """Whatever an error may answer: a CID, an FCID, a route id, or the dash."""
    return _REQUEST_ID.fullmatch(text) is not None


def is_encoded(size: int) -> Callable[[str], bool]:
    """Is a text the canonical encoding of that many bytes?"""

    def check(text: str) -> bool:
        try:
            decode(text, size)
        except NotCanonical:
            return False
        return True

    return check


is_public_key, is_signature = is_encoded(KEY_SIZE), is_encoded(SIGNATURE_SIZE)


def network_of(peer_key: str) -> str:
    return peer_key.partition(":")[0]


def fingerprint_of(peer_key: str) -> str:
    return peer_key.partition(":")[2]


def new_id(entropy: Callable[[int], bytes]) -> str:
    """130 random bits: a nonce or a route id (FROG-7.7-02, FROG-7.7-03, FROG-7.8-02, FROG-7.8-03)."""
    return encode(entropy(17))[:ID_LENGTH]
