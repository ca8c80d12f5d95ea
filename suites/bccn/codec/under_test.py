"""The codec under test, asked through its shim."""

from __future__ import annotations

from typing import Any

from harness.catalogue.vectors import Vector
from suites.bccn.reading import Reading, key_of, keyed
from suites.common import shim
from suites.common.host import Host


class CodecUnderTest(Host):
    """A refusal is None."""

    async def decode(self, wire: bytes, key: bytes = b"") -> Reading | None:
        answer = await self.asked("decode", wire, repr(wire), wire=wire.hex(), **keyed(key))
        return None if answer is None else Reading.of(answer)

    async def encode(
        self, src: str, seq: int, chan: str, payload: bytes, key: bytes = b"", **extra: str
    ) -> bytes | None:
        message = {"src": src, "seq": str(seq), "chan": chan, "payload": payload.hex()}
        answer = await self.asked("encode", payload, **message, **keyed(key), **extra)
        return None if answer is None else shim.member(answer, "wire", shim.raw, "encode")

    async def encode_vector(self, vector: Vector) -> bytes | None:
        given, payload = vector.input, vector.given("payload")
        return await self.encode(given["src"], int(given["seq"]), given["chan"], payload, key_of(vector))

    async def parse_envelope(self, wire: bytes, key: bytes = b"") -> dict[str, Any] | None:
        return await self.asked("parse_envelope", wire, repr(wire), wire=wire.hex(), **keyed(key))

    async def match(self, name: str, target: str) -> bool | None:
        answer = await self.asked("match", name=name, target=target)
        return None if answer is None else bool(answer.get("matches"))
