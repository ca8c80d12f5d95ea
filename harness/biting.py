"""Runs the suites against the mutants: first the cases that claim a mutant's clause, then, for survivors, all of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
from rich.console import Console

from harness.errors import UsageError
from harness.mutants import Mutant, mutants_of
from harness.plugin import KILLS
from harness.record import Recorder
from harness.results import CaseResult
from harness.run import Plan, run
from harness.stream import StreamWriter
from harness.subscribers import Capsules

PATIENCE_S = 1.0
"""A mutant runs in this process: what it owes and has not said by then it will not say."""


@dataclass
class Bites:
    """Which mutants were caught, and by what."""

    mutants: list[Mutant]
    folder: Path
    machines: bool = False  # the state machines alone, which claim few clauses and are asked for all
    killed: dict[str, CaseResult] = field(default_factory=dict)  # by a case that claims the clause
    elsewhere: dict[str, CaseResult] = field(default_factory=dict)
    duration_s: float = 0.0

    @property
    def survivors(self) -> list[Mutant]:
        return [m for m in self.mutants if m.name not in self.killed and m.name not in self.elsewhere]

    def take(self, results: Sequence[CaseResult]) -> None:
        by_name = {f"mutant:{m.protocol}/{m.name}": m for m in self.mutants}
        for result in results:
            mutant = by_name[result.target]
            if result.verdict in KILLS:
                claimed = bool(set(result.requirements) & set(mutant.clauses))
                (self.killed if claimed else self.elsewhere).setdefault(mutant.name, result)

    def summary(self) -> bytes:
        named = {m.name: m for m in self.mutants}
        elsewhere = [name for name in self.elsewhere if name not in self.killed]
        return msgspec.json.format(
            msgspec.json.encode(
                {
                    "mutants": len(self.mutants),
                    "killed": len(self.killed),
                    "survivors": [{"mutant": m.name, "requirement": m.clauses[0]} for m in self.survivors],
                    "killed_elsewhere": [{"mutant": n, "requirement": named[n].clauses[0]} for n in elsewhere],
                    "duration_s": round(self.duration_s, 3),
                }
            ),
            indent=2,
        )


def bite(protocol: str, runs: Path, *, machines: bool, workers: int, seed: int) -> Bites:
    """Run every mutant of a protocol; with `machines`, against the state machines alone."""
    began = time.perf_counter()
    known = mutants_of(protocol)
    recorder = Recorder(
        "machines" if machines else "mutants", [m.target().info for m in known.values()], [protocol], seed, runs
    )
    recorder.subscribe(StreamWriter(recorder.folder), Capsules(recorder.folder))
    bites = Bites(list(known.values()), recorder.folder, machines)
    if machines:
        with_machine = {
            path.parent.name for path in Path(__file__).parents[1].glob(f"suites/{protocol}/*/test_machine.py")
        }
        bites.mutants = [m for m in bites.mutants if m.role in with_machine]
        if not bites.mutants:
            raise UsageError(f"{protocol} has no state machines")
    plan = Plan(mutants=protocol, select=[protocol], workers=workers, seed=seed, patience=PATIENCE_S)
    if machines:
        run(_of(plan, bites.mutants, [f"{protocol}/*/machine/*"]), recorder)
    else:
        run(plan, recorder)
    bites.take(recorder.results)
    if not machines and bites.survivors:
        run(_of(plan, bites.survivors, [protocol]), recorder)
        bites.take(recorder.results)
    recorder.finish()
    bites.duration_s = time.perf_counter() - began
    return bites


def _of(plan: Plan, mutants: Sequence[Mutant], select: Sequence[str]) -> Plan:
    return replace(plan, mutant=[m.name for m in mutants], select=select)


def print_bites(bites: Bites) -> None:
    """What survived, what was caught elsewhere, and the count."""
    say = Console(highlight=False, soft_wrap=True).print
    for mutant in bites.survivors:
        say(f"[bold red]survived[/]  {mutant.name}  {' '.join(mutant.clauses)}  [dim]{mutant.fault}[/]")
    for name, result in bites.elsewhere.items():
        if name not in bites.killed and not bites.machines:
            say(f"[yellow]elsewhere[/] {name} was caught by {result.case}, which does not claim its clause")
    caught = len(bites.mutants) - len(bites.survivors)
    share = 100 * caught / len(bites.mutants)
    say(
        f"{caught} of {len(bites.mutants)} mutants caught ({share:.0f}%) in {bites.duration_s:.1f} s, see {bites.folder}"
    )
