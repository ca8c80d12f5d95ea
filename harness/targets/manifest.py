"""A target's manifest, `targets/<name>/target.toml`: who it is, how each role runs, what is known to fail."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from harness import __version__
from harness.catalogue.addresses import by_port, filled, under
from harness.catalogue.protocols import RoleInfo, known_role, servers
from harness.errors import BadManifest, UsageError
from harness.judging.result import TargetInfo
from harness.places import TARGETS, python_path
from harness.targets.build import Build, workshop
from harness.targets.container import Limits
from harness.targets.docker import Docker, Image
from harness.targets.inprocess import InProcess
from harness.targets.process import Process
from harness.targets.remote import Remote
from harness.targets.server import Server, ServerSpec
from harness.targets.session import Reach


class KnownCases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Cases under one written reason. They still run; a pattern that matches nothing fails the run."""

    cases: list[str]  # globs over case ids
    reason: str


class ServerRole(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One role run as a plain server process."""

    command: list[str]
    ports: list[str] = []  # names, where it has other ports than the protocol says; the hole of `push` is {push_port}
    address: str | dict[str, str] = ""  # one for each port, by name, if there are several; empty: as the protocol says
    ready_log: str = ""  # named groups become details of the instance
    env: dict[str, str] = {}
    capabilities: list[str] = []


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the target is reached; which fields count depends on the kind."""

    kind: Literal["python", "process", "server", "remote", "docker"]
    factory: str = ""  # python: package.module:factory
    command: list[str] = []  # process; docker: instead of the image's own
    env: dict[str, str] = {}  # process, server, docker
    servers: dict[str, ServerRole] = {}  # server, docker: role -> how
    address: str | dict[str, str] = ""  # remote
    roles: list[str] = []  # remote; empty: every role that has such an address
    options: dict[str, Any] = {}  # remote: the server's own configuration
    image: str = ""  # docker
    build: str | list[str] = ""  # process, server: the command that builds it; docker: a folder with a Dockerfile
    arguments: dict[str, str] = {}  # docker: of the build
    prepare: list[str] = []  # docker: a command that makes the image, quick when there is nothing to do
    network: Literal["host", "none"] = "host"  # docker: of a shim
    limits: Limits = Limits()  # docker


NEEDED = {"python": "factory", "process": "command", "server": "servers", "remote": "address", "docker": "image"}
"""The field without which a kind cannot run."""


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    run: Run
    version: str = ""  # {touchstone}: that of the harness, as the reference has it
    language: str = ""
    homepage: str = ""
    known_failing: list[KnownCases] = []
    known_flaky: list[KnownCases] = []
    known_races: list[KnownCases] = []


def load(path: Path) -> Manifest:
    """The manifest in a file, or one sentence about what is wrong with it."""
    try:
        manifest = msgspec.toml.decode(path.read_bytes(), type=Manifest)
    except OSError as error:
        raise BadManifest(path, f"cannot be read: {error.strerror}") from None
    except msgspec.MsgspecError as error:
        raise BadManifest(path, str(error)) from None
    except UnicodeDecodeError:
        raise BadManifest(path, "it is not UTF-8") from None
    if not getattr(manifest.run, NEEDED[manifest.run.kind]):
        raise BadManifest(path, f"its run is of kind {manifest.run.kind} and has no {NEEDED[manifest.run.kind]}")
    for known in (*manifest.known_failing, *manifest.known_flaky, *manifest.known_races):
        if not known.reason.strip():
            raise BadManifest(path, f"the known cases {known.cases} have no reason: write one")
    version = manifest.version.replace("{touchstone}", __version__)
    return msgspec.structs.replace(manifest, version=version)


def info_of(manifest: Manifest, reach: Reach) -> TargetInfo:
    return TargetInfo(manifest.name, manifest.version, manifest.language, manifest.homepage, reach.kind)


def reach_of(
    manifest: Manifest,
    folder: Path,
    options: Mapping[str, Any] | None = None,
    protocols: Sequence[str] | None = None,
) -> Reach:
    """The reach that a manifest describes; commands run in its folder, `{python}` is this interpreter."""
    try:
        return _reach(manifest, folder, options or {}, protocols)
    except UsageError as error:
        if options:  # the person's fault, perhaps
            raise
        raise BadManifest(manifest.name, str(error)) from None


def _reach(manifest: Manifest, folder: Path, options: Mapping[str, Any], protocols: Sequence[str] | None) -> Reach:
    run = manifest.run
    if run.build and run.kind in ("process", "server"):
        folder = workshop(folder)
    match run.kind:
        case "python":
            return InProcess.named(run.factory, protocols)
        case "process":
            return Process(
                _command(run.command, manifest), str(folder), _env(manifest, folder), _build(manifest, folder)
            )
        case "server":
            return Server(manifest.name, manifest.version, _specs(manifest, folder), _build(manifest, folder))
        case "remote":
            there = {known_role(role, servers()): servers()[role] for role in run.roles} or servers(protocols)
            return Remote.offered(by_port(run.address), there, {**run.options, **options})
        case "docker":
            if not isinstance(run.build, str):
                raise BadManifest(manifest.name, "its build is of kind docker: it names the folder with the Dockerfile")
            image = Image(run.image, run.build, run.arguments, run.prepare, str(folder))
            specs, identity = _specs(manifest, folder), (manifest.name, manifest.version)
            return Docker(image, run.command, run.env, run.network, run.limits, specs, identity)


def _build(manifest: Manifest, folder: Path) -> Build | None:
    """In the manifest's folder; `["-C", "..", "go", "build"]` is for one that shares its sources with another."""
    words = manifest.run.build
    if isinstance(words, str):
        words = words.split()
    if words[:1] == ["-C"]:
        return Build(words[2:], (folder / words[1]).resolve())
    return Build(words, folder.resolve()) if words else None


def _specs(manifest: Manifest, folder: Path) -> list[ServerSpec]:
    return [
        ServerSpec(
            role,
            _command(how.command, manifest),
            _address(manifest, role, how),
            how.ready_log,
            {**_env(manifest, folder), **how.env},
            how.capabilities,
            str(folder),
            how.ports,
        )
        for role, how in manifest.run.servers.items()
    ]


def _env(manifest: Manifest, folder: Path) -> dict[str, str]:
    """What the manifest says; a bundled target written in Python imports what is ours."""
    return {**(python_path() if folder.is_relative_to(TARGETS) else {}), **manifest.run.env}


def _address(manifest: Manifest, role: str, how: ServerRole) -> dict[str, str]:
    """By port: as the manifest writes it, else as the protocol does, on this machine."""
    info: RoleInfo = servers()[known_role(role, servers())]
    told = by_port(how.address) if how.address else {}
    if not told:
        return {port: filled(template, {"host": "127.0.0.1"}) for port, template in info.addresses.items()}
    if set(told) == set(info.addresses):
        found = {port: under(template, told[port]) for port, template in info.addresses.items()}
        if all(found.values()):
            return {port: address for port, address in found.items() if address}
    raise BadManifest(manifest.name, f"its address of {role} is to be written like {info.spelling}")


def _command(words: list[str], manifest: Manifest) -> list[str]:
    if not words:
        raise BadManifest(manifest.name, "its run has no command: say which to start")
    return [sys.executable if word == "{python}" else word for word in words]
