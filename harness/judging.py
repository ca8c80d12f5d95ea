"""From a trial to its line in the stream: one case, or many small ones tried in a row."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Any

from harness.cases import CaseInfo
from harness.results import CaseResult, Verdict
from harness.stream import now
from harness.trial import Trial
from harness.verdicts import judge

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")

BREATH_S = 0.01
"""A target that answers at once never makes its case wait: let the event loop see to everything else this often."""


async def judge_each(
    trial: Trial,
    things: Iterable[Any],
    try_one: Callable[[Any], Awaitable[None]],
    wanted: Callable[[str], bool] = lambda case: True,
) -> AsyncGenerator[CaseResult, None]:
    """Try every thing (it has a `name` and `clauses`) as a case of its own, `...[vector=<name>]`."""
    group, breathed = trial.case, time.perf_counter()
    for thing in things:
        id = f"{group.id}[vector={thing.name}]"
        if not wanted(id):
            continue
        trial.restart()
        axes = {"vector": thing.name}
        case = CaseInfo(id, group.protocol, group.role, group.group, tuple(thing.clauses), axes)
        one = Trial(case, trial.target, trial.seed, timeline=trial.timeline)
        began, started_at = time.perf_counter(), now()
        error: Exception | None = None
        try:
            await trial.target.revive()  # one that died of the last thing has still to be tried with this one
            await try_one(thing)
        except Exception as caught:  # judged right below
            error = caught
        yield result_of(one, error, started_at, time.perf_counter() - began)
        if began - breathed > BREATH_S:
            await asyncio.sleep(0)
            breathed = began


def result_of(trial: Trial, error: BaseException | None, started_at: str, duration_s: float) -> CaseResult:
    """A trial and how it ended, as the stream's line."""
    verdict, failure, note = judge(trial, error)
    case, target = trial.case, trial.target
    expected, reason = target.expected(case.id)
    return CaseResult(
        run_id="",  # the recorder's to say
        case=case.id,
        protocol=case.protocol,
        role=case.role,
        group=case.group,
        verdict=verdict,
        target=target.name,
        requirements=list(case.requirements),
        axes=dict(case.axes),
        reach=target.info.reach,
        target_version=target.info.version,
        expected=expected,
        failure=failure,
        note=f"{note}; {reason}" if note and reason else note or reason,
        timeline=[] if verdict in (Verdict.PASS, Verdict.UNSUPPORTED) else list(trial.timeline),
        measures=trial.measures,
        seed=trial.seed,
        example="\n".join(getattr(error, "__notes__", ())) if error else "",
        started_at=started_at,
        duration_s=round(duration_s, 6),
        worker=WORKER,
    )
