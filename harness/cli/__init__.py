"""The command line. Each command is a small module; imports wait until a command runs, so that starting is quick."""

from __future__ import annotations

import sys

import typer

from harness.cli import check, develop, look, report
from harness.errors import TouchstoneError, UsageError

app = typer.Typer(
    name="touchstone",
    help="Assays implementations of peerbus, SBP, BCCN, FROG/1 and TrueSeal.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (check, look, develop, report):
    module.add_to(app)


def main() -> None:
    """Exit: 0 conformant, 1 a MUST failed or a list is stale, 2 harness error or target unavailable, 3 bad usage."""
    try:
        result = app(standalone_mode=False)
    except TouchstoneError as error:
        print(f"touchstone: {error}", file=sys.stderr)
        sys.exit(3 if isinstance(error, UsageError) else 2)
    except typer.Abort:
        sys.exit(130)
    except KeyboardInterrupt:
        print("touchstone: interrupted; what had been judged is in the run's folder", file=sys.stderr)
        sys.exit(130)
    except Exception as error:
        if hasattr(error, "format_message"):  # click's own word for a wrong call
            print(f"touchstone: {error.format_message()}", file=sys.stderr)
            sys.exit(3)
        raise
    sys.exit(result if isinstance(result, int) else 0)


__all__ = ["app", "main"]
