"""`nightly` and `test`: the two commands of the README."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    app.command()(nightly)
    app.command()(test)


def nightly(runs: Annotated[Path, typer.Option(help="where runs are kept")] = Path("runs")) -> int:
    """Check every bundled target in every protocol."""
    from harness.nightly import nightly as every_target

    return every_target(runs)


def test(
    only: Annotated[list[str] | None, typer.Option(help="only these steps, e.g. lint or suites-peerbus")] = None,  # noqa: PT028  # a command
) -> int:
    """All that CI gates on."""
    from harness.gate import gate

    return gate(only or ())
