"""What a document shows: commands with what comes of them, and code; typed as a person would, in the order of the text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from harness.places import ROOT

FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)


def typed(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """What a person sees who has this environment's commands."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path}
    return subprocess.run(command, shell=True, cwd=cwd, env=env, capture_output=True, text=True, timeout=300)


def fences(text: str) -> list[tuple[str, str]]:
    """The fenced blocks: (language, what is in it)."""
    return FENCE.findall(text)


def commands(console: str) -> list[tuple[str, list[str]]]:
    """The commands of a console, each with the lines that it shows."""
    parts = re.split(r"^\$ ", console, flags=re.M)[1:]
    return [(command, wanted) for command, *wanted in map(str.splitlines, parts)]


def assert_shown(command: str, wanted: list[str], cwd: Path) -> None:
    """Every line, in that order; `...` stands for anything."""
    done = typed(command, cwd)
    output = (done.stdout + done.stderr).replace(f"{ROOT}/touchstone", "touchstone")
    at, lines = 0, output.splitlines()
    for line in filter(str.strip, wanted):
        pattern = ".*".join(re.escape(part) for part in line.split("..."))
        found = next((n for n in range(at, len(lines)) if re.fullmatch(pattern, lines[n])), None)
        assert found is not None, f"{line!r} does not come of {command!r}, or not here:\n{output}"
        at = found + 1
