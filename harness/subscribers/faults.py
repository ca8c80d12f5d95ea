"""Failures that most likely are one fault, and what of each is worth a look: the differing part, the moment of the break.

Guesses for a person who reads: nothing here changes a verdict or a count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from harness.catalogue.cases import check_of
from harness.judging.result import CaseResult, TimelineEntry, Verdict
from harness.subscribers.text import clause_of, entry_line, what_came

Shape = tuple[str, ...]

MOST_TOKENS = 12
"""Of a difference, so many words tell its kind; behind them stands the data of the case."""

LONGEST_BLOCK = 3
"""Entries that repeat together: a delivery, its acknowledgement, and what answers that."""

BEFORE, AFTER = 12, 4
"""Lines of a timeline shown around the break."""

ALSO = 12
"""Names on the line that lists the rest of a fault's cases."""

SENTENCES = {
    Verdict.CRASHED: "the target died",
    Verdict.TIMEOUT: "the target went silent",
    Verdict.ERROR: "the harness could not judge this, which is not the target's fault",
}


@dataclass(frozen=True)
class Fault:
    """Cases that broke one clause in one way, the shortest first."""

    clause: str
    words: str  # the verdict
    results: Sequence[CaseResult]

    @property
    def shortest(self) -> CaseResult:
        return self.results[0]

    @property
    def sentence(self) -> str:
        result, failure = self.shortest, self.shortest.failure
        if result.verdict in SENTENCES:
            said = SENTENCES[result.verdict]
        elif failure is None:
            said = result.note or self.words
        elif failure.observed.startswith("nothing"):
            said = "what the clause asks for did not come"
        elif failure.expected == "a refusal":
            said = "what has to be refused was taken"
        elif failure.expected or failure.observed:
            said = "what came is not what the clause asks for"
        else:
            said = what_came(result)
        return f"{said}, in {len(self.results)} cases" if len(self.results) > 1 else said

    @property
    def also(self) -> list[str]:
        """The other cases, a line for each check."""
        rest = sorted(result.case for result in self.results[1:])
        lines = []
        for check, cases in groupby(rest, check_of):
            names = [case.removeprefix(check).strip("[]") for case in cases]
            more = f" and {len(names) - ALSO} more" if len(names) > ALSO else ""
            lines.append(f"{check}{': ' * bool(names[0])}{', '.join(names[:ALSO])}{more}")
        return lines


def faults(results: Iterable[CaseResult], words: Callable[[CaseResult], str]) -> list[Fault]:
    """By clause; of a clause what is most frequent first. `words` says a verdict in words."""
    found: dict[tuple[str, str, str, str, Shape], list[CaseResult]] = {}
    for result in results:
        key = (clause_of(result), words(result), result.target, result.peer, shape_of(result))
        found.setdefault(key, []).append(result)
    made = [Fault(clause, said, sorted(them, key=length)) for (clause, said, *_), them in found.items()]
    return sorted(made, key=lambda fault: (fault.clause, -len(fault.results), fault.shortest.case))


def length(result: CaseResult) -> tuple[int, int, str]:
    return len(result.timeline), len(what_came(result)), result.case


# -- how two texts differ ----------------------------------------------------------------------------------------------


def shape_of(result: CaseResult) -> Shape:
    """What kind of difference it is, whatever numbers and names the case has."""
    failure = result.failure
    if failure is None:
        return shape(result.note)
    if not (failure.expected or failure.observed):
        return shape(failure.message)
    expected, observed = tokens(failure.expected), tokens(in_order_of(failure.expected, failure.observed))
    start, end = common(expected, observed)
    ours, theirs = expected[start : len(expected) - end], observed[start : len(observed) - end]
    return (*kinds(ours), "/", *kinds(theirs))


def in_order_of(expected: str, observed: str) -> str:
    """What was observed, its members in the order of what was expected: of two objects the order is no difference."""
    try:
        ours, theirs = ast.literal_eval(expected), ast.literal_eval(observed)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return observed
    if not isinstance(ours, dict) or not isinstance(theirs, dict) or repr(theirs) != observed:
        return observed
    return repr({key: theirs[key] for key in ours if key in theirs} | theirs)


