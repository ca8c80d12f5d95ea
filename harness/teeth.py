"""The other side of the mutants: `biting` asks whether every fault is caught, this asks whether every check can fail.

A check that no fault has ever made fail may be unable to.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from harness.biting import PATIENCE_S
from harness.cases import CaseInfo, check_of
from harness.mutants import mutants_of
from harness.plugin import KILLS
from harness.record import Recorder
from harness.requirements import catalogue
from harness.results import CaseResult
from harness.run import Plan, cases, run
from harness.stream import StreamWriter


@dataclass
class Teeth:
    """Each check's clauses, and which checks were seen failing."""

    clauses: dict[str, tuple[str, ...]]
    optional: frozenset[str] = frozenset()  # clauses that are a MAY: breaking one is information
    bitten: set[str] = field(default_factory=set)
    duration_s: float = 0.0

    @property
    def toothless(self) -> list[str]:
        return sorted(self.clauses.keys() - self.bitten - self.informing)

    @property
    def informing(self) -> set[str]:
        """Checks that can fail nobody, and did not."""
        return {check for check, claimed in self.clauses.items() if self.optional.issuperset(claimed)} - self.bitten

    def take(self, results: Iterable[CaseResult]) -> None:
        self.bitten.update(check_of(result.case) for result in results if result.verdict in KILLS)


def look_for_teeth(protocol: str, runs: Path, *, workers: int, seed: int, select: Sequence[str] = ()) -> Teeth:
    """Each check meets mutants that break its clauses until it fails; one that never did meets every mutant of its role."""
    began = time.perf_counter()
    known = mutants_of(protocol)
    recorder = Recorder("teeth", [m.target().info for m in known.values()], [protocol], seed, runs)
    recorder.subscribe(StreamWriter(recorder.folder))
    select = select or [protocol]
    optional = frozenset(requirement.id for requirement in catalogue(protocol).values() if requirement.level == "MAY")
    found = Teeth(clauses_of(cases(select)), optional)
    plan = Plan(mutants=protocol, select=select, workers=workers, seed=seed, patience=PATIENCE_S, teeth=True)
    run(plan, recorder)
    found.take(recorder.results)
    if found.toothless:
        run(replace(plan, mutant=list(known), select=found.toothless), recorder)
        found.take(recorder.results)
    recorder.finish()
    found.duration_s = time.perf_counter() - began
    return found


def clauses_of(known: Iterable[CaseInfo]) -> dict[str, tuple[str, ...]]:
    """Each check with the clauses of all its cases."""
    clauses: dict[str, tuple[str, ...]] = {}
    for case in known:
        check = check_of(case.id)
        clauses[check] = tuple(dict.fromkeys((*clauses.get(check, ()), *case.requirements)))
    return clauses


def print_teeth(protocol: str, teeth: Teeth) -> None:
    """What never failed and could have, with its clauses and their levels; then the count."""
    say = Console(highlight=False, soft_wrap=True).print
    levels = {requirement.id: requirement.level for requirement in catalogue(protocol).values()}
    for check in teeth.toothless:
        claimed = ", ".join(f"{clause} {levels[clause]}" for clause in teeth.clauses[check])
        say(f"[yellow]never failed[/]  {check}  [dim]{claimed}[/]")
    informing = f", {len(teeth.informing)} can only inform (MAY)" if teeth.informing else ""
    failing = len(teeth.clauses) - len(teeth.toothless) - len(teeth.informing)
    say(f"{failing} of {len(teeth.clauses)} checks seen failing{informing}, in {teeth.duration_s:.1f} s")
