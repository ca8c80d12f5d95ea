"""`matrix`: implementations that have never met, paired under faults."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.files import write_whole


def add_to(app: typer.Typer) -> None:
    app.command()(matrix)


def matrix(
    protocols: Annotated[list[str] | None, typer.Argument(help="protocols; none: all that have pairs")] = None,
    targets: Annotated[
        list[str] | None, typer.Option("--targets", help="who is paired, as --target of check; may be repeated, or a,b")
    ] = None,
    profile: Annotated[
        list[str] | None, typer.Option(help="fault profiles (none, slow, cut, ...), or `all`; may be repeated, or a,b")
    ] = None,
    reps: Annotated[int, typer.Option(min=1, help="how often each cell is played, with other choices each time")] = 1,
    seed: Annotated[int, typer.Option(help="seed of every choice that the faults make")] = 0,
    budget: Annotated[float, typer.Option(min=0, help="seconds after which nothing more is begun; 0: none")] = 0,
    target_budget: Annotated[
        float, typer.Option(min=0, help="seconds that pairs of one target may take together; 0: any")
    ] = 0,
    shard: Annotated[str, typer.Option(help="I/N: this machine's part of a matrix that N machines share")] = "",
    workers: Annotated[int, typer.Option("-n", "--workers", min=0, help="processes; 0: one per core")] = 0,
    runs: Annotated[Path, typer.Option(help="where runs are kept")] = Path("runs"),
    mutants: Annotated[
        bool, typer.Option("--mutants", help="pair the reference with its own mutants: which turn a cell red?")
    ] = False,
    most: Annotated[int, typer.Option(min=0, help="of the mutants, so many; 0: all")] = 0,
    json: Annotated[Path | None, typer.Option(help="write a JSON summary, with pairs and culprits")] = None,
) -> int:
    """Say whether implementations work together, also when the network and the machines misbehave, and who is to blame."""
    if mutants:
        return prove_all(protocols or [], workers, seed, most, json)
    from harness.matrix.faults import DRAW, NONE
    from harness.matrix.report import MatrixSummary, print_matrix
    from harness.matrix.run import MatrixPlan, run_matrix
    from harness.subscribers import Terminal

    profiles = words(profile) or [NONE]
    profiles = [NONE, *DRAW] if profiles == ["all"] else profiles
    plan = MatrixPlan(protocols or (), words(targets), profiles, reps, seed, budget, target_budget, shard, workers)
    finished = run_matrix(plan, runs, [Terminal(), *([MatrixSummary(json)] if json else [])])
    print_matrix(finished)
    return finished.exit_code


def prove_all(protocols: list[str], workers: int, seed: int, most: int, json: Path | None) -> int:
    from harness.matrix.pairing import paired_protocols
    from harness.matrix.proof import print_proof, prove

    said = []
    for protocol in protocols or paired_protocols():
        proof = prove(protocol, workers, seed, most)
        print_proof(proof)
        said.append(proof.summary())
    if json:
        write_whole(json, b"[" + b",".join(said) + b"]\n")
    return 0


def words(given: list[str] | None) -> list[str]:
    """Repeated, or separated by commas."""
    return [word for text in given or () for word in text.split(",") if word]
