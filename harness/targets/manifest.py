"""A target's manifest, `targets/<name>/target.toml`: who it is, how each role runs, what is known to fail."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Literal

import msgspec

from harness.errors import BadManifest
from harness.results import TargetInfo
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
    address: str = "127.0.0.1:{port}"
    ready_log: str = ""
    env: dict[str, str] = {}
    capabilities: list[str] = []


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the target is reached; which fields count depends on the kind."""

    kind: Literal["python", "process", "server", "remote", "docker"]
    factory: str = ""  # python: package.module:factory
    command: list[str] = []  # process; docker: instead of the image's own
    env: dict[str, str] = {}
    servers: dict[str, ServerRole] = {}  # server, docker: role -> how
    address: str = ""  # remote
    roles: list[str] = []  # remote
    options: dict[str, Any] = {}  # remote: the server's own configuration
    image: str = ""  # docker
    build: str = ""  # docker: a folder with a Dockerfile, from which the image is built
    arguments: dict[str, str] = {}  # docker: of the build
    prepare: list[str] = []  # docker: a command that makes the image, quick when there is nothing to do
    network: Literal["host", "none"] = "host"  # docker: of a shim
    limits: Limits = Limits()  # docker


NEEDED = {"python": "factory", "process": "command", "server": "servers", "remote": "address", "docker": "image"}
"""The field without which a kind cannot run."""


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    run: Run
    version: str = ""
    language: str = ""
    homepage: str = ""
    known_failing: list[KnownCases] = []
    known_flaky: list[KnownCases] = []


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
    for known in (*manifest.known_failing, *manifest.known_flaky):
        if not known.reason.strip():
            raise BadManifest(path, f"the known cases {known.cases} have no reason: write one")
    return manifest


def info_of(manifest: Manifest, reach: Reach) -> TargetInfo:
    return TargetInfo(manifest.name, manifest.version, manifest.language, manifest.homepage, reach.kind)


def reach_of(manifest: Manifest, folder: Path) -> Reach:
    """The reach that a manifest describes; commands run in its folder, `{python}` is this interpreter."""
    run = manifest.run
    match run.kind:
        case "python":
            return InProcess.named(run.factory)
        case "process":
            return Process(_command(run.command, manifest), str(folder), dict(run.env))
        case "server":
            return Server(manifest.name, manifest.version, _specs(manifest, folder))
        case "remote":
            return Remote(run.address, run.roles, run.options)
        case "docker":
            image = Image(run.image, run.build, run.arguments, run.prepare, str(folder))
            specs, identity = _specs(manifest, folder), (manifest.name, manifest.version)
            return Docker(image, run.command, run.env, run.network, run.limits, specs, identity)


def _specs(manifest: Manifest, folder: Path) -> list[ServerSpec]:
    return [
        ServerSpec(
            role,
            _command(how.command, manifest),
            how.address,
            how.ready_log,
            how.env,
            how.capabilities,
            str(folder),
        )
        for role, how in manifest.run.servers.items()
    ]


def _command(words: list[str], manifest: Manifest) -> list[str]:
    if not words:
        raise BadManifest(manifest.name, "its run has no command: say which to start")
    return [sys.executable if word == "{python}" else word for word in words]
