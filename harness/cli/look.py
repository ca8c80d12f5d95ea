"""`cases`, `targets`, `explain`, `doctor`: what there is, what it means, and what this machine lacks."""

from __future__ import annotations

from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    for command in (cases, targets, explain, doctor):
        app.command()(command)


def cases(
    select: Annotated[list[str] | None, typer.Argument(help="protocol, protocol/role, or a glob")] = None,
) -> None:
    """List cases and the clauses they check."""
    from harness.errors import NothingSelected
    from harness.run import cases as listed

    found = listed(select or ())
    if not found:
        raise NothingSelected(select or [])
    for case in found:
        typer.echo(f"{case.id}  {' '.join(case.requirements)}")


def targets() -> None:
    """List the bundled targets."""
    from harness.targets import bundled, resolve

    for name in bundled():
        target = resolve(name)
        typer.echo(f"{name:20} {target.info.reach:12} {target.info.language:10} {target.info.version}")


def explain(id: Annotated[str, typer.Argument(help="a requirement id, such as PB-2.1-02")]) -> None:
    """Print a clause: its wording and reading, the cases that check it, the mutants that prove they bite."""
    from rich.console import Console
    from rich.markup import escape

    from harness.mutants import mutants_of
    from harness.requirements import catalogue, find, protocols
    from harness.run import cases as listed

    requirement = find(id)
    protocol = next(name for name in protocols() if id in catalogue(name))
    say = Console(highlight=False, soft_wrap=True).print
    say(f"[bold]{id}[/]  {requirement.level}  {protocol}/{', '.join(requirement.roles)}")
    for title, text in (
        ("clause", requirement.text),
        ("seen by", requirement.observe),
        ("reading", requirement.reading),
        ("contested", requirement.contested),
        ("excluded", requirement.excluded),
    ):
        if text:
            say(f"  [dim]{title:9}[/] {escape(text)}")
    say("  [dim]cases[/]")
    for case in listed([protocol]):
        if id in case.requirements:
            say(f"    {escape(case.id)}  [dim]{escape(case.rule)}[/]")
    say("  [dim]mutants[/]")
    for mutant in mutants_of(protocol).values():
        if id in mutant.clauses:
            say(f"    {mutant.name}  [dim]{escape(mutant.fault)}[/]")


def doctor() -> int:
    """Say what this machine has and lacks, and what to install."""
    from harness.doctor import examine

    missing = 0
    for finding in examine():
        missing += finding.needed and not finding.found
        typer.echo(f"{'ok     ' if finding.found else 'missing'}  {finding.name:16} {finding.detail}")
    return 2 if missing else 0
