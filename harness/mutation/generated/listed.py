"""`targets/mutants/<protocol>/survivors.toml`: generated mutants that no case can or need kill, each with its reason."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.errors import HarnessError
from harness.places import TARGETS


class Survivor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One generated mutant that is let live."""

    mutant: str
    change: str  # as the tool prints it, for people
    why: Literal["equivalent", "unspecified", "shell"]
    reason: str  # for `unspecified` it names the clause that leaves it open

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError(f"{self.mutant} is let live without a reason")


class Survivors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    survivor: list[Survivor] = []


def listed(protocol: str) -> dict[str, Survivor]:
    """By the mutant's name; nobody where there is no list."""
    path = TARGETS / "mutants" / protocol / "survivors.toml"
    if not path.is_file():
        return {}
    try:
        found = msgspec.toml.decode(path.read_bytes(), type=Survivors).survivor
    except msgspec.MsgspecError as error:
        raise HarnessError(f"{path}: {error}") from None
    return {survivor.mutant: survivor for survivor in found}
