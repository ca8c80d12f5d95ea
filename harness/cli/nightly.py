"""The nightly job: every bundled target in every protocol, one run each, their matrix, then the site and a closing summary.

All cases by all reaches of the reference must agree; the gate shows that for one case of every check.
"""

from __future__ import annotations

import datetime
import importlib.util
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table

from harness.cli.reaches import FIRST, disagreements
from harness.errors import TouchstoneError, Unavailable
from harness.judging.result import Verdict
from harness.matrix.faults import DRAW, NONE
from harness.matrix.report import print_matrix
from harness.matrix.run import MatrixPlan, run_matrix
from harness.places import SUITES, module, python_path
from harness.running.check import Checked, check_target
from harness.running.plan import Plan
from harness.running.seal import beside, strangers
from harness.subscribers import Terminal
from harness.targets import bundled

MATRIX_S = 150.0
"""Seconds after which no pair is begun any more: a matrix may be partial, a night has an end."""


def nightly(runs: Path, site: Path) -> int:
    """Exit 0 when every target that could be reached conforms, and the reference by each reach alike.

    One that is out of reach is said, not hidden.
    """
    console = Console(highlight=False)
    done: dict[str, Checked | TouchstoneError] = {}
    for name in bundled():
        console.rule(name)
        try:
            done[name] = check_target(Plan(target=name), runs, [Terminal(console)])
        except TouchstoneError as error:
            console.print(f"not reached: {error}", markup=False)
            done[name] = error
    console.rule("exploration")
    explored = explored_elsewhere(runs, console)
    console.rule("matrix")
    paired = paired_up(runs, console)
    console.rule("report")
    reported = report([str(runs)], site)
    console.print(summary(done))
    checked = {name: c for name, c in done.items() if isinstance(c, Checked)}
    differing = list(disagreements({name: c.results for name, c in checked.items()})) if FIRST in checked else []
    for line in differing:
        console.print(line, markup=False)
    return max((reported, explored, paired, bool(differing), *(c.exit_code for c in checked.values())))


def explored_elsewhere(runs: Path, console: Console) -> int:
    """The state machines with a larger budget and the day's own seed. What a night finds becomes a tour or a plain case."""
    plan = Plan(target=FIRST, select=["*/*/machine/*"], slow=True, seed=datetime.date.today().toordinal())
    return check_target(plan, runs, [Terminal(console)]).exit_code


def paired_up(runs: Path, console: Console) -> int:
    """The matrix of all that is bundled: every pair without faults, and disturbed within a budget."""
    plan = MatrixPlan(profiles=[NONE, *DRAW], budget_s=MATRIX_S)
    try:
        finished = run_matrix(plan, runs, [Terminal(console)])
    except TouchstoneError as error:
        console.print(f"not paired: {error}", markup=False)
        return 2
    print_matrix(finished)
    return finished.exit_code


def report(runs: Sequence[str], out: Path, master: str | None = None) -> int:
    """The Spark job, in a process of its own: the harness does not import it."""
    if importlib.util.find_spec("pyspark") is None:
        raise Unavailable("a report needs Spark, which is not installed: `pip install 'touchstone[report]'` brings it")
    words = [*runs, "--out", str(out), "--suites", str(SUITES), *(["--master", master] if master else [])]
    for run in strangers(run for named in runs for run in beside(named)):
        print(f"{run} was not written by this harness, and is left out: name it by itself to read it", file=sys.stderr)
        words += ["--leave-out", os.path.abspath(run)]
    return subprocess.call(module("spark_reports", *words), env={**os.environ, **python_path()})


def summary(done: dict[str, Checked | TouchstoneError]) -> Table:
    """One line per target."""
    counts = {n: Counter(r.verdict for r in c.results) for n, c in done.items() if isinstance(c, Checked)}
    seen = [verdict for verdict in Verdict if any(count[verdict] for count in counts.values())]
    table = Table(Column("target", no_wrap=True), *(verdict.value for verdict in seen))
    for name in done:
        cells = [str(counts[name][verdict] or "") for verdict in seen] if name in counts else ["not reached"]
        table.add_row(name, *cells)
    return table
