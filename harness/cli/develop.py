"""`mutants`, `serve`, `new`: for who works on an implementation or on the suites."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from harness.files import write_whole


def add_to(app: typer.Typer) -> None:
    app.command()(mutants)
    app.command()(ledger)
    for command in (serve, send):  # what stands behind the protocol is for its reference, --help too
        app.command(context_settings={"allow_extra_args": True, "allow_interspersed_args": False})(command)
    app.command()(new)


def mutants(
    protocol: Annotated[str, typer.Argument(help="whose mutants")],
    json: Annotated[Path | None, typer.Option(help="write a JSON summary")] = None,
    machines: Annotated[
        bool, typer.Option(help="count what the oracle-driven state machines catch by themselves")
    ] = False,
    tours: Annotated[
        bool,
        typer.Option("--tours", help="count what the tours catch by themselves: three quarters of the wrong machines"),
    ] = False,
    generated: Annotated[
        bool, typer.Option("--generated", help="the reference's own source changed operator by operator instead")
    ] = False,
    most: Annotated[int, typer.Option(help="of the generated ones, so many")] = 300,
    only: Annotated[list[str] | None, typer.Option(help="this mutant; may be repeated")] = None,
    list_: Annotated[bool, typer.Option("--list", help="only name the mutants and their faults")] = False,
    workers: Annotated[int, typer.Option("-n", "--workers", min=0, help="processes that run cases; 0: choose")] = 2,
    seed: Annotated[int, typer.Option(help="seed of everything random in the cases")] = 0,
    runs: Annotated[Path, typer.Option(help="where runs are kept")] = Path("runs"),
) -> int:
    """Does the suite bite? A case that claims its clause must catch every fault, and some fault must fail every check."""
    from harness.mutation.kills import MACHINE, TOURS_ALONE, find_kills, print_kills
    from harness.mutation.mutant import mutants_of

    if list_:
        for mutant in mutants_of(protocol).values():
            typer.echo(f"{mutant.name}  {' '.join(mutant.clauses)}  {mutant.fault}")
        return 0
    if generated:
        from harness.mutation.generated.score import generated_score, print_score, record

        score = generated_score(protocol, most=most, only=only or (), workers=workers, seed=seed)
        print_score(score)
        if not only:
            typer.echo(f"see {record(score, protocol, runs, seed)}")
        if json:
            write_whole(json, score.summary())
        return 1 if score.survivors else 0
    group = MACHINE if machines else "tours" if tours else ""
    kills = find_kills(protocol, runs, group=group, only=only or (), workers=workers, seed=seed)
    print_kills(kills)
    if json:
        write_whole(json, kills.summary())
    if tours:
        caught, of = kills.caught(MACHINE)
        return 0 if caught >= TOURS_ALONE * of else 1
    return 0 if kills.sound else 1


def ledger(
    protocol: Annotated[str, typer.Argument(help="whose requirements")],
    runs: Annotated[Path, typer.Option(help="where runs are kept")] = Path("runs"),
    json: Annotated[Path | None, typer.Option(help="write it as JSON")] = None,
    all_: Annotated[bool, typer.Option("--all", help="every clause, not only those that are not bitten")] = False,
) -> None:
    """Each requirement: tested and bitten, tested but unbitten, excluded, ambiguous. From what real runs emitted."""
    from collections import Counter

    import msgspec

    from harness.mutation.ledger import State, from_runs

    entries = from_runs(protocol, runs)
    for entry in entries:
        if all_ or entry.state is not State.BITTEN:
            bites = f"{len(entry.mutants):3} planted, {entry.generated:3} generated"
            typer.echo(f"{entry.id:12} {entry.level:6} {entry.state:20} {entry.cases:4} cases  {bites}  {entry.note}")
    counts = Counter(entry.state for entry in entries)
    typer.echo(f"{len(entries)} requirements: " + ", ".join(f"{n} {state}" for state, n in counts.items()))
    if json:
        write_whole(json, msgspec.json.format(msgspec.json.encode(entries), indent=2))


def serve(context: typer.Context, protocol: Annotated[str, typer.Argument(help="e.g. peerbus")]) -> None:
    """Run the reference of a protocol for anyone to play against; what follows is for it (try --help behind the protocol).

    Behind the protocol, --trace prints every decoded frame, and --mutant NAME makes it misbehave in one named way.
    """
    if any(word.split("=")[0] in ("--trace", "--mutant") for word in context.args):
        _become(protocol, [protocol, *context.args], "harness.cli.playing")
    if "--help" in context.args:
        typer.echo("Besides: --trace prints every decoded frame, --mutant NAME makes it misbehave in one named way.\n")
    _become(protocol, context.args)


def send(context: typer.Context, protocol: Annotated[str, typer.Argument(help="e.g. bccn")]) -> None:
    """Send one message with the reference of a protocol that has something to send."""
    _become(protocol, ["send", *context.args])


def _become(id: str, arguments: list[str], player: str = "") -> NoReturn:
    """The reference takes the place of this process, so that every signal is its own and nobody is left behind."""
    import os
    import sys

    from harness.catalogue.protocols import protocol
    from harness.places import module, python_path

    protocol(id)  # there is one
    command = module(player or f"reference_impl.{id}", *arguments)
    sys.stdout.flush()
    os.execve(command[0], command, {**os.environ, **python_path()})


def new(
    language: Annotated[str, typer.Argument(help="c, go, node, python or rust")],
    role: Annotated[str, typer.Argument(help="protocol/role, e.g. peerbus/codec")],
    folder: Annotated[Path, typer.Argument(help="where to put it; must not exist yet")],
) -> None:
    """Begin a shim of your own: a runnable skeleton and its manifest."""
    from harness.cli.scaffold import scaffold
    from harness.places import COMMAND

    for path in scaffold(language, role, folder):
        typer.echo(f"wrote {path}")
    typer.echo(f"next: {COMMAND} check {role} --target {folder}")
