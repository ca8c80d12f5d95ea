"""What a peer tells its host, in one spelling; `suites/sbp/README.md` is the contract."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from suites.common import shim
from suites.common.host import Event


def text(value: Any) -> str:
    """Absent is empty: nobody sends an Error or a Close with nothing in it to be understood."""
    return "" if value is None else shim.text(value)


def raw(value: Any) -> bytes:
    return b"" if value is None else shim.raw(value)


def untouched(value: Any) -> Any:
    return value


MEMBERS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "established": {"peer_id": text, "caps": untouched, "metadata": untouched},
    "message": {"subject": text, "data": raw, "ts": shim.optional(shim.number)},
    "pong": {},
    "acked": {"id": raw},
    "error": {"code": shim.whole, "message": text, "details": raw},
    "closed": {"reason": text},
}


def read_event(event: str, data: dict[str, Any]) -> Event:
    """The members of the contract, absent ones filled in, hex as bytes; an event that we do not know stays as it is."""
    if event not in MEMBERS:
        return event, data
    return event, {name: shim.member(data, name, read, event) for name, read in MEMBERS[event].items()}