def shape(text: str) -> Shape:
    return kinds(tokens(text))


def tokens(text: str) -> list[str]:
    return re.findall(r'"(?:[^"\\]|\\.)*"|\w[\w-]*|[^\w\s]', text)


def kinds(words: Sequence[str]) -> Shape:
    """Numbers, ids and quoted texts are data; words and signs are what a message is made of."""
    spelled = ("s" if word[0] == '"' else "0" if re.search(r"\d", word) else word for word in words)
    return tuple(kind for kind, _ in groupby(spelled))[:MOST_TOKENS]


def common(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """How much two sequences have in common at their beginning, and then at their end."""
    most = min(len(one), len(other))
    start = next((n for n in range(most) if one[n] != other[n]), most)
    end = next((n for n in range(most - start) if one[-1 - n] != other[-1 - n]), most - start)
    return start, end


def differing(expected: str, observed: str) -> tuple[slice, slice] | None:
    """The part in which two texts differ; None if they have next to nothing in common, or nothing apart."""
    if not expected or not observed or expected == observed:
        return None
    start, end = common(expected, observed)
    if re.fullmatch(r"([0-9a-f]{2})+/([0-9a-f]{2})+", f"{expected}/{observed}"):
        start, end = start - start % 2, end - end % 2  # whole bytes
    if start + end < min(len(expected), len(observed)) / 2:
        return None
    return slice(start, len(expected) - end), slice(start, len(observed) - end)


# -- a timeline --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """One line for one entry, or for many that repeat."""

    text: str
    entries: int = 1


def around_the_break(result: CaseResult) -> list[str]:
    """The part of the timeline in which it went wrong, with what repeats told once; `>` marks what was not allowed."""
    entries = result.timeline
    broke = _break(result)
    lines = [*_folded(entries[:broke])]
    at = len(lines)
    if broke is not None:
        lines += [Line(">" + entry_line(entries[broke])[1:]), *_folded(entries[broke + 1 :])]
    first, last = max(0, at - BEFORE), at + 1 + AFTER
    shown = [line.text for line in lines[first:last]]
    earlier, later = (sum(line.entries for line in part) for part in (lines[:first], lines[last:]))
    return [
        *([f"... {earlier} earlier entries"] if earlier else []),
        *shown,
        *([f"... {later} later entries"] if later else []),
    ]


def _break(result: CaseResult) -> int | None:
    """The entry that is what was observed, if there is one."""
    seen = result.failure.observed if result.failure else ""
    if not seen:
        return None
    matching = (n for n, entry in enumerate(result.timeline) if len(entry.text) > 1 and seen in (entry.text, entry.raw))
    return max(matching, default=None)


def _folded(entries: Sequence[TimelineEntry]) -> Iterator[Line]:
    """What repeats, alone or with its answers, is shown the first time and the last."""
    shapes = [(entry.sender, entry.receiver, entry.kind, shape(entry.text)) for entry in entries]
    at = 0
    while at < len(entries):
        size, times = max(
            ((size, _times(shapes, at, size)) for size in range(1, LONGEST_BLOCK + 1)),
            key=lambda found: (found[0] * found[1] if found[1] > 3 else 0, -found[0]),
        )
        if times <= 3:
            size, times = 1, 1
        yield from (Line(entry_line(entry)) for entry in entries[at : at + size])
        if times > 3:
            hidden = size * (times - 2)
            yield Line(f"           ... {hidden} more like {'this' if size == 1 else 'these'}", hidden)
        if times > 1:
            yield from (Line(entry_line(entry)) for entry in entries[at + size * (times - 1) : at + size * times])
        at += size * times


def _times(shapes: Sequence[object], at: int, size: int) -> int:
    """How often the next so many come again and again, the first time included."""
    block, times = shapes[at : at + size], 1
    while shapes[at + size * times : at + size * (times + 1)] == block:
        times += 1
    return times if len(block) == size else 1
