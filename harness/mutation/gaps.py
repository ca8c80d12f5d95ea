"""`targets/mutants/<protocol>/gaps.toml`: planted faults that no case catches yet, and checks that nothing makes fail yet.

They still run, and each stands under a written reason; what is not on the list has to be caught. A gap that was closed is said,
so that it can be taken off: it does not fail the run, since what needs a race may be seen today and not tomorrow.
"""

from __future__ import annotations

import msgspec

from harness.errors import HarnessError
from harness.places import TARGETS


class Gap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is missing, under one reason."""

    reason: str
    mutants: list[str] = []
    checks: list[str] = []

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError("a gap needs a reason")


class Gaps(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    gap: list[Gap] = []

    @property
    def mutants(self) -> frozenset[str]:
        return frozenset(name for gap in self.gap for name in gap.mutants)

    @property
    def checks(self) -> frozenset[str]:
        return frozenset(name for gap in self.gap for name in gap.checks)


def gaps_of(protocol: str) -> Gaps:
    """None where there is no list."""
    path = TARGETS / "mutants" / protocol / "gaps.toml"
    if not path.is_file():
        return Gaps()
    try:
        return msgspec.toml.decode(path.read_bytes(), type=Gaps)
    except msgspec.MsgspecError as error:
        raise HarnessError(f"{path}: {error}") from None
