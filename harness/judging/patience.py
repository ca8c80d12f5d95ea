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
"""What was waited for so often and never came gets the least of all; from a target that has done nothing right, less each
time: see `fading`. One that has is never failed for what a busy machine takes."""

SILENT, FIRST = 2, 0.2
"""Of a target that let so many kinds be waited for in full and has done nothing right, each further kind gets a fifth the first
time, and the least from then on: it shall end within a minute."""

FADES, FLOOR_S, AGAIN = 3, 0.005, 100
"""After so many times in vain the least is half of it; it is never less than the second, which is enough for a target that
answers at once; and each time of the third it is whole again, so that a target that wakes up is seen to."""

MARGIN = 4.0
"""How many times the slowest payment that was seen: a machine may be busier now."""


@dataclass
class Record:
    """What is known of one kind of waiting."""

    slowest_s: float = 0.0
    in_vain: int = 0  # times since it came last
    came: bool = False


class Patience:
    """What one target has taught us about waiting for it; a kind is what is waited for, in words.

    To say hello, to start and to be connected to is `formal`: a target that did no more has done nothing right yet.
    """

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}
        self._in_vain = 0  # waits, while nothing was right
        self._right = False

    def seconds(self, kind: str, full_s: float, least_s: float = LEAST_S) -> float:
        record = self._records.get(kind)
        if record is None or not record.in_vain:
            return max(min(full_s, least_s), full_s * FIRST) if record is None and self._does_nothing_right else full_s
        if not record.came and self._does_nothing_right:
            return min(full_s, least_s, fading(self._in_vain - SILENT))
        if not record.came and record.in_vain >= HOPELESS:
            return min(full_s, least_s, LEAST_S if self._right else fading(record.in_vain - HOPELESS))
        return min(full_s, max(least_s, LEAST * full_s, record.slowest_s * MARGIN))

    @property
    def _does_nothing_right(self) -> bool:
        return not self._right and len([record for record in self._records.values() if record.in_vain]) >= SILENT

    def paid(self, kind: str, seconds: float, formal: bool = False) -> None:
        record = self._records.setdefault(kind, Record())
        record.slowest_s, record.in_vain, record.came = max(record.slowest_s, seconds), 0, True
        self._right |= not formal

    def waited_in_vain(self, kind: str) -> None:
        self._records.setdefault(kind, Record()).in_vain += 1
        self._in_vain += 1

    def within(self, kind: str, seconds: float) -> str:
        """How long that was, and why no longer."""
        before = self._records[kind].in_vain - 1 if kind in self._records else 0
        why = f": it was waited for {before} times before, and never came" if before > 0 and seconds < LEAST_S else ""
        return f"{seconds:g} s{why}"

    @contextmanager
    def waiting(self, kind: str, full_s: float, least_s: float = LEAST_S, formal: bool = False) -> Iterator[float]:
        """For so long; a TimeoutError in the block is a waiting in vain, its end a payment."""
        began = time.monotonic()
        try:
            yield self.seconds(kind, full_s, least_s)
        except TimeoutError:
            self.waited_in_vain(kind)
            raise
        self.paid(kind, time.monotonic() - began, formal)


def fading(times: int) -> float:
    """The least, when it was waited for so often: thousands of times cost seconds in sum, and not a quarter of an hour."""
    if times % AGAIN == AGAIN - 1:
        return LEAST_S
    return round(max(FLOOR_S, LEAST_S * FADES / (FADES + max(0, times))), 3)
