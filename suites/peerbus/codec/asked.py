"""The codec under test, asked through its shim, with everything said written down."""

from __future__ import annotations

import json
from typing import Any

from harness.errors import ShimBroken, TargetRefused
from harness.targets import Instance
from harness.trial import Trial

SECRET = b"0123456789abcdef0123456789abcdef"
ROLE = "peerbus/codec"


class Asked:
    """A refusal is None, and False for a signature: to refuse an envelope is to reject it."""

    def __init__(self, trial: Trial, instance: Instance) -> None:
        self.trial, self._instance = trial, instance

    async def profile(self) -> str:
        """Which authority the target follows where the document and the original differ; undeclared, the original."""
        declared = await self.trial.target.capabilities(ROLE)
        return "profile:document" if "profile:document" in declared else "profile:code"

    async def canonical(self, wire: bytes) -> bytes | None:
        answer = await self._ask("canonical", "canonical", str, wire, wire=wire.hex())
        return None if answer is None else unhex(answer)

    async def sign(self, wire: bytes, secret: bytes = SECRET) -> str | None:
        answer: str | None = await self._ask("sign", "hmac", str, wire, wire=wire.hex(), secret=secret.hex())
        return answer

    async def verify(self, wire: bytes, secret: bytes = SECRET) -> bool:
        return bool(await self._ask("verify", "valid", bool, wire, wire=wire.hex(), secret=secret.hex()))

    async def encode_lines(self, wires: list[bytes]) -> bytes | None:
        told = b" ".join(wires)
        answer = await self._ask("encode_lines", "stream", str, told, wires=[wire.hex() for wire in wires])
        return None if answer is None else unhex(answer)

    async def decode_lines(self, chunks: list[bytes]) -> list[Any] | None:
        """The stream's objects as JSON values, None for a line that is an error."""
        told = b"".join(chunks)
        answer = await self._ask("decode_lines", "objects", list, told, chunks=[chunk.hex() for chunk in chunks])
        return None if answer is None else [None if text is None else value_of(unhex(text)) for text in answer]

    async def _ask(self, op: str, key: str, kind: type, raw: bytes, **args: Any) -> Any:
        self.trial.said("harness", "codec", "request", f"{op} {raw[:600].decode(errors='replace')}", raw)
        try:
            result = await self._instance.do(op, **args)
        except TargetRefused as refused:
            self.trial.said("codec", "harness", "answer", f"refused: {refused}")
            return None
        self.trial.said("codec", "harness", "answer", str(result)[:600])
        if not isinstance(result.get(key), kind):
            raise ShimBroken(f"{op} answered {str(result)[:100]}: it must say {key} as {kind.__name__}")
        return result[key]


def unhex(text: object) -> bytes:
    try:
        return bytes.fromhex(str(text))
    except ValueError:
        raise ShimBroken(f"bytes travel as hex, this is none: {str(text)[:100]}") from None


def value_of(text: bytes) -> Any:
    """The JSON value that the target says a line holds."""
    try:
        return json.loads(text)
    except ValueError:
        raise ShimBroken(f"an object travels as JSON text, this is none: {text[:100]!r}") from None
