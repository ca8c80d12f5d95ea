"""One target's run from start to end: smoke exchange, cases, reports, exit code."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from harness.catalogue.cases import selected
from harness.catalogue.protocols import chosen, roles
from harness.errors import NothingSelected, Unavailable
from harness.judging.result import CaseResult, TargetInfo, Verdict
from harness.running.plan import Plan, run
from harness.running.plugin import parsed_options
from harness.running.recorder import Recorder, Subscriber
from harness.running.smoke import smoke
from harness.running.stream import StreamWriter
from harness.shim import Hello
from harness.subscribers import Capsules
from harness.targets import Target, resolve


@dataclass(frozen=True)
class Checked:
    """What a run came to."""

    run_id: str
    folder: Path
    exit_code: int
    results: list[CaseResult]


def check_target(plan: Plan, runs: Path, subscribers: Sequence[Subscriber]) -> Checked:
    """Check one target and report to the subscribers."""
    options = parsed_options(plan.options)
    target = resolve(plan.target, options, chosen(plan.select))
    hello = asyncio.run(greet(target, plan.select))
    plan = replace(plan, roles=sorted(hello.roles), workers=1 if target.reach.kind == "remote" else plan.workers)
    recorder = Recorder("check", [identity(target, hello)], chosen(plan.select), plan.seed, runs)
    asked: dict[str, Any] = {"options": options, "slow": plan.slow, "patience": plan.patience}
    recorder.subscribe(StreamWriter(recorder.folder), Capsules(recorder.folder, plan.target, **asked))
    recorder.subscribe(*subscribers)
    try:
        with recorder.interruptible():
            run(plan, recorder)
    except NothingSelected:
        raise NothingSelected(plan.select, hello.roles) from None
    stale = [pattern for pattern in recorder.stale(target) if selected(plan.select, pattern)]
    code = recorder.finish(stale, recorder.unseen(target))
    return Checked(recorder.run_id, recorder.folder, code, recorder.results)


async def greet(target: Target, select: Sequence[str] = ()) -> Hello:
    try:
        hello = await smoke(target, select)
    finally:
        await target.close()
    if not roles().keys() & hello.roles:
        offered, there = ", ".join(hello.roles), ", ".join(roles())
        raise Unavailable(f"{target.name} offers {offered}, and nobody else has such a role: there are {there}")
    return hello


def identity(target: Target, hello: Hello) -> TargetInfo:
    """The manifest's word first, the target's own where that is silent."""
    info = target.info
    return msgspec.structs.replace(
        info, version=info.version or hello.version, language=info.language or hello.language
    )


def untested(results: Sequence[CaseResult]) -> str:
    """Why a run has tested nothing, in one sentence; empty where it has tested something."""
    reasons = Counter(result.note for result in results if result.verdict is Verdict.UNSUPPORTED)
    if not results or reasons.total() < len(results):
        return ""
    reason, count = reasons.most_common(1)[0]
    return f"nothing was tested: all {len(results)} cases are unsupported, {count} of them because {reason}"
