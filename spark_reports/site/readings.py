"""How each implementation read the clauses that can be read in more than one way: what the authors of a text can act on.

A contested clause at most warns. Who does otherwise than our reading is quoted with what was seen of it; what a case merely
recorded, since the text leaves it open, is quoted too.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from typing import Any

from spark_reports.site.requirements import Requirement

AS_WE_DO, OTHERWISE, OPEN, NOT_SEEN = "as we read it", "otherwise", "its choice", "not seen"

#: Different things that one implementation was seen to do about one clause: the rest are of the same kind.
QUOTED = 3


@dataclasses.dataclass(frozen=True)
class Reading:
    """What one implementation made of one clause."""

    kind: str
    quotes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Contested:
    """One clause and everybody's reading of it, by target."""

    requirement: Requirement
    by_target: dict[str, Reading]

    @property
    def is_split(self) -> bool:
        """Do implementations differ? These are the first that a text should settle."""
        return len({reading.kind for reading in self.by_target.values()} - {NOT_SEEN}) > 1


@dataclasses.dataclass(frozen=True)
class Readings:
    """One protocol's table."""

    protocol: str
    targets: list[str]
    clauses: list[Contested]


def readings(
    seen: list[dict[str, Any]], ledger: list[dict[str, Any]], known: dict[str, dict[str, Requirement]]
) -> list[Readings]:
    """Of each protocol the contested clauses, and those about which a case has recorded a choice; split ones first."""
    quotes: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for row in seen:
        for clause, kind, text in _said(row, known.get(row["protocol"], {})):
            found = quotes[row["protocol"], clause, row["target"], kind]
            if text and text not in found:
                found.append(text)
    met = {(row["protocol"], row["requirement"], row["target"]) for row in ledger if row["status"] == "met"}
    tables = []
    for protocol, clauses in sorted(known.items()):
        targets = sorted({row["target"] for row in ledger if row["protocol"] == protocol})
        named = {clause for where, clause, _, _ in quotes if where == protocol}
        rows = [
            Contested(item, {target: _reading(quotes, met, (protocol, id, target)) for target in targets})
            for id, item in clauses.items()
            if item.contested or id in named
        ]
        if rows and targets:
            tables.append(Readings(protocol, targets, sorted(rows, key=lambda row: not row.is_split)))
    return tables


def _said(row: dict[str, Any], clauses: dict[str, Requirement]) -> list[tuple[str, str, str]]:
    """Clause, kind of reading, and the words for it: a warning is about its own clause, a choice about the first it names."""
    failure = row["failure"] or {}
    clause = failure.get("clause") or ""
    if row["verdict"] == "warn" and clause in clauses and clauses[clause].contested:
        return [(clause, OTHERWISE, failure.get("observed") or failure.get("message") or row["note"] or "")]
    if row["verdict"] == "info" and row["requirements"]:
        return [(row["requirements"][0], OPEN, row["note"] or "")]
    return []


def _reading(quotes: Any, met: set[tuple[str, str, str]], where: tuple[str, str, str]) -> Reading:
    for kind in (OTHERWISE, OPEN):
        if (*where, kind) in quotes:
            return Reading(kind, tuple(quotes[*where, kind][:QUOTED]))
    return Reading(AS_WE_DO if where in met else NOT_SEEN)
