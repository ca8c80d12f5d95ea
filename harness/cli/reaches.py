"""One implementation, every way to reach it: the verdicts must be the same.

The gate shows it with the whole suite in-process and one case of every check by each other reach, `nightly` with all cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from harness.catalogue.cases import check_of
from harness.judging.result import CaseResult, Verdict

FIRST = "reference"
OTHERS = ("reference-process", "reference-server", "reference-docker")


def disagreements(results: Mapping[str, Iterable[CaseResult]]) -> Iterator[str]:
    """What another reach of the reference says otherwise than the first, or was never asked; results by target."""
    at_home = {result.case: result for result in results[FIRST]}
    for target in [name for name in OTHERS if name in results]:
        there = list(results[target])
        for result in there:
            here = at_home[result.case].verdict if result.case in at_home else "nothing"
            if result.verdict is not here and not (result.reach == "server" and result.verdict is Verdict.UNSUPPORTED):
                yield f"{target} says {result.verdict} where {FIRST} says {here}: {result.case}"
        roles = {(result.protocol, result.role) for result in there}
        wanted = {check_of(result.case) for result in at_home.values() if (result.protocol, result.role) in roles}
        for check in sorted(wanted - {check_of(result.case) for result in there}):
            yield f"{target} was not asked: {check}"
