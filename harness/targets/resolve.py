"""From what is written on the command line to a Target."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.catalogue.addresses import written
from harness.catalogue.protocols import RoleInfo, servers
from harness.errors import Unavailable, UsageError
from harness.judging.result import TargetInfo
from harness.places import TARGETS
from harness.targets.docker import Docker, Image
from harness.targets.inprocess import InProcess
from harness.targets.manifest import info_of, load, reach_of
from harness.targets.process import Process
from harness.targets.remote import Remote
from harness.targets.session import Reach
from harness.targets.target import Target


def bundled() -> list[str]:
    """The names of the targets in this repository: ours, and the examples in other languages."""
    return sorted(path.parent.name for path in TARGETS.glob("*/target.toml")) + examples()


SLOW = ("rust", "java")
"""Languages in which a build takes longer than all checks of what was built, or a start longer than most cases."""


def examples(quick: bool = False) -> list[str]:
    """`examples/<protocol>-<language>`, and what else of it has a manifest of its own; or all but the slow ones."""
    found = [path for path in TARGETS.glob("examples/**/target.toml") if "node_modules" not in path.parts]
    chosen = [path for path in found if not quick or load(path).language not in SLOW]
    return sorted(str(path.parent.relative_to(TARGETS)) for path in chosen)


def resolve(spec: str, options: Mapping[str, Any] | None = None, protocols: Sequence[str] | None = None) -> Target:
    """A bundled name, a manifest's path, `python:`, `cmd:`, `image:`, a server's address or its addresses by name.

    `options` and `protocols` (those that are selected; None: all) are for servers that someone else runs.
    """
    target = _resolved(spec, options or {}, protocols)
    if options and target.reach.kind != Remote.kind:
        raise UsageError(
            f"--option tells of a server that runs already, and {spec} is started by the harness: leave it out"
        )
    return target


def _resolved(spec: str, options: Mapping[str, Any], protocols: Sequence[str] | None) -> Target:
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
    if addresses := written(spec):
        return _plain(spec, Remote.offered(addresses, _servers(protocols), options))
    return _from_manifest(spec, options, protocols)


def _servers(protocols: Sequence[str] | None) -> dict[str, RoleInfo]:
    """The roles that a server at an address is tried in."""
    if not (there := servers(protocols)):
        raise UsageError(f"{', '.join(protocols or ())} has no servers: an address is for {', '.join(servers())}")
    return there


def _mutant(path: str) -> Target:
    from harness.mutation.mutant import mutants_of  # imports targets: only a mutant needs it

    protocol, _, name = path.partition("/")
    mutants = mutants_of(protocol)
    if name not in mutants:
        raise UsageError(
            f"there is no mutant {name!r} of {protocol}: `touchstone mutants {protocol} --list` names them"
        )
    return mutants[name].target()


def _plain(name: str, reach: Reach) -> Target:
    return Target(TargetInfo(name, reach=reach.kind), reach)


def _from_manifest(spec: str, options: Mapping[str, Any], protocols: Sequence[str] | None) -> Target:
    for path in (TARGETS / spec / "target.toml", Path(spec) / "target.toml", Path(spec)):
        if path.is_file():
            manifest = load(path)
            reach = reach_of(manifest, path.parent, options, protocols)
            return Target(
                info_of(manifest, reach),
                reach,
                known_failing=manifest.known_failing,
                known_flaky=manifest.known_flaky,
                known_races=manifest.known_races,
            )
    if spec and (folder := next((f for f in (TARGETS / spec, Path(spec)) if f.is_dir()), None)):
        raise Unavailable(
            f"{folder} has no target.toml: write one, or see targets/README.md for what else --target takes"
        )
    raise Unavailable(
        f"there is no target {spec!r}: use {', '.join(bundled())}, a target.toml, python:, cmd:, image: or a URL"
    )
