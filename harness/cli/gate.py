"""All that CI gates on, as one table of steps; `tox` runs the same steps by themselves."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harness.catalogue.requirements import protocols
from harness.cli.lanes import CORES, side_by_side
from harness.cli.reaches import FIRST
from harness.errors import NothingSelected, TouchstoneError, UsageError
from harness.places import IS_CLONE, ROOT

PYTHON = sys.executable
CODE = [
    "harness",
    "reference_impl",
    "suites",
    "targets",
    "spark_reports",
    "selftests",
    "derivations",
    "docs",
    "package",
]
APART = ("docker", "spark", "package", "docs")
"""Selftests that need more than Python, and have a name of their own: an engine, a JVM, a fresh environment, a browser."""

IMAGES = ["docker/build-reference", "docker/build-spark"]

ASLEEP = 2
"""Processes of a run over mutants for each processor that it is given: three quarters of their time they wait, for silence."""


@dataclass(frozen=True)
class Step:
    """One command; it passes when it exits with 0."""

    name: str
    command: Sequence[str]


def steps(workers: int) -> list[Step]:
    """First what finds a fault at once, then what takes longest; each in so many processes, where it can use them."""
    here = [folder for folder in CODE if (ROOT / folder).is_dir()]
    tool, ours, n = [PYTHON, "-m"], [PYTHON, "-m", "harness.cli.gate"], ["-n", str(workers)]
    silent = ["-n", str(workers * ASLEEP)]
    return [
        Step("lint", [*tool, "ruff", "check", *here]),
        Step("format", [*tool, "ruff", "format", "--check", *here]),
        Step("layers", [str(Path(PYTHON).with_name("lint-imports")), "--no-cache"]),
        Step("vectors", [*tool, "harness.catalogue.vectors", "--check"]),
        Step("images", [*ours, "images"]),
        *(
            Step(f"mutants-{protocol}", [*tool, "harness.cli", "mutants", protocol, *silent])
            for protocol in protocols()
        ),
        Step("types", [*tool, "mypy"]),
        *(
            Step(f"selftest-{name}", [*tool, "pytest", "-q", f"selftests/{name}", *(n if workers > 1 else [])])
            for name in selftests()
            if name not in APART
        ),
        *(Step(f"suites-{protocol}", [*ours, "suites", protocol, *n[1:]]) for protocol in protocols()),
        *(Step(name, [*tool, "pytest", "-q", f"selftests/{name}"]) for name in APART),
        Step("matrix", [*ours, "matrix", *n[1:]]),
    ]


def selftests() -> list[str]:
    """The folders that have some; each is a step, those of a protocol first: they take longest, and mostly wait."""
    found = {path.parent.name for path in (ROOT / "selftests").glob("*/test_*.py")}
    return sorted(found, key=lambda name: (name not in protocols(), name))


def gate(only: Sequence[str] = ()) -> int:
    """Run every step, also after one failed; a closing line counts them. One step alone has all processors."""
    if not IS_CLONE:
        raise UsageError("the gate is for a clone of the project: this is an installed package")
    names = [step.name for step in steps(1)]
    chosen = [name for name in names if not only or name in only or name.split("-")[0] in only]
    if not chosen:
        raise UsageError(f"there is no step {', '.join(only)}: use {', '.join(names)}")
    began = time.perf_counter()
    todo = [step for step in steps(1 if len(chosen) > 1 else CORES) if step.name in chosen]
    failed = all_of(todo) if len(todo) > 1 else [step.name for step in todo if not passes(step, sys.stdout)]
    print(f"== all: {time.perf_counter() - began:.1f} s")
    if failed:
        print(f"failed: {', '.join(failed)}")
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed", flush=True)
    return 1 if failed else 0


def all_of(todo: Sequence[Step]) -> list[str]:
    """The names of those that failed. What a step prints is shown when it has ended."""
    failed = []
    with tempfile.TemporaryDirectory() as folder:

        def run(step: Step) -> bool:
            with log_of(step).open("w") as log:
                return passes(step, log)

        def log_of(step: Step) -> Path:
            return Path(folder, step.name)

        for step, passed in side_by_side(todo, run):
            print(log_of(step).read_text(errors="replace"), end="", flush=True)
            failed += [] if passed else [step.name]
    return failed


def passes(step: Step, log: IO[str]) -> bool:
    """Run a step and let it print there."""
    print(f"== {step.name}: {' '.join(step.command[1:])}", file=log, flush=True)
    began = time.perf_counter()
    running = subprocess.Popen(step.command, cwd=ROOT, env=environment(), stdout=log, stderr=subprocess.STDOUT)
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = code = os.waitstatus_to_exitcode(status)
    took = f"{time.perf_counter() - began:.1f} s, {used.ru_utime + used.ru_stime:.0f} s of processor time"
    print(f"== {step.name}: {'ok' if code == 0 else f'FAILED ({code})'} in {took}", file=log, flush=True)
    return code == 0


def environment() -> dict[str, str]:
    """For a step. A thousand processes import the same modules: what one has compiled the others need not."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "PYTHONHASHSEED": "0"}


