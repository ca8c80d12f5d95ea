"""`soak`: one target under the tours of one protocol for a long time."""

from __future__ import annotations

from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    app.command()(soak)


def soak(
    protocol: Annotated[str, typer.Argument(help="whose tours")],
    target: Annotated[str, typer.Option(help="as --target of check; a process or a container")] = "reference-process",
    minutes: Annotated[float, typer.Option(min=0, help="then what is under way is the last")] = 10.0,
    seed: Annotated[int, typer.Option(help="seed of the faults")] = 0,
) -> int:
    """The tours over and over against one life of a target, with delays on the way: do its memory or its descriptors grow?"""
    from harness.running.soak import soak as run_soak
    from harness.subscribers.text import printable

    seen = run_soak(protocol, target, minutes, seed)
    tally = ", ".join(f"{count} {verdict}" for verdict, count in seen.tally.items())
    typer.echo(f"{seen.rounds} whole rounds, walks: {tally}")
    for result in seen.bad[:10]:
        typer.echo(f"  {result.case}: {printable(result.failure.message if result.failure else result.note)[:200]}")
    if seen.samples:
        first, last = seen.samples[0].usage, seen.samples[-1].usage
        typer.echo(
            f"{len(seen.samples)} samples: memory {first.memory / 2**20:.1f} to {last.memory / 2**20:.1f} MB, "
            f"descriptors {first.descriptors} to {last.descriptors}"
        )
    for sentence in seen.growth():
        typer.echo(sentence)
    if not seen.growth():
        typer.echo("nothing grows")
    return 1 if seen.growth() or seen.bad else 0
