"""The terminal: counts while a run goes on, then what went wrong, clause by clause. Quiet about what passed."""

from __future__ import annotations

import os
from collections import Counter

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from harness.results import BAD, CaseResult, Event, Expected, Footer, Header, Verdict
from harness.subscribers.text import clause_of, printable, reading_of, timeline, what_came

COLOURS = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.WARN: "yellow",
    Verdict.INFO: "cyan",
    Verdict.UNSUPPORTED: "dim",
    Verdict.ERROR: "bold magenta",
    Verdict.TIMEOUT: "bold red",
    Verdict.CRASHED: "bold red",
}

LAST_ENTRIES = 20
"""Timeline entries shown of a failure: the end is where it went wrong, the capsule holds the rest."""

WHOLE_PER_CLAUSE = 3
"""Failures of one clause shown with their timeline; a clause that is broken everywhere looks the same each time."""

MOST_TEXT = 800
"""Characters shown of one value that a target sent; the capsule holds the rest."""

PLAIN_EVERY = 250
"""Cases between two progress lines where there is no live bar: a log should show that a run is alive."""


class Terminal:
    """Live where someone watches, plain lines elsewhere and under CI."""

    def __init__(self, console: Console | None = None, live: bool | None = None) -> None:
        self._console = console or Console(highlight=False)
        self._live = self._console.is_terminal and not os.environ.get("CI") if live is None else live
        self._progress: Progress | None = None
        self._planned = 0
        self._counts: Counter[Verdict] = Counter()
        self._shown: list[CaseResult] = []

    def __call__(self, event: Event) -> None:
        match event:
            case Header():
                self._begin(event)
            case CaseResult():
                self._advance(event)
            case Footer():
                self.close()
                self._summarise(event)

    def close(self) -> None:
        """End the live display; for a run that ends without its footer."""
        if self._progress:
            self._progress.stop()
            self._progress = None

    # -- while it runs --------------------------------------------------------------------------------------------

    def _begin(self, header: Header) -> None:
        targets = ", ".join(f"{t.name} ({t.reach})" if t.reach else t.name for t in header.targets)
        planned = f", at least {header.planned} cases" if header.planned else ""
        self._say(f"{header.kind} {' '.join(header.protocols)} against {targets}, seed {header.seed}{planned}")
        self._planned = header.planned
        if self._live:
            self._progress = live_bar(self._console)
            self._progress.add_task("", total=header.planned or None, counts=Text())
            self._progress.start()

    def _advance(self, result: CaseResult) -> None:
        self._counts[result.verdict] += 1
        if result.surprising or result.verdict in BAD or result.verdict is Verdict.WARN:
            self._shown.append(result)
        done = self._counts.total()
        if self._progress:
            # one planned item may hold many vectors: past the plan the end is not known
            total = self._planned if done <= self._planned else None
            self._progress.update(self._progress.task_ids[0], completed=done, total=total, counts=tally(self._counts))
        elif result.surprising:
            self._say(f"{result.verdict}: {result.case}", COLOURS[result.verdict])
        if not self._live and done % PLAIN_EVERY == 0:
            self._say(f"... {done} cases: {tally(self._counts)}", "dim")

    # -- when it is over ------------------------------------------------------------------------------------------

    def _summarise(self, footer: Footer) -> None:
        told = [r for r in self._shown if r.surprising or (r.expected is Expected.PASS and r.verdict is Verdict.WARN)]
        for clause in sorted({clause_of(result) for result in told}):
            self._tell_clause(clause, [result for result in told if clause_of(result) == clause])
        self._tell_known([result for result in self._shown if result not in told])
        for pattern in footer.stale:
            self._say(f"stale: the manifest's pattern {pattern} matched no case that ran", "red")
        self._totals(footer)

    def _tell_clause(self, clause: str, results: list[CaseResult]) -> None:
        self._say("")
        self._say(clause or "no clause", "bold underline")
        self._say_lines(short(reading_of(results[0])), indent=2)
        for number, result in enumerate(results):
            self._tell(result, whole=number < WHOLE_PER_CLAUSE)

    def _tell(self, result: CaseResult, whole: bool) -> None:
        self._say("")
        against = "" if not result.peer else f"  {result.target} x {result.peer}"
        self._say(f"{verdict_in_words(result)}  {result.case}{against}", COLOURS[result.verdict], indent=2)
        failure = result.failure
        if failure and (failure.expected or failure.observed):
            self._say(f"expected  {short(failure.expected)}", indent=4)
            self._say(f"observed  {short(failure.observed)}", indent=4)
        elif failure:
            self._say(short(what_came(result)), indent=4)
        if result.note:
            self._say_lines(f"note      {short(result.note)}", indent=4)
        if whole and result.example:
            self._say_lines(f"example   {end_of(result.example)}", indent=4)
        for line in timeline(result.timeline, LAST_ENTRIES) if whole else ():
            self._say(line, "dim", indent=4)
        if result.replay:
            self._say(f"replay    {result.replay}", indent=4)

    def _tell_known(self, results: list[CaseResult]) -> None:
        """Expected failures: a line each, under the reason that the manifest gives."""
        for reason in dict.fromkeys(result.note for result in results):
            self._say("")
            self._say(f"known: {short(reason)}", "dim")
            for result in results:
                if result.note == reason:
                    self._say(f"{result.verdict}  {result.case}", "dim", indent=2)

    def _totals(self, footer: Footer) -> None:
        self._say("")
        line = Text(f"{self._counts.total()} cases in {footer.duration_s:.1f} s: ") + tally(self._counts)
        self._console.print(line, soft_wrap=True)
        surprises = Counter(verdict_in_words(result) for result in self._shown if result.surprising)
        said = [f"{count} {words}" for words, count in surprises.items()]
        if footer.stale:
            said.append(f"{len(footer.stale)} stale expectations")
        if said:
            self._say("not as expected: " + ", ".join(said), "bold red")
        else:
            self._say("nothing surprising", "green")

    def _say(self, text: str, style: str = "", indent: int = 0) -> None:
        """One line of a text that may hold anything: no markup, no wrapping, control characters spelled out."""
        self._console.print(Text(" " * indent + printable(text), style), soft_wrap=True)

    def _say_lines(self, text: str, indent: int) -> None:
        """A text whose own lines are worth keeping: a clause's reading, a stack trace, an example."""
        for line in text.splitlines():
            self._say(line, indent=indent)


def live_bar(console: Console) -> Progress:
    return Progress(
        SpinnerColumn(),
        BarColumn(bar_width=None, table_column=Column(ratio=1)),
        MofNCompleteColumn(),
        CountsColumn(""),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        expand=True,
    )


class CountsColumn(TextColumn):
    """The counts by verdict, as styled text and never as markup."""

    def render(self, task: Task) -> Text:
        counts: Text = task.fields["counts"]
        return counts


def tally(counts: Counter[Verdict]) -> Text:
    """`120 pass, 3 fail`: what there is, in the order of the verdicts."""
    return Text(", ").join(Text(f"{counts[v]} {v}", COLOURS[v]) for v in Verdict if counts[v])


def verdict_in_words(result: CaseResult) -> str:
    if result.surprising and result.verdict not in BAD:
        return f"{result.verdict} though {result.expected}"
    return result.verdict.value


def short(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}... ({len(text)} characters)"


def end_of(text: str) -> str:
    """For an example: its last step is the one that failed."""
    return text if len(text) <= MOST_TEXT else f"({len(text)} characters) ...{text[-MOST_TEXT:]}"
