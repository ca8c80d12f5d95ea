"""Every mutant of frog is the reference with something overridden that is really called, and its role starts."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from harness.catalogue.requirements import catalogue
from harness.mutation.mutant import Mutant, mutants_of
from harness.shim.roles import RoleShim
from targets.mutants.frog.shelf import shelf

MUTANTS = mutants_of("frog")
SERVER: dict[str, Any] = {"seed": "17" * 32}
CLIENT: dict[str, Any] = {"bootstrap": ["ws://127.0.0.1:9/"], "network": "BLUTELLA", "seed": "23" * 32}
CONFIGS: dict[str, dict[str, Any]] = {"codec": {}, "server": SERVER, "client": CLIENT}


def part_of(mutant: Mutant) -> type:
    """The class that stands in the place of a part of the reference."""
    shim = mutant.factory()
    assert isinstance(shim, RoleShim)
    (role,) = shim._roles.values()
    part: type = getattr(role, mutant.part)
    return part


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_overrides_what_the_reference_has(name: str) -> None:
    """A method that no class above it has would never be called: the mutant would be the reference."""
    part = part_of(MUTANTS[name])
    base = shelf._slots[MUTANTS[name].role][MUTANTS[name].part]
    above = [cls for cls in part.__mro__ if issubclass(cls, base) and cls is not base]
    own = {member for cls in above for member in vars(cls) if not member.startswith("__") or member == "__init__"}
    assert own & set(dir(base)) - {"__init__"} or own == {"__init__"}


async def started(mutant: Mutant) -> None:
    shim = mutant.factory()
    await shim.start("one", f"frog/{mutant.role}", CONFIGS[mutant.role], lambda event, data: None)
    await shim.stop("one")


@pytest.mark.parametrize("role", CONFIGS)
def test_every_mutant_starts(role: str) -> None:
    """Its fault is in what it does, not in that it cannot be built."""

    async def all_of_them() -> None:
        await asyncio.gather(*(started(mutant) for mutant in MUTANTS.values() if mutant.role == role))

    asyncio.run(all_of_them())


def test_every_must_has_a_mutant() -> None:
    """Of the rows that are tested at all, in one of the roles that it binds: the three share their codec."""
    broken = {(clause, mutant.role) for mutant in MUTANTS.values() for clause in mutant.clauses}
    musts = [row for row in catalogue("frog").values() if row.level == "MUST" and not row.excluded]
    assert [row.id for row in musts if not any((row.id, role) in broken for role in row.roles)] == []


def test_faults_are_told_apart() -> None:
    """The same sentence twice in one role would be the same mutant twice."""
    told = Counter((mutant.role, mutant.fault, mutant.part) for mutant in MUTANTS.values())
    assert [fault for fault, count in told.items() if count > 1] == []
