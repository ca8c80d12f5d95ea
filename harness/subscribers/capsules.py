"""Capsules: one file per failing case with everything that `replay` needs to see it again."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import Unavailable, UsageError
from harness.results import BAD, CaseResult, Event, Header, Verdict

CAPSULES = "capsules"
SCHEMA = 1
KEPT = BAD | {Verdict.WARN}

MOST_PREFIX = 80
"""Characters of a case id that stay readable in a file name; file systems end at 255."""


class Capsule(msgspec.Struct, frozen=True, kw_only=True):
    """A failing case, packed to be tried again elsewhere."""

    target: str  # as it was spelled on the command line
    result: CaseResult
    seed: int
    options: dict[str, Any] = {}
    slow: bool = False
    patience: float = 5.0
    harness_version: str = ""
    commit: str = ""
    schema: int = SCHEMA


class Capsules:
    """Writes the capsules of a run into its folder."""

    def __init__(self, run: Path, target: str = "", **asked: Any) -> None:
        """`asked` is how it was run. Without a target each result's own is meant: a run over mutants has many."""
        self._folder = run / CAPSULES
        self._target, self._asked = target, asked
        self._header: Header | None = None

    def __call__(self, event: Event) -> None:
        match event:
            case Header():
                self._header = event
            case CaseResult() if event.verdict in KEPT:
                self._keep(event)

    def _keep(self, result: CaseResult) -> None:
        assert self._header, "a run begins with its header"
        capsule = Capsule(
            target=self._target or result.target,
            result=result,
            seed=result.seed or self._header.seed,
            **self._asked,
            harness_version=self._header.harness_version,
            commit=self._header.commit,
        )
        self._folder.mkdir(parents=True, exist_ok=True)
        text = msgspec.json.format(msgspec.json.encode(capsule), indent=2)
        (self._folder / f"{slug(result)}.json").write_bytes(text + b"\n")


def slug(result: CaseResult) -> str:
    """A file name for a result: readable, safe anywhere, and its own within a run.

    One case may have many results in a run: of several mutants, of the pairs and repetitions of a matrix.
    """
    parts = (result.case, result.target, result.peer, result.scenario, result.fault_profile, str(result.repetition))
    digest = hashlib.sha256("\0".join(parts).encode(errors="backslashreplace")).hexdigest()[:10]
    readable = re.sub(r"[^A-Za-z0-9]+", "-", result.case)[:MOST_PREFIX].strip("-").lower()
    return f"{readable}-{digest}" if readable else digest


def load(path: Path) -> Capsule:
    """The capsule in a file, or one sentence about why there is none."""
    try:
        capsule = msgspec.json.decode(path.read_bytes(), type=Capsule)
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from None
    except msgspec.MsgspecError as error:
        raise UsageError(f"{path} is not a capsule: {error}") from None
    if capsule.schema > SCHEMA:
        raise UsageError(f"{path} has capsule schema {capsule.schema}, this harness reads up to {SCHEMA}: update it")
    return capsule
