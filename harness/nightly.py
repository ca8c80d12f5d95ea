"""The nightly job: every bundled target in every protocol, one run each, then the site and a closing summary."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table

from harness.checking import Checked, check_target
from harness.errors import TouchstoneError
from harness.requirements import SUITES
from harness.results import Verdict
from harness.run import Plan
from harness.subscribers import Terminal
from harness.targets import bundled


def nightly(runs: Path, site: Path) -> int:
    """Exit 0 when every target that could be reached conforms; one that is out of reach is said, not hidden."""
    console = Console(highlight=False)
    done: dict[str, Checked | TouchstoneError] = {}
    for name in bundled():
        console.rule(name)
        try:
            done[name] = check_target(Plan(target=name), runs, [Terminal(console)])
        except TouchstoneError as error:
            console.print(f"not reached: {error}", markup=False)
            done[name] = error
    console.rule("report")
    reported = report([str(runs)], site)
    console.print(summary(done))
    return max((reported, *(c.exit_code for c in done.values() if isinstance(c, Checked))))


def report(runs: Sequence[str], out: Path, master: str | None = None) -> int:
    """The Spark job, in a process of its own: the harness does not import it."""
    command = [sys.executable, "-m", "spark_reports", *runs, "--out", str(out), "--suites", str(SUITES)]
    return subprocess.call([*command, *(["--master", master] if master else [])])


def summary(done: dict[str, Checked | TouchstoneError]) -> Table:
    """One line per target."""
    counts = {n: Counter(r.verdict for r in c.results) for n, c in done.items() if isinstance(c, Checked)}
    seen = [verdict for verdict in Verdict if any(count[verdict] for count in counts.values())]
    table = Table(Column("target", no_wrap=True), *(verdict.value for verdict in seen))
    for name in done:
        cells = [str(counts[name][verdict] or "") for verdict in seen] if name in counts else ["not reached"]
        table.add_row(name, *cells)
    return table
