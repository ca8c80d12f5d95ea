"""From how a case ended to its verdict. Contested clauses can at most warn; our own faults are never the target's."""

from __future__ import annotations

from websockets.exceptions import ConnectionClosed

from harness.errors import (
    TargetCrashed,
    TargetFailed,
    TargetRefused,
    TargetTimeout,
    TargetUnsupported,
    Unavailable,
)
from harness.requirements import every_requirement
from harness.results import Failure, Verdict
from harness.trial import Broken, Trial
from reference_impl.core.oracle import NotAllowed, Overdue, Violation

BY_LEVEL = {"MUST": Verdict.FAIL, "SHOULD": Verdict.WARN, "MAY": Verdict.INFO}


def judge(trial: Trial, error: BaseException | None) -> tuple[Verdict, Failure | None, str]:
    """(verdict, failure, note) of a trial that ended with this error, or with none."""
    if isinstance(error, BaseExceptionGroup) and len(error.exceptions) >= 1:
        error = error.exceptions[0]
    if error is None:
        return trial.verdict, None, trial.note
    if isinstance(error, TargetUnsupported):
        return Verdict.UNSUPPORTED, None, str(error)
    failure = failure_of(trial, error)
    match error:
        case TargetCrashed():
            return Verdict.CRASHED, failure, trial.target.evidence()[-2000:]
        case TargetTimeout():
            return Verdict.TIMEOUT, failure, ""
        case Violation() | Broken() | TargetRefused() | TargetFailed():
            return of_clause(failure, getattr(error, "contested", ""))
        case AssertionError() if not ours(error):
            return of_clause(failure)
        case ConnectionClosed() | ConnectionError():
            return of_clause(failure)  # the target hung up where the case needed it
        case Unavailable():
            return Verdict.ERROR, failure, str(error)
        case _ if type(error).__module__.startswith("hypothesis"):
            return of_clause(Failure(f"not the same twice: {error}", failure.clause, failure.reading))
        case _:
            return Verdict.ERROR, Failure(f"{type(error).__name__}: {error}"), "the harness's own fault"


def ours(error: BaseException) -> bool:
    """Was it raised by the harness or the reference? What they assert is about themselves, not about a target."""
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    raised_in = frame.tb_frame.f_globals.get("__name__", "") if frame else ""
    return raised_in.split(".")[0] in ("harness", "reference_impl")


def of_clause(failure: Failure, contested: str = "") -> tuple[Verdict, Failure, str]:
    """A broken clause weighs what its level says; a contested one, or a contested input of it, at most warns."""
    requirement = every_requirement().get(failure.clause)
    verdict = BY_LEVEL[requirement.level] if requirement else Verdict.FAIL
    contested = contested or (requirement.contested if requirement else "")
    if contested and verdict is Verdict.FAIL:
        return Verdict.WARN, failure, f"contested: {contested}"
    return verdict, failure, ""


def failure_of(trial: Trial, error: BaseException) -> Failure:
    clause = getattr(error, "clause", "") or trial.own_clause
    requirement = every_requirement().get(clause)
    reading = (requirement.reading or requirement.text) if requirement else ""
    message = str(error) or type(error).__name__
    match error:
        case Broken(expected=expected, observed=observed):
            return Failure(message, clause, reading, expected, observed)
        case NotAllowed(allowed=allowed, frame=frame):
            wanted = "; ".join(map(str, allowed)) or "silence"
            return Failure(message, clause, reading, wanted, str(frame))
        case Overdue(debts=debts):
            return Failure(message, clause, reading, "; ".join(map(str, debts)), "nothing")
    return Failure(message.split("\n")[0][:500], clause, reading)
