"""Which block is played next, and by whom: side by side up to the cores, within budgets; who goes silent is left alone."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from harness.judging.result import CaseResult, Verdict
from harness.matrix.block import not_tried, played
from harness.matrix.cells import REFERENCE, Block

MOST_HANGS = 3
"""Blocks in which a target went silent before it is tried no more: each of them costs a patience."""


class Ledger:
    """What each target has cost so far, and whether there is anything left for it."""

    def __init__(self, budget_s: float = 0.0, target_s: float = 0.0) -> None:
        """Seconds for all, and for each target but the reference; 0: as long as it takes."""
        self._budget_s, self._target_s = budget_s, target_s
        self._began = time.monotonic()
        self.hangs: Counter[str] = Counter()
        self.spent: Counter[str] = Counter()
        self.left_out: dict[str, int] = {}

    def refused(self, block: Block) -> list[CaseResult] | None:
        """Of a block that is not to be played: its cells as not tried, or none, which makes the run a partial one."""
        if silent := next((spec for spec in concerned(block) if self.hangs[spec] >= MOST_HANGS), ""):
            return not_tried(block, f"not tried: {silent} went silent in {self.hangs[silent]} blocks before")
        if self._budget_s and time.monotonic() - self._began > self._budget_s:
            return self._no_time("the budget is spent")
        for spec in concerned(block):
            if self._target_s and self.spent[spec] > self._target_s:
                return self._no_time(f"{spec} has had its {self._target_s:g} s")
        return None

    def _no_time(self, why: str) -> list[CaseResult]:
        self.left_out[why] = self.left_out.get(why, 0) + 1
        return []

    def lost(self, *blocks: Block) -> None:
        """A process died under these: which of them killed it is not known."""
        for block in blocks:
            self._no_time(f"a process died under {block.name}")

    def counted(self, results: list[CaseResult], block: Block, seconds: float) -> list[CaseResult]:
        """A block, and a silence in it, counts for each side of it that is not the reference."""
        for spec in concerned(block):
            self.spent[spec] += round(seconds)
            self.hangs[spec] += any(result.verdict is Verdict.TIMEOUT for result in results)
        return results


def concerned(block: Block) -> list[str]:
    return sorted(spec for spec in {block.client, block.server} if not spec.startswith(REFERENCE))


def side_by_side(todo: Sequence[Block], workers: int, ledger: Ledger) -> Iterator[list[CaseResult]]:
    """The results of each block as it ends; none for one that there is no time for."""
    if workers == 1 or len(todo) == 1:
        for block in todo:
            refused, began = ledger.refused(block), time.monotonic()
            yield ledger.counted(played(block), block, time.monotonic() - began) if refused is None else refused
        return
    waiting = list(todo)
    while waiting:
        try:
            yield from _pooled(waiting, workers, ledger)
        except BrokenProcessPool:  # an implementation inside took its process along: the rest goes on in new ones
            continue


def _pooled(waiting: list[Block], workers: int, ledger: Ledger) -> Iterator[list[CaseResult]]:
    """Takes what it plays off the list; raises when a process died, with which the blocks under way are gone."""
    running: dict[Future[list[CaseResult]], tuple[Block, float]] = {}
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        while waiting or running:
            while waiting and len(running) < workers:
                block = waiting.pop(0)
                if (refused := ledger.refused(block)) is not None:
                    yield refused
                else:
                    running[pool.submit(played, block)] = block, time.monotonic()
            if running:
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    block, began = running.pop(done)
                    if isinstance(done.exception(), BrokenProcessPool):
                        ledger.lost(block, *(other for other, _ in running.values()))
                    yield ledger.counted(done.result(), block, time.monotonic() - began)
