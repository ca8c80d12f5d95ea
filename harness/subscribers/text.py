"""Results as text that every report shares. What a target said is data: it never reaches a terminal or a parser raw."""

from __future__ import annotations

from collections.abc import Sequence

from harness.catalogue.requirements import Requirement, find
from harness.errors import UsageError
from harness.judging.result import CaseResult, TimelineEntry


def printable(text: str, keep: str = "") -> str:
    r"""The text with every control, format and unassigned character spelled as an escape, except those to keep.

    What is left fits XML and JSON as well, and no escape sequence reaches a terminal.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def requirement_of(clause: str) -> Requirement | None:
    """The clause's entry in the catalogue; None for a clause that this harness does not know."""
    try:
        return find(clause)
    except UsageError:
        return None


def clause_of(result: CaseResult) -> str:
    """The clause that a result is about: the broken one, else the first that its case claims, else none."""
    if result.failure and result.failure.clause:
        return result.failure.clause
    return result.requirements[0] if result.requirements else ""


def reading_of(result: CaseResult) -> str:
    """The clause's text and our reading of it, a line each."""
    requirement = requirement_of(clause_of(result))
    if requirement is None:
        return printable(result.failure.reading) if result.failure else ""
    lines = [f"{requirement.level}: {requirement.text}"]
    if requirement.reading:
        lines.append(f"we read: {requirement.reading}")
    return "\n".join(map(printable, lines))


def what_came(result: CaseResult) -> str:
    """Expected against observed, or the message where there is no such pair."""
    if result.failure is None:
        return printable(result.note) or result.verdict.value
    if result.failure.expected or result.failure.observed:
        return printable(f"expected {result.failure.expected}; observed {result.failure.observed}")
    return printable(result.failure.message)


def detail(result: CaseResult) -> str:
    """A result in one readable line: clause, expected, observed."""
    clause = clause_of(result)
    return printable(f"{clause}: ") * bool(clause) + what_came(result)


def timeline(entries: Sequence[TimelineEntry], last: int = 0) -> list[str]:
    """One line per entry, of the last so many or of all; what is left out is counted."""
    shown = entries[-last:] if last else entries
    lines = [f"... {len(entries) - len(shown)} earlier entries"] if len(shown) < len(entries) else []
    return lines + [entry_line(entry) for entry in shown]


def entry_line(entry: TimelineEntry) -> str:
    return printable(f"{entry.t:9.4f}  {entry.sender} -> {entry.receiver}  {entry.kind}  {entry.text}")
