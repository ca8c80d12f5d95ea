"""The codec under test, asked through its shim, and what it says in one spelling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.errors import ShimBroken, TargetRefused
from harness.judging.trial import Broken
from suites.common import shim
from suites.common.host import Host

Fields = dict[str, Any]
MEMBERS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "push": {"recipient": shim.raw, "envelope": shim.raw},
    "deliver": {"blob_id": shim.number, "envelope": shim.raw},
    "deliver_ack": {"blob_id": shim.number},
    "heartbeat": {},
    "ack": {},
    "error": {},
}
MOST_SHOWN = 48


class Refusal(str):
    """What a codec says when it rejects."""


class CodecUnderTest(Host):
    """Answers in normal form, and a Refusal where the codec rejects."""

    async def decode(self, *messages: bytes) -> list[Fields] | Refusal:
        wires = [message.hex() for message in messages]
        try:
            answer = await self.do("decode", b"".join(messages), shown(messages), messages=wires)
        except TargetRefused as refused:
            return Refusal(refused)
        return shim.member(answer, "frames", shim.several(normal), "decode")

    async def encode(self, fields: Fields) -> list[bytes] | Refusal:
        try:
            answer = await self.do("encode", b"", str(fields)[:200], frame=fields)
        except TargetRefused as refused:
            return Refusal(refused)
        return shim.member(answer, "messages", shim.several(shim.raw), "encode")

    # -- what a case demands --------------------------------------------------------------------------------------

    async def must_mean(self, messages: Sequence[bytes], *frames: Fields, clause: str = "") -> None:
        got = await self.decode(*messages)
        if got != [normal(frame) for frame in frames]:
            raise Broken(clause, str(list(frames)), f"refused: {got}" if isinstance(got, Refusal) else str(got))

    async def may_mean(self, messages: Sequence[bytes], *frames: Fields, clause: str = "") -> None:
        """These frames, or a refusal; nothing else."""
        got = await self.decode(*messages)
        if not isinstance(got, Refusal) and got != [normal(frame) for frame in frames]:
            raise Broken(clause, f"{list(frames)}, or a refusal", str(got))

    async def must_refuse(
        self, messages: Sequence[bytes], clause: str = "", why: str = "", contested: str = ""
    ) -> None:
        got = await self.decode(*messages)
        if not isinstance(got, Refusal):
            raise Broken(clause, f"a refusal{why and f': {why}'}", str(got), contested)

    async def must_write(self, fields: Fields, wire: bytes, clause: str = "") -> None:
        """These bytes, in one message where they fit."""
        got = await self.encode(fields)
        if isinstance(got, Refusal) or b"".join(got) != wire or (len(got) > 1 and len(wire) <= 65_519):
            raise Broken(clause, shown([wire]), f"refused: {got}" if isinstance(got, Refusal) else shown(got))


def shown(messages: Sequence[bytes]) -> str:
    """The first bytes of each, for people."""
    return ", ".join(
        f"{message[:MOST_SHOWN].hex()}{'…' if len(message) > MOST_SHOWN else ''} ({len(message)} bytes)"
        for message in messages[:8]
    )


def normal(fields: Any) -> Fields:
    """One spelling of a frame's members."""
    kind = fields.get("type") if isinstance(fields, dict) else None
    if kind not in MEMBERS:
        raise ShimBroken(f"a frame travels as an object with a type, this is none: {str(fields)[:100]}")
    return {"type": kind} | {name: shim.member(fields, name, read, kind) for name, read in MEMBERS[kind].items()}
