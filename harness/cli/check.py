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
        str,
        typer.Option(
            help="a bundled name, a target.toml, python:, cmd:, image:, or where a server runs: "
            "ws://host:port, host:port, several ports as push=host:port,receive=host:port"
        ),
    ] = "reference",
    option: Annotated[
        list[str] | None, typer.Option(help="KEY=VALUE of a server that runs; `touchstone roles` lists the keys")
    ] = None,
    seed: Annotated[int, typer.Option(help="seed of everything random in the cases")] = 0,
    workers: Annotated[int, typer.Option("-n", "--workers", min=0, help="processes that run cases; 0: choose")] = 0,
    slow: Annotated[bool, typer.Option(help="real-time timers and more examples")] = False,
    one_each: Annotated[
        bool,
        typer.Option(
            "--one-each",
            help="of every check only the first case, with all its vectors or a few random runs: a first look",
        ),
    ] = False,
    patience: Annotated[
        float, typer.Option(min=0.1, help="seconds that what must come may take; more on a busy machine")
    ] = 5.0,
    runs: Annotated[Path, typer.Option(help="where runs are kept")] = Path("runs"),
    json: Annotated[Path | None, typer.Option(help="write a JSON summary")] = None,
    junit: Annotated[Path | None, typer.Option(help="write JUnit XML")] = None,
    sarif: Annotated[Path | None, typer.Option(help="write SARIF 2.1.0")] = None,
    allure: Annotated[Path | None, typer.Option(help="write Allure results into this folder")] = None,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="every failing case by itself, with all of its timeline")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="what failed runs again when a file of the target changes")
    ] = False,
) -> int:
    """Say, clause by clause, whether a target conforms."""
    if watch:
        from harness.cli.watching import watch as keep_checking

        words = [f"--option={told}" for told in option or ()]
        words += [f"--seed={seed}", f"--workers={workers}", f"--patience={patience}"]
        flags = {"--slow": slow, "--one-each": one_each, "--verbose": verbose}
        return keep_checking(select or (), target, runs, [*words, *(flag for flag, on in flags.items() if on)])
    from harness.running.check import check_target, untested
    from harness.running.plan import Plan
    from harness.running.recorder import Subscriber
    from harness.subscribers import JsonSummary, JUnit, Sarif, Terminal

    plan = Plan(target, select or (), option or (), (), seed, slow, workers, patience, one_each)
    kinds = ((JsonSummary, json), (JUnit, junit), (Sarif, sarif))
    reports: list[Subscriber] = [kind(path) for kind, path in kinds if path is not None]
    if allure:
        from harness.subscribers.allure import Allure

        reports.append(Allure(allure))
    checked = check_target(plan, runs, [Terminal(verbose=verbose), *reports])
    if why := untested(checked.results):
        typer.echo(f"touchstone: {why}", err=True)
    return checked.exit_code


def replay(
    what: Annotated[
        list[str] | None, typer.Argument(help="runs/<run>/capsules/<case>.json, or a case id: its newest failure")
    ] = None,
    last_failed: Annotated[bool, typer.Option("--last-failed", help="all that failed in the last check")] = False,
    runs: Annotated[Path, typer.Option(help="where runs are kept")] = Path("runs"),
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="all of the timeline")] = False,
) -> int:
    """Try stored failures again: says FIXED, FAILED or ERROR of each."""
    from harness.running.replay import meant
    from harness.running.replay import replay as again
    from harness.subscribers import Terminal

    return again(meant(what or (), last_failed, runs), [Terminal(verbose=verbose)])
