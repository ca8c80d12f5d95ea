"""`simulate`: a mesh of a protocol's pure machines on virtual time, and what must hold in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    app.command()(simulate)


def simulate(
    protocol: Annotated[str, typer.Argument(help="a protocol with a simulation: frog")],
    worlds: Annotated[
        int, typer.Option(min=0, help="small worlds, with churn and lossy links, that are to be broken")
    ] = 60,
    seed: Annotated[int, typer.Option(min=0, help="of the first world; each further one has the next")] = 0,
    shape: Annotated[
        str, typer.Option(help="of the measured mesh: line, ring, star, random, scale-free")
    ] = "scale-free",
    servers: Annotated[int, typer.Option(min=2, help="of the measured mesh")] = 200,
    peers: Annotated[int, typer.Option(min=4, help="of the measured mesh")] = 2000,
    samples: Annotated[int, typer.Option(min=1, help="lookups for each TTL with each fanout")] = 2,
    loss: Annotated[
        float, typer.Option(min=0, max=1, help="share of messages with which their connection is lost")
    ] = 0.0,
    jitter: Annotated[float, typer.Option(min=0, help="by how much of itself a link's delay varies")] = 0.0,
    churn: Annotated[int, typer.Option(min=0, help="peers that move and links that are cut, for each setting")] = 0,
    plot: Annotated[Path | None, typer.Option(help="write the measurement as SVG")] = None,
    mutant: Annotated[str, typer.Option(help="break worlds of servers with this fault, and do not measure")] = "",
    replay: Annotated[Path | None, typer.Option(help="play a history that was kept again")] = None,
    runs: Annotated[Path, typer.Option(help="where what broke is kept")] = Path("runs"),
) -> int:
    """Break small meshes, then measure in a large one what lookups reach and cost. Exit 1: an invariant did not hold."""
    from harness.errors import UsageError
    from harness.simulation import run
    from harness.simulation.graphs import SHAPES

    if replay:
        return int(run.replay(replay))
    if shape not in SHAPES:
        raise UsageError(f"no mesh has the shape {shape!r}; there are {', '.join(SHAPES)}")
    if run.break_worlds(protocol, worlds, seed, mutant, runs):
        return 1
    if mutant:
        return 0
    size = run.Size(shape, servers, peers, samples, loss, jitter, churn)
    return int(run.measure(protocol, size, seed, runs, plot))
