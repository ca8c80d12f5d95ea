"""What this machine has: each finding says in one sentence what to install where something is missing."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    name: str
    found: bool
    detail: str
    needed: bool = False  # without it nothing works


TOOLS = (
    ("java", "the Spark reports", "install a Java 17 or 21 runtime, e.g. openjdk-17-jre-headless"),
    ("docker", "docker targets", "install a docker engine, e.g. the package docker.io; docker/engine does that"),
    ("chromium", "the tests of the report site", "install the package chromium"),
    ("git", "the commit in a run's header", "install git"),
    ("go", "the Go example target", "install Go"),
    ("node", "the Node example target", "install Node.js"),
)


def examine() -> list[Finding]:
    version = sys.version_info
    findings = [
        Finding("python", version >= (3, 11), f"{version.major}.{version.minor}: 3.11 or later is needed", needed=True)
    ]
    for module in ("pytest", "hypothesis", "websockets", "msgspec"):
        found = importlib.util.find_spec(module) is not None
        findings.append(
            Finding(module, found, "installed" if found else "delete .venv and run ./touchstone again", True)
        )
    for tool, use, advice in TOOLS:
        path = shutil.which(tool)
        findings.append(Finding(tool, path is not None, f"for {use}" if path else f"for {use}: {advice}"))
    return findings
