"""Mutants: the reference with exactly one deliberate fault each.

A mutant is a subclass of one part of the reference (a machine, a codec, an I/O shell) that gets one thing wrong. Putting it
where that part goes gives a target that conforms but for the one fault.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from harness.catalogue.requirements import catalogue
from harness.errors import HarnessError, UsageError
from harness.judging.result import TargetInfo
from harness.shim import Shim
from harness.shim.roles import Role, RoleShim
from harness.targets.inprocess import InProcess
from harness.targets.target import Target

Part = TypeVar("Part", bound=type)


@dataclass(frozen=True)
class Mutant:
    """One deliberate fault. `clauses` are what it breaks: a case that claims one of them has to catch it."""

    name: str
    protocol: str
    role: str
    clauses: tuple[str, ...]
    fault: str  # in one sentence
    factory: Callable[[], Shim]
    part: str = ""  # which part of the reference is wrong: its machine, its codec, its shell
    honest: type | None = None  # that part
    wrong: type | None = None  # what stands in its place

    def target(self) -> Target:
        reach = InProcess(self.factory)
        return Target(TargetInfo(f"mutant:{self.protocol}/{self.name}", language="python", reach=reach.kind), reach)


class Shelf:
    """The mutants of one protocol. `slots` says which attribute of a role holds which part of the reference."""

    def __init__(self, protocol: str, roles: Mapping[str, type[Role]], slots: Mapping[str, Mapping[str, type]]) -> None:
        self.protocol = protocol
        self.mutants: list[Mutant] = []
        self._roles, self._slots = roles, slots

    def breaks(self, *clauses: str, role: str) -> Callable[[Part], Part]:
        """Class decorator: this part, in that role, breaks these clauses; its docstring says how."""

        def shelve(part: Part) -> Part:
            slot = self._slot(role, part)
            broken = type(f"{part.__name__}Role", (self._roles[role],), {slot: part})
            shim_roles = {f"{self.protocol}/{role}": broken}
            self.mutants.append(
                Mutant(
                    name=kebab(part.__name__),
                    protocol=self.protocol,
                    role=role,
                    clauses=clauses,
                    fault=" ".join((part.__doc__ or "").split()),
                    factory=lambda: RoleShim(part.__name__, "0", shim_roles),
                    part=slot,
                    honest=getattr(self._roles[role], slot),
                    wrong=part,
                )
            )
            return part

        return shelve

    def _slot(self, role: str, part: type) -> str:
        for slot, base in self._slots[role].items():
            if issubclass(part, base):
                return slot
        raise HarnessError(f"{part.__name__} fits into no part of {self.protocol}/{role}")


def kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def mutants_of(protocol: str) -> dict[str, Mutant]:
    """Every mutant of a protocol, from `targets/mutants/<protocol>`."""
    try:
        module = importlib.import_module(f"targets.mutants.{protocol}")
    except ModuleNotFoundError:
        raise UsageError(f"there are no mutants for {protocol!r}") from None
    mutants: Sequence[Mutant] = module.MUTANTS
    known = catalogue(protocol)
    named: dict[str, Mutant] = {}
    for mutant in mutants:
        unknown = [clause for clause in mutant.clauses if clause not in known]
        if unknown or not mutant.fault or mutant.name in named:
            raise HarnessError(
                f"mutant {mutant.name}: unknown clauses {unknown}, or no docstring, or a name used twice"
            )
        named[mutant.name] = mutant
    return named
