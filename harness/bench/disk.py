"""What the disk can do by itself, to stand beside what a server that syncs makes of it."""

from __future__ import annotations

import os
import time
from pathlib import Path

SYNCS = 200


def syncs_per_s(folder: Path) -> float:
    """1 KiB, then fsync, again and again."""
    began = time.perf_counter()
    with (folder / "synced").open("wb") as file:
        for _ in range(SYNCS):
            file.write(bytes(1_024))
            file.flush()
            os.fsync(file.fileno())
    return SYNCS / (time.perf_counter() - began)
