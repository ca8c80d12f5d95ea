"""The codec under test, asked through its shim."""

from __future__ import annotations

import re
from typing import Any

from harness.catalogue.vectors import Vector
from harness.errors import ShimBroken, TargetRefused
from harness.judging.trial import Broken, Otherwise
from suites.common import shim
from suites.common.host import Host

Fields = dict[str, Any]
CODES = [
    "BAD_REQUEST",
    "BAD_STATE",
    "AUTH_REQUIRED",
    "AUTH_FAILED",
    "PEER_NOT_FOUND",
    "LOOKUP_TIMEOUT",
    "ROUTE_NOT_FOUND",
    "ROUTE_EXPIRED",
    "TARGET_MISMATCH",
    "PAYLOAD_TOO_LARGE",
    "RATE_LIMITED",
    "SERVER_UNAVAILABLE",
    "INTERNAL",
]
MOST_SHOWN = 120


class Refusal(str):
    """What a codec says when it rejects; may begin with the error's code and the id that it echoes."""

    @property
    def error(self) -> tuple[str, str] | None:
        """Code and id, where both are told."""
        found = re.match(r"([A-Z_]+) (-|[A-Z0-9_-]{1,32})( |$)", self)
        return (found[1], found[2]) if found and found[1] in CODES else None


class CodecUnderTest(Host):
    """Answers as they are told, and a Refusal where the codec rejects."""

    async def decode(self, direction: str, wire: bytes) -> Fields | Refusal:
        try:
            answer = await self.do("decode", wire, shown(wire), direction=direction, wire=wire.hex())
        except TargetRefused as refused:
            return Refusal(refused)
        command = answer.get("command")
        if not isinstance(command, dict):
            raise ShimBroken(f"decode answered {str(answer)[:100]}: a command travels as an object")
        return {name: value for name, value in command.items() if value is not None}

    async def encode(self, command: Fields) -> bytes | Refusal:
        try:
            answer = await self.do("encode", b"", str(command)[:MOST_SHOWN], command=command)
        except TargetRefused as refused:
            return Refusal(refused)
        return shim.member(answer, "wire", shim.raw, "encode")

    async def told(self, op: str, member: str, **args: Any) -> Any:
        """One member of an answer; a Refusal where there is none."""
        try:
            answer = await self.do(op, **args)
        except TargetRefused as refused:
            return Refusal(refused)
        if member not in answer:
            raise ShimBroken(f"{op} answered {str(answer)[:100]}: it must say {member}")
        return answer[member]

    # -- what a case demands --------------------------------------------------------------------------------------

    async def must_mean(self, direction: str, wire: bytes, command: Fields, clause: str = "") -> None:
        got = await self.decode(direction, wire)
        if got != command:
            raise Broken(clause, str(command)[:400], f"refused: {got}" if isinstance(got, Refusal) else str(got)[:400])

    async def must_refuse(self, direction: str, wire: bytes, clause: str = "", why: str = "") -> Refusal:
        got = await self.decode(direction, wire)
        if not isinstance(got, Refusal):
            raise Broken(clause, f"a refusal{why and f': {why}'}", str(got)[:400])
        return got

    async def must_write(self, command: Fields, wire: bytes, clause: str = "") -> None:
        got = await self.encode(command)
        if got != wire:
            raise Broken(clause, shown(wire), f"refused: {got}" if isinstance(got, Refusal) else shown(got))

    async def must_not_write(self, command: Fields, clause: str = "") -> None:
        got = await self.encode(command)
        if not isinstance(got, Refusal):
            raise Broken(clause, "a refusal: no sender may emit this", shown(got))

    async def must_say(self, vector: Vector, wanted: Any, op: str, member: str, **args: Any) -> None:
        """That answer to an operation; of an acceptable vector another one is recorded."""
        got = await self.told(op, member, **args)
        if got != wanted:
            otherwise = Otherwise if vector.result == "acceptable" else Broken
            raise otherwise.of(
                vector, f"{member} {wanted!r}", f"refused: {got}" if isinstance(got, Refusal) else repr(got)
            )


def shown(wire: bytes) -> str:
    """The first bytes, for people."""
    return f"{wire[:MOST_SHOWN]!r}{'…' if len(wire) > MOST_SHOWN else ''} ({len(wire)} bytes)"


def wire_of(vector: Vector) -> bytes:
    """A vector's message: some bytes, perhaps a long run of one, perhaps an end."""
    fill: bytes = bytes.fromhex(vector.input.get("fill_hex", "")) * vector.input.get("fill_count", 0)
    return vector.given("wire") + fill + bytes.fromhex(vector.input.get("end_hex", ""))
