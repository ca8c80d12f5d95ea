"""The codec under test, asked through its shim, and what it says in one spelling."""

from __future__ import annotations

import json
import re
from typing import Any

from harness.errors import ShimBroken, TargetRefused
from harness.targets import Instance
from harness.trial import Broken, Trial

ROLE = "sbp/codec"
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


class Asked:
    """Answers in normal form, and a Refusal where the codec rejects."""

    def __init__(self, trial: Trial, instance: Instance) -> None:
        self.trial, self._instance = trial, instance

    async def decode(self, wire: bytes) -> Fields | Refusal:
        self.trial.said("harness", "codec", "request", f"decode {shown(wire)}", wire)
        try:
            answer = await self._instance.do("decode", wire=wire.hex())
        except TargetRefused as refused:
            return self._refused(refused)
        self.trial.said("codec", "harness", "answer", str(answer)[:600])
        return normal(answer.get("frame"))

    async def encode(self, fields: Fields) -> bytes | Refusal:
        self.trial.said("harness", "codec", "request", f"encode {str(fields)[:600]}")
        try:
            answer = await self._instance.do("encode", frame=fields)
        except TargetRefused as refused:
            return self._refused(refused)
        try:
            wire = bytes.fromhex(answer["wire"])
        except (KeyError, TypeError, ValueError):
            raise ShimBroken(f"encode answered {str(answer)[:100]}: it must say wire as hex") from None
        self.trial.said("codec", "harness", "answer", shown(wire), wire)
        return wire

    def _refused(self, refused: TargetRefused) -> Refusal:
        self.trial.said("codec", "harness", "answer", f"refused: {refused}")
        return Refusal(str(refused))

    # -- what a case demands --------------------------------------------------------------------------------------

    async def must_mean(self, wire: bytes, fields: Fields, clause: str = "") -> None:
        got = await self.decode(wire)
        if got != normal(fields):
            raise Broken(clause, str(normal(fields)), f"refused: {got}" if isinstance(got, Refusal) else str(got))

    async def must_refuse(self, wire: bytes, clause: str = "", why: str = "") -> Refusal:
        got = await self.decode(wire)
        if not isinstance(got, Refusal):
            raise Broken(clause, f"a refusal{why and f': {why}'}", str(got))
        return got

    async def must_write(self, fields: Fields, wire: bytes, clause: str = "") -> None:
        got = await self.encode(fields)
        if isinstance(got, Refusal) or not same_frame(got, wire):
            raise Broken(clause, wire.hex(), f"refused: {got}" if isinstance(got, Refusal) else got.hex())


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
        return wire[:start], json.loads(wire[start:].decode("utf-8"))
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
    return EMPTY.get(kind, {}) | said | {"ts": ts_of(fields)}


def ts_of(fields: Fields) -> int | None:
    """A timestamp travels as decimal text, or as a number where the language has 64 bits of it."""
    ts = fields.get("ts")
    try:
        return None if ts is None else int(ts) if isinstance(ts, str) else whole(ts)
    except (TypeError, ValueError):
        raise ShimBroken(f"ts travels as decimal text, this is none: {ts!r}") from None


def whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(value)
    return value
