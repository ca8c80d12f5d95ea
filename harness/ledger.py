"""The requirement ledger: for each clause, whether real runs have tested it and seen a deliberate fault caught."""

from __future__ import annotations

import enum
from collections.abc import Iterable

import msgspec

from harness.mutants import Mutant
from harness.requirements import catalogue
from harness.results import CaseResult, Verdict


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


def ledger(protocol: str, checked: Iterable[CaseResult], killed: Iterable[tuple[Mutant, CaseResult]]) -> list[Entry]:
    """From what a check of the reference and a run over the mutants emitted."""
    tested: dict[str, int] = {}
    for result in checked:
        if result.verdict not in (Verdict.UNSUPPORTED, Verdict.ERROR):
            for clause in result.requirements:
                tested[clause] = tested.get(clause, 0) + 1
    bites: dict[str, set[str]] = {}
    for mutant, result in killed:
        for clause in set(mutant.clauses) & set(result.requirements):
            bites.setdefault(clause, set()).add(mutant.name)
    entries = []
    for requirement in catalogue(protocol).values():
        cases, mutants = tested.get(requirement.id, 0), sorted(bites.get(requirement.id, ()))
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
