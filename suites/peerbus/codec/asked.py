"""The codec under test, asked through its shim, with everything said written down."""

from __future__ import annotations

import json
from typing import Any

from harness.errors import ShimBroken, TargetRefused
from harness.targets import Instance
from harness.trial import MOST_TEXT, Trial
from suites.peerbus.profiles import profile_of

SECRET = b"0123456789abcdef0123456789abcdef"
ROLE = "peerbus/codec"


class Asked:
    """A refusal is None, and False for a signature: to refuse an envelope is to reject it."""

    def __init__(self, trial: Trial, instance: Instance) -> None:
        self.trial, self._instance = trial, instance

    async def profile(self) -> str:
        """What a vector calls the profile it needs."""
        return f"profile:{await profile_of(self.trial.target, ROLE)}"

    async def canonical(self, wire: bytes) -> bytes | None:
        answer = await self._ask("canonical", "canonical", str, wire=wire)
        return None if answer is None else unhex(answer)

    async def sign(self, wire: bytes, secret: bytes = SECRET) -> str | None:
        answer: str | None = await self._ask("sign", "hmac", str, secret=secret, wire=wire)
        return answer

    async def verify(self, wire: bytes, secret: bytes = SECRET) -> bool:
        return bool(await self._ask("verify", "valid", bool, secret=secret, wire=wire))

    async def encode_lines(self, wires: list[bytes]) -> bytes | None:
        answer = await self._ask("encode_lines", "stream", str, wires=wires)
        return None if answer is None else unhex(answer)

    async def decode_lines(self, chunks: list[bytes]) -> list[Any] | None:
        """The stream's objects as JSON values, None for a line that is an error."""
        answer = await self._ask("decode_lines", "objects", list, chunks=chunks)
        return None if answer is None else [None if text is None else value_of(unhex(text)) for text in answer]

    async def _ask(self, op: str, key: str, kind: type, **args: bytes | list[bytes]) -> Any:
        """Bytes travel as hex; the timeline shows every argument, the secret as it travels, the long ones last."""
        told = " ".join(f"{name}={shown(name, value)}" for name, value in args.items())
        last = list(args.values())[-1]
        raw = last if isinstance(last, bytes) else b"".join(last)
        self.trial.said("harness", "codec", "request", f"{op} {told}", raw)
        try:
            result = await self._instance.do(op, **{name: hexed(value) for name, value in args.items()})
        except TargetRefused as refused:
            self.trial.said("codec", "harness", "answer", f"refused: {refused}")
            return None
        self.trial.said("codec", "harness", "answer", str(result)[:600])
        if not isinstance(result.get(key), kind):
            raise ShimBroken(f"{op} answered {str(result)[:100]}: it must say {key} as {kind.__name__}")
        return result[key]


def hexed(value: bytes | list[bytes]) -> str | list[str]:
    return value.hex() if isinstance(value, bytes) else [piece.hex() for piece in value]


def shown(name: str, value: bytes | list[bytes]) -> str:
    """As text, so much of it as a timeline keeps."""
    if isinstance(value, list):
        return str([piece[:MOST_TEXT].decode(errors="replace") for piece in value[:MOST_TEXT]])
    return value.hex() if name == "secret" else value[:MOST_TEXT].decode(errors="replace")


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
