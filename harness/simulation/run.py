"""`simulate`: small worlds until one breaks, then a large one to measure in; what broke is shortened, kept and shown."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from harness.files import write_whole
from harness.places import COMMAND
from harness.simulation.plan import Outcome, Plan, Row, Simulation, keep, kept, simulation
from harness.simulation.plot import svg
from harness.simulation.shrink import shrink

SHOWN = 60
"""Lines of a history that are printed."""


def say(text: str) -> None:
    """A line is a line: commands and histories are copied."""
    Console(soft_wrap=True, highlight=False).print(text)


@dataclass(frozen=True)
class Size:
    """Of the world that is measured in."""

    shape: str
    servers: int
    peers: int
    samples: int
    loss: float = 0.0
    jitter: float = 0.0
    churn: int = 0


def break_worlds(protocol: str, worlds: int, seed: int, faulty: str, runs: Path) -> bool:
    """Is any broken?"""
    offered = simulation(protocol)
    for number in range(seed, seed + worlds):
        plan = replace(offered.draw(number), faulty=faulty)
        outcome = offered.run(plan)
        if outcome.breach:
            tell_shortest(offered, plan, outcome, runs)
            return True
    if not worlds:
        return False
    said = f"{worlds} small worlds, seeds {seed} to {seed + worlds - 1}: every invariant held"
    say(escape(f"{said}, for the mutant {faulty} too" if faulty else said))
    return False


def tell_shortest(offered: Simulation, plan: Plan, outcome: Outcome, runs: Path) -> None:
    assert outcome.breach, "something broke"
    shortest, shown = shrink(plan, outcome, offered.run)
    breach = shown.breach or outcome.breach
    path = runs / f"simulate-{plan.protocol}-{plan.faulty or 'reference'}-{plan.seed}.json"
    keep(shortest, breach.invariant, path)
    say(f"[bold]{breach.invariant}[/bold] is broken with seed {plan.seed}: {escape(breach.what)}")
    say(escape(f"  found in    {plan.told()}"))
    say(escape(f"  shortest    {shortest.told()}"))
    tell_history(shortest, shown)
    say(escape(f"  replay      {COMMAND} simulate {plan.protocol} --replay {path}"))


def tell_history(plan: Plan, outcome: Outcome) -> None:
    for event in plan.events:
        say(escape(f"  event       {event.at:g} s: {event.what} {' '.join(map(str, event.whom))}"))
    if len(outcome.history) > SHOWN:
        say(f"  ... {len(outcome.history) - SHOWN} earlier messages")
    for line in outcome.history[-SHOWN:]:
        print(f"  {line}")


def replay(path: Path) -> bool:
    """Is it broken still?"""
    found = kept(path)
    outcome = simulation(found.plan.protocol).run(found.plan)
    say(escape(f"{found.plan.told()}, seed {found.plan.seed}"))
    tell_history(found.plan, outcome)
    if outcome.breach is None:
        say(f"FIXED: {found.broke} holds now")
        return False
    say(f"[bold]{outcome.breach.invariant}[/bold] is broken: {escape(outcome.breach.what)}")
    return True


def measure(protocol: str, size: Size, seed: int, runs: Path, plot: Path | None) -> bool:
    """Tables of what a lookup reaches and costs; is the world broken?"""
    offered = simulation(protocol)
    plan = offered.large(seed, size.shape, size.servers, size.peers, size.samples, size.loss, size.jitter, size.churn)
    with untraced():
        outcome = offered.run(plan)
    if outcome.breach:
        tell_shortest(offered, plan, outcome, runs)
        return True
    rows = offered.rows(plan, outcome)
    title = f"{size.shape}, {size.servers:,} servers, {size.peers:,} peers"
    print_rows(title, rows)
    if plot:
        plot.parent.mkdir(parents=True, exist_ok=True)
        write_whole(plot, svg(title, rows).encode())
        say(escape(f"plot: {plot}"))
    return False


@contextmanager
def untraced() -> Iterator[None]:
    """States are trees without cycles: looking for cycles among a hundred thousand peers finds none, for a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def print_rows(title: str, rows: Sequence[Row]) -> None:
    fanouts, ttls = sorted({row.fanout for row in rows}), sorted({row.ttl for row in rows})
    by = {(row.fanout, row.ttl): row for row in rows}
    table = Table(
        title=f"{title}; {rows[0].lookups} lookups for each: servers reached, messages",
        title_justify="left",
        box=SIMPLE,
    )
    table.add_column("TTL", justify="right")
    for fanout in fanouts:
        table.add_column(f"fanout {fanout}", justify="right")
    for ttl in ttls:
        cells = (by[fanout, ttl] for fanout in fanouts)
        table.add_row(str(ttl), *(f"{row.reached:.0%} {row.messages:,.0f}" for row in cells))
    Console().print(table)
    found = sum(row.found * row.lookups for row in rows)
    answered = [row.answered_s for row in rows if row.answered_s]
    total = sum(row.lookups for row in rows)
    say(
        f"{found:.0f} of {total} lookups found their peer, the slowest setting in {max(answered, default=0):.2f} s on average"
    )
