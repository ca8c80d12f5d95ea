"""A process tree seen from outside: its memory and its file descriptors, by /proc."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.targets.launcher import below

PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Usage:
    memory: int  # bytes that are resident
    descriptors: int


def usage(roots: Iterable[int]) -> Usage:
    """Of these processes and all below them; one that has just ended uses nothing."""
    memory = descriptors = 0
    for pid in {pid for root in roots for pid in (root, *below(root))}:
        with contextlib.suppress(OSError):
            memory += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
            descriptors += len(os.listdir(f"/proc/{pid}/fd"))
    return Usage(memory, descriptors)
