"""FROG federation by the hundred servers: `touchstone simulate frog`."""

from __future__ import annotations

from functools import cache

from harness.errors import UsageError
from harness.mutation.mutant import mutants_of
from harness.simulation.plan import Outcome, Plan, Simulation
from reference_impl.frog.server import ServerMachine
from suites.frog.simulation.plans import draw, large, rows
from suites.frog.simulation.world import World


def run(plan: Plan) -> Outcome:
    return World(plan, machine(plan.faulty)).play()


@cache
def machine(faulty: str) -> type[ServerMachine]:
    """The reference's, or a mutant's: one whose fault is in the server's machine, which is all that is played here."""
    if not faulty:
        return ServerMachine
    mutant = mutants_of("frog").get(faulty)
    if mutant is None:
        raise UsageError(f"frog has no mutant {faulty!r}; `touchstone mutants frog` names them")
    if mutant.wrong is None or not issubclass(mutant.wrong, ServerMachine):
        raise UsageError(
            f"{faulty} is a fault of the {mutant.role}'s {mutant.part}; only the server's machine is played here"
        )
    return mutant.wrong


SIMULATION = Simulation(run, draw, large, rows)
