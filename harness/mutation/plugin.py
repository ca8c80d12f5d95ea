"""The mutants' half of the pytest plugin: which mutants a case meets, and when enough is known.

Registered only for a run over mutants. Two questions are asked at once: is every mutant caught, for each clause that it breaks,
and has every check been seen failing? An item that can answer neither any more is skipped.
"""

from __future__ import annotations

import contextlib
import resource
from collections import Counter
from collections.abc import Iterable

import pytest

from harness.catalogue.cases import CaseInfo, case_of, check_of, selected
from harness.judging.result import CaseResult, Verdict
from harness.mutation.mutant import Mutant, mutants_of
from harness.running.plugin import CASE

MOST_MEMORY = 6 * 1024**3
"""Bytes of address space for a process that runs mutants: one that cannot stop allocating must not take the machine along."""

KILLS = frozenset({Verdict.FAIL, Verdict.WARN, Verdict.TIMEOUT, Verdict.CRASHED})


class Hunt:
    """Gives each case the mutants that break what it claims, and skips what cannot teach more."""

    def __init__(self, config: pytest.Config) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
        self._known = mutants_of(config.getoption("--mutants"))
        self._named: list[str] = config.getoption("--mutant")
        self._others: bool = config.getoption("--other-mutants")
        self._select: list[str] = config.getoption("--select")
        self._bitten: dict[str, set[str]] = {}  # by mutant: the clauses of the cases that caught it
        self._failed: set[str] = set()  # checks that were seen failing

    # -- which mutants a case meets -------------------------------------------------------------------------------

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Here and not later, for items are costly: hundreds of cases times hundreds of mutants."""
        if "target" in metafunc.fixturenames and (case := case_of(metafunc.definition)):
            chosen = [mutant for mutant in self._known.values() if self._meets(mutant, case)]
            metafunc.parametrize("target", chosen, ids=[m.name for m in chosen], indirect=True, scope="session")

    def _meets(self, mutant: Mutant, case: CaseInfo) -> bool:
        """`case` is a test without its axes, and so its check."""
        if mutant.role != case.role:
            return False
        if self._named:
            return mutant.name in self._named
        shared = not set(mutant.clauses).isdisjoint(case.requirements)
        return shared if not self._others else not shared and selected(self._select, case.id)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """A process has all items of a mutant or, where checks are asked about other mutants, of a check.

        A mutant meets one case of every check, what claims least first, then the next of each: those of one check are much
        alike, and where the first passes the others mostly do. What explores comes last: it takes seconds, and mostly a plain
        case has caught the mutant.
        """
        before: Counter[tuple[str, str]] = Counter()  # cases of a check that a mutant has met
        turns: dict[pytest.Item, int] = {}
        for item in filter(has_mutant, items):
            pair = (mutant_of(item).name, _check(item))
            turns[item], before[pair] = before[pair], before[pair] + 1

        def when(item: pytest.Item) -> tuple[bool, int, int]:
            case = item.stash[CASE]
            return case.explores, turns[item], len(case.requirements)

        met = sorted(turns, key=when)
        for item in met:
            item.add_marker(pytest.mark.together(_check(item) if self._others else mutant_of(item).name))
        config.hook.pytest_deselected(items=[item for item in items if item not in turns])
        items[:] = met

    # -- when enough is known -------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """An item is skipped when its mutant was caught for what the case claims, and its check was seen failing."""
        if self._teaches(item):
            return None
        with contextlib.suppress(Exception):  # a mutant may be unable to end: its end is nobody's verdict
            item.session._setupstate.teardown_exact(nextitem)  # what the item before left standing for this one
        return True

    def _teaches(self, item: pytest.Item) -> bool:
        if self._named:
            return mutant_of(item).name not in self._bitten
        return bool(self._at_stake(item)) or _check(item) not in self._failed

    def pytest_touchstone_enough(self, item: pytest.Item, results: list[CaseResult]) -> bool:
        """Have the vectors so far caught the item's mutant, and for every clause that the item claims?"""
        kills = kills_in(results)
        return bool(kills) and (bool(self._named) or not self._at_stake(item) - _clauses(kills))

    def pytest_touchstone_judged(self, item: pytest.Item, results: list[CaseResult]) -> None:
        if kills := kills_in(results):
            self._bitten.setdefault(mutant_of(item).name, set()).update(_clauses(kills))
            self._failed.add(_check(item))

    def _at_stake(self, item: pytest.Item) -> set[str]:
        """The clauses that the item's mutant breaks and its case claims, and for which it was not caught yet."""
        mutant = mutant_of(item)
        return set(mutant.clauses) & set(item.stash[CASE].requirements) - self._bitten.get(mutant.name, set())


def kills_in(results: Iterable[CaseResult]) -> list[CaseResult]:
    return [result for result in results if result.verdict in KILLS]


def _clauses(results: Iterable[CaseResult]) -> set[str]:
    return {clause for result in results for clause in result.requirements}


def _check(item: pytest.Item) -> str:
    return check_of(item.stash[CASE].id)


def has_mutant(item: pytest.Item) -> bool:
    """A case without a target, or one that no mutant is for, has none."""
    callspec = getattr(item, "callspec", None)
    return callspec is not None and isinstance(callspec.params.get("target"), Mutant)


def mutant_of(item: pytest.Item) -> Mutant:
    mutant: Mutant = item.callspec.params["target"]  # type: ignore[attr-defined]  # every item of such a run has one
    return mutant
