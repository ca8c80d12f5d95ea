"""One target's run from start to end: smoke exchange, cases, reports, exit code. Also replays a capsule."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from rich import print as say
from rich.markup import escape

from harness.cases import selected
from harness.errors import Unavailable, UsageError
from harness.plugin import parsed_options
from harness.record import Recorder, Subscriber
from harness.requirements import protocols
from harness.results import BAD, CaseResult, TargetInfo, Verdict
from harness.run import Plan, run
from harness.shim import Hello
from harness.smoke import smoke
from harness.stream import StreamWriter
from harness.subscribers import Capsules
from harness.subscribers.capsules import load
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
    target = resolve(plan.target, options)
    hello = asyncio.run(greet(target))
    plan = replace(plan, roles=sorted(hello.roles), workers=1 if target.reach.kind == "remote" else plan.workers)
    recorder = Recorder("check", [identity(target, hello)], touched(plan), plan.seed, runs)
    asked = {"options": options, "slow": plan.slow, "patience": plan.patience}
    recorder.subscribe(StreamWriter(recorder.folder), Capsules(recorder.folder, plan.target, **asked))
    recorder.subscribe(*subscribers)
    run(plan, recorder)
    code = recorder.finish([p for p in recorder.stale(target) if selected(plan.select, p)])
    return Checked(recorder.run_id, recorder.folder, code, recorder.results)


async def greet(target: Target) -> Hello:
    try:
        return await smoke(target)
    finally:
        await target.close()


def identity(target: Target, hello: Hello) -> TargetInfo:
    """The manifest's word first, the target's own where that is silent."""
    info = target.info
    return msgspec.structs.replace(
        info, version=info.version or hello.version, language=info.language or hello.language
    )


def touched(plan: Plan) -> list[str]:
    """The protocols that a plan runs."""
    return [name for name in protocols() if any(folder.endswith(f"/{name}") for folder in plan.folders())]


def replay_capsule(path: Path, subscribers: Sequence[Subscriber]) -> int:
    """Run a capsule's case as it was run then."""
    capsule = load(path)
    if not capsule.target:
        raise UsageError(f"{path} does not say which target it was: run `touchstone check` again")
    options = [f"{key}={','.join(v) if isinstance(v, list) else v}" for key, v in capsule.options.items()]
    plan = Plan(
        target=capsule.target,
        select=[capsule.result.case],
        options=options,
        seed=capsule.seed,
        slow=capsule.slow,
        patience=capsule.patience,
    )
    checked = check_target(plan, path.resolve().parents[1] / "replays", subscribers)
    again = next(result for result in checked.results if result.case == capsule.result.case)
    was, case = capsule.result.verdict, escape(again.case)
    if again.verdict is Verdict.UNSUPPORTED:
        raise Unavailable(f"{again.case} cannot be judged any more: {again.note}")
    if again.verdict in BAD or again.verdict == was:
        say(f"[bold red]still {again.verdict.upper()}[/]: {case}")
        return 1
    say(f"[bold green]FIXED[/]: {case} (was {was}, is {again.verdict})")
    return 0
