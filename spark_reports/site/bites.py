"""Do the suites bite? Deliberate faults in the reference, and how many of them a case catches."""

from __future__ import annotations

import dataclasses

from spark_reports.runs import COMPLETE, Run

#: Runs against faulty references, and whose faults they are.
FAULTS = {
    "mutants": "planted by hand",
    "machines": "planted by hand; the state machines alone",
    "tours": "planted by hand; the tours alone",
    "generated": "generated from the source",
}


@dataclasses.dataclass(frozen=True)
class Bite:
    """The newest whole run of one kind in one protocol."""

    protocol: str
    faults: str
    night: str
    mutants: int
    killed: int
    listed: int  # let live, with a reason that people can read

    @property
    def counted(self) -> int:
        return self.mutants - self.listed

    @property
    def share(self) -> float:
        return 100.0 * self.killed / self.counted if self.counted else 100.0


def bites(everything: list[Run]) -> list[Bite]:
    """By protocol, in the order of `FAULTS`."""
    newest: dict[tuple[str, int], Bite] = {}
    kinds = list(FAULTS)
    for run in sorted(everything, key=lambda run: run.started_at):
        if run.state != COMPLETE or run.kind not in FAULTS or not run.measures.get("mutants"):
            continue
        counts = [int(run.measures.get(name, 0)) for name in ("mutants", "killed", "listed")]
        for protocol in run.protocols:
            newest[protocol, kinds.index(run.kind)] = Bite(protocol, FAULTS[run.kind], run.run_date, *counts)
    return [newest[key] for key in sorted(newest)]
