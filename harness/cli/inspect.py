"""`cases`, `roles`, `targets`, `explain`, `doctor`: what there is, what it means, and what this machine lacks."""

from __future__ import annotations

from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    for command in (cases, roles, targets, explain, doctor):
        app.command()(command)


def cases(
    select: Annotated[list[str] | None, typer.Argument(help="protocol, protocol/role, or a glob")] = None,
) -> None:
    """List cases and the clauses they check."""
    from harness.errors import NothingSelected
    from harness.running.plan import cases as listed

    found = listed(select or ())
    if not found:
        raise NothingSelected(select or [])
    for case in found:
        typer.echo(f"{case.id}  {' '.join(case.requirements)}")


def roles() -> None:
    """List the roles of every protocol; of those that servers have, how an address is written and which options there are."""
    from harness.catalogue.protocols import protocol
    from harness.catalogue.protocols import roles as every_role

    for path, role in every_role().items():
        typer.echo(f"{path:20} {protocol(path.split('/')[0]).name:10} {role.spelling}".rstrip())
        for key, option in role.every_option.items():
            typer.echo(f"{'':20} {'':10} --option {key}={option.spelling}  {option.about}")


def targets() -> None:
    """List the bundled targets."""
    from harness.targets import bundled, resolve

    for name in bundled():
        target = resolve(name)
        typer.echo(f"{name:20} {target.info.reach:12} {target.info.language:10} {target.info.version}")


def explain(
    what: Annotated[
        str,
        typer.Argument(
            help="a requirement id (PB-2.1-02), a case id, tours (peerbus/broker/tours), a verdict (warn) or an exit code (2)"
        ),
    ],
) -> None:
    """Say what a word of a report means: a clause with its cases and mutants, a case, tours, a verdict, an exit code."""
    from harness.cli.explain import explain as say

    say(what)


def doctor() -> int:
    """Say what this machine has and lacks, and what to install."""
    from harness.cli.doctor import examine

    missing = 0
    for finding in examine():
        missing += finding.needed and not finding.found
        typer.echo(f"{'ok     ' if finding.found else 'missing'}  {finding.name:16} {finding.detail}")
    return 2 if missing else 0
