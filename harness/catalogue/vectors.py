"""Test vectors: loads `vectors/<protocol>/<group>.json`; `python -m harness.catalogue.vectors` formats and lints all of them.

A member whose name ends in `_hex` is bytes, or a list of them; a `_text` beside it shows the same bytes to people, and
the lint keeps the two equal.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Literal

import msgspec

from harness.catalogue.requirements import catalogue
from harness.errors import HarnessError, UsageError
from harness.places import VECTORS

NAME = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*")  # it becomes part of a case id
HEX = re.compile(r"(?:[0-9a-f]{2})*")


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the expected values come from: never from the reference that they judge."""

    source: str  # the specification, sheet or script
    derivation: str  # how they follow from it


class Vector(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One input with its expected outcome; it becomes the case `...[vector=<name>]`."""

    name: str
    clauses: list[str]  # the first is the one that a wrong outcome breaks
    result: Literal["valid", "invalid", "acceptable"]
    comment: str = ""  # what it is about; for invalid and acceptable: why
    needs: list[str] = []  # capabilities under which this expectation applies, e.g. profile:code
    input: dict[str, Any] = {}
    expected: dict[str, Any] = {}

    @property
    def contested(self) -> str:
        """Why a deviation can at most warn; empty where it can fail."""
        return self.comment if self.result == "acceptable" else ""

    @property
    def refused(self) -> bool:
        """Is a refusal the outcome that it expects?"""
        return self.result == "invalid" or bool(self.expected.get("refused"))

    def given(self, name: str) -> bytes:
        """The input's `<name>_hex` as bytes."""
        return bytes.fromhex(self.input[f"{name}_hex"])

    def wanted(self, name: str) -> bytes:
        """The outcome's `<name>_hex` as bytes."""
        return bytes.fromhex(self.expected[f"{name}_hex"])


class VectorFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    protocol: str
    group: str
    provenance: Provenance
    notes: list[str]  # what a reader must know: what the inputs mean, which operation they go to
    vectors: list[Vector]

    @property
    def clauses(self) -> tuple[str, ...]:
        """All that its vectors claim, for the case that tries them."""
        return tuple(dict.fromkeys(clause for vector in self.vectors for clause in vector.clauses))

    def within(self, declared: Iterable[str]) -> list[Vector]:
        """Those that say something about a target that declares these capabilities."""
        capabilities = set(declared)
        return [vector for vector in self.vectors if capabilities.issuperset(vector.needs)]


@cache
def load(name: str) -> VectorFile:
    """The vector file `<protocol>/<group>`."""
    path = VECTORS / f"{name}.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=VectorFile)
    except FileNotFoundError:
        raise UsageError(f"there is no vector file {name!r}") from None
    except msgspec.MsgspecError as error:
        raise HarnessError(f"vectors/{name}.json: {error}") from None


def names() -> list[str]:
    """Every vector file, as `load` takes it."""
    return sorted(str(path.relative_to(VECTORS).with_suffix("")) for path in VECTORS.glob("*/*.json"))


# -- the tool ----------------------------------------------------------------------------------------------------------


def formatted(file: VectorFile) -> str:
    """The one spelling of a vector file: fields in the order of the schema, ASCII, a member per line."""
    return json.dumps(msgspec.to_builtins(file), indent=1, ensure_ascii=True) + "\n"


def schema() -> str:
    return json.dumps(msgspec.json.schema(VectorFile), indent=1) + "\n"


def complaints(name: str, file: VectorFile) -> Iterator[str]:
    """What is wrong with a file, a sentence each."""
    if name != f"{file.protocol}/{file.group}":
        yield f"says it is {file.protocol}/{file.group}"
    if not file.provenance.source or not file.provenance.derivation:
        yield "has no provenance"
    known = catalogue(file.protocol)
    seen: set[str] = set()
    for vector in file.vectors:
        for complaint in _of_vector(vector):
            yield f"{vector.name}: {complaint}"
        if unknown := [clause for clause in vector.clauses if clause not in known]:
            yield f"{vector.name}: unknown clauses {', '.join(unknown)}"
        if vector.name in seen:
            yield f"{vector.name}: a name used twice"
        seen.add(vector.name)


def _of_vector(vector: Vector) -> Iterator[str]:
    if not NAME.fullmatch(vector.name):
        yield "a name is lower-case words joined by - or ."
    if not vector.clauses:
        yield "claims no clause"
    if vector.result != "valid" and not vector.comment:
        yield f"is {vector.result} without saying why"
    for members in (vector.input, vector.expected):
        yield from _of_members(members)


def _of_members(members: dict[str, Any]) -> Iterator[str]:
    for key, value in members.items():
        if not key.endswith("_hex"):
            continue
        pieces = value if isinstance(value, list) else [value]
        if not all(isinstance(piece, str) and HEX.fullmatch(piece) for piece in pieces):
            yield f"{key} is not lower-case hex"
            continue
        text = members.get(f"{key.removesuffix('_hex')}_text")
        if text is not None and text.encode() != bytes.fromhex("".join(pieces)):
            yield f"{key} and its text differ"


def main(arguments: Sequence[str]) -> int:
    """Format every file and the schema in place, or with --check only say what is wrong."""
    check = "--check" in arguments
    wrong: list[str] = []
    wanted = {VECTORS / "schema.json": schema()}
    for name in names():
        try:
            file = load(name)
            wrong += [f"vectors/{name}.json: {complaint}" for complaint in complaints(name, file)]
        except (HarnessError, UsageError) as error:
            wrong.append(str(error))
            continue
        wanted[VECTORS / f"{name}.json"] = formatted(file)
    for path, text in wanted.items():
        if path.exists() and path.read_text() == text:
            continue
        if check:
            wrong.append(
                f"{path.relative_to(VECTORS.parent)}: not formatted (`python -m harness.catalogue.vectors` does it)"
            )
        else:
            path.write_text(text)
    print("\n".join(wrong) or f"{len(wanted) - 1} vector files are sound")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
