"""One SVG badge per target, for its own README."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from typing import Any

Row = dict[str, Any]
COLOURS = {"pass": "#2a7d4f", "fail": "#b3292e", "none": "#6b7078"}
#: Mean advance of the badge font at 11 px.
ADVANCE = 6.6


@dataclasses.dataclass(frozen=True)
class Badge:
    """`left` names the target, `right` says how it stands."""

    target: str
    file: str
    left: str
    right: str
    colour: str

    @property
    def left_width(self) -> int:
        return round(14 + ADVANCE * len(self.left))

    @property
    def right_width(self) -> int:
        return round(14 + ADVANCE * len(self.right))


def badges(squares: list[Row]) -> list[Badge]:
    """A badge for each target that was checked alone: how many of its decided cases pass."""
    totals: dict[str, list[int]] = {}
    for row in squares:
        if not row["peer"]:
            bad = row["fail"] + row["timeout"] + row["crashed"]
            decided = row["cases"] - row["unsupported"] - row["error"]
            entry = totals.setdefault(row["target"], [0, 0])
            entry[0] += decided - bad
            entry[1] += decided
    return [_badge(target, good, decided) for target, (good, decided) in sorted(totals.items())]


def _badge(target: str, good: int, decided: int) -> Badge:
    state = "none" if not decided else "pass" if good == decided else "fail"
    right = "no result" if not decided else f"{good}/{decided} conformant"
    name = target if len(target) <= 40 else target[:39] + "…"
    return Badge(target, f"{file_name(target)}.svg", f"touchstone · {name}", right, COLOURS[state])


def file_name(target: str) -> str:
    """A name that no target can turn into a path; a changed one carries a digest so that two never collide."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", target).strip(".-")[:60]
    if safe == target:
        return safe
    return f"{safe or 'target'}-{hashlib.sha256(target.encode()).hexdigest()[:8]}"
