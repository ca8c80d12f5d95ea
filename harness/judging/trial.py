"""One case being tried: what was said both ways, and what the case found."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from harness.catalogue.cases import CaseInfo
from harness.catalogue.vectors import Vector
from harness.judging.inbox import Inbox
from harness.judging.result import TimelineEntry, Verdict
from harness.targets.target import Mark, Target

T = TypeVar("T")
Each = Callable[..., Awaitable[None]]
"""The fixture that judges many small cases in one item: `harness/running/plugin.py`."""

MOST_ENTRIES = 2_000
"""Timeline entries kept: a load case says far more than anyone reads; what is left out is counted."""

MOST_TEXT, MOST_RAW = 600, 512
"""Characters and bytes kept of one entry."""

MOST_OBSERVED = 400
"""Characters that a broken rule shows of what it was broken by."""

A_FEW = 4
"""Random runs where one case of every check is asked: the first is the simplest there is, the others go somewhere."""

MOST_MEANWHILE = 6
"""Ends and beginnings of connections that go with a silence: who redials for ever says nothing else."""

MOST_COMPARED, BEFORE_IT = 4_000, 400
"""Characters kept of what was expected and of what was observed; so many of them before the first that differs."""

MOST_CROWDED = 4.0
"""How many times longer a busy machine makes us wait: a target that hangs must still end in minutes."""

NOW = Path("/proc/loadavg")
"""Where Linux says how many tasks want a processor at this moment: the fourth word, before the slash."""


def crowding() -> float:
    """How many times longer than usual things take here: runnable tasks per processor, and never less than 1.

    A conforming target on a machine with ten things to do is slow, not wrong.
    """
    return round(min(MOST_CROWDED, max(1.0, runnable() / (os.cpu_count() or 1))), 1)


def runnable() -> float:
    """Tasks that want a processor: on average over the last minute, or now where that is more.

    The average alone is late: ten seconds after ten others have begun it says one and a half.
    """
    average = os.getloadavg()[0]
    with contextlib.suppress(OSError, ValueError):  # where there is no such file the average has to do
        return max(average, float(NOW.read_text().split()[3].partition("/")[0]))
    return average


def kind_of(what: str) -> str:
    """What is waited for, in general: without the names, ids and numbers of one case."""
    return " ".join(word for word in what.split() if word.isalpha())


def excerpt(text: str, first: int = 0) -> str:
    """A text from there on, as much as is kept of one."""
    if len(text) <= MOST_COMPARED:
        return text
    return f"{'…' * (first > 0)}{text[first : first + MOST_COMPARED]}… ({len(text)} characters)"


def compared(expected: str, observed: str) -> tuple[str, str]:
    """Both, and of long ones the part in which they begin to differ."""
    if max(len(expected), len(observed)) <= MOST_COMPARED:
        return expected, observed
    pairs = enumerate(zip(expected, observed, strict=False))
    alike = next((n for n, (one, other) in pairs if one != other), min(len(expected), len(observed)))
    first = max(0, alike - BEFORE_IT)
    return excerpt(expected, first), excerpt(observed, first)


class Broken(AssertionError):
    """A clause is broken: what was expected, what was observed; `contested` says why this can at most warn."""

    def __init__(self, clause: str, expected: str, observed: str, contested: str = "") -> None:
        expected, observed = compared(str(expected), str(observed))
        super().__init__(f"expected {expected}; observed {observed}")
        self.clause, self.expected, self.observed, self.contested = clause, expected, observed, contested

    @classmethod
    def of(cls, vector: Vector, expected: str, observed: str, clause: str = "") -> Broken:
        """A vector's outcome is another one: that breaks its first clause, and can at most warn where it is acceptable."""
        return cls(clause or vector.clauses[0], expected, observed, vector.contested)


def need(condition: bool, clause: str, expected: str, observed: object) -> None:
    """Raise Broken unless the condition holds; for rules that know their clause, such as a lint's."""
    if not condition:
        raise Broken(clause, expected, str(observed)[:MOST_OBSERVED])


class Otherwise(Broken):
    """Another reading than ours, where the text is open: recorded, and no fault of anybody's."""


class Nothing(Broken):
    """Nothing came where something was owed."""


