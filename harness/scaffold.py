"""`touchstone new`: a runnable skeleton of a shim, from the templates in `targets/templates`."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.errors import UsageError
from harness.requirements import every_requirement, protocols

TEMPLATES = Path(__file__).resolve().parents[1] / "targets" / "templates"


def scaffold(language: str, role: str, folder: Path) -> list[Path]:
    """Copy the language's template, with the role filled in; refuses to touch a folder that is there."""
    languages = sorted(path.name for path in TEMPLATES.iterdir() if path.is_dir())
    if language not in languages:
        raise UsageError(f"there is no template for {language!r}: use {', '.join(languages)}")
    protocol, _, name = role.partition("/")
    roles = {r for requirement in every_requirement().values() for r in requirement.roles}
    if protocol not in protocols() or name not in roles:
        raise UsageError(f"there is no role {role!r}: write it like peerbus/codec")
    if folder.exists():
        raise UsageError(f"{folder} exists already: name a folder that does not")
    shutil.copytree(TEMPLATES / language, folder)
    written = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in written:
        path.write_text(path.read_text().replace("@ROLE@", role).replace("@NAME@", folder.name))
    return written
