"""The requirements of each protocol, as data from `suites/<protocol>/requirements.toml`; all of it is optional."""

from __future__ import annotations

import dataclasses
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

from spark_reports.errors import Unavailable

#: Worst first: what one square of the coverage picture shows when targets differ.
STATUSES = ("broken", "warned", "undecided", "met", "unsupported", "untested", "excluded")


@dataclasses.dataclass(frozen=True)
class Requirement:
    """One clause in our own words."""

    id: str
    level: str = ""
    text: str = ""
    reading: str = ""
    contested: str = ""
    excluded: str = ""


@dataclasses.dataclass(frozen=True)
class Clause:
    """One square: a requirement and what the targets made of it."""

    requirement: Requirement
    status: str
    by_status: dict[str, list[str]]  # status -> targets


@dataclasses.dataclass(frozen=True)
class Coverage:
    """One protocol's requirements."""

    protocol: str
    clauses: list[Clause]

    @property
    def counts(self) -> dict[str, int]:
        return {status: sum(clause.status == status for clause in self.clauses) for status in STATUSES}

    @property
    def tested(self) -> int:
        return sum(clause.status not in ("untested", "excluded") for clause in self.clauses)


def read_requirements(suites: Path | None) -> dict[str, dict[str, Requirement]]:
    """Protocol -> id -> requirement; a file that is no TOML is an error, a missing one is not."""
    found: dict[str, dict[str, Requirement]] = {}
    for path in sorted(Path(suites).glob("*/requirements.toml")) if suites else []:
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8")).get("requirement", [])
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise Unavailable(f"{path} cannot be read: {error}.") from error
        found[path.parent.name] = {str(table["id"]): _requirement(table) for table in tables if "id" in table}
    return found


def _requirement(table: dict[str, Any]) -> Requirement:
    names = [field.name for field in dataclasses.fields(Requirement)]
    return Requirement(**{name: str(table[name]) for name in names if table.get(name)})


def coverage(ledger: list[dict[str, Any]], known: dict[str, dict[str, Requirement]]) -> list[Coverage]:
    """Every requirement that is written down or that a result claims, per protocol."""
    seen: dict[str, dict[str, dict[str, list[str]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for row in ledger:
        seen[row["protocol"]][row["requirement"]][row["status"]].append(row["target"])
    pages = []
    for protocol in sorted(set(seen) | set(known)):
        listed = known.get(protocol, {})
        extra = sorted(set(seen[protocol]) - set(listed))
        everything = [*listed.values(), *(Requirement(id) for id in extra)]
        pages.append(Coverage(protocol, [_clause(item, seen[protocol].get(item.id, {})) for item in everything]))
    return pages


def _clause(requirement: Requirement, by_status: dict[str, list[str]]) -> Clause:
    idle = "excluded" if requirement.excluded else "untested"
    status = next((status for status in STATUSES if status in by_status), idle)
    return Clause(requirement, status, {name: sorted(targets) for name, targets in by_status.items()})
