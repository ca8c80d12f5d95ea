"""The result stream on disk: written line by line as results come, readable whole or cut short."""

from __future__ import annotations

import datetime
import errno
import os
import platform
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from harness import __version__
from harness.errors import Unavailable
from harness.judging.result import CaseResult, Event, Footer, Header, decode, encode
from harness.places import COMMAND, IS_CLONE
from harness.running.seal import seal, strangers

EVENTS = "events.ndjson"


def new_run_id() -> str:
    """Sorts by time, unique by process and random bits."""
    return f"{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%S}-{os.urandom(3).hex()}"


def commit_of(folder: Path) -> str:
    """The commit that the harness runs from, where it is a checkout; around an installed one there may be another project's."""
    if not IS_CLONE:
        return ""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, timeout=5
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def environment() -> dict[str, str]:
    """The header's fields that describe this machine and this harness."""
    return {
        "harness_version": __version__,
        "commit": commit_of(Path(__file__).resolve().parent),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "command": " ".join(sys.argv),
    }


class StreamWriter:
    """A subscriber that writes each event at once; a killed run leaves every finished case behind."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / EVENTS
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("xb", buffering=1 << 16)
            seal(folder)
        except OSError as error:
            raise Unavailable(f"runs cannot be kept in {folder.parent}: {error.strerror}") from None

    def __call__(self, event: Event) -> None:
        if os.fstat(self._file.fileno()).st_nlink == 0:  # somebody has removed it: it could be written to all the same
            raise FileNotFoundError(errno.ENOENT, "it has vanished")
        self._file.write(encode(event) + b"\n")
        self._file.flush()
        if isinstance(event, Footer):
            self.close()

    def close(self) -> None:
        self._file.close()


@dataclass
class Run:
    """A stream read back."""

    header: Header | None = None
    cases: list[CaseResult] = field(default_factory=list)
    footer: Footer | None = None
    bad_lines: int = 0
    folder: Path | None = None  # where its capsules are too

    @property
    def complete(self) -> bool:
        return self.header is not None and self.footer is not None and not self.footer.interrupted


def read_run(path: Path) -> Run:
    """A run from its folder or its stream; lines cut short or of another schema are counted, not fatal."""
    stream = path / EVENTS if path.is_dir() else path
    run = Run(folder=stream.parent)
    try:
        lines = stream.read_bytes().splitlines()
    except OSError as error:
        raise Unavailable(f"{stream} cannot be read: {error.strerror}") from None
    for line in lines:
        try:
            event = decode(line)
        except msgspec.MsgspecError:
            run.bad_lines += 1
            continue
        match event:
            case Header():
                run.header = event
            case CaseResult():
                run.cases.append(event)
            case Footer():
                run.footer = event
    return run


def newest_check(runs: Path) -> Run:
    """The last check that these runs hold; one that was cut short counts.

    Among runs of ours one that is not is passed over, and said; where none is, all came from another machine.
    """
    folders = sorted((stream.parent for stream in runs.glob(f"*/{EVENTS}")), reverse=True)
    others = strangers(folders)
    for folder in folders:
        run = read_run(folder)
        if run.header and run.header.kind == "check":
            if folder not in others:
                return run
            print(f"{folder} was not written by this harness, and is passed over", file=sys.stderr)
    raise Unavailable(f"{runs} has no check: run `{COMMAND} check` first, or say where with --runs")
