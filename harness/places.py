"""Where the project keeps what is data to the harness. Nothing else in the harness asks where a file lies.

In a clone that is the clone; installed, it is a folder inside the package, which nobody writes into.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUITES = ROOT / "suites"
VECTORS = ROOT / "vectors"
TARGETS = ROOT / "targets"
TEMPLATES = TARGETS / "templates"

IS_CLONE = (ROOT / "pyproject.toml").is_file()
COMMAND = "touchstone" if not IS_CLONE else "./touchstone" if Path.cwd() == ROOT else str(ROOT / "touchstone")
"""How a person who reads a hint calls us."""

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "touchstone"
"""Of this person: where bundled targets are built if they are installed, and what Hypothesis keeps."""


def python_path() -> dict[str, str]:
    """For the environment of a Python of ours: our packages are importable there, as they are here."""
    inherited = os.environ.get("PYTHONPATH", "")
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), inherited)))}


def module(name: str, *arguments: str) -> list[str]:
    """The command line of a module of ours in a process of its own; it wants `python_path`.

    The working folder is not on its path: what a project has there under our names is not ours.
    """
    return [sys.executable, "-P", "-m", name, *arguments]
