"""All cells of a matrix: who meets in which scenarios under which faults, and which machine of several has each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.errors import UsageError
from harness.judging.result import TargetInfo
from harness.matrix.faults import DRAW, NONE, WHOLE
from harness.matrix.pairing import CLIENT, SERVER, THIRD, Pairing, Scenario, pairings

REFERENCE = "reference"
"""The implementation that takes a third seat, and either side where the culprit is looked for."""

WEIGHT = {NONE: 1.0, "slow": 2.0, "kill-client": 4.0, "kill-server": 4.0}
OTHER_WEIGHT = 3.0
REACH_WEIGHT = {"in-process": 1.0, "process": 1.5, "server": 1.5, "docker": 4.0}


@dataclass(frozen=True)
class Implementation:
    """A target that can be paired: how it is spelled, who it is, and its roles with their capabilities."""

    spec: str
    info: TargetInfo
    roles: Mapping[str, Sequence[str]]

    def fits(self, pairing: Pairing, side: str) -> bool:
        """Has it every role of that side? What it cannot do in one is seen, and said, when it is asked."""
        seats = pairing.seats_of(side).values()
        return all(
            seat.role in self.roles and all(set(need.split("|")) & set(self.roles[seat.role]) for need in seat.needs)
            for seat in seats
        )


@dataclass(frozen=True)
class Block:
    """What is played without starting anew: one pair under one profile."""

    protocol: str
    pairing: str
    client: str  # as the target is spelled
    server: str
    profile: str
    seed: int = 0
    reps: int = 1
    scenarios: Sequence[str] = field(default=())  # case ids; empty: all
    alone: bool = False  # a cell of it is looked into by itself, without those before it

    @property
    def name(self) -> str:
        return f"{self.protocol}/{self.pairing} {self.client} x {self.server} {self.profile}"

    @property
    def pair(self) -> str:
        return f"{self.protocol} {self.client} x {self.server}"

    @property
    def of(self) -> Pairing:
        return next(p for p in pairings(self.protocol) if p.name == self.pairing)

    @property
    def specs(self) -> dict[str, str]:
        """Who sits on which side."""
        return {CLIENT: self.client, SERVER: self.server, THIRD: REFERENCE}

    def cells(self) -> Iterator[tuple[Scenario, int]]:
        """Each scenario that says something under this profile, with its repetitions."""
        for scenario in self.of.scenarios:
            if self.scenarios and case_id(self.of, scenario) not in self.scenarios:
                continue
            if self.profile == NONE or not scenario.profiles or self.profile in scenario.profiles:
                yield from ((scenario, repetition) for repetition in range(self.reps))

    def with_reference(self, side: str) -> Block:
        """The same with the reference on that side."""
        return replace(self, client=REFERENCE) if side == CLIENT else replace(self, server=REFERENCE)


def case_id(pairing: Pairing, scenario: Scenario) -> str:
    axes = ",".join(f"{axis}={value}" for axis, value in scenario.axes.items())
    return f"{pairing.protocol}/{pairing.name}/interop/{scenario.name}" + (f"[{axes}]" if axes else "")


def blocks(
    protocols: Iterable[str],
    implementations: Sequence[Implementation],
    profiles: Sequence[str],
    seed: int = 0,
    reps: int = 1,
) -> list[Block]:
    """Every pair in every profile that its pairing knows."""
    known = {NONE, *DRAW}
    if unknown := [profile for profile in profiles if profile not in known]:
        raise UsageError(f"there is no fault profile {unknown[0]!r}: use {', '.join(sorted(known))}")
    found: list[Block] = []
    for pairing in (pairing for protocol in protocols for pairing in pairings(protocol)):
        for profile in profiles:
            if profile == NONE or profile in pairing.profiles:
                for client, server in _pairs(pairing, implementations):
                    found.append(Block(pairing.protocol, pairing.name, client.spec, server.spec, profile, seed, reps))
    return [block for block in found if any(True for _ in block.cells())]


def _pairs(
    pairing: Pairing, implementations: Sequence[Implementation]
) -> Iterator[tuple[Implementation, Implementation]]:
    clients = [one for one in implementations if one.fits(pairing, CLIENT)]
    servers = [one for one in implementations if one.fits(pairing, SERVER)]
    for client in clients:
        for server in servers:
            if pairing.alike or client.spec != server.spec:
                yield client, server


def sharded(found: Sequence[Block], shard: str) -> list[Block]:
    """Those of shard I of N, by a hash of who is paired: any number of machines share one night.

    A pair is never split: what a report compares from night to night is all that a pair did in one run.
    """
    if not shard:
        return list(found)
    number, _, of = shard.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise UsageError(f"--shard {shard} is not I/N with I from 1 to N")
    return [block for block in found if stable_hash(block.pair) % int(of) == int(number) - 1]


def stable_hash(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")


def longest_first(found: Iterable[Block], reaches: Mapping[str, str]) -> list[Block]:
    def cost(block: Block) -> float:
        per_cell = WEIGHT.get(block.profile, 2.0 if block.profile in WHOLE else OTHER_WEIGHT)
        start = sum(REACH_WEIGHT.get(reaches.get(spec, ""), 2.0) for spec in (block.client, block.server))
        return start * (1 + per_cell * sum(1 for _ in block.cells()))

    return sorted(found, key=cost, reverse=True)
