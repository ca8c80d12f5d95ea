"""The audit chain (section 6): each hash covers the one before it, so a removed or altered event shows."""

from __future__ import annotations

import json

from blake3 import blake3

GENESIS = blake3(b"").hexdigest()


def event_bytes(event: str, key: str, sender: str, to: str) -> bytes:
    """One event as compact JSON."""
    fields = {"event": event, "id": key, "from": sender, "to": to}
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


def link(previous: str, event: bytes) -> str:
    """The hash of an event that follows `previous`."""
    return blake3(previous.encode("ascii") + event).hexdigest()
