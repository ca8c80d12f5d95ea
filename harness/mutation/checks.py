"""The other side of the mutants: `kills` asks whether every fault is caught, this asks whether every check can fail.

A check that no fault has ever made fail may be unable to. One run over the mutants answers both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from harness.catalogue.cases import CaseInfo, check_of
from harness.catalogue.requirements import every_requirement
from harness.judging.result import CaseResult
from harness.mutation.plugin import kills_in


@dataclass
class Checks:
    """Each check's clauses, and which checks were seen failing.

    Also one that only records what it sees fails a target that dies of it or falls silent: so every check can fail.
    """

    clauses: dict[str, tuple[str, ...]]
    failed: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, cases: Iterable[CaseInfo]) -> Checks:
        clauses: dict[str, tuple[str, ...]] = {}
        for case in cases:
            check = check_of(case.id)
            clauses[check] = tuple(dict.fromkeys((*clauses.get(check, ()), *case.requirements)))
        return cls(clauses)

    def take(self, results: Iterable[CaseResult]) -> None:
        self.failed.update(check_of(result.case) for result in kills_in(results))

    @property
    def never_failed(self) -> list[str]:
        return sorted(self.clauses.keys() - self.failed)


def print_checks(checks: Checks, say: Callable[[str], None]) -> None:
    """What never failed, with its clauses and their levels; then the count."""
    known = every_requirement()
    for check in checks.never_failed:
        claimed = ", ".join(f"{clause} {known[clause].level}" for clause in checks.clauses[check])
        say(
            f"[bold red]never failed[/]  {check} ({claimed}): no mutant of its role makes it fail, so it may be unable to;"
            " write a mutant that does, or mend the check"
        )
    seen = len(checks.clauses) - len(checks.never_failed)
    say(f"{seen} of {len(checks.clauses)} checks seen failing")
