"""All that CI gates on, as one table of steps; `tox` runs the same steps one by one."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import NothingSelected, TouchstoneError, UsageError
from harness.requirements import protocols

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable
CODE = ["harness", "reference_impl", "suites", "targets", "spark_reports", "selftests", "vectors"]


@dataclass(frozen=True)
class Step:
    """One command; it passes when it exits with 0."""

    name: str
    command: Sequence[str]


def steps() -> list[Step]:
    """In the order in which a fault is cheapest to find."""
    here = [folder for folder in CODE if (ROOT / folder).is_dir()]
    tool = [PYTHON, "-m"]
    found = [
        Step("lint", [*tool, "ruff", "check", *here]),
        Step("format", [*tool, "ruff", "format", "--check", *here]),
        Step("types", [*tool, "mypy"]),
        Step("layers", [str(Path(PYTHON).with_name("lint-imports")), "--no-cache"]),
        Step("vectors", [*tool, "harness.vectors", "--check"]),
        Step("selftest", [*tool, "pytest", "selftests", "-q", "--ignore=selftests/spark", "--ignore=selftests/docker"]),
    ]
    for protocol in protocols():
        found.append(Step(f"suites-{protocol}", [*tool, "harness.gate", protocol]))
    for protocol in protocols():
        found.append(Step(f"mutants-{protocol}", [*tool, "harness.cli", "mutants", protocol]))
    for name in ("spark", "docker"):
        if (ROOT / "selftests" / name).is_dir():
            found.append(Step(name, [*tool, "pytest", f"selftests/{name}", "-q"]))
    return found


def gate(only: Sequence[str] = ()) -> int:
    """Run every step, also after one failed; a closing line counts them."""
    chosen = [step for step in steps() if not only or step.name in only or step.name.split("-")[0] in only]
    if not chosen:
        raise UsageError(f"there is no step {', '.join(only)}: use {', '.join(step.name for step in steps())}")
    failed = []
    for step in chosen:
        print(f"== {step.name}: {' '.join(step.command[1:])}", flush=True)
        began = time.perf_counter()
        code = subprocess.call(step.command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "0"})
        print(
            f"== {step.name}: {'ok' if code == 0 else f'FAILED ({code})'} in {time.perf_counter() - began:.1f} s",
            flush=True,
        )
        failed += [step.name] if code else []
    if failed:
        print(f"failed: {', '.join(failed)}")
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed", flush=True)
    return 1 if failed else 0


def suites(protocol: str) -> int:
    """One protocol on every bundled target that is reached from here: the verdicts must be the same whatever the reach."""
    from harness.checking import check_target
    from harness.results import Verdict
    from harness.run import Plan
    from harness.subscribers import Terminal

    verdicts: dict[str, dict[str, Verdict]] = {}
    worst = 0
    for target in ("reference", "reference-process", "reference-server", *docker()):
        try:
            checked = check_target(Plan(target=target, select=[protocol]), Path("runs"), [Terminal()])
        except NothingSelected:
            continue  # a server has no role in a protocol without servers
        worst = max(worst, checked.exit_code)
        verdicts[target] = {result.case: result.verdict for result in checked.results}
    for target, mine in verdicts.items():
        for case, verdict in mine.items():
            if verdict not in (verdicts["reference"].get(case), Verdict.UNSUPPORTED):
                print(f"{target} says {verdict} where reference says {verdicts['reference'].get(case)}: {case}")
                worst = max(worst, 1)
    return worst


def docker() -> list[str]:
    """The docker target where an engine answers, or is required to."""
    from harness.targets.engine import the_engine

    if "docker" in os.environ.get("TOUCHSTONE_REQUIRE", "").split(","):
        return ["reference-docker"]
    try:
        asyncio.run(the_engine())
    except TouchstoneError as error:
        print(f"reference-docker is left out: {error}")
        return []
    return ["reference-docker"]


if __name__ == "__main__":
    sys.exit(suites(sys.argv[1]))
