"""The codec under test, asked through its shim, with everything said written down."""

from __future__ import annotations

from typing import Any

from harness.errors import ShimBroken, TargetRefused
from harness.targets import Instance
from harness.trial import Trial
from harness.vectors import Vector
from suites.bccn.wire import Said, key_of

ROLE = "bccn/codec"


class Asked:
    """A refusal is None."""

    def __init__(self, trial: Trial, instance: Instance) -> None:
        self.trial, self._instance = trial, instance

    async def decode(self, wire: bytes, key: bytes = b"") -> Said | None:
        answer = await self._ask("decode", wire, wire=wire.hex(), **keyed(key))
        return None if answer is None else Said.of(answer)

    async def encode(
        self, src: str, seq: int, chan: str, payload: bytes, key: bytes = b"", **extra: str
    ) -> bytes | None:
        message = {"src": src, "seq": str(seq), "chan": chan, "payload": payload.hex()}
        answer = await self._ask("encode", payload, **message, **keyed(key), **extra)
        return None if answer is None else bytes.fromhex(self._text(answer, "wire"))

    async def encode_vector(self, vector: Vector) -> bytes | None:
        given = vector.input
        payload = vector.given("payload")
        return await self.encode(given["src"], int(given["seq"]), given["chan"], payload, key_of(vector))

    async def parse_envelope(self, wire: bytes, key: bytes = b"") -> dict[str, Any] | None:
        return await self._ask("parse_envelope", wire, wire=wire.hex(), **keyed(key))

    async def match(self, name: str, target: str) -> bool | None:
        answer = await self._ask("match", b"", name=name, target=target)
        return None if answer is None else bool(answer.get("matches"))

    async def _ask(self, op: str, raw: bytes, **args: Any) -> dict[str, Any] | None:
        self.trial.said("harness", "codec", "request", f"{op} {raw!r}" if "wire" in args else f"{op} {args}", raw)
        try:
            result = await self._instance.do(op, **args)
        except TargetRefused as refused:
            self.trial.said("codec", "harness", "answer", f"refused: {refused}")
            return None
        self.trial.said("codec", "harness", "answer", str(result))
        return result

    def _text(self, answer: dict[str, Any], key: str) -> str:
        if not isinstance(answer.get(key), str):
            raise ShimBroken(f"the answer has no {key}: {str(answer)[:100]}")
        return str(answer[key])


def keyed(key: bytes) -> dict[str, str]:
    return {"key": key.hex()} if key else {}
