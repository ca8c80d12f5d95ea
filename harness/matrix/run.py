"""A whole matrix: who can be reached, every block side by side up to the cores, results as they come, a verdict at the end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from harness.errors import NothingSelected, TouchstoneError, Unavailable
from harness.judging.result import CaseResult, Event, Footer, Header
from harness.matrix.cells import Implementation, blocks, longest_first, sharded
from harness.matrix.faults import NONE
from harness.matrix.pairing import paired_protocols
from harness.matrix.schedule import Ledger, side_by_side
from harness.running.recorder import Recorder, Subscriber
from harness.running.stream import StreamWriter
from harness.subscribers import Capsules
from harness.targets import bundled, resolve


@dataclass(frozen=True)
class MatrixPlan:
    """What is to be paired."""

    protocols: Sequence[str] = ()
    targets: Sequence[str] = ()  # empty: all that are bundled
    profiles: Sequence[str] = (NONE,)
    reps: int = 1
    seed: int = 0
    budget_s: float = 0.0  # 0: as long as it takes
    target_s: float = 0.0  # of one target; 0: as long as it takes
    shard: str = ""
    workers: int = 0
    lenient: bool = False  # one that was asked for and is out of reach is said, and not the end


@dataclass
class Finished:
    """What a matrix came to."""

    run_id: str
    folder: Path
    exit_code: int
    results: list[CaseResult]
    out_of_reach: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)  # why, and how many blocks


class MatrixStream(StreamWriter):
    """A matrix that its budget cut short has no footer: it is a partial run, and is read as one."""

    planned = 0

    def __call__(self, event: Event) -> None:
        if isinstance(event, Header):
            self.planned = event.planned
        if isinstance(event, Footer) and not event.interrupted and sum(event.counts.values()) < self.planned:
            self.close()
        else:
            super().__call__(event)


def run_matrix(plan: MatrixPlan, runs: Path, subscribers: Sequence[Subscriber]) -> Finished:
    """Play every block of the plan and report to the subscribers."""
    protocols = list(plan.protocols) or paired_protocols()
    implementations, missing = reached(plan.targets or bundled(), named=bool(plan.targets) and not plan.lenient)
    todo = sharded(blocks(protocols, implementations, plan.profiles, plan.seed, plan.reps), plan.shard)
    if not todo:
        raise NothingSelected([*protocols, *plan.targets])
    infos = [one.info for one in implementations]
    recorder = Recorder("matrix", infos, protocols, plan.seed, runs)
    specs = {one.info.name: one.spec for one in implementations}
    recorder.subscribe(MatrixStream(recorder.folder), Capsules(recorder.folder, specs=specs), *subscribers)
    todo = longest_first(todo, {one.spec: one.info.reach for one in implementations})
    ledger = Ledger(plan.budget_s, plan.target_s)
    with recorder.interruptible():
        recorder.start(sum(1 for block in todo for _ in block.cells()))
        for results in side_by_side(todo, plan.workers or os.cpu_count() or 1, ledger):
            for result in results:
                recorder.result(result)
    code = recorder.finish()
    return Finished(recorder.run_id, recorder.folder, code, recorder.results, missing, ledger.left_out)


def reached(specs: Iterable[str], named: bool) -> tuple[list[Implementation], dict[str, str]]:
    """Those that say hello, and why the others do not; one that was asked for by name has to."""
    found, missing = [], {}
    for spec in specs:
        try:
            found.append(asyncio.run(_greeted(spec)))
        except TouchstoneError as error:
            if named:
                raise Unavailable(f"{spec} cannot be paired: {error}") from None
            missing[spec] = str(error)
    return found, missing


async def _greeted(spec: str) -> Implementation:
    target = resolve(spec)
    try:
        hello = await target.hello()
    finally:
        await target.close()
    info = target.info
    info = msgspec.structs.replace(
        info, version=info.version or hello.version, language=info.language or hello.language
    )
    return Implementation(spec, info, hello.roles)