@dataclass(eq=False, repr=False)
class Trial:
    """What a case writes down while it runs."""

    case: CaseInfo
    target: Target
    seed: int = 0
    slow: bool = False
    one_each: bool = False
    patience_s: float = 5.0  # how long something that must come may take; paid in full only by a target that fails
    timeline: list[TimelineEntry] = field(default_factory=list)
    measures: dict[str, float] = field(default_factory=dict)
    verdict: Verdict = Verdict.PASS  # what a case that raises nothing ends with
    note: str = ""
    left_out: int = 0
    unread: int = 0  # bytes that what waits on its lines may take
    _meanwhile: list[str] = field(default_factory=list)  # how connections went since the target was last spoken to
    _began: float = field(default_factory=time.perf_counter)
    _mark: Mark = (None, 0)

    def __post_init__(self) -> None:
        self._mark = self.target.mark()

    @property
    def printed(self) -> str:
        """What the target has printed for people since the case, or its last vector, began."""
        return self.target.evidence(self._mark)

    def __repr__(self) -> str:
        """Short: Hypothesis prints it among the arguments of a failing example."""
        return "trial"

    def said(self, sender: str, receiver: str, kind: str, text: str, raw: bytes = b"") -> None:
        """One line of the timeline."""
        if sender != self.case.role:
            self._meanwhile.clear()
        if len(self.timeline) >= MOST_ENTRIES:
            self.left_out += 1
            return
        entry = TimelineEntry(
            round(time.perf_counter() - self._began, 6),
            sender,
            receiver,
            kind,
            text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}… ({len(text)} characters)",
            raw[:MOST_RAW].hex(),
            len(raw),
        )
        self.timeline.append(entry)

    def went(self, connection: str, how: str) -> None:
        """The target has hung up, or dialled, of its own accord: whoever waits for something else in vain is told of it."""
        if len(self._meanwhile) < MOST_MEANWHILE:
            self._meanwhile.append(f"{connection}: {how}")

    async def next_of(self, inbox: Inbox[T], what: str, clause: str = "", patience_s: float | None = None) -> T:
        """What comes next, within the patience; a fault or a death that waits in the inbox is raised."""
        full_s = waited_s = self.patience_s if patience_s is None else patience_s
        patience, kind = self.target.patience, kind_of(what)
        try:
            with patience.waiting(kind, full_s) as waited_s:
                item = await asyncio.wait_for(inbox.get(), waited_s)
        except TimeoutError:
            observed = "; ".join((f"nothing within {patience.within(kind, waited_s)}", *self._meanwhile))
            raise Nothing(clause or self.own_clause, what, observed) from None
        if isinstance(item, Exception):
            raise item
        return item

    def waiting(self, what: str) -> AbstractContextManager[float]:
        """For something that must come, within the patience: it says for how many seconds, and a TimeoutError was in vain."""
        return self.target.patience.waiting(what, self.patience_s)

    def random_runs(self, usual: int, slow: int) -> int:
        """How many runs of a state machine the case is asked for: each is as long as a case."""
        if self.slow:
            return slow
        return min(A_FEW, usual) if self.one_each else usual

    def patiently(self) -> Iterator[None]:
        """Turns of a loop that asks for what must come; they are over with the patience."""
        deadline = time.monotonic() + self.patience_s
        yield
        while time.monotonic() < deadline:
            yield

    @property
    def role(self) -> str:
        """What is under test: protocol/role."""
        return f"{self.case.protocol}/{self.case.role}"

    async def capabilities(self) -> list[str]:
        """What the target declares for the role under test."""
        return await self.target.capabilities(self.role)

    async def need(self, capability: str) -> None:
        """For a case that finds out on its way what it needs; `@needs` is for one that knows."""
        await self.target.need(self.role, capability)

    def lose_patience(self) -> None:
        """The target has failed at full patience: the examples that only make that failure smaller need not wait so long."""
        self.patience_s = min(self.patience_s, max(0.3, self.patience_s / 5))

    def restart(self) -> None:
        """A property tries its next example, or a group its next vector: only the last one's timeline is evidence, from 0."""
        self.timeline.clear()
        self._meanwhile.clear()
        self.left_out = 0
        self._began, self._mark = time.perf_counter(), self.target.mark()

    def info(self, note: str) -> None:
        """Unspecified behaviour, recorded."""
        if self.verdict is Verdict.PASS:
            self.verdict, self.note = Verdict.INFO, note

    def warn(self, clause: str, note: str) -> None:
        """A SHOULD that is not followed, where the case goes on."""
        if self.verdict in (Verdict.PASS, Verdict.INFO):
            self.verdict, self.note = Verdict.WARN, f"{clause}: {note}"

    @property
    def own_clause(self) -> str:
        return self.case.requirements[0] if self.case.requirements else ""

    def expect(self, condition: bool, expected: str, observed: Any, clause: str = "") -> None:
        """Raise Broken unless the condition holds."""
        if not condition:
            raise Broken(clause or self.own_clause, expected, str(observed))
