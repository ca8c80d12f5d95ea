"""The command line. Each command is a small module; imports wait until a command runs, so that starting is quick."""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

from harness import __version__
from harness.cli import check, develop, inspect, matrix, report, simulate, soak
from harness.errors import TouchstoneError, UsageError

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


class Interrupted:
    """SIGINT, or SIGTERM which ends a run in the same order and with another exit code."""

    code = 130

    def terminate(self, number: int, frame: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # one is enough: what was begun is put in order
        self.code = 128 + number
        raise KeyboardInterrupt


def main() -> None:
    """Exit: 0 conformant, 1 a MUST failed or a list is stale, 2 harness error or target unavailable, 3 bad usage."""
    interrupted = Interrupted()
    signal.signal(signal.SIGTERM, interrupted.terminate)
    try:
        result = app(standalone_mode=False, prog_name="touchstone")
        if result == Interrupted.code:  # so typer tells of an interrupt
            raise KeyboardInterrupt
    except TouchstoneError as error:
        print(f"touchstone: {error}", file=sys.stderr)
        sys.exit(3 if isinstance(error, UsageError) else 2)
    except (typer.Abort, KeyboardInterrupt):
        print("touchstone: interrupted; what had been judged is in the run's folder", file=sys.stderr)
        sys.exit(interrupted.code)
    except Exception as error:
        if hasattr(error, "format_message"):  # click's own word for a wrong call
            print(f"touchstone: {error.format_message()}", file=sys.stderr)
            sys.exit(3)
        raise
    sys.exit(result if isinstance(result, int) else 0)


__all__ = ["app", "main"]
