"""What can go wrong with a report, as one sentence and an exit code.

ReportError
├── BadUsage      3: the caller asked for something that makes no sense
└── Unavailable   2: a path, a master or a Java runtime that cannot be had
"""

from __future__ import annotations

import re


class ReportError(Exception):
    """One sentence for the person who started the report."""

    exit_code = 2


class BadUsage(ReportError):
    exit_code = 3


class Unavailable(ReportError):
    exit_code = 2


def first_sentence(error: object) -> str:
    """What an error that came through the JVM says and why, without class names, error codes and stack."""
    lines = [line.strip().removeprefix(": ") for line in str(error).splitlines() if line.strip()]
    text = next((line for line in lines if not line.startswith("An error occurred while calling")), repr(error))
    text = re.sub(r"^\[[A-Z_.0-9]+\] ", "", without_class(text))
    said = re.sub(r" SQLSTATE: \w+$", "", text).rstrip(". ")[:300]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    why = without_class(causes[-1]).rstrip(". ")[:200] if causes else ""  # the last is the first thing that went wrong
    return f"{said}, because of: {why}" if why and why not in said else said


def without_class(text: str) -> str:
    return re.sub(r"^(?:[\w$]+\.)+[\w$]+: ", "", text)
