"""Files that are whole or not there: whoever reads one while the disk is full, or while it is written, sees no half of it."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Written beside, then renamed. What is no file, such as /dev/stdout, is written to as it is."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    path = path.resolve()  # a link stays one
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def make_room(path: Path) -> None:
    """Its folder is there and can be written to, and no older file is at its place; raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, b"")
    if path.is_file():
        path.resolve().unlink()
