"""All commands as one, and what its end means to who called it."""

from __future__ import annotations

import sys
import traceback
from typing import Annotated

import typer

from harness import __version__
from harness.cli import check, develop, inspect, matrix, report, simulate, soak
from harness.errors import TouchstoneError, UsageError
from harness.interrupts import Interrupts, heard

app = typer.Typer(
    name="touchstone",
    help="Says, clause by clause, whether an implementation of a young protocol conforms.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"touchstone {__version__}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=say_version, is_eager=True, help="print the version and leave")
]


@app.callback()
def touchstone(version: Version = False) -> None:
    """What stands before every command."""


for module in (check, matrix, simulate, soak, inspect, develop, report):
    module.add_to(app)


def run() -> None:
    """Exit: 0 conformant, 1 a MUST failed or a list is stale, 2 harness error or target unavailable, 3 bad usage."""
    interrupts = Interrupts()
    interrupts.expect()
    try:
        result = app(standalone_mode=False, prog_name="touchstone")
        if result == Interrupts.code:  # so typer tells of an interrupt
            raise KeyboardInterrupt
    except TouchstoneError as error:
        print(f"touchstone: {error}", file=sys.stderr)
        sys.exit(3 if isinstance(error, UsageError) else 2)
    except (typer.Abort, KeyboardInterrupt):
        heard()
        print("touchstone: interrupted; what had been judged is in the run's folder", file=sys.stderr)
        sys.exit(interrupts.code)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"touchstone: this machine does not let it go on: {where}{error.strerror or error}", file=sys.stderr)
        sys.exit(2)
    except Exception as error:
        if hasattr(error, "format_message"):  # click's own word for a wrong call
            print(f"touchstone: {error.format_message()}", file=sys.stderr)
            sys.exit(3)
        traceback.print_exc()
        print("touchstone: that is a fault of its own, and no verdict", file=sys.stderr)
        sys.exit(2)
    sys.exit(result if isinstance(result, int) else 0)
