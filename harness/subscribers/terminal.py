"""The terminal: counts while a run goes on, then what went wrong, fault by fault. Quiet about what passed."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from harness.judging.result import BAD, CaseResult, Event, Expected, Footer, Header, Verdict
from harness.places import COMMAND
from harness.subscribers.faults import SENTENCES, Fault, around_the_break, differing, faults, in_order_of
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

BESIDE = 40
"""Characters shown on either side of what differs."""

MOST_TEXT = 800
"""Characters shown of one value that a target sent; the capsule holds the rest."""

MOST_LINE = 300
"""Characters shown of one entry of a timeline."""

PLAIN_EVERY_S = 10
"""Seconds between two progress lines where there is no live bar: a log should show that a run is alive."""


class Terminal:
    """Live where someone watches, plain lines elsewhere and under CI."""

    def __init__(
        self,
        console: Console | None = None,
        live: bool | None = None,
        verbose: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console = console or Console(highlight=False)
        self._live = self._console.is_terminal and not os.environ.get("CI") if live is None else live
        self._clock, self._said = clock, clock()
        self._verbose = verbose  # every case by itself, with all of its timeline
        self._progress: Progress | None = None
        self._kind, self._planned = "", 0
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
        self._kind, self._planned = header.kind, header.planned
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
        if not self._live and self._clock() - self._said > PLAIN_EVERY_S:
            self._said = self._clock()
            self._say(f"... {done} cases: {tally(self._counts)}", "dim")

    # -- when it is over ------------------------------------------------------------------------------------------

    def _summarise(self, footer: Footer) -> None:
        told = [r for r in self._shown if r.surprising or (r.expected is Expected.PASS and r.verdict is Verdict.WARN)]
        found = self._faults(told)
        for clause, of_clause in groupby(found, lambda fault: fault.clause):
            self._tell_clause(clause, list(of_clause))
        self._tell_known([result for result in self._shown if result not in told])
        for pattern in footer.stale:
            self._say(f"stale: the manifest's pattern {pattern} matched no case that ran", "red")
        for reason in footer.unseen:
            self._say(
                f"unseen: a known race showed in none of its cases, take it off or run more of them: {reason}", "red"
            )
        self._tell_next(found)
        self._totals(footer)

    def _faults(self, results: list[CaseResult]) -> list[Fault]:
        if not self._verbose:
            return faults(results, verdict_in_words)
        return [fault for result in sorted(results, key=clause_of) for fault in faults([result], verdict_in_words)]

    def _tell_clause(self, clause: str, found: list[Fault]) -> None:
        self._say("")
        self._say(clause or "no clause", "bold underline")
        self._say_lines(short(reading_of(found[0].shortest)), indent=2)
        for fault in found:
            self._tell(fault)

    def _tell(self, fault: Fault) -> None:
        result = fault.shortest
        self._say("")
        self._say(f"{fault.words}  {short(fault.sentence)}", COLOURS[result.verdict], indent=2)
        against = "" if not result.peer else f"  {result.target} x {result.peer}"
        self._say(f"case      {result.case}{against}", indent=4)
        if result.failure and (result.failure.expected or result.failure.observed):
            self._compare(result.failure.expected, result.failure.observed)
        elif result.failure and result.verdict in SENTENCES:
            self._say(f"it said   {short(what_came(result))}", indent=4)
        if result.note and result.failure:
            self._say_lines(f"note      {short(result.note)}", indent=4)
        if result.example:
            self._say_lines(f"example   {end_of(result.example)}", indent=4)
        for line in timeline(result.timeline) if self._verbose else around_the_break(result):
            self._say(line if self._verbose else short(line, MOST_LINE), "dim", indent=4)
        if result.replay:
            self._say(f"replay    {result.replay}", indent=4)
        for line in fault.also:
            self._say(f"also      {line}", indent=4)

    def _compare(self, expected: str, observed: str) -> None:
        """One above the other; of long texts the part around what differs, and carets under that."""
        expected, observed = printable(expected), printable(in_order_of(expected, observed))
        parts = differing(expected, observed)
        if parts is None:
            self._say(f"expected  {short(expected)}", indent=4)
            self._say(f"observed  {short(observed)}", indent=4)
            return
        for label, text, part in (("expected", expected, parts[0]), ("observed", observed, parts[1])):
            before, differs, after = excerpt(text, part, self._verbose)
            line = Text(f"    {label}  {before}") + Text(differs, "bold reverse") + Text(after)
            self._console.print(line, soft_wrap=True)
        self._say(" " * cell_len(before) + "^" * max(1, cell_len(differs)), "bold", indent=14)

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
        if footer.unseen:
            said.append(f"{len(footer.unseen)} known races not seen")
        if self._counts.total() == self._counts[Verdict.UNSUPPORTED]:
            self._say("nothing was tested", "yellow")
        elif said:
            self._say("not as expected: " + ", ".join(said), "bold red")
        elif footer.interrupted:
            self._say("interrupted: nothing surprising so far", "yellow")
        else:
            self._say("nothing surprising", "green")

    def _tell_next(self, found: list[Fault]) -> None:
        """Where somebody goes from here who sees this for the first time."""
        theirs = BAD - {Verdict.ERROR}
        failed = [fault for fault in found if fault.shortest.surprising and fault.shortest.verdict in theirs]
        if failed and self._kind == "check":
            count = "one fault" if len(failed) == 1 else f"{len(failed)} faults"
            clause = next((fault.clause for fault in failed if fault.clause), "")
            why = f"`{COMMAND} explain {clause}` says what is asked for, " if clause else ""
            self._say("")
            self._say(f"most likely {count}: {why}`{COMMAND} replay --last-failed` tries again what failed", "dim")

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


def excerpt(text: str, part: slice, whole: bool) -> tuple[str, str, str]:
    """What is before a part of a text, the part, and what is behind it; in a long text no more than stands beside it."""
    before, differs, after = text[: part.start], text[part], text[part.stop :]
    if whole:
        return before, differs, after
    if len(before) > BESIDE:
        before = f"...{before[-BESIDE:]}"
    if len(after) > BESIDE:
        after = f"{after[:BESIDE]}..."
    return before, short(differs), after


def short(text: str, most: int = MOST_TEXT) -> str:
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def end_of(text: str) -> str:
    """For an example: its last step is the one that failed."""
    return text if len(text) <= MOST_TEXT else f"({len(text)} characters) ...{text[-MOST_TEXT:]}"
