"""From how a case ended to its verdict and its line in the stream, for one case or for many small ones in a row.

Contested clauses can at most warn; our own faults are never the target's.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Any

from harness.catalogue.cases import CaseInfo
from harness.catalogue.requirements import every_requirement
from harness.errors import (
    TargetCrashed,
    TargetFailed,
    TargetRefused,
    TargetTimeout,
    TargetUnsupported,
    Unavailable,
)
from harness.judging.result import CaseResult, Failure, Verdict, now
from harness.judging.trial import Broken, Otherwise, Trial, compared, excerpt
from reference_impl.core.oracle import NotAllowed, Overdue, Violation
from reference_impl.io.carrier import HungUp

BY_LEVEL = {"MUST": Verdict.FAIL, "SHOULD": Verdict.WARN, "MAY": Verdict.WARN}
"""What a broken clause weighs. A MAY is free to be left out, and a case that finds it so informs; done wrongly it is a fault."""

LAST_LINES = 5
"""Lines of what the target printed for people that go with a failure: an exception behind it is often among them."""

ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""Of an object in a shrunk example: it says nothing, and is another one each time."""

MOST_EXAMPLE = 20_000
"""Characters kept of a shrunk example, from its end: its last step is the one that failed."""

BREATH_S = 0.01
"""A target that answers at once never makes its case wait: let the event loop see to everything else this often."""


def judge(trial: Trial, error: BaseException | None) -> tuple[Verdict, Failure | None, str]:
    """(verdict, failure, note) of a trial that ended with this error, or with none."""
    if isinstance(error, BaseExceptionGroup) and len(error.exceptions) >= 1:
        error = error.exceptions[0]
    if error is None:
        return trial.verdict, None, trial.note
    if isinstance(error, TargetUnsupported):
        return Verdict.UNSUPPORTED, None, str(error)
    failure = failure_of(trial, error)
    printed = trial.printed
    match error:
        case TargetCrashed():
            return Verdict.CRASHED, failure, printed[-2000:]
        case TargetTimeout():
            return Verdict.TIMEOUT, failure, printed[-2000:]
        case Otherwise():
            return Verdict.INFO, None, f"{failure.clause} read otherwise: {error.observed}, not {error.expected}"
        case Violation() | Broken() | TargetRefused() | TargetFailed():
            return of_clause(failure, getattr(error, "contested", ""), printed)
        case AssertionError() if not ours(error):
            return of_clause(failure, printed=printed)
        case HungUp():
            return of_clause(failure, printed=printed)  # where the case needed the target
        case Unavailable():
            return Verdict.ERROR, failure, str(error)
        case _:
            return Verdict.ERROR, Failure(f"{type(error).__name__}: {error}"), "the harness's own fault"


def ours(error: BaseException) -> bool:
    """Was it raised by the harness or the reference? What they assert is about themselves, not about a target."""
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    raised_in = frame.tb_frame.f_globals.get("__name__", "") if frame else ""
    return raised_in.split(".")[0] in ("harness", "reference_impl")


def of_clause(failure: Failure, contested: str = "", printed: str = "") -> tuple[Verdict, Failure, str]:
    """A broken clause weighs what its level says; a contested one, or a contested input of it, at most warns."""
    requirement = every_requirement().get(failure.clause)
    verdict = BY_LEVEL[requirement.level] if requirement else Verdict.FAIL
    contested = contested or (requirement.contested if requirement else "")
    if contested and verdict is Verdict.FAIL:
        return Verdict.WARN, failure, f"contested: {contested}"
    return verdict, failure, "\n".join(printed.splitlines()[-LAST_LINES:])


def failure_of(trial: Trial, error: BaseException) -> Failure:
    clause = getattr(error, "clause", "") or trial.own_clause
    requirement = every_requirement().get(clause)
    reading = (requirement.reading or requirement.text) if requirement else ""
    message = str(error) or type(error).__name__
    match error:
        case Broken(expected=expected, observed=observed):
            return Failure(message, clause, reading, expected, observed)
        case NotAllowed(allowed=allowed, frame=frame):
            wanted = "; ".join(map(str, allowed)) or f"silence ({', '.join(error.recent) or 'nothing was asked'})"
            return Failure(excerpt(message), clause, reading, *compared(wanted, str(frame)))
        case Overdue(debts=debts):
            return Failure(excerpt(message), clause, reading, excerpt("; ".join(map(str, debts))), "nothing")
    return Failure(message.split("\n")[0][:500], clause, reading)


# -- the stream's line -------------------------------------------------------------------------------------------------


async def judge_each(
    trial: Trial,
    things: Iterable[Any],
    try_one: Callable[[Any], Awaitable[None]],
    wanted: Callable[[str], bool] = lambda case: True,
    axis: str = "vector",
) -> AsyncGenerator[CaseResult, None]:
    """Try every thing (it has a `name` and `clauses`) as a case of its own, `...[<axis>=<name>]`."""
    group, breathed = trial.case, time.perf_counter()
    for thing in things:
        id = f"{group.id}[{axis}={thing.name}]"
        if not wanted(id):
            continue
        trial.restart()
        trial.verdict, trial.note = Verdict.PASS, ""
        axes = {axis: thing.name}
        case = CaseInfo(id, group.protocol, group.role, group.group, tuple(thing.clauses), axes)
        one = Trial(case, trial.target, trial.seed, timeline=trial.timeline)
        began, started_at = time.perf_counter(), now()
        error: Exception | None = None
        try:
            await trial.target.revive()  # one that died of the last thing has still to be tried with this one
            await try_one(thing)
        except Exception as caught:  # judged right below
            error = caught
        one.verdict, one.note = trial.verdict, trial.note  # a warning or an information is about this thing
        yield result_of(one, error, started_at, time.perf_counter() - began)
        if began - breathed > BREATH_S:
            await asyncio.sleep(0)
            breathed = began


def result_of(trial: Trial, error: BaseException | None, started_at: str, duration_s: float) -> CaseResult:
    """A trial and how it ended, as the stream's line."""
    verdict, failure, note = judge(trial, error)
    case, target = trial.case, trial.target
    expected, reason = target.expected(case.id)
    timeline, cut = ([], "") if verdict in (Verdict.PASS, Verdict.UNSUPPORTED) else target.allowance.of(trial.timeline)
    example = ADDRESS.sub("", "\n".join(getattr(error, "__notes__", ()))) if error else ""
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
        note="; ".join(filter(None, (note, reason, cut))),
        timeline=timeline,
        measures=trial.measures,
        seed=trial.seed,
        example=example[-MOST_EXAMPLE:],
        started_at=started_at,
        duration_s=round(duration_s, 6),
    )
