"""Runs the suites against the mutants: is every fault caught, and has every check been seen failing?

First each case meets the mutants that break what it claims, until neither question can be answered better. What is left over then
gets another chance: survivors meet the whole suite, and checks that never failed meet the other mutants of their role.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
from rich.console import Console
from rich.markup import escape

from harness.errors import NothingSelected, UsageError
from harness.judging.result import CaseResult, Verdict
from harness.mutation.checks import Checks, print_checks
from harness.mutation.gaps import Gaps, gaps_of
from harness.mutation.mutant import Mutant, mutants_of
from harness.mutation.plugin import kills_in
from harness.running.plan import Plan, cases, run
from harness.running.recorder import Recorder
from harness.running.stream import StreamWriter
from harness.subscribers import Capsules

PATIENCE_S = 1.0
"""A mutant runs in this process: what it owes and has not said by then it will not say."""

MACHINE = "machine"
"""The part of a role in whose place a wrong rule goes, and the group in which the oracle alone judges random runs."""

KINDS = {MACHINE: "machines", "tours": "tours"}
"""What a run against one group is called in the stream."""

SOME = "some-mutants"
"""A run over a few of them: no ledger is made of it."""

TOURS_ALONE = 0.75
"""Of the wrong machines, the tours by themselves have to catch this share: they owe nothing to anybody's imagination."""


@dataclass
class Kills:
    """Which mutants were caught, and by what."""

    mutants: list[Mutant]
    folder: Path
    checks: Checks
    group: str = ""  # the cases of this group alone: they claim few clauses and are asked for all
    some: bool = False  # a few of the mutants: whether every check can fail is not asked
    gaps: Gaps = field(default_factory=Gaps)
    killed: dict[str, CaseResult] = field(default_factory=dict)  # by a case that claims the clause
    elsewhere: dict[str, CaseResult] = field(default_factory=dict)
    errors: list[CaseResult] = field(default_factory=list)  # of the harness: it was not up to a fault of a target
    duration_s: float = 0.0

    @property
    def survivors(self) -> list[Mutant]:
        return [m for m in self.mutants if m.name not in self.killed and m.name not in self.elsewhere]

    @property
    def sound(self) -> bool:
        """Each mutant is caught where its clause is claimed and each check can fail, known gaps apart; none broke the harness."""
        if self.errors:
            return False
        if self.group:
            return not self.survivors
        missed = {m.name for m in self.mutants} - self.killed.keys() - self.gaps.mutants
        return not missed and (self.some or not set(self.checks.never_failed) - self.gaps.checks)

    @property
    def closed(self) -> list[str]:
        """Known gaps that are none any more."""
        return sorted(self.gaps.mutants & self.killed.keys()) + sorted(self.gaps.checks - set(self.checks.never_failed))

    def caught(self, part: str = "") -> tuple[int, int]:
        """How many were, of how many; all of them, or those of one part of the reference."""
        alive = {m.name for m in self.survivors}
        concerned = [m for m in self.mutants if part in ("", m.part)]
        return sum(m.name not in alive for m in concerned), len(concerned)

    def share(self, part: str = "") -> str:
        caught, of = self.caught(part)
        return f"{caught} of {of} ({100 * caught / max(1, of):.0f}%)"

    def take(self, results: Sequence[CaseResult]) -> None:
        by_name = {f"mutant:{m.protocol}/{m.name}": m for m in self.mutants}
        for result in kills_in(results):
            mutant = by_name[result.target]
            claimed = bool(set(result.requirements) & set(mutant.clauses))
            (self.killed if claimed else self.elsewhere).setdefault(mutant.name, result)
        self.errors = [result for result in results if result.verdict is Verdict.ERROR]
        self.checks.take(results)

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
                    "known_gaps": sorted(self.gaps.mutants),
                    "checks": len(self.checks.clauses),
                    "never_failed": self.checks.never_failed,
                    "duration_s": round(self.duration_s, 3),
                }
            ),
            indent=2,
        )


