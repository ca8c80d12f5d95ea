"""`nightly`, `report` and `test`: the README's two commands, and the site by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    for command in (nightly, report, test):
        app.command()(command)


def nightly(
    runs: Annotated[Path, typer.Option(help="where runs are kept; they accumulate")] = Path("runs"),
    site: Annotated[Path, typer.Option(help="where the site goes; it is rebuilt")] = Path("site"),
) -> int:
    """Check every bundled target in every protocol, then build the site."""
    from harness.cli.nightly import nightly as every_target

    return every_target(runs, site)


def report(
    runs: Annotated[list[str], typer.Argument(help="run folders, folders of them, streams or globs")],
    out: Annotated[Path, typer.Option(help="folder of the site")] = Path("site"),
    master: Annotated[str | None, typer.Option(help="local[N], spark://host:port, ...; local[*] if not given")] = None,
) -> int:
    """Tables and the site from result streams, on Spark."""
    from harness.cli.nightly import report as build

    return build(runs, out, master)


def test(
    only: Annotated[list[str] | None, typer.Option(help="only these steps, e.g. lint or suites-peerbus")] = None,  # noqa: PT028  # a command
) -> int:
    """All that CI gates on."""
    from harness.cli.gate import gate

    return gate(only or ())
