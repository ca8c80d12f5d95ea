"""What a target tells its host, in one spelling: whatever the shim's contract does not know is the shim's fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.errors import ShimBroken

Told = tuple[str, dict[str, Any]]


def text(value: Any) -> str:
    """Absent is empty: nobody sends an Error or a Close with nothing in it to be understood."""
    if not isinstance(value, str | None):
        raise TypeError("it travels as text")
    return value or ""


def raw(value: Any) -> bytes:
    return bytes.fromhex(text(value))


def whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("it travels as a whole number")
    return value


def stamp(value: Any) -> int | None:
    """Decimal text, or a number where the language has 64 bits of it."""
    return None if value is None else int(value) if isinstance(value, str) else whole(value)


def untouched(value: Any) -> Any:
    return value


MEMBERS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "established": {"peer_id": text, "caps": untouched, "metadata": untouched},
    "message": {"subject": text, "data": raw, "ts": stamp},
    "pong": {},
    "acked": {"id": raw},
    "error": {"code": whole, "message": text, "details": raw},
    "closed": {"reason": text},
}


def as_told(event: str, data: dict[str, Any]) -> Told:
    """The members of the contract, absent ones filled in, hex as bytes; an event that we do not know stays as it is."""
    if event not in MEMBERS:
        return event, data
    said: dict[str, Any] = {}
    for name, read in MEMBERS[event].items():
        try:
            said[name] = read(data.get(name))
        except (TypeError, ValueError) as error:
            raise ShimBroken(f"`{event}` with {name} {str(data.get(name))[:60]!r}: {error}") from None
    return event, said
