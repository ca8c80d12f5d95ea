"""What one message of a target may cost once it is read: four megabytes of `[],[],` would be two hundred."""

from __future__ import annotations

MOST_WEIGHT = 32 * 1024 * 1024
"""Bytes of memory; a message that may take more is not read at all."""


def weight(message: bytes | str) -> int:
    """What a message may take in memory once it is read, at most: four bytes for a character, 128 for a value.

    Brackets and commas inside of texts are counted too: that is cheap, and nothing that a case asks for has many.
    """
    if isinstance(message, str):
        return 4 * len(message) + 128 * (message.count("{") + message.count("[") + message.count(","))
    return 4 * len(message) + 128 * (message.count(b"{") + message.count(b"[") + message.count(b","))
