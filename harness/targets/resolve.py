"""From what is written on the command line to a Target."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import Unavailable, UsageError
from harness.results import TargetInfo
from harness.targets.docker import Docker, Image
from harness.targets.inprocess import InProcess
from harness.targets.manifest import info_of, load, reach_of
from harness.targets.process import Process
from harness.targets.remote import Remote
from harness.targets.session import Reach
from harness.targets.target import Target

BUNDLED = Path(__file__).resolve().parents[2] / "targets"

SERVER_ROLES = ("peerbus/broker", "sbp/peer", "frog/server", "trueseal/relay")
"""Roles that a server at an address can have; a remote target is tried in the selected one."""


def bundled() -> list[str]:
    """The names of the targets in this repository."""
    return sorted(path.parent.name for path in BUNDLED.glob("*/target.toml"))


def resolve(spec: str, options: Mapping[str, Any] | None = None) -> Target:
    """A bundled name, a manifest's path, `python:`, `cmd:`, `image:`, a URL or host:port."""
    kind, _, rest = spec.partition(":")
    if kind == "python":
        return _plain(rest, InProcess.named(rest))
    if kind == "mutant":
        return _mutant(rest)
    if kind == "cmd":
        try:
            words = shlex.split(rest)
        except ValueError as error:
            raise UsageError(f"{spec} cannot be read as a command: {error}") from None
        if not words:
            raise UsageError("cmd: names no command: write cmd:./my-shim --flag")
        return _plain(rest, Process(words))
    if kind == "image":
        if not rest:
            raise UsageError("image: names no image: write image:name:tag")
        return _plain(rest, Docker(Image(rest)))
    if kind in ("ws", "wss", "tcp"):
        return _plain(spec, Remote(spec, SERVER_ROLES, options or {}))
    if re.fullmatch(r"[\w.-]+:\d+", spec):
        return _plain(spec, Remote(f"ws://{spec}", SERVER_ROLES, options or {}))
    return _from_manifest(spec)


def _mutant(path: str) -> Target:
    from harness.mutants import mutants_of  # imports targets: only a mutant needs it

    protocol, _, name = path.partition("/")
    mutants = mutants_of(protocol)
    if name not in mutants:
        raise UsageError(
            f"there is no mutant {name!r} of {protocol}: `touchstone mutants {protocol} --list` names them"
        )
    return mutants[name].target()


def _plain(name: str, reach: Reach) -> Target:
    return Target(TargetInfo(name, reach=reach.kind), reach)


def _from_manifest(spec: str) -> Target:
    for path in (BUNDLED / spec / "target.toml", Path(spec) / "target.toml", Path(spec)):
        if path.is_file():
            manifest = load(path)
            reach = reach_of(manifest, path.parent)
            return Target(
                info_of(manifest, reach),
                reach,
                known_failing=manifest.known_failing,
                known_flaky=manifest.known_flaky,
            )
    raise Unavailable(
        f"there is no target {spec!r}: use {', '.join(bundled())}, a target.toml, python:, cmd:, image: or a URL"
    )
