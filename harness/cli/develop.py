"""`mutants`, `serve`, `new`: for who works on an implementation or on the suites."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    app.command()(mutants)
    app.command()(ledger)
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(serve)
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(send)
    app.command()(new)


def mutants(
    protocol: Annotated[str, typer.Argument(help="whose mutants")],
    json: Annotated[Path | None, typer.Option(help="write a JSON summary")] = None,
    machines: Annotated[
        bool, typer.Option(help="count what the oracle-driven state machines catch by themselves")
    ] = False,
    checks: Annotated[bool, typer.Option(help="ask of every check instead whether some mutant makes it fail")] = False,
    list_: Annotated[bool, typer.Option("--list", help="only name the mutants and their faults")] = False,
    workers: Annotated[int, typer.Option("-n", "--workers", help="processes that run cases")] = 2,
    seed: Annotated[int, typer.Option(help="seed of everything random in the cases")] = 0,
    runs: Annotated[Path, typer.Option(help="where runs are kept")] = Path("runs"),
) -> int:
    """Does the suite bite? Every deliberate fault has to be caught by a case that claims its clause."""
    from harness.biting import bite, print_bites
    from harness.mutants import mutants_of

    if list_:
        for mutant in mutants_of(protocol).values():
            typer.echo(f"{mutant.name}  {' '.join(mutant.clauses)}  {mutant.fault}")
        return 0
    if checks:
        from harness.teeth import look_for_teeth, print_teeth

        teeth = look_for_teeth(protocol, runs, workers=workers, seed=seed)
        print_teeth(protocol, teeth)
        return 1 if teeth.toothless else 0
    bites = bite(protocol, runs, machines=machines, workers=workers, seed=seed)
    print_bites(bites)
    if json:
        json.write_bytes(bites.summary())
    return 0 if not bites.survivors and (machines or bites.elsewhere.keys() <= bites.killed.keys()) else 1


def ledger(
    protocol: Annotated[str, typer.Argument(help="whose requirements")],
    runs: Annotated[Path, typer.Option(help="where runs are kept")] = Path("runs"),
    json: Annotated[Path | None, typer.Option(help="write it as JSON")] = None,
    all_: Annotated[bool, typer.Option("--all", help="every clause, not only those that are not bitten")] = False,
) -> None:
    """Each requirement: tested and bitten, tested but unbitten, excluded, ambiguous. From what real runs emitted."""
    from collections import Counter

    import msgspec

    from harness.ledger import State, from_runs

    entries = from_runs(protocol, runs)
    for entry in entries:
        if all_ or entry.state is not State.BITTEN:
            typer.echo(f"{entry.id:12} {entry.level:6} {entry.state:20} {entry.cases:4} cases  {entry.note}")
    counts = Counter(entry.state for entry in entries)
    typer.echo(f"{len(entries)} requirements: " + ", ".join(f"{n} {state}" for state, n in counts.items()))
    if json:
        json.write_bytes(msgspec.json.format(msgspec.json.encode(entries), indent=2))


def serve(context: typer.Context, protocol: Annotated[str, typer.Argument(help="e.g. peerbus")]) -> int:
    """Run the reference of a protocol for anyone to play against; further options are its own (try --help after it)."""
    return _module(protocol, context.args)


def send(context: typer.Context, protocol: Annotated[str, typer.Argument(help="e.g. bccn")]) -> int:
    """Send one message with the reference of a protocol that has something to send."""
    return _module(protocol, ["send", *context.args])


def _module(protocol: str, arguments: list[str]) -> int:
    import subprocess
    import sys

    from harness.errors import UsageError
    from harness.requirements import protocols

    if protocol not in protocols():
        raise UsageError(f"there is no protocol {protocol!r}: use {', '.join(protocols())}")
    return subprocess.call([sys.executable, "-m", f"reference_impl.{protocol}", *arguments])


def new(
    language: Annotated[str, typer.Argument(help="python or node")],
    role: Annotated[str, typer.Argument(help="protocol/role, e.g. peerbus/codec")],
    folder: Annotated[Path, typer.Argument(help="where to put it; must not exist yet")],
) -> None:
    """Begin a shim of your own: a runnable skeleton and its manifest."""
    from harness.scaffold import scaffold

    for path in scaffold(language, role, folder):
        typer.echo(f"wrote {path}")
    typer.echo(f"next: ./touchstone check {role} --target {folder}")
