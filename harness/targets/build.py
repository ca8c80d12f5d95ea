"""What a target's sources are built with: once, and again only when they change."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import Unavailable
from harness.places import CACHE, IS_CLONE, TARGETS
from harness.targets.child import Kept, spawn

BUILD_S = 900
"""How long a build may take: a first one fetches what it needs."""

STAMP = ".touchstone-built"
"""Beside the manifest: the digest of the sources that the last build was made of."""

MADE = frozenset({"node_modules", "target", "bin", "build", "dist", "out", "__pycache__", ".git"})
"""Folders that builds make: not their sources."""


@dataclass(frozen=True)
class Build:
    """A command, run in the manifest's folder or in one that its sources share."""

    command: Sequence[str]
    folder: Path

    async def made(self) -> None:
        """It is built, and up to date; or one sentence says why it cannot be."""
        with self._alone():
            digest, stamp = self.digest(), self.folder / STAMP
            if stamp.is_file() and stamp.read_text() == digest:
                return
            await self._run()
            stamp.write_text(digest)

    async def _run(self) -> None:
        said = Kept()
        child = await spawn(self.command, str(self.folder), None, lambda _, data: said.add(data))
        done = await child.ends_within(BUILD_S)
        await child.end()
        words = " ".join(self.command)
        if not done:
            raise Unavailable(f"`{words}` in {self.folder} did not end within {BUILD_S} s: run it there by hand")
        if child.exited.result():
            raise Unavailable(f"`{words}` in {self.folder} failed: {said.last_line()[:300] or 'it said nothing'}")

    def digest(self) -> str:
        return digest(self.folder, self.command)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Two workers do not build at once: the second waits, and finds it done."""
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def digest(folder: Path, command: Sequence[str] = ()) -> str:
    """Of the sources in a folder, and of what is done with them."""
    seen = hashlib.sha256("\0".join(command).encode())
    for path in sorted(sources(folder)):
        seen.update(f"{path.relative_to(folder)}\0{path.stat().st_mode}\0{path.stat().st_size}\0".encode())
        seen.update(path.read_bytes())
    return seen.hexdigest()


def sources(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in MADE]
        yield from (Path(root, name) for name in files if name != STAMP and Path(root, name).is_file())


def workshop(folder: Path) -> Path:
    """Where the target in a folder is built. What is installed stays as it is: a bundled target is built in a copy of its own."""
    if IS_CLONE or not folder.is_relative_to(TARGETS):
        return folder
    inside = folder.relative_to(TARGETS)
    kept = Path(*inside.parts[:2])  # examples/<name>: what is deeper shares its sources
    there = CACHE / digest(TARGETS / kept)[:12]
    if not there.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as fresh:
            shutil.copytree(TARGETS / kept, Path(fresh, "copy", kept))
            with contextlib.suppress(OSError):  # another process was first
                Path(fresh, "copy").rename(there)
    return there / inside
