"""A capsule: one failing case with everything that `replay` needs to see it again, and where its file lies."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import Unavailable, UsageError
from harness.judging.result import BAD, CaseResult, Verdict

CAPSULES = "capsules"
SCHEMA = 1
KEPT = BAD | {Verdict.WARN}

MOST_PREFIX = 80
"""Characters of a case id that stay readable in a file name; file systems end at 255."""


class Capsule(msgspec.Struct, frozen=True, kw_only=True):
    """A failing case, packed to be tried again elsewhere."""

    target: str  # as it was spelled on the command line
    peer: str = ""  # the other side of a pair, as it was spelled
    result: CaseResult
    seed: int
    options: dict[str, Any] = {}
    slow: bool = False
    patience: float = 5.0
    harness_version: str = ""
    commit: str = ""
    schema: int = SCHEMA


def path_of(run: Path, result: CaseResult) -> Path:
    """Where a run keeps the capsule of a result."""
    return run / CAPSULES / f"{slug(result)}.json"


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
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a capsule: {error}") from None
    if capsule.schema > SCHEMA:
        raise UsageError(f"{path} has capsule schema {capsule.schema}, this harness reads up to {SCHEMA}: update it")
    return capsule
