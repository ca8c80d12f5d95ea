"""`check --watch`: what failed runs again whenever a file of the target changes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from harness.errors import UsageError
from harness.judging.result import BAD
from harness.places import TARGETS, module, python_path
from harness.running.stream import newest_check
from harness.targets.build import sources

POLL_S = 0.3
"""There is no event for "a file has changed" that every system has: ask again this often."""


def folder_of(target: str) -> Path:
    """Where a person works on the target: the manifest's folder, else the working folder."""
    kind, _, rest = target.partition(":")
    if rest and kind in ("cmd", "python"):
        return Path.cwd()
    path = Path(target)
    if (TARGETS / target / "target.toml").is_file() or not path.exists():
        raise UsageError(f"nobody changes files of {target} here: --watch is for a target.toml, cmd: or python:")
    return path if path.is_dir() else path.resolve().parent


def state_of(folder: Path, runs: Path) -> dict[Path, tuple[int, int]]:
    """Every file's time and size, but for what runs write."""
    found = {}
    for path in sources(folder):
        if not path.resolve().is_relative_to(runs.resolve()):
            status = path.stat()
            found[path] = (status.st_mtime_ns, status.st_size)
    return found


def watch(select: Sequence[str], target: str, runs: Path, options: Sequence[str]) -> int:
    """Until Ctrl-C; the exit code is that of the last round. Each is a process of its own: code of the target is loaded anew."""
    folder, code, chosen = folder_of(target), 0, list(select)
    try:
        while True:
            seen = state_of(folder, runs)
            words = ["check", *chosen, "--target", target, "--runs", str(runs), *options]
            code = subprocess.call(module("touchstone", *words), env={**os.environ, **python_path()})
            if code in (0, 1):
                failed = [
                    result.case for result in newest_check(runs).cases if result.verdict in BAD and result.surprising
                ]
                chosen = failed or list(select)
            what = f"the {len(chosen)} that failed run" if code == 1 and chosen != list(select) else "all of it runs"
            print(f"watching {folder}: {what} again when a file changes, Ctrl-C ends it", flush=True)
            while state_of(folder, runs) == seen:
                time.sleep(POLL_S)
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return code
