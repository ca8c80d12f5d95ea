"""Does the matrix find things? Every mutant that a pair could meet takes either side, with the reference on the other.

Which mutants these are is settled before any pair is played, by a rule that knows nothing of scenarios (`visible`).
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field

import msgspec
from rich import print as say
from rich.markup import escape

from harness.matrix.block import played
from harness.matrix.cells import REFERENCE, Block
from harness.matrix.culprit import is_red
from harness.matrix.faults import CUT, FLIP, KILL_CLIENT, KILL_SERVER, NONE, REORDER, TWICE
from harness.matrix.pairing import CLIENT, SERVER, Pairing, pairings
from harness.matrix.visible import ASLEEP, wire_visible
from harness.mutation.mutant import Mutant, mutants_of

DISTURBED = (CUT, TWICE, REORDER, FLIP, KILL_CLIENT, KILL_SERVER)
"""What a mutant is tried under besides none, where its pairing has it."""

REPETITIONS = 3
"""Under each of them: where a machine is killed is drawn."""

PATIENCE_S = 2.0
"""Each of some hundred mutants makes somebody wait; one that is late by so much is wrong."""


@dataclass(frozen=True)
class Tried:
    """One mutant: was a cell red, and whom do the two opinions name?"""

    mutant: str
    fault: str
    side: str = ""  # where it sat when a cell was red
    case: str = ""
    culprit: str = ""
    reading: str = ""
    profile: str = ""

    @property
    def is_caught(self) -> bool:
        return bool(self.case)

    @property
    def is_named(self) -> bool:
        return self.culprit == self.side


@dataclass
class Proof:
    """What became of the visible mutants."""

    protocol: str
    mutants: int = 0  # of the roles that take part in pairs
    visible: dict[str, str] = field(default_factory=dict)  # the clause that each was seen to break
    tried: list[Tried] = field(default_factory=list)

    @property
    def caught(self) -> list[Tried]:
        return [one for one in self.tried if one.is_caught]

    @property
    def named(self) -> list[Tried]:
        return [one for one in self.caught if one.is_named]

    def summary(self) -> bytes:
        said = {
            "protocol": self.protocol,
            "mutants": self.mutants,
            "visible": len(self.visible),
            "tried": len(self.tried),
            "red": [{"mutant": one.mutant, "case": one.case, "profile": one.profile} for one in self.caught],
            "named": len(self.named),
            "green": [
                {"mutant": one.mutant, "fault": one.fault, "breaks": self.visible[one.mutant]}
                for one in self.tried
                if not one.is_caught
            ],
            "misnamed": [
                {"mutant": one.mutant, "side": one.side, "culprit": one.culprit, "case": one.case}
                for one in self.caught
                if not one.is_named
            ],
        }
        return msgspec.json.format(msgspec.json.encode(said), indent=2) + b"\n"


def prove(protocol: str, workers: int = 0, seed: int = 0, most: int = 0) -> Proof:
    """Try every visible mutant of a role that takes part in pairs, or so many of them, spread over the shelf."""
    roles = {seat.role for pairing in pairings(protocol) for seat in pairing.seats.values()}
    mutants = [m for m in mutants_of(protocol).values() if f"{protocol}/{m.role}" in roles]
    mutants = mutants[:: max(1, len(mutants) // most)] if most else mutants
    proof = Proof(protocol, len(mutants), wire_visible(protocol, mutants, workers, seed))
    processes = (workers or os.cpu_count() or 1) * ASLEEP
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        running = [pool.submit(_tried, as_told(mutant), seed) for mutant in mutants if mutant.name in proof.visible]
        for done in as_completed(running):
            proof.tried.append(done.result())
            print_tried(proof.tried[-1])
    return proof


def as_told(mutant: Mutant) -> tuple[str, str, str, str]:
    """What a process of the pool can be told of a mutant."""
    return mutant.protocol, mutant.name, mutant.role, mutant.fault


def _tried(told: tuple[str, str, str, str], seed: int) -> Tried:
    protocol, name, role, fault = told
    for side, block in _blocks(protocol, name, role, seed):
        for result in played(block, PATIENCE_S, until_red=True):
            if is_red(result):
                return Tried(name, fault, side, result.case, result.culprit, result.reading_along, block.profile)
    return Tried(name, fault)


def _blocks(protocol: str, name: str, role: str, seed: int) -> Iterator[tuple[str, Block]]:
    """Without faults first: most that can be seen is seen there."""
    places = [
        (p, side) for p in pairings(protocol) for side in (CLIENT, SERVER) if _sits(p, side, f"{protocol}/{role}")
    ]
    for profile in (NONE, *DISTURBED):
        for pairing, side in places:
            if profile == NONE or profile in pairing.profiles:
                pair = {CLIENT: REFERENCE, SERVER: REFERENCE, side: f"mutant:{protocol}/{name}"}
                reps = 1 if profile == NONE else REPETITIONS
                yield side, Block(protocol, pairing.name, pair[CLIENT], pair[SERVER], profile, seed, reps)


def _sits(pairing: Pairing, side: str, role: str) -> bool:
    return {seat.role for seat in pairing.seats_of(side).values()} == {role}


def print_tried(one: Tried) -> None:
    """What became of a mutant; one that was caught and named needs no word."""
    if not one.is_caught:
        say(f"green  {escape(one.mutant)}: {escape(one.fault)}")
    elif not one.is_named:
        say(
            f"named {escape(one.culprit or 'nobody')} instead of {one.side}: {escape(one.mutant)} in {escape(one.case)}"
        )


def print_proof(proof: Proof) -> None:
    """The share that turns a cell red, and how often the culprit is the mutant."""
    caught, of, named = len(proof.caught), len(proof.visible), len(proof.named)
    say(f"{proof.protocol}: of {proof.mutants} mutants {of} are visible to a conforming other end,", end=" ")
    say(f"{caught} of these turn a cell red ({caught / max(1, of):.0%}),", end=" ")
    say(f"the culprit is right in {named} of {caught} ({named / max(1, caught):.0%})")
