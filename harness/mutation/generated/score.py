"""How many of the generated mutants the suites catch, each change of a machine tried in both its readers."""

from __future__ import annotations

import ast
import time
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from rich.console import Console
from rich.markup import escape

from harness.catalogue.cases import EXPLORING
from harness.errors import UsageError
from harness.judging.result import CaseResult, Verdict, now
from harness.mutation.generated import copies
from harness.mutation.generated.changes import Change, changes_of, clauses_obeyed
from harness.mutation.generated.hunt import (
    Hunted,
    Hunter,
    Outcome,
    Rival,
    as_judge,
    as_target,
    by_cases,
    by_oracle,
    planted,
    variant,
)
from harness.mutation.generated.listed import Survivor, listed
from harness.mutation.generated.reach import Called, can_show
from harness.mutation.kills import MACHINE
from harness.mutation.mutant import Mutant, mutants_of
from harness.places import ROOT, SUITES
from harness.running.recorder import Recorder
from harness.running.stream import StreamWriter

MOST = 300
"""Changes tried of a protocol: in an order that has nothing to do with where they stand, so that any number is a sample."""

BLIND = 6
"""Planted faults of machines that a changed judge is shown: it has to see each, as the honest one does."""
PER_CLAUSE = 3
"""And so many more of each clause that the changed function obeys."""


@dataclass
class Score:
    """What became of the changes that were tried."""

    changes: dict[str, Change]
    listed: dict[str, Survivor]
    killed: dict[str, Hunted] = field(default_factory=dict)
    incompetent: set[str] = field(default_factory=set)
    duration_s: float = 0.0

    @property
    def survivors(self) -> list[Change]:
        """Neither killed nor let live."""
        gone = self.killed.keys() | self.incompetent | self.listed.keys()
        return [change for name, change in self.changes.items() if name not in gone]

    def left(self, changes: Sequence[Change]) -> list[Change]:
        """Those of them that nothing has caught yet."""
        gone = self.killed.keys() | self.incompetent
        return [change for change in changes if change.name not in gone]

    @property
    def let_live(self) -> list[str]:
        return [name for name in self.changes if name in self.listed and name not in self.killed]

    @property
    def share(self) -> float:
        """Killed, of those that run and are not let live."""
        counted = len(self.killed) + len(self.survivors)
        return len(self.killed) / counted if counted else 1.0

    def take(self, results: Sequence[Hunted]) -> None:
        for one in results:
            if one.outcome is Outcome.KILLED:
                self.killed.setdefault(one.name, one)
            elif one.outcome is Outcome.INCOMPETENT:
                self.incompetent.add(one.name)

    def take_blind(self, results: Sequence[Hunted]) -> None:
        """What a changed judge let pass although the honest one does not: the change has shown itself."""
        for one in results:
            if one.outcome is Outcome.SURVIVED:
                self.killed.setdefault(one.name, one)

    def tell(self, one: Hunted) -> None:
        """A line for whoever watches."""
        by = f" by {one.by}" if one.by else ""
        print(f"{one.outcome:11} {one.seconds:5.1f} s  {self.changes.get(one.name, one.name)}{by}", flush=True)

    def by_clause(self) -> Counter[str]:
        """How many kills each clause's cases made."""
        return Counter(clause for one in self.killed.values() for clause in one.clauses)

    @property
    def measures(self) -> dict[str, int]:
        return {
            "mutants": len(self.changes) - len(self.incompetent),
            "killed": len(self.killed),
            "listed": len(self.let_live),
            "incompetent": len(self.incompetent),
        }

    def summary(self) -> bytes:
        said = {
            **self.measures,
            "survivors": [{"mutant": change.name, "requirement": ""} for change in self.survivors],
            "killed_elsewhere": [],
            "clauses": dict(self.by_clause().most_common()),
            "duration_s": round(self.duration_s, 3),
        }
        return msgspec.json.format(msgspec.json.encode(said), indent=2)


