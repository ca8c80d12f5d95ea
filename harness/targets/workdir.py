"""A target's folder among the temporary ones, and the next start's sweep of those whose run was killed.

Whoever uses a folder holds a lock in it, which the kernel lets go of however the holder ends; so a folder whose lock can be had
is nobody's. A name or a process id would not say: both are used again, and mean something else in another container.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import shutil
import tempfile
from pathlib import Path

PREFIX, LOCK = "touchstone-work-", ".in-use"


class Workdir:
    """Lives until it is removed, or its process ends and somebody else starts."""

    def __init__(self) -> None:
        sweep_once()
        fresh = Path(tempfile.mkdtemp(prefix="touchstone-new-"))
        self._lock = os.open(fresh / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.path = fresh.rename(
            fresh.with_name(fresh.name.replace("touchstone-new-", PREFIX))
        )  # locked, and so to be seen

    def new_folder(self, prefix: str) -> Path:
        return Path(tempfile.mkdtemp(prefix=f"{prefix}-", dir=self.path))

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def sweep() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # it has just gone, is not ours, or has no lock yet
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


sweep_once = functools.cache(sweep)
"""For each process."""
