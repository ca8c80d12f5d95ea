"""What this machine has: each part is tried, and one that does not work gets a sentence that says what to do."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.errors import Unavailable
from harness.places import IS_CLONE, python_path
from harness.targets.child import unconfined
from harness.targets.engine import the_engine

TRY_S = 30
"""How long a tool may take to say its version."""

AGAIN = "delete .venv and run ./touchstone again" if IS_CLONE else "install touchstone again"
NEEDED = ("pytest", "hypothesis", "websockets", "msgspec")

JAVA = """
import sys
from spark_reports.java import Unavailable, find_java_home
try:
    find_java_home()
except Unavailable as error:
    sys.exit(str(error))
"""
"""The reports are asked in a process of their own: the harness does not import them."""


@dataclass(frozen=True)
class Finding:
    name: str
    found: bool
    detail: str
    needed: bool = False  # without it nothing works


def examine() -> list[Finding]:
    version = sys.version_info
    findings = [
        Finding("python", version >= (3, 11), f"{version.major}.{version.minor}: 3.11 or later is needed", needed=True)
    ]
    for module in NEEDED:
        found = importlib.util.find_spec(module) is not None
        findings.append(Finding(module, found, "installed" if found else AGAIN, True))
    for name, (use, fault) in PARTS.items():
        wrong = fault()
        findings.append(Finding(name, not wrong, f"for {use}: {wrong}" if wrong else f"for {use}"))
    return findings


# -- the parts that something can do without: each says what is wrong with it, or nothing ---------------------------------


def failing(command: Sequence[str], advice: str) -> str:
    """What a command that ought to work has to say."""
    if not shutil.which(command[0]):
        return advice
    try:
        env = {**os.environ, **python_path()} if command[0] == sys.executable else None
        done = subprocess.run(command, capture_output=True, text=True, timeout=TRY_S, env=env)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command[0]} does not run: {error}"
    said = (done.stderr or done.stdout).strip().splitlines()
    return "" if done.returncode == 0 else said[-1] if said else f"{command[0]} ends with {done.returncode}"


def spark() -> str:
    if importlib.util.find_spec("pyspark") is None:
        brings = "./touchstone report" if IS_CLONE else "pip install 'touchstone[report]'"
        return f"not installed yet, `{brings}` brings it"
    return failing([sys.executable, "-c", JAVA], "")


def docker() -> str:
    try:
        asyncio.run(the_engine())
    except Unavailable as error:
        return str(error)
    return ""


def chromium() -> str:
    name = next(filter(shutil.which, ("chromium", "chromium-browser")), "chromium")
    return failing([name, "--version"], "install the package chromium")


def node() -> str:
    advice = "install Node.js and npm, e.g. the packages nodejs and npm"
    return failing(["node", "--version"], advice) or failing(["npm", "--version"], advice)


PARTS: dict[str, tuple[str, Callable[[], str]]] = {
    "spark": ("the reports", spark),
    "docker": ("docker targets", docker),
    "confinement": ("ending whatever a process target starts", unconfined),
    "chromium": ("the tests of the report site", chromium),
    "git": ("the commit in a run's header", lambda: failing(["git", "--version"], "install git")),
    "node": ("examples and new shims in JavaScript", node),
    "go": ("examples and new shims in Go", lambda: failing(["go", "version"], "install Go, e.g. the package golang")),
    "rust": (
        "examples and new shims in Rust",
        lambda: failing(["cargo", "--version"], "install Rust, e.g. the package cargo"),
    ),
    "c": (
        "examples and new shims in C",
        lambda: failing(["cc", "--version"], "install a C compiler, e.g. the package gcc"),
    ),
}
