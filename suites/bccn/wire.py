"""Datagrams by hand, legal and not: nothing of the reference is used here."""

from __future__ import annotations

import hmac

SECRET = b"secret"
MAX_DATAGRAM = 1400


def framed(body: bytes, check: str = "", magic: str = "BCCN1") -> bytes:
    return f"{magic}[{len(body)}{check}]".encode() + body


def tag(body: bytes, key: bytes = SECRET) -> str:
    return hmac.new(key, body, "sha256").hexdigest()[:16]


def signed(body: bytes, key: bytes = SECRET, magic: str = "BCCN1") -> bytes:
    return framed(body, f":hmac={tag(body, key)}", magic)


def body(src: str, seq: int, chan: str, payload: bytes = b"") -> bytes:
    return f"{src}:{seq}:{chan}|".encode("latin-1") + payload


def datagram(src: str, seq: int, chan: str, payload: bytes = b"", key: bytes = b"") -> bytes:
    """A well-formed datagram, signed where there is a key."""
    content = body(src, seq, chan, payload)
    return signed(content, key) if key else framed(content)


def mode_of(chan: str) -> tuple[str, str]:
    """The clause and the delivery mode of a channel (sheet 1.7)."""
    if chan == "!":
        return "BCCN-CHN-06", "all"
    return ("BCCN-CHN-07", "directed") if chan[:1] == "!" else ("BCCN-CHN-08", "plain")


def like_a_wildcard(name: str) -> bool:
    """A name that no node should choose, and that a binding may refuse (BCCN-SRC-09)."""
    return "*" in name or name.endswith("/")
