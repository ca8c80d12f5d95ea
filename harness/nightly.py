"""The nightly job: every bundled target in every protocol, one run each, and a closing summary."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from harness.checking import Checked, check_target
from harness.errors import TouchstoneError
from harness.results import Verdict
from harness.run import Plan
from harness.subscribers import Terminal
from harness.targets import bundled


def nightly(runs: Path) -> int:
    """Exit 0 when every target that could be reached conforms; one that is out of reach is said, not hidden."""
    console = Console(highlight=False)
    done: dict[str, Checked | TouchstoneError] = {}
    for name in bundled():
        console.rule(name)
        try:
            done[name] = check_target(Plan(target=name), runs, [Terminal(console)])
        except TouchstoneError as error:
            console.print(f"[yellow]not reached[/]: {error}", markup=True)
            done[name] = error
    console.print(summary(done))
    return max((c.exit_code for c in done.values() if isinstance(c, Checked)), default=2)


def summary(done: dict[str, Checked | TouchstoneError]) -> Table:
    table = Table("target", *(verdict.value for verdict in Verdict), "run")
    for name, checked in done.items():
        if isinstance(checked, TouchstoneError):
            table.add_row(name, *("-" for _ in Verdict), "not reached")
            continue
        counts = [sum(r.verdict is verdict for r in checked.results) for verdict in Verdict]
        table.add_row(name, *(str(count) if count else "" for count in counts), str(checked.folder))
    return table
