"""A red cell of a matrix again, from its capsule: the same pair, the same choices."""

from __future__ import annotations

import asyncio

from rich import print as say
from rich.markup import escape

from harness.errors import Unavailable
from harness.judging.capsule import Capsule
from harness.judging.result import BAD, CaseResult, Verdict
from harness.matrix.block import Hall, scenario_of
from harness.matrix.cells import Block
from harness.matrix.faults import NONE


def replay_pair(capsule: Capsule) -> int:
    """Says FIXED or still FAIL."""
    was = capsule.result
    block = Block(
        was.protocol,
        was.role,
        capsule.target,
        capsule.peer,
        was.fault_profile or NONE,
        capsule.seed,
        was.repetition + 1,
        (was.case,),
    )
    again = asyncio.run(_again(block, was))
    if again.verdict is Verdict.UNSUPPORTED:
        raise Unavailable(f"{again.case} cannot be judged any more: {again.note}")
    what = escape(f"{again.case} {again.target} x {again.peer} {again.fault_profile}".rstrip())
    if again.verdict in BAD or again.verdict == was.verdict:
        say(f"[bold red]still {again.verdict.upper()}[/]: {what}")
        if again.failure:
            say(f"  {escape(again.failure.message)}")
        say(f"  faults: {escape(again.example or 'none')}")
        return 1
    say(f"[bold green]FIXED[/]: {what} (was {was.verdict}, is {again.verdict})")
    return 0


async def _again(block: Block, was: CaseResult) -> CaseResult:
    hall = Hall(block)
    try:
        return await hall.cell(scenario_of(block, was.case), was.repetition)
    finally:
        await hall.close()
