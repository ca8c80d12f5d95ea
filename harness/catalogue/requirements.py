"""The requirement catalogue: every clause of a protocol, its level and our reading of it.

It is data: `suites/<protocol>/requirements.toml`.
"""

from __future__ import annotations

from functools import cache

import msgspec

from harness.errors import HarnessError, UsageError
from harness.places import SUITES


class Requirement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    level: str  # MUST, SHOULD, MAY
    roles: list[str]
    text: str
    observe: str = ""  # how a black box shows it
    reading: str = ""  # ours, where the text is silent
    contested: str = ""  # why a deviation can at most warn
    excluded: str = ""  # why no case can test it


class Catalogue(msgspec.Struct, frozen=True):
    requirement: list[Requirement]


def protocols() -> list[str]:
    """The protocols that have a suite."""
    return sorted(path.parent.name for path in SUITES.glob("*/requirements.toml"))


@cache
def catalogue(protocol: str) -> dict[str, Requirement]:
    path = SUITES / protocol / "requirements.toml"
    try:
        loaded = msgspec.toml.decode(path.read_bytes(), type=Catalogue)
    except FileNotFoundError:
        raise UsageError(f"there is no protocol {protocol!r}: use {', '.join(protocols())}") from None
    except msgspec.MsgspecError as error:
        raise HarnessError(f"{path}: {error}") from None
    return {requirement.id: requirement for requirement in loaded.requirement}


@cache
def every_requirement() -> dict[str, Requirement]:
    return {id: requirement for protocol in protocols() for id, requirement in catalogue(protocol).items()}


def find(clause: str) -> Requirement:
    try:
        return every_requirement()[clause]
    except KeyError:
        raise UsageError(f"there is no requirement {clause!r}: `touchstone cases` lists what is tested") from None
