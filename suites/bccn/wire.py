"""Datagrams as the cases spell them, and how a vector's message is compared. Nothing of the reference is used here."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import Any

from harness.errors import ShimBroken
from harness.trial import Broken
from harness.vectors import Vector

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


def fault(wanted: bytes, got: bytes | None) -> str:
    """The clause that a datagram breaks by its form; empty where its form is right and what it says is not."""
    shape = re.fullmatch(rb"(.*?)\[(.*?)\](.*)", got or b"", re.DOTALL)
    if not shape or shape[3] != wanted.partition(b"]")[2]:
        return ""
    magic, bracket, check = shape[1], shape[2], wanted.partition(b"]")[0].partition(b":")[2]
    length, colon, said = bracket.partition(b":")
    algo, _, sum = said.partition(b"=")
    faults = {
        "BCCN-ENV-01": magic != b"BCCN1",
        "BCCN-ENV-05": bracket.split() != [bracket],
        "BCCN-ENV-17": bool(colon and not check),
        "BCCN-INT-08": not length.isdigit() or (bool(check) and b"=" not in said),
        "BCCN-ENV-18": length != str(len(shape[3])).encode(),
        "BCCN-ENV-14": bool(check) and algo == b"HMAC",
        "BCCN-INT-04": bool(check) and algo != b"hmac",
        "BCCN-ENV-15": bool(check) and not re.fullmatch(rb"[0-9a-fA-F]+", sum),
        "BCCN-INT-07": bool(check) and not re.fullmatch(rb"[0-9a-f]{16}", sum),
        "BCCN-INT-05": bool(check) and said != check,
    }
    return next((clause for clause, broken in faults.items() if broken), "")


@dataclass(frozen=True)
class Said:
    """A message as a target says it decoded or delivered it."""

    src: str
    seq: int
    chan: str
    payload: bytes
    mode: str = ""
    peer: tuple[str, int] = ("", 0)
    authenticated: bool = False
    pattern: str = ""  # of the listener that was called

    @classmethod
    def of(cls, answer: dict[str, Any]) -> Said:
        """From the shim's words; what cannot be understood is the shim's fault."""
        try:
            host, port = answer.get("peer") or ("", 0)
            return cls(
                str(answer["src"]),
                int(answer["seq"]),
                str(answer["chan"]),
                bytes.fromhex(answer["payload"]),
                str(answer.get("mode") or "").lower(),
                (str(host), int(port)),
                bool(answer.get("authenticated", False)),
                str(answer.get("pattern", "")),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ShimBroken(f"this is no message ({error!r}): {str(answer)[:200]}") from None

    @property
    def message(self) -> tuple[str, int, str, bytes]:
        return self.src, self.seq, self.chan, self.payload


def mode_of(chan: str) -> tuple[str, str]:
    """The clause and the delivery mode of a channel (sheet 1.7)."""
    if chan == "!":
        return "BCCN-CHN-06", "all"
    return ("BCCN-CHN-07", "directed") if chan[:1] == "!" else ("BCCN-CHN-08", "plain")


def like_a_wildcard(name: str) -> bool:
    """A name that no node should choose, and that a binding may refuse (BCCN-SRC-09)."""
    return "*" in name or name.endswith("/")


def wanted(vector: Vector) -> tuple[str, int, str, bytes]:
    expected = vector.expected
    return expected["src"], int(expected["seq"]), expected["chan"], vector.wanted("payload")


def judge_reading(vector: Vector, said: Said | None) -> None:
    """Does what a target made of a vector's datagram (None: it refused or dropped it) fit?"""
    clause = vector.clauses[0]
    if vector.result == "invalid" or vector.expected.get("refused"):
        if said is not None:
            raise Broken(clause, f"no message ({vector.comment})", str(said), vector.contested)
        return
    if said is None:
        if vector.result == "valid":
            raise Broken(clause, str(wanted(vector)), "no message")
        return
    if said.message != wanted(vector):
        raise Broken(clause, str(wanted(vector)), str(said))
    if said.authenticated and "key_hex" not in vector.input:
        raise Broken("BCCN-INT-18", "not called authenticated: there is no key", str(said))
    mode_clause, mode = mode_of(said.chan)
    if said.mode not in ("", mode):
        raise Broken(mode_clause, f"delivery mode {mode}", str(said))


def key_of(vector: Vector) -> bytes:
    return vector.given("key") if "key_hex" in vector.input else b""
