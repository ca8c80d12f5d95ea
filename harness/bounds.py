"""What one message of a target may cost once it is read: four megabytes of `[],[],` would be two hundred."""

from __future__ import annotations

MOST_WEIGHT = 32 * 1024 * 1024
"""Bytes of memory; a message that may take more is not read at all."""

HEAVY, MOST_HEAVY = 8 * 1024 * 1024, 20
"""A message that may take more than the first is mostly small values, and costs up to a second to read; of one target so many are
read in a run. None that a case asks for is, but for an echo of what was nested on purpose."""

VALUE = 128
"""Bytes that a value takes beside its text."""


def weight(text: bytes | str) -> int:
    """What a JSON text may take in memory once it is read, at most.

    One character beyond ASCII makes all of a text four times as wide. Brackets and commas inside of texts are counted as
    values too: that is cheap, and nothing that a case asks for has many.
    """
    if isinstance(text, str):
        narrow, values = "\\u" not in text, text.count("{") + text.count("[") + text.count(",")
    else:
        narrow, values = b"\\u" not in text, text.count(b"{") + text.count(b"[") + text.count(b",")
    return len(text) * (1 if narrow and text.isascii() else 4) + VALUE * values
