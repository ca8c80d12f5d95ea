"""Which mutants a pair could meet at all: fixed beforehand, by a rule that knows nothing of scenarios.

A mutant is **wire-visible** if it breaks a MUST on a fair walk: a tour of its role without foul letters, which are those that no
conforming other end says, whatever its host asks of it and whatever network and machines do (`Tours.foul`, in each role's
`world.py`). How a role rejects what is malformed, hostile or beyond every honest limit is therefore no business of the matrix,
nor is what the text merely recommends. The judge is the role's oracle; a mutant is visible by what it says or tells, not by
what a scenario of ours happens to look at.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.judging.result import BAD, Verdict
from harness.mutation.mutant import Mutant
from harness.running.plan import Plan, run
from harness.running.recorder import Recorder

PATIENCE_S, SURE_S = 1.0, 5.0
"""A mutant runs in this process: what it owes and has not said by then it will not say. On a busy machine it might, so that
whoever fails is looked at again."""

ASLEEP, FAST_ASLEEP = 4, 16
"""Processes for each processor: who watches a mutant that says nothing has nothing to do. At the second look nearly all of them
say nothing, for as long as the patience is."""


def wire_visible(protocol: str, mutants: Sequence[Mutant], workers: int = 0, seed: int = 0) -> dict[str, str]:
    """Of these, the visible ones, each with the clause that it was seen to break: they fail again with more patience."""
    processors = workers or os.cpu_count() or 1
    found = _failing(protocol, mutants, processors * ASLEEP, seed, PATIENCE_S)
    suspected = [mutant for mutant in mutants if mutant.name in found]
    return _failing(protocol, suspected, processors * FAST_ASLEEP, seed, SURE_S) if suspected else {}


def _failing(protocol: str, mutants: Sequence[Mutant], processes: int, seed: int, patience_s: float) -> dict[str, str]:
    """Those that a fair walk fails, with the clause."""
    roles = sorted({mutant.role for mutant in mutants})
    plan = Plan(
        select=[f"{protocol}/{role}/tours/*" for role in roles],
        seed=seed,
        workers=processes,
        patience=patience_s,
        fair=True,
        mutants=protocol,
        mutant=[mutant.name for mutant in mutants],
    )
    with TemporaryDirectory() as folder:
        recorder = Recorder("fair-tours", [mutant.target().info for mutant in mutants], [protocol], seed, Path(folder))
        run(plan, recorder)
    return {
        result.target.rpartition("/")[2]: result.failure.clause if result.failure else ""
        for result in reversed(recorder.results)
        if result.verdict in BAD and result.verdict is not Verdict.ERROR
    }
