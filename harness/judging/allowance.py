"""How much of what a target said is read and kept: all of its first faults, then only how each of them ended.

A target that fails three thousand cases with a flood in each would fill the memory and the disk with floods.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.bounds import HEAVY, MOST_HEAVY
from harness.judging.result import TimelineEntry

MOST_KEPT = 8 * 1024 * 1024
"""Bytes of the timelines of one target, as a stream has them, that one process keeps."""

LAST = 3
"""Entries that every fault keeps."""

SPENT = f"only the last {LAST} entries of the timeline are kept: earlier faults of this run have used {MOST_KEPT} bytes"

_encoder = msgspec.json.Encoder(enc_hook=str)


class Allowance:
    """What is left of it for one target."""

    def __init__(self, left: int = MOST_KEPT) -> None:
        self._left, self._heavy = left, 0

    def reads(self, weight: int) -> bool:
        """Is a message of that weight still read? The heavy ones are counted."""
        self._heavy += weight > HEAVY
        return weight <= HEAVY or self._heavy <= MOST_HEAVY

    def of(self, timeline: Sequence[TimelineEntry]) -> tuple[list[TimelineEntry], str]:
        """What is kept of a fault's timeline, and why that is not all."""
        size = sum(map(_size, timeline))
        if size <= self._left:
            self._left -= size
            return list(timeline), ""
        return [msgspec.structs.replace(entry, raw="") for entry in timeline[-LAST:]], SPENT


def _size(entry: TimelineEntry) -> int:
    """Without its text's escapes: a lone surrogate, which no encoder takes, is as long as any other character."""
    try:
        return len(_encoder.encode(entry))
    except UnicodeEncodeError:
        return len(entry.raw) + 6 * len(entry.text)