def find_kills(
    protocol: str, runs: Path, *, group: str = "", only: Sequence[str] = (), workers: int, seed: int
) -> Kills:
    """Run every mutant of a protocol, or only some; with a group ("machine", "tours"), against its cases alone."""
    began = time.perf_counter()
    select = [f"{protocol}/*/*{group}/*"] if group else [protocol]  # a part of a role has tours of its own
    found = cases(select)
    known = [mutant for mutant in mutants_of(protocol).values() if mutant.role in {case.role for case in found}]
    if not known:
        raise UsageError(f"{protocol} has no cases of the group {group!r}")
    if unknown := set(only) - {mutant.name for mutant in known}:
        raise UsageError(f"there is no mutant {min(unknown)!r}: `touchstone mutants {protocol} --list` names them")
    known = [mutant for mutant in known if not only or mutant.name in only]
    kind = SOME if only else KINDS.get(group, "mutants")
    recorder = Recorder(kind, [m.target().info for m in known], [protocol], seed, runs)
    recorder.subscribe(StreamWriter(recorder.folder), Capsules(recorder.folder))
    kills = Kills(known, recorder.folder, Checks.of(found), group, bool(only), gaps_of(protocol))
    for plan in plans(Plan(mutants=protocol, select=select, workers=workers, seed=seed, patience=PATIENCE_S), kills):
        try:
            with recorder.interruptible():
                run(plan, recorder)
        except NothingSelected:
            if not recorder.results:
                raise  # later it only means that there is nothing more to try
        kills.take(recorder.results)
    recorder.finish(measures={"mutants": len(kills.mutants), "killed": len(kills.killed)})
    kills.duration_s = time.perf_counter() - began
    return kills


def plans(plan: Plan, kills: Kills) -> Iterator[Plan]:
    """What to run next, in the light of what was found so far."""
    if kills.group:
        yield replace(plan, mutant=[m.name for m in kills.mutants])
        return
    broken = {clause for mutant in kills.mutants for clause in mutant.clauses}
    claiming = [check for check, claimed in kills.checks.clauses.items() if broken.intersection(claimed)]
    yield plan if not kills.some else replace(plan, select=claiming, mutant=[m.name for m in kills.mutants])
    if kills.survivors:
        yield replace(plan, mutant=[m.name for m in kills.survivors])
    if kills.checks.never_failed and not kills.some:
        yield replace(plan, select=kills.checks.never_failed, other_mutants=True)


def print_kills(kills: Kills) -> None:
    """What survived, what was caught elsewhere, which checks never failed; then the counts."""
    say = Console(highlight=False, soft_wrap=True).print
    for mutant in kills.survivors:
        mark = "[yellow]known gap[/]" if mutant.name in kills.gaps.mutants else "[bold red]survived[/] "
        say(f"{mark} {mutant.name}  {' '.join(mutant.clauses)}  [dim]{mutant.fault}[/]")
    for name, result in kills.elsewhere.items():
        if name not in kills.killed and not kills.group:
            say(f"[yellow]elsewhere[/] {name} was caught by {result.case}, which does not claim its clause")
    for error in kills.errors:
        told = error.failure.message if error.failure else ""
        say(
            f"[bold red]error[/]     {error.case} against {error.target}: {escape(told)}, which is the harness's own fault"
        )
    for name in () if kills.group or kills.some else kills.closed:
        say(f"[green]closed[/]    {name} is a gap no more: take it off gaps.toml")
    say(f"{kills.share()} mutants caught in {kills.duration_s:.1f} s, see {kills.folder}")
    if kills.some:
        for name, result in kills.killed.items():
            say(f"{name}: {result.case} fails")
    elif not kills.group:
        print_checks(kills.checks, say)
    else:
        say(f"of those whose machine is wrong, {kills.share(MACHINE)}")
