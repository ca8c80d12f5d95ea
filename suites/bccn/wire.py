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


def mistaken(name: str, target: str) -> str:
    """The clause that says whether a wildcard means a name so near to it; empty where no single one does (sheet 1.8)."""
    stem = target.removesuffix("/*")
    if target in ("*", "/*"):
        return "BCCN-DIR-18"
    if target.startswith("?") or (stem == target and target.rpartition("/")[2].isdigit()):
        return ""
    if name.startswith(stem) and not name.startswith(f"{stem}/"):
        return "BCCN-DIR-09" if name == stem else "BCCN-DIR-10"
    return ""


def like_a_wildcard(name: str) -> bool:
    """A name that no node should choose, and that a binding may refuse (BCCN-SRC-09)."""
    return "*" in name or name.endswith("/")
