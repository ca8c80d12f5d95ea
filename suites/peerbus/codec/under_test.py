"""The codec under test, asked through its shim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from harness.judging.trial import MOST_TEXT
from suites.common import shim
from suites.common.host import Host
from suites.peerbus.envelopes import SECRET
from suites.peerbus.profiles import profile_of

T = TypeVar("T")


class CodecUnderTest(Host):
    """A refusal is None, and False for a signature: to refuse an envelope is to reject it."""

    async def profile(self) -> str:
        """What a vector calls the profile it needs."""
        return f"profile:{await profile_of(self.trial)}"

    async def canonical(self, wire: bytes) -> bytes | None:
        return await self._ask("canonical", "canonical", shim.raw, wire=wire)

    async def sign(self, wire: bytes, secret: bytes = SECRET) -> str | None:
        return await self._ask("sign", "hmac", shim.text, secret=secret, wire=wire)

    async def verify(self, wire: bytes, secret: bytes = SECRET) -> bool:
        return bool(await self._ask("verify", "valid", shim.flag, secret=secret, wire=wire))

    async def encode_lines(self, wires: list[bytes]) -> bytes | None:
        return await self._ask("encode_lines", "stream", shim.raw, wires=wires)

    async def decode_lines(self, chunks: list[bytes]) -> list[Any] | None:
        """The stream's objects as JSON values, None for a line that is an error."""
        return await self._ask("decode_lines", "objects", shim.several(value_of), chunks=chunks)

    async def _ask(self, op: str, key: str, read: Callable[[Any], T], **args: bytes | list[bytes]) -> T | None:
        """The timeline shows every argument, the secret as it travels, the long ones last."""
        told = " ".join(f"{name}={shown(name, value)}" for name, value in args.items())
        last = list(args.values())[-1]
        raw = last if isinstance(last, bytes) else b"".join(last)
        answer = await self.asked(op, raw, told, **{name: hexed(value) for name, value in args.items()})
        return None if answer is None else shim.member(answer, key, read, op)


def hexed(value: bytes | list[bytes]) -> str | list[str]:
    return value.hex() if isinstance(value, bytes) else [piece.hex() for piece in value]


def shown(name: str, value: bytes | list[bytes]) -> str:
    """As text, so much of it as a timeline keeps."""
    if isinstance(value, list):
        return str([piece[:MOST_TEXT].decode(errors="replace") for piece in value[:MOST_TEXT]])
    return value.hex() if name == "secret" else value[:MOST_TEXT].decode(errors="replace")


def value_of(text: Any) -> Any:
    """The JSON value that the target says a line holds."""
    return None if text is None else shim.parsed(shim.raw(text))
