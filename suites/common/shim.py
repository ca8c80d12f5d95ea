"""What a shim says, read by its contract: whatever is not in that is the shim's fault, and judges nobody."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from harness.errors import ShimBroken

T = TypeVar("T")


def member(said: Mapping[str, Any], name: str, read: Callable[[Any], T], about: str) -> T:
    """One member of an answer or an event, as `read` understands it."""
    try:
        return read(said.get(name))
    except (TypeError, ValueError) as error:
        raise ShimBroken(f"`{about}` with {name} {str(said.get(name))[:60]!r}: {error}") from None


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("it travels as text")
    return value


def raw(value: Any) -> bytes:
    """Bytes travel as hex."""
    return bytes.fromhex(text(value))


def parsed(value: str | bytes) -> Any:
    """The JSON that a text holds; one that is nested deeper than any reader goes holds none."""
    try:
        return json.loads(value)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("it travels as a whole number")
    return value


def number(value: Any) -> int:
    """Decimal text, or a number where the language has 64 bits of it."""
    return int(value) if isinstance(value, str) else whole(value)


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("it travels as true or false")
    return value


def optional(read: Callable[[Any], T]) -> Callable[[Any], T | None]:
    """One of those, or nothing."""
    return lambda value: None if value is None else read(value)


def several(read: Callable[[Any], T]) -> Callable[[Any], list[T]]:
    """Many of those."""

    def reads(value: Any) -> list[T]:
        if not isinstance(value, list):
            raise TypeError("it travels as a list")
        return [read(item) for item in value]

    return reads
