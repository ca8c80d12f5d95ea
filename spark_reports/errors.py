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
    """What an error that came through the JVM says, without class names, error codes and stack."""
    lines = [line.strip().removeprefix(": ") for line in str(error).splitlines() if line.strip()]
    text = next((line for line in lines if not line.startswith("An error occurred while calling")), repr(error))
    text = re.sub(r"^(?:[\w$]+\.)+[\w$]+: ", "", text)
    text = re.sub(r"^\[[A-Z_.0-9]+\] ", "", text)
    return re.sub(r" SQLSTATE: \w+$", "", text).rstrip(". ")[:300]