def generated_score(protocol: str, *, most: int, only: Sequence[str], workers: int, seed: int) -> Score:
    """Try the changes of a protocol's reference: in the target, and those that an oracle reads in the judge as well.

    What takes least comes first, since each step has only to do with what the ones before have left. What no oracle reads meets
    all cases at once. All else meets the conversations that an oracle judges, in both readers, and the cases that judge by
    themselves, in the order of what they take here; at last it is the judge before targets that are not honest. Those that
    are let live with a reason are tried again only where they are named.
    """
    began = time.perf_counter()
    every = changes_of(protocol)
    if unknown := set(only) - {change.name for change in every}:
        raise UsageError(f"there is no generated mutant {sorted(unknown)[0]!r} of {protocol}")
    chosen = [change for change in every if change.name in only] if only else every[:most]
    score = Score({change.name: change for change in chosen}, listed(protocol))
    tried = [change for change in chosen if only or change.name not in score.listed]
    hunter = Hunter(protocol, seed=seed, workers=workers, told=score.tell)
    hunter.listen()
    called = hunter.called["target"]
    reached = [change for change in tried if can_show(change, called)]
    read = {role: read_by(hunter, role, tried) for role in judging(protocol)}
    talked = {change.name for changes in read.values() for change in changes}
    score.take(hunter.hunt([as_target(protocol, change, called) for change in reached if change.name not in talked]))
    reached = [change for change in reached if change.name in talked]
    for of in sorted((by_oracle, by_cases), key=hunter.takes):
        score.take(hunter.hunt([as_target(protocol, change, called, of) for change in score.left(reached)]))
        for role, changes in read.items() if of is by_oracle else ():
            judge = hunter.called["judge"]
            score.take(hunter.hunt([as_judge(protocol, change, role, called=judge) for change in score.left(changes)]))
    for role, changes in read.items():
        judge_rivals(hunter, score, role, changes)
    score.duration_s = time.perf_counter() - began
    return score


def read_by(hunter: Hunter, role: str, tried: Sequence[Change]) -> list[Change]:
    """The changes that a role's oracle reads."""
    stems = stems_read(hunter.protocol, role)
    return [change for change in tried if change.stem in stems and can_show(change, hunter.called["judge"])]


def judge_rivals(hunter: Hunter, score: Score, role: str, changes: Sequence[Change]) -> None:
    """What is left, as the judge of ever more targets that are not the honest one, until it shows.

    A planted fault is shown to all of them if it is one of a few from the whole shelf, and to those whose function obeys its
    clause: a judge that has gone blind has gone blind there.
    """
    if not score.left(changes):
        return
    variants = [variant(hunter.protocol, name) for name in copies.variants_of(hunter.protocol)]
    passing, _ = _before_the_honest(hunter, role, variants)
    for rival, called in passing:
        concerned = [change for change in score.left(changes) if can_show(change, called)]
        score.take(hunter.hunt([as_judge(hunter.protocol, change, role, rival, called) for change in concerned]))
    obeyed = {change.name: clauses_obeyed(change) for change in score.left(changes)}
    wrong = {mutant.name: mutant for mutant in _wrong(hunter.protocol, role, frozenset().union(*obeyed.values()))}
    _, failing = _before_the_honest(hunter, role, [planted(mutant) for mutant in wrong.values()])
    spread = _spread(hunter.protocol, role)
    general = [rival for rival in failing if wrong[rival.name] in spread][:BLIND]
    for rival in failing:
        shown = [
            change
            for change in score.left(changes)
            if rival in general or obeyed[change.name].intersection(wrong[rival.name].clauses)
        ]
        score.take_blind(hunter.hunt([as_judge(hunter.protocol, change, role, rival) for change in shown]))


