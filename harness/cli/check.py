"""`check` and `replay`: one target's conformance, and one failure seen again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Select = Annotated[list[str] | None, typer.Argument(help="protocol, protocol/role, or a glob over case ids")]


def add_to(app: typer.Typer) -> None:
    app.command()(check)
    app.command()(replay)


def check(
    select: Select = None,
    target: Annotated[
        str, typer.Option(help="a bundled name, a target.toml, python:, cmd:, image:, URL")
    ] = "reference",
    option: Annotated[list[str] | None, typer.Option(help="KEY=VALUE: configuration of a remote target")] = None,
    seed: Annotated[int, typer.Option(help="seed of everything random in the cases")] = 0,
    workers: Annotated[int, typer.Option("-n", "--workers", help="processes that run cases; 0: choose")] = 0,
    slow: Annotated[bool, typer.Option(help="real-time timers and more examples")] = False,
    patience: Annotated[float, typer.Option(help="seconds that what must come may take; more on a busy machine")] = 5.0,
    runs: Annotated[Path, typer.Option(help="where runs are kept")] = Path("runs"),
    json: Annotated[Path | None, typer.Option(help="write a JSON summary")] = None,
    junit: Annotated[Path | None, typer.Option(help="write JUnit XML")] = None,
    sarif: Annotated[Path | None, typer.Option(help="write SARIF 2.1.0")] = None,
    allure: Annotated[Path | None, typer.Option(help="write Allure results into this folder")] = None,
) -> int:
    """Say, clause by clause, whether a target conforms."""
    from harness.checking import check_target
    from harness.run import Plan
    from harness.subscribers import Allure, JsonSummary, JUnit, Sarif, Terminal

    plan = Plan(target, select or (), option or (), (), seed, slow, workers, patience)
    kinds = ((JsonSummary, json), (JUnit, junit), (Sarif, sarif), (Allure, allure))
    reports = [kind(path) for kind, path in kinds if path is not None]
    return check_target(plan, runs, [Terminal(), *reports]).exit_code


def replay(capsule: Annotated[Path, typer.Argument(help="runs/<run>/capsules/<case>.json")]) -> int:
    """Try a stored failure again: says FIXED or still FAILED."""
    from harness.checking import replay_capsule
    from harness.subscribers import Terminal

    return replay_capsule(capsule, [Terminal()])