# -- steps of our own --------------------------------------------------------------------------------------------------


def suites(protocol: str, workers: int) -> int:
    """One protocol by every reach of the reference: whole in-process, and one case of each check by the others.

    What differs between reaches is the way of a request, an event, a death and a new start, and every check goes that way.
    All cases by all reaches, compared alike, are `nightly`'s.
    """
    from harness.cli.reaches import OTHERS, disagreements
    from harness.judging.result import CaseResult
    from harness.running.check import check_target
    from harness.running.plan import Plan
    from harness.subscribers import Terminal

    results: dict[str, list[CaseResult]] = {}
    worst = 0
    for target in (FIRST, *OTHERS):
        if target == "reference-docker" and not docker_answers():
            continue
        plan = Plan(target=target, select=[protocol], workers=workers, one_each=target != FIRST)
        try:
            checked = check_target(plan, Path("runs"), [Terminal()])
        except NothingSelected:
            continue  # a server has no role in a protocol without servers
        worst = max(worst, checked.exit_code)
        results[target] = checked.results
    said = list(disagreements(results))
    print("\n".join(said))
    return max(worst, 1 if said else 0)


def matrix(workers: int) -> int:
    """The reference and the examples, all pairs without faults; the reference with itself, disturbed.

    Examples that take minutes to build, other reaches, all profiles and repetitions are `nightly`'s.
    """
    from harness.matrix.report import print_matrix
    from harness.matrix.run import MatrixPlan, run_matrix
    from harness.subscribers import Terminal
    from harness.targets.resolve import examples

    plans = (
        MatrixPlan(
            targets=[FIRST, *(name for name in examples(quick=True) if name.count("/") == 1)],
            workers=workers,
            lenient=True,
        ),
        MatrixPlan(targets=[FIRST], profiles=["cut", "twice"], workers=workers),
    )
    worst = 0
    for plan in plans:
        finished = run_matrix(plan, Path("runs"), [Terminal()])
        print_matrix(finished)
        worst = max(worst, finished.exit_code)
    return worst


def images() -> int:
    """The images that later steps use, while these have something else to do; each is built once."""
    if not docker_answers():
        return 0
    return max(subprocess.call([ROOT / script]) for script in IMAGES)


def docker_answers() -> bool:
    """Is there an engine, or is there required to be one?"""
    from harness.targets.engine import the_engine

    if "docker" in os.environ.get("TOUCHSTONE_REQUIRE", "").split(","):
        return True
    try:
        asyncio.run(the_engine())
    except TouchstoneError as error:
        print(f"docker is left out: {error}")
        return False
    return True


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["images"]:
            sys.exit(images())
        case ["matrix", workers]:
            sys.exit(matrix(int(workers)))
        case ["suites", protocol, workers]:
            sys.exit(suites(protocol, int(workers)))
