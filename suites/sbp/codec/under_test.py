"""The codec under test, asked through its shim, and what it says in one spelling."""

from __future__ import annotations

import re
from typing import Any

from harness.errors import ShimBroken, TargetRefused
from harness.judging.trial import Broken
from suites.common import shim
from suites.common.host import Host

Fields = dict[str, Any]
HEX = ("id", "data", "ack", "details")
EMPTY = {"message": {"data": ""}, "close": {"reason": ""}, "error": {"message": "", "details": ""}}
"""Members that are empty where a codec leaves them out; an absent reason and an empty one are the same bytes."""
MOST_SHOWN = 32


class Refusal(str):
    """What a codec says when it rejects; begins with an error code where the codec knows one."""

    @property
    def code(self) -> int | None:
        found = re.match(r"(\d{4})\b", self)
        return int(found[1]) if found else None


class CodecUnderTest(Host):
    """Answers in normal form, and a Refusal where the codec rejects."""

    async def decode(self, wire: bytes) -> Fields | Refusal:
        try:
            answer = await self.do("decode", wire, shown(wire), wire=wire.hex())
        except TargetRefused as refused:
            return Refusal(refused)
        return normal(answer.get("frame"))

    async def encode(self, fields: Fields) -> bytes | Refusal:
        try:
            answer = await self.do("encode", frame=fields)
        except TargetRefused as refused:
            return Refusal(refused)
        return shim.member(answer, "wire", shim.raw, "encode")

    # -- what a case demands --------------------------------------------------------------------------------------

    async def must_mean(self, wire: bytes, fields: Fields, clause: str = "", contested: str = "") -> None:
        got, wanted = await self.decode(wire), normal(fields)
        if got != wanted and not (isinstance(got, Refusal) and may_be_refused(fields)):
            raise Broken(clause, str(wanted), f"refused: {got}" if isinstance(got, Refusal) else str(got), contested)

    async def must_refuse(self, wire: bytes, clause: str = "", why: str = "", contested: str = "") -> Refusal:
        got = await self.decode(wire)
        if not isinstance(got, Refusal):
            raise Broken(clause, f"a refusal{why and f': {why}'}", str(got), contested)
        return got

    async def must_write(self, fields: Fields, wire: bytes, clause: str = "", contested: str = "") -> None:
        got = await self.encode(fields)
        if isinstance(got, Refusal) and may_be_refused(fields):
            return
        if isinstance(got, Refusal) or not same_frame(got, wire):
            said = f"refused: {got}" if isinstance(got, Refusal) else got.hex()
            raise Broken(clause, wire.hex(), said, contested)


def may_be_refused(fields: Fields) -> bool:
    """A subject outside the one namespace that all profiles have, or with a NUL, which they forbid (SBP-SES-14)."""
    subject = fields.get("subject")
    return isinstance(subject, str) and ("\0" in subject or not subject.startswith("app/"))


def shown(wire: bytes) -> str:
    """The first bytes, for people."""
    return f"{wire[:MOST_SHOWN].hex()}{'…' if len(wire) > MOST_SHOWN else ''} ({len(wire)} bytes)"


def same_frame(one: bytes, other: bytes) -> bool:
    """The same bytes; of a Handshake's JSON, which has many spellings, the same members."""
    (head, payload), (other_head, other_payload) = parts(one), parts(other)
    return head == other_head and payload == other_payload


def parts(wire: bytes) -> tuple[bytes, Any]:
    """A Handshake up to its op, and what its JSON says; every other frame whole."""
    start = 19 + 8 * (wire[1] & 1) if len(wire) > 1 else 0
    if wire[:1] != b"\x00" or wire[start - 1 : start] != b"\x00":
        return wire, None
    try:
        return wire[:start], shim.parsed(wire[start:].decode("utf-8"))
    except ValueError:
        return wire, None


def normal(fields: Any) -> Fields:
    """One spelling of a frame's members: `ts` a number or None, hex in lower case, what is left out filled in."""
    kind = fields.get("kind") if isinstance(fields, dict) else None
    if not isinstance(kind, str):
        raise ShimBroken(f"a frame travels as an object with a kind, this is none: {str(fields)[:100]}")
    said = {name: value for name, value in fields.items() if value is not None and name != "ts"}
    for name in HEX:
        if isinstance(said.get(name), str):
            said[name] = said[name].lower()
    if kind == "handshake" and not said.get("caps"):
        said.pop("caps", None)
    if kind == "handshake" and not said.get("metadata"):
        said.pop("metadata", None)
    return EMPTY.get(kind, {}) | said | {"ts": shim.member(fields, "ts", shim.optional(shim.number), kind)}
