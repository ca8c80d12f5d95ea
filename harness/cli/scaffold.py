"""`touchstone new`: a runnable skeleton of a shim, from the templates in `targets/templates`, and what it will be asked."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from harness.catalogue.protocols import known_role
from harness.errors import UsageError
from harness.places import SUITES, TEMPLATES

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""It stands in strings of five languages."""


def scaffold(language: str, role: str, folder: Path) -> list[Path]:
    """Copy the language's template, with the role filled in; refuses to touch a folder that is there."""
    languages = sorted(path.name for path in TEMPLATES.iterdir() if path.is_dir())
    if language not in languages:
        raise UsageError(f"there is no template for {language!r}: use {', '.join(languages)}")
    known_role(role)
    name = folder.resolve().name
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be a target's name: use letters, digits, dots and hyphens")
    if folder.exists():
        raise UsageError(f"{folder} exists already: name a folder that does not")
    shutil.copytree(TEMPLATES / language, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in filter(Path.is_file, folder.rglob("*")):
        path.write_text(path.read_text().replace("@ROLE@", role).replace("@NAME@", name))
    shutil.copy(SUITES / role.split("/")[0] / "README.md", folder / "OPERATIONS.md")
    return sorted(filter(Path.is_file, folder.rglob("*")))
