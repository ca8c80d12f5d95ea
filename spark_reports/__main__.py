"""`python -m spark_reports RUNS... --out site`, and the file to hand to spark-submit."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from spark_reports.errors import BadUsage, ReportError


def main(arguments: list[str] | None = None) -> int:
    """Exit code 0, or that of the error, whose one sentence goes to stderr."""
    try:
        chosen = _parser().parse_args(arguments)
        from spark_reports.job import (  # starting Python's half of Spark takes a second; usage errors need not wait
            Options,
            report,
        )

        options = Options(chosen.tables, chosen.suites, chosen.reference, chosen.window, frozenset(chosen.leave_out))
        summary = report(chosen.runs, chosen.out, chosen.master, options)
    except ReportError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print("\n".join(summary.lines()))
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadUsage(f"{message[:1].upper()}{message[1:]}: see --help.")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="spark_reports", description="Tables and a static site from result streams.")
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUNS",
        help="run folders, folders of them, streams or globs; any path Spark can read",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the site")
    parser.add_argument("--master", help="local[N] (default: local[*]), spark://host:port, yarn, k8s://...")
    parser.add_argument("--tables", help="where the Parquet tables live (default: OUT/tables)")
    parser.add_argument(
        "--suites", type=Path, help="folder with <protocol>/requirements.toml, for coverage and readings"
    )
    parser.add_argument("--reference", default="reference", help="the implementation that decides culprits")
    parser.add_argument(
        "--window", type=_days, default=30, metavar="DAYS", help="days in which flakes and changes are looked for"
    )
    parser.add_argument(
        "--leave-out",
        action="append",
        default=[],
        metavar="PATH",
        help="a local run, or stream, below RUNS to pass over",
    )
    return parser


def _days(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
