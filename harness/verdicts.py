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

BY_LEVEL = {"MUST": Verdict.FAIL, "SHOULD": Verdict.WARN, "MAY": Verdict.WARN}
"""What a broken clause weighs. A MAY is free to be left out, and a case that finds it so informs; done wrongly it is a fault."""

LAST_LINES = 5
"""Lines of what the target printed for people that go with a failure: an exception behind it is often among them."""


def judge(trial: Trial, error: BaseException | None) -> tuple[Verdict, Failure | None, str]:
    """(verdict, failure, note) of a trial that ended with this error, or with none."""
    if isinstance(error, BaseExceptionGroup) and len(error.exceptions) >= 1:
        error = error.exceptions[0]
    if error is None:
        return trial.verdict, None, trial.note
    if isinstance(error, TargetUnsupported):
        return Verdict.UNSUPPORTED, None, str(error)
    failure = failure_of(trial, error)
    printed = trial.target.evidence()
    match error:
        case TargetCrashed():
            return Verdict.CRASHED, failure, printed[-2000:]
        case TargetTimeout():
            return Verdict.TIMEOUT, failure, printed[-2000:]
        case Violation() | Broken() | TargetRefused() | TargetFailed():
            return of_clause(failure, getattr(error, "contested", ""), printed)
        case AssertionError() if not ours(error):
            return of_clause(failure, printed=printed)
        case ConnectionClosed() | ConnectionError():
            return of_clause(failure, printed=printed)  # the target hung up where the case needed it
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
            return Failure(message, clause, reading, wanted, str(frame))
        case Overdue(debts=debts):
            return Failure(message, clause, reading, "; ".join(map(str, debts)), "nothing")
    return Failure(message.split("\n")[0][:500], clause, reading)
