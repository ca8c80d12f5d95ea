"""What an implementation that misbehaves as a whole costs: its own cells, its own budget, and nobody else's."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from harness.judging.result import BAD, CaseResult, Verdict
from harness.matrix import block
from harness.matrix.block import played
from harness.matrix.cells import Block
from harness.matrix.play import Bench
from harness.matrix.run import MatrixPlan, run_matrix
from harness.matrix.schedule import MOST_HANGS, Ledger
from harness.running.stream import read_run

NODE = "examples/sbp-node"
HERE = Block("sbp", "dialler-acceptor", "reference", NODE, "none")
EXCHANGE = "sbp/dialler-acceptor/interop/exchange[size=small]"


def fake(kind: str) -> str:
    return f"cmd:{sys.executable} -m selftests.matrix.fakes {kind}"


def cells_with(kind: str, side: str) -> list[CaseResult]:
    sides = {"client": "reference", "server": "reference", side: fake(kind)}
    return played(Block("sbp", "dialler-acceptor", sides["client"], sides["server"], "none"), 0.5, until_red=True)


@pytest.mark.parametrize(
    ("kind", "side", "verdicts"),
    [
        ("dies", "client", {Verdict.CRASHED}),
        ("dies", "server", {Verdict.CRASHED}),
        ("elsewhere", "server", {Verdict.FAIL, Verdict.TIMEOUT}),
        ("another", "client", {Verdict.FAIL, Verdict.CRASHED, Verdict.TIMEOUT}),
    ],
)
def test_it_is_judged_and_named(kind: str, side: str, verdicts: set[Verdict]) -> None:
    """It dies at the first frame, says a wrong address, or speaks for another instance: red, and by nobody else's fault."""
    *before, last = cells_with(kind, side)
    assert {result.verdict for result in before} <= {Verdict.PASS}
    assert last.verdict in verdicts
    assert last.culprit == side


def test_it_costs_its_own_cells_only(tmp_path: Path) -> None:
    plan = MatrixPlan(["bccn"], ["reference", fake("dies"), fake("elsewhere")], workers=2)
    finished = run_matrix(plan, tmp_path, [])
    others = [result for result in finished.results if {result.target, result.peer} == {"reference"}]
    assert others
    assert {result.verdict for result in others} == {Verdict.PASS}


def test_nothing_that_it_left_behind_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    litter = tmp_path / "litter"
    monkeypatch.setenv("LITTER", str(litter))
    results = played(Block("sbp", "dialler-acceptor", fake("litters"), "reference", "none", scenarios=(EXCHANGE,)))
    assert {result.verdict for result in results} == {Verdict.PASS}
    left = [int(line) for line in litter.read_text().split()]
    assert left
    assert not [pid for pid in left if Path(f"/proc/{pid}/stat").exists() and "sleep" in _command(pid)]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_what_is_slow_to_open_does_not_cost_a_cell_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build, an image, three containers on a busy machine: a cell's time begins when all of it stands."""
    monkeypatch.setattr(block, "CELL_S", 2.0)

    async def slow(bench: Bench) -> None:
        await asyncio.sleep(2.5)  # the time itself is what is tried
        await opened(bench)

    opened = Bench.open
    monkeypatch.setattr(Bench, "open", slow)
    [result] = played(Block("sbp", "dialler-acceptor", "reference", "reference", "none", scenarios=(EXCHANGE,)))
    assert result.verdict is Verdict.PASS, result.note


# -- the ledger ----------------------------------------------------------------------------------------------------------


def silence(times: int) -> Ledger:
    ledger = Ledger()
    quiet = [result for result in played(Block("sbp", "dialler-acceptor", "cmd:cat", "reference", "none"), 0.5)][:1]
    silent = [CaseResult(**{**_fields(result), "verdict": Verdict.TIMEOUT}) for result in quiet]
    for _ in range(times):
        ledger.counted(silent, HERE, 1.0)
    return ledger


def _fields(result: CaseResult) -> dict[str, object]:
    return {name: getattr(result, name) for name in result.__struct_fields__}


def test_what_went_silent_too_often_is_not_tried() -> None:
    assert silence(MOST_HANGS - 1).refused(HERE) is None
    results = silence(MOST_HANGS).refused(HERE)
    assert results
    assert {result.verdict for result in results} == {Verdict.UNSUPPORTED}
    assert len(results) == sum(1 for _ in HERE.cells())


def test_a_target_has_a_budget_of_its_own() -> None:
    """The reference has none: it takes a side of everybody's cells."""
    ledger = Ledger(target_s=5)
    ledger.counted([], HERE, 6.0)
    assert ledger.refused(HERE) == []
    assert ledger.left_out == {f"{NODE} has had its 5 s": 1}
    assert ledger.refused(Block("sbp", "dialler-acceptor", "reference", "examples/sbp-rust", "none")) is None


def test_a_budget_leaves_a_partial_run(tmp_path: Path) -> None:
    """What was played is kept; without a footer nobody takes it for all."""
    finished = run_matrix(
        MatrixPlan(["sbp"], ["reference", "reference-process"], budget_s=0.001, workers=1), tmp_path, []
    )
    assert finished.left_out == {"the budget is spent": 3}
    run = read_run(finished.folder)
    assert len(run.cases) == len(finished.results) < (run.header.planned if run.header else 0)
    assert not run.complete
    assert not [result for result in finished.results if result.verdict in BAD]
