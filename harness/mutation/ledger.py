"""The requirement ledger: for each clause, whether real runs have tested it and seen a deliberate fault caught."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from harness.catalogue.requirements import catalogue
from harness.errors import Unavailable
from harness.judging.result import CaseResult, Verdict
from harness.mutation.mutant import Mutant, mutants_of
from harness.mutation.plugin import KILLS
from harness.places import COMMAND
from harness.running.stream import EVENTS, Run, read_run

REFERENCES = ("reference", "reference-process", "reference-docker")
"""Targets with every role of the reference, as it is."""


class State(enum.StrEnum):
    BITTEN = "tested and bitten"
    UNBITTEN = "tested but unbitten"
    EXCLUDED = "excluded"
    AMBIGUOUS = "ambiguous"
    UNTESTED = "untested"


class Entry(msgspec.Struct, frozen=True):
    """One clause's line."""

    id: str
    level: str
    state: State
    cases: int  # that claimed it and ran
    mutants: list[str]  # caught by a case that claims it
    note: str = ""
    generated: int = 0  # changes of the reference's source that a case which claims it caught first


def ledger(protocol: str, checked: Iterable[CaseResult], killed: Iterable[tuple[Mutant, CaseResult]]) -> list[Entry]:
    """From what a check of the reference and a run over the mutants emitted."""
    tested: dict[str, int] = {}
    for result in checked:
        if result.verdict not in (Verdict.UNSUPPORTED, Verdict.ERROR):
            for clause in result.requirements:
                tested[clause] = tested.get(clause, 0) + 1
    kills: dict[str, set[str]] = {}
    for mutant, result in killed:
        for clause in set(mutant.clauses) & set(result.requirements):
            kills.setdefault(clause, set()).add(mutant.name)
    entries = []
    for requirement in catalogue(protocol).values():
        cases, mutants = tested.get(requirement.id, 0), sorted(kills.get(requirement.id, ()))
        note = requirement.excluded or requirement.contested
        if requirement.excluded:
            state = State.EXCLUDED
        elif cases and mutants:
            state = State.BITTEN
        elif requirement.contested:
            state = State.AMBIGUOUS
        else:
            state = State.UNBITTEN if cases else State.UNTESTED
        entries.append(Entry(requirement.id, requirement.level, state, cases, mutants, note))
    return entries


def from_runs(protocol: str, runs: Path) -> list[Entry]:
    """The ledger of the newest whole check of the reference and the newest whole run over the mutants."""
    checked = newest(runs, "check", protocol)
    bitten = newest(runs, "mutants", protocol)
    mutants = {f"mutant:{protocol}/{name}": mutant for name, mutant in mutants_of(protocol).items()}
    killed = [(mutants[r.target], r) for r in bitten.cases if r.verdict in KILLS and r.target in mutants]
    entries = ledger(protocol, [r for r in checked.cases if r.protocol == protocol], killed)
    by_clause = generated_kills(runs, protocol)
    return [msgspec.structs.replace(entry, generated=by_clause[entry.id]) for entry in entries]


def generated_kills(runs: Path, protocol: str) -> Counter[str]:
    """How many generated mutants each clause's cases caught in the newest such run; none where there was no run."""
    try:
        results = newest(runs, "generated", protocol).cases
    except Unavailable:
        return Counter()
    return Counter(clause for result in results for clause in result.requirements)


def newest(runs: Path, kind: str, protocol: str) -> Run:
    for stream in sorted(runs.glob(f"*/{EVENTS}"), reverse=True):
        run = read_run(stream)
        header = run.header
        if not header or not run.complete or header.kind != kind or protocol not in header.protocols:
            continue
        if kind != "check" or any(target.name in REFERENCES for target in header.targets):
            return run
    advice = f"mutants {protocol}" if kind == "mutants" else f"check {protocol} --target reference"
    raise Unavailable(f"{runs} has no whole run of that kind: run `{COMMAND} {advice}` first")
