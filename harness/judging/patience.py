"""How long what must come is waited for: in full until it was waited for in vain once, and from then on less.

A target that never closes would cost the patience in each of two hundred cases. One of each kind is waited for in full; after
that the target has to be as quick as it ever was with that kind, or nearly. If it pays after all, it is trusted again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

LEAST, LEAST_S = 0.1, 0.3
"""What is not expected any more is waited for a tenth of the patience, and never less than a scheduler's worst."""

START_S = 2.0
"""The same for what has to start: it may have to load more than it does later."""

HOPELESS = 10
"""What was waited for so often and never came gets the least of all: a target that does nothing right ends within a minute."""

MARGIN = 4.0
"""How many times the slowest payment that was seen: a machine may be busier now."""


@dataclass
class Record:
    """What is known of one kind of waiting."""

    slowest_s: float = 0.0
    in_vain: int = 0  # times since it came last
    came: bool = False


class Patience:
    """What one target has taught us about waiting for it; a kind is what is waited for, in words."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}

    def seconds(self, kind: str, full_s: float, least_s: float = LEAST_S) -> float:
        record = self._records.get(kind)
        if record is None or not record.in_vain:
            return full_s
        if record.in_vain >= HOPELESS and not record.came:
            return min(full_s, least_s, LEAST_S)
        return min(full_s, max(least_s, LEAST * full_s, record.slowest_s * MARGIN))

    def paid(self, kind: str, seconds: float) -> None:
        record = self._records.setdefault(kind, Record())
        record.slowest_s, record.in_vain, record.came = max(record.slowest_s, seconds), 0, True

    def waited_in_vain(self, kind: str) -> None:
        self._records.setdefault(kind, Record()).in_vain += 1

    @contextmanager
    def waiting(self, kind: str, full_s: float, least_s: float = LEAST_S) -> Iterator[float]:
        """For so long; a TimeoutError in the block is a waiting in vain, its end a payment."""
        began = time.monotonic()
        try:
            yield self.seconds(kind, full_s, least_s)
        except TimeoutError:
            self.waited_in_vain(kind)
            raise
        self.paid(kind, time.monotonic() - began)