def _spread(protocol: str, role: str) -> list[Mutant]:
    """Planted faults of the role's machine, evenly from all of them, twice as many as are needed."""
    machines = _of_the_machine(protocol, role)
    return machines[:: max(1, len(machines) // (2 * BLIND))]


def _wrong(protocol: str, role: str, clauses: Set[str]) -> list[Mutant]:
    """Those, and for each of the clauses the first few that break it."""
    found, count = _spread(protocol, role), Counter[str]()
    for mutant in _of_the_machine(protocol, role):
        wanted = [clause for clause in mutant.clauses if clause in clauses and count[clause] < PER_CLAUSE]
        count.update(wanted)
        found += [mutant] if wanted and mutant not in found else []
    return found


def _of_the_machine(protocol: str, role: str) -> list[Mutant]:
    return [mutant for mutant in mutants_of(protocol).values() if (mutant.role, mutant.part) == (role, MACHINE)]


def _before_the_honest(
    hunter: Hunter, role: str, rivals: Sequence[Rival]
) -> tuple[list[tuple[Rival, Called]], list[Rival]]:
    """Those that the honest oracle lets pass, with what it calls for that, and those that it does not, soonest first."""
    found = {one.name: one for one in hunter.hunt([rival.before_the_honest(hunter.protocol, role) for rival in rivals])}
    passing = [rival for rival in rivals if found[rival.name].outcome is Outcome.SURVIVED]
    failing = [rival for rival in rivals if found[rival.name].outcome is Outcome.KILLED]
    heard = [(rival, found[rival.name].called["judge"]) for rival in passing]
    return heard, sorted(failing, key=lambda rival: found[rival.name].seconds)


def record(score: Score, protocol: str, runs: Path, seed: int) -> Path:
    """The score as a run among the others, for the ledger and the site; each kill is a case that failed."""
    recorder = Recorder("generated", [], [protocol], seed, runs)
    recorder.subscribe(StreamWriter(recorder.folder))
    recorder.start(len(score.killed))
    for name, one in score.killed.items():
        if "/" in one.by:  # what spins or dies, and a judge that lets a planted fault pass, fail no case
            recorder.result(_result(name, one, protocol, seed))
    recorder.finish(measures=score.measures)
    return recorder.folder


def _result(name: str, one: Hunted, protocol: str, seed: int) -> CaseResult:
    _, role, group, *_ = one.by.split("/")
    verdict, target = Verdict(one.verdict), f"generated:{protocol}/{name}"
    return CaseResult(
        "", one.by, protocol, role, group, verdict, target, list(one.clauses), seed=seed, started_at=now()
    )


def judging(protocol: str) -> list[str]:
    """Roles in which an oracle judges."""
    return sorted({path.parent.name for group in EXPLORING for path in SUITES.glob(f"{protocol}/*/test_*{group}.py")})


def stems_read(protocol: str, role: str) -> set[str]:
    """Modules that a role's oracle reads: the machine's own, and those of the protocol that it stands on."""
    folder = ROOT / "reference_impl" / protocol
    read, waiting = set[str](), [role]
    while waiting:
        stem = waiting.pop()
        if stem not in read and (path := folder / f"{stem}.py").is_file():
            read.add(stem)
            waiting += imported(path, f"reference_impl.{protocol}")
    return read


def imported(path: Path, package: str) -> Iterator[str]:
    """Modules of its package that a module names where it imports."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module == package:
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{package}."):
            yield (node.module or "").rpartition(".")[2]


def print_score(score: Score) -> None:
    """Who survives, and the count."""
    say = Console(highlight=False, soft_wrap=True).print
    for change in score.survivors:
        say(f"[bold red]survived[/]  {change.module}:{change.line}  {escape(str(change))}")
    counted = len(score.killed) + len(score.survivors)
    say(
        f"{len(score.killed)} of {counted} generated mutants caught ({100 * score.share:.0f}%) in {score.duration_s:.0f} s; "
        f"{len(score.let_live)} are let live with a reason, {len(score.incompetent)} do not start"
    )
